"""Lets the garbage collector rest while many objects are built that all stay.

Each message of a long conversation is a handful of objects; while they are built, the collector would look at all of
them again and again, and find nothing.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_resting = 0
_was_enabled = False


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Let it rest inside; it goes on as before when the last of several threads is done."""
    global _resting, _was_enabled
    with _lock:
        if _resting == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _resting += 1
    try:
        yield
    finally:
        with _lock:
            _resting -= 1
            if _resting == 0 and _was_enabled:
                gc.enable()
