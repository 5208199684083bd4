"""Where each demo keeps its file under the state root, and what else lies there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maf_memory.leftovers import is_one
from maf_memory.root import VARIABLE

CONTEXT_OWNER = "demo130"
SNAPSHOT_OWNER = "demo140"

INSTRUCTION_VERSION = "memory-1.1"
"""The version of demo140's instructions, which its snapshot must carry (the seed's envelope)."""


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

    def foreign(self) -> list[Path]:
        """Return what lies under the root and is neither a store's file nor its lock or temporary file."""
        found: list[Path] = []
        for path in _listed(self.root):
            if path.name in (CONTEXT_OWNER, SNAPSHOT_OWNER) and path.is_dir() and not path.is_symlink():
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
        return "not of these demos"

    def _ours(self, path: Path) -> bool:
        store = self.context if path.parent.name == CONTEXT_OWNER else self.snapshot
        return path == store or path.name == f".{store.name}.lock" or is_one(path.name, store.name)


def _listed(folder: Path) -> list[Path]:
    """Return what a folder holds; nothing when it is gone or closed to this user, which the rows of ``where`` tell."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
