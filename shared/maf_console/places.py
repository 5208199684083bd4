"""Where each demo keeps its file under the state root, and what else lies there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maf_memory.leftovers import is_one
from maf_memory.root import VARIABLE
from maf_memory.sessions.ids import is_id

CONTEXT_OWNER = "demo130"
SNAPSHOT_OWNER = "demo140"

INSTRUCTION_VERSION = "memory-1.1"
"""The version of demo140's instructions, which its snapshot must carry (the seed's envelope)."""

SESSIONS_LOCK = ".lock"
"""The one lock of a folder of session files."""


@dataclass(frozen=True, slots=True)
class Places:
    """The paths under one state root."""

    root: Path
    is_default: bool = False

    @property
    def shown_root(self) -> str:
        """The root as a person is told of it: a forgotten variable must not look like a lost state."""
        return f"{self.root} (the default: {VARIABLE} is not set)" if self.is_default else str(self.root)

    @property
    def context(self) -> Path:
        """The context store of demo130."""
        return self.root / CONTEXT_OWNER / "agent-state.json"

    @property
    def snapshot(self) -> Path:
        """The snapshot of demo140."""
        return self.root / SNAPSHOT_OWNER / "session.json"

    @property
    def host_sessions(self) -> Path:
        """The session files of a host that keeps them under the state root."""
        return self.root / "sessions"

    @property
    def has_host_sessions(self) -> bool:
        """Whether there is at least one such file."""
        return any(self._ours(path) for path in _listed(self.host_sessions))

    def foreign(self) -> list[Path]:
        """Return what lies under the root and is neither a store's file nor its lock or temporary file.

        The session files of a host are none of the demos' and no stranger's either: :attr:`host_sessions` names them.
        """
        found: list[Path] = []
        for path in _listed(self.root):
            known = path.name in (CONTEXT_OWNER, SNAPSHOT_OWNER, self.host_sessions.name)
            if known and path.is_dir() and not path.is_symlink():
                found += [inner for inner in _listed(path) if not self._ours(inner)]
            else:
                found.append(path)
        return found

    def left_over(self) -> list[Path]:
        """Return the temporary files beside the stores: of a save under way, or the rest of a killed one."""
        return [
            path
            for store in (self.context, self.snapshot)
            for path in _listed(store.parent)
            if is_one(path.name, store.name)
        ]

    def role(self, path: Path) -> str:
        """Return what the file at ``path`` is to the demos."""
        if path == self.context:
            return f"the context store of {CONTEXT_OWNER}"
        if path == self.snapshot:
            return f"the snapshot of {SNAPSHOT_OWNER}"
        if path in self.left_over():
            return "left over from a killed save; the next start removes it"
        return session_role(path, self.host_sessions, "a host") or "not of these demos"

    def _ours(self, path: Path) -> bool:
        if path.parent == self.host_sessions:
            return path.name == SESSIONS_LOCK or session_role(path, self.host_sessions, "a host") is not None
        store = self.context if path.parent.name == CONTEXT_OWNER else self.snapshot
        return path == store or path.name == f".{store.name}.lock" or is_one(path.name, store.name)


def session_role(path: Path, folder: Path, owner: str) -> str | None:
    """Return what the file at ``path`` is in a ``folder`` of session files, or ``None`` when it is no part of one."""
    if path.parent != folder:
        return None
    if path.suffix == ".json" and is_id(path.stem):
        return f"a session of {owner}"
    target = path.name.removeprefix(".").partition(".json.")[0]
    if is_id(target) and is_one(path.name, f"{target}.json"):
        return "left over from a killed save of a session"
    return None


def _listed(folder: Path) -> list[Path]:
    """Return what a folder holds; nothing when it is gone or closed to this user, which the rows of ``where`` tell."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
