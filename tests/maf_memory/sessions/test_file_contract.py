"""The sessions in files keep the contract of a storage."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from maf_memory.sessions.contract import StorageContract
from maf_memory.sessions.contract.machine import StorageMachine
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.storage import SessionStorage
from tests.maf_memory.sessions.storages import STEADY


class TestFileSessions(StorageContract):
    """Several handles on one folder, which none of them remembers for another."""

    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> None:
        self.folder = tmp_path / ".mm" / "sessions"

    async def open(self) -> SessionStorage:
        return FileSessions(self.folder)


class FileMachine(StorageMachine):
    """Any order of calls."""

    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="maf-machine-")) / "sessions"

    async def open(self) -> SessionStorage:
        return FileSessions(self.folder)

    def end(self) -> None:
        shutil.rmtree(self.folder.parent)


class TestFileMachine(FileMachine.TestCase):  # type: ignore[misc, valid-type]
    settings = STEADY
