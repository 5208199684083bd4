"""Both engines behind the seam, as several processes open one place."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings

from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.memory import MemorySessions, Place
from maf_memory.sessions.storage import SessionStorage

ENGINES = ("files", "memory")
STEADY = settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
)


class Opened:
    """One place, in files or in memory; each storage is another process's."""

    def __init__(self, engine: str, folder: Path) -> None:
        self.folder = folder
        self._place = Place() if engine == "memory" else None

    def storage(self) -> SessionStorage:
        return FileSessions(self.folder) if self._place is None else MemorySessions(self._place)

    def ids(self) -> set[str]:
        """The ids of all sessions, empty ones included."""
        if self._place is not None:
            return set(self._place.sessions)
        return {path.stem for path in self.folder.glob("*.json")}
