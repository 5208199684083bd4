"""Paths for an editor: absolute, below the project as the editor calls it, and never outside."""

from __future__ import annotations

import os
from pathlib import Path


def path_inside(project: Path, path: object) -> str | None:
    """Return the absolute path of what a tool was given, or ``None`` where that is no path inside the project.

    Only the names decide, and nothing on the disk is asked: a record may name what is gone.
    """
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        return None
    root = str(project)
    whole = os.path.normpath(os.path.join(root, path))  # noqa: PTH118 - a thousand times for one long conversation
    return whole if whole == root or whole.startswith(root.rstrip(os.sep) + os.sep) else None
