"""The contract of a storage, as a test class that ships with the package: an engine passes it, or is not one.

A test module of an engine's own, here or in another repository, run by pytest with pytest-asyncio in auto mode::

    class TestMyEngine(StorageContract):
        @pytest.fixture(autouse=True)
        def place(self, tmp_path: Path) -> None:
            self.folder = tmp_path

        async def open(self) -> SessionStorage:
            return MyEngine(self.folder)

:mod:`.machine` is the same contract for Hypothesis: any order of calls, by two processes, against a dict.
To see what an assertion compared, let a ``conftest.py`` call
``pytest.register_assert_rewrite("maf_memory.sessions.contract")``.
"""

from __future__ import annotations

from maf_memory.sessions.contract.conflicts import ConflictContract
from maf_memory.sessions.contract.keeping import KeepingContract
from maf_memory.sessions.contract.paging import PagingContract
from maf_memory.sessions.contract.refusing import RefusingContract
from maf_memory.sessions.contract.searching import SearchContract

__all__ = ["StorageContract"]


class StorageContract(KeepingContract, RefusingContract, ConflictContract, PagingContract, SearchContract):
    """Every promise of :class:`~maf_memory.sessions.storage.SessionStorage`, one test each."""
