"""The collector rests while a conversation is rebuilt, and goes on as it was before."""

from __future__ import annotations

import gc
import threading

import pytest

from maf_memory.collecting import collector_at_rest


def test_it_rests_inside_and_goes_on_afterwards_also_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_at_rest():
        _ = 1 / gc.isenabled()  # only where it rests is this a division by nothing
    assert gc.isenabled()


def test_where_it_was_off_it_stays_off() -> None:
    gc.disable()
    try:
        with collector_at_rest():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_goes_on_when_the_last_of_several_is_done() -> None:
    first_is_in, last_may_go = threading.Event(), threading.Event()

    def other() -> None:
        with collector_at_rest():
            first_is_in.set()
            last_may_go.wait()

    thread = threading.Thread(target=other)
    with collector_at_rest():
        thread.start()
        first_is_in.wait()
    assert not gc.isenabled()
    last_may_go.set()
    thread.join()
    assert gc.isenabled()
