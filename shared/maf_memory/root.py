"""The state root: the one private folder under which everything that survives a restart is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from maf_memory.disk import make_private_folder
from maf_memory.errors import RootRefused
from maf_memory.ownership import stranger
from maf_memory.reading import reason

VARIABLE = "MAF_STATE_ROOT"


def state_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the absolute path of the state root, without touching the disk.

    ``MAF_STATE_ROOT`` where it is set, else the platform's folder for a user's program state.

    Raises:
        RootRefused: the variable is empty, relative, or holds a NUL; or the platform's folder is relative.
    """
    named = environ.get(VARIABLE)
    if named is None:
        try:
            default = platformdirs.user_state_path("maf-memory", appauthor=False)
        except RuntimeError as error:  # no home: an account without one, as in some containers
            raise RootRefused(f"This account has no folder for state ({error}). {_REMEDY}") from error
        return _absolute(default, "The platform's state folder")
    if not named.strip():
        raise RootRefused(f"{VARIABLE} is set but empty. Give it an absolute path, or unset it.")
    if "\0" in named:
        raise RootRefused(f"{VARIABLE} holds a NUL character. Give it an absolute path.")
    if named.startswith("~"):
        raise RootRefused(f'{VARIABLE} starts with ~, which a shell expands only outside quotes. Use "$HOME/…".')
    return _absolute(Path(named), VARIABLE)


def _absolute(path: Path, origin: str) -> Path:
    """Return ``path`` when it is absolute; a relative one would be another root in every working folder."""
    if path.is_absolute():
        return path
    try:
        here = f"Here it would be {Path.cwd() / path}: set {VARIABLE} to that path if this is what you mean."
    except FileNotFoundError:  # the working folder was deleted
        here = f"Set {VARIABLE} to an absolute path."
    raise RootRefused(f"{origin} must be absolute, and {str(path)!r} is relative. {here}")


def open_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the state root, created private where it was missing and proven usable.

    Raises:
        RootRefused: as :func:`state_root`; or it is a file, a link, not this user's, open to every user, or not
            writable. Nothing was written.
    """
    path = state_root(environ)
    try:
        if path.is_symlink():
            raise RootRefused(
                f"The state root {path} is a symbolic link to {path.readlink()}. Set {VARIABLE} to the folder itself."
            )
        if not path.is_dir():
            _create(path)
        _check_private(path)
    except OSError as error:
        raise RootRefused(f"The state root {path} cannot be used: {reason(error)}. {_REMEDY}") from error
    return path


_REMEDY = f"Set {VARIABLE} to a folder of your own."


def _create(path: Path) -> None:
    if path.exists():
        raise RootRefused(f"The state root {path} is a file, not a folder; it was left alone. {_REMEDY}")
    try:
        make_private_folder(path)
    except OSError as error:
        raise RootRefused(f"The state root {path} cannot be created: {reason(error)}. {_REMEDY}") from error


def _check_private(path: Path) -> None:
    problem = stranger(path.stat())
    if problem is not None:
        raise RootRefused(f"The state root {path} {problem}. {_REMEDY}")
    effective = os.access in os.supports_effective_ids
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK, effective_ids=effective):
        raise RootRefused(f"The state root {path} is not writable for this user. {_REMEDY}")
