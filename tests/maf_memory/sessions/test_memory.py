"""The sessions in memory keep the contract of a storage."""

from __future__ import annotations

import pytest

from maf_memory.sessions.contract import StorageContract
from maf_memory.sessions.contract.machine import StorageMachine
from maf_memory.sessions.memory import MemorySessions, Place
from maf_memory.sessions.storage import SessionStorage
from tests.maf_memory.sessions.storages import STEADY


class TestMemorySessions(StorageContract):
    """Several handles on one place, as several processes on one folder."""

    @pytest.fixture(autouse=True)
    def place(self) -> None:
        self.shared = Place()

    async def open(self) -> SessionStorage:
        return MemorySessions(self.shared)


class MemoryMachine(StorageMachine):
    """Any order of calls."""

    def begin(self) -> None:
        self.shared = Place()

    async def open(self) -> SessionStorage:
        return MemorySessions(self.shared)


class TestMemoryMachine(MemoryMachine.TestCase):  # type: ignore[misc, valid-type]
    settings = STEADY
