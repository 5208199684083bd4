"""The stamp: a small file in .venv that says what was installed there, so that nothing is installed twice.

Its first line is the digest of what the installation depended on; each further line is an extra.
"""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

STAMP = "installed-by-scripts"


def read_project(root: Path) -> dict[str, Any]:
    """Return the pyproject.toml of ``root`` as a dictionary."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def requirements_of(extras: set[str], project: dict[str, Any]) -> set[str]:
    """Return every requirement that ``extras`` add up to, the project's own ones included.

    An extra that names the project again, as in ``maf-memory[test]``, stands for the extras in its brackets.
    An unknown extra raises ``KeyError``.
    """
    table = project["project"]
    itself = re.compile(rf"{re.escape(table['name'])}\s*\[([^\]]*)\]$")
    found = set(table.get("dependencies", ()))
    for extra in extras:
        for requirement in table.get("optional-dependencies", {})[extra]:
            again = itself.match(requirement)
            if again:
                found |= requirements_of({name.strip() for name in again[1].split(",")}, project)
            else:
                found.add(requirement)
    return found


def satisfies(held: set[str], wanted: set[str], project: dict[str, Any]) -> bool:
    """Return whether an environment that holds one set of extras holds everything of the other set too."""
    return requirements_of(wanted, project) <= requirements_of(held, project)


def digest_of(root: Path, project: dict[str, Any], python: tuple[int, int]) -> str:
    """Return one number for all that an installation depends on, except for the extras.

    These are the tables of pyproject.toml that an installer reads (a changed lint rule installs nothing), the
    pins, the minor version of Python, and the folder: an editable installation points into it.
    """
    read_by_installers = {
        "build-system": project.get("build-system"),
        "project": project.get("project"),
        "hatch": project.get("tool", {}).get("hatch"),
    }
    pins = (root / "constraints.txt").read_text(encoding="utf-8")
    parts = [read_by_installers, pins, list(python), str(root)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def installed_extras(venv: Path, digest: str) -> set[str] | None:
    """Return the extras that ``venv`` holds for ``digest``, or nothing when it must be installed (again).

    A stamp that cannot be read or understood counts as none: all that follows is one more installation.
    """
    try:
        first, *extras = (venv / STAMP).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    return set(extras) if first == digest else None


def write_stamp(venv: Path, digest: str, extras: set[str]) -> None:
    """Record that ``venv`` holds ``extras`` for ``digest``, whole or not at all."""
    unfinished = venv / (STAMP + ".new")
    unfinished.write_text("\n".join([digest, *sorted(extras)]) + "\n", encoding="utf-8")
    unfinished.replace(venv / STAMP)


def remove_stamp(venv: Path) -> None:
    """Forget what ``venv`` holds: from here on, until the next stamp, a run installs again."""
    (venv / STAMP).unlink(missing_ok=True)
