"""A copy of a record that later changes of the record do not reach."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maf_memory.sessions.record import SessionRecord


def copied_record(record: SessionRecord) -> SessionRecord:
    """Return a record that shares nothing with ``record`` but its messages, which nobody changes once recorded."""
    return replace(
        record,
        messages=list(record.messages),
        state=copy.deepcopy(record.state),
        errors=record.errors.copy(),
        service_session_id=copy.deepcopy(record.service_session_id),
    )
