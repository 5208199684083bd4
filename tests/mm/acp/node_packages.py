"""What a ``package.json`` pins, installed when it is first needed, and kept in a folder of the user's cache.

Where it cannot be had, the tests that need it are skipped and say why; a package that cannot be installed fails them.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs
import pytest

OLDEST_NODE = (22, 13)
"""What the most demanding of the packages runs on."""

_INSTALL = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts",
            "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]  # fmt: skip
_SECONDS = 300
_NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH",
               "ERR_SOCKET_TIMEOUT", "ENOTCACHED")  # fmt: skip


def installed(package_json: Path) -> Path:
    """Return the folder that holds ``node_modules``, whole: it gets its name when everything is in it."""
    wanted = package_json.read_bytes()
    cache = Path(platformdirs.user_cache_dir("maf-memory-tests"))
    folder = cache / f"node-{hashlib.sha256(wanted).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="installing-", dir=cache))
    except OSError as error:
        pytest.skip(f"the user's cache cannot be written: {error}")
    try:
        (fresh / "package.json").write_bytes(wanted)
        _install(npm, fresh)
        with suppress(OSError):  # another run was faster
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def node_of(packages: Path) -> str:
    """Return a Node.js that is new enough: the packaged one, else the installed one."""
    packaged = sorted((packages / "node_modules").glob("node-*/bin/node*"))
    found = str(packaged[0]) if packaged else shutil.which("node")
    if found is None:
        pytest.skip("Node.js is not installed")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    if tuple(int(part) for part in told.removeprefix("v").split(".")[:2]) < OLDEST_NODE:
        pytest.skip(f"Node.js {told} is too old, and none is packaged for this machine")
    return found


def _install(npm: str, folder: Path) -> None:
    try:
        run = subprocess.run([npm, *_INSTALL], cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not end within {_SECONDS} seconds")
    if run.returncode == 0:
        return
    begins = ("npm error", "npm ERR!")
    said = [line for line in run.stderr.splitlines() if line.startswith(begins) and "complete log" not in line]
    if any(code in run.stderr for code in _NO_NETWORK):
        pytest.skip(f"npm has no network: {said[0] if said else run.stderr[-300:]}")
    pytest.fail("\n".join(said) or run.stderr)
