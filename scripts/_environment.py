"""The project's own virtual environment: the first run makes it, later runs find it again without a network.

A script calls ``ensure(("test",))`` for the Python that holds these extras, or ``reexec_inside(())`` to go on
inside it. Set-up writes to stderr only; what cannot be set up ends the run in one line, with exit status 1.
An interpreter in which the person has installed this very folder (``pip install -e .``) is used as it is.
"""

import errno
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import _oldest_python  # before the rest: an older Python ends here
import _stamp

ROOT = Path(__file__).resolve().parent.parent
PROBE = "import os, sys; print(*sys.version_info[:2], os.path.samefile(sys.prefix, sys.argv[1]))"
BRING_ENSUREPIP = "Install it (Debian, Ubuntu: apt install python3-venv)"


def ensure(extras: tuple[str, ...] = (), root: Path = ROOT) -> Path:
    """Return a Python that holds the project and ``extras``; install them first where they are missing."""
    project = _stamp.read_project(root)
    wanted = _stamp.requirements_of(set(extras), project)
    venv = root / ".venv"
    if not _is_inside(venv) and _serves(root, project["project"]["name"], wanted):
        return Path(sys.executable)
    try:
        return _ensure_venv(venv, extras, project)
    except KeyboardInterrupt:
        print("Set-up interrupted; the next run takes it up again.", file=sys.stderr)
        sys.exit(130)


def reexec_inside(extras: tuple[str, ...] = (), root: Path = ROOT) -> None:
    """Return inside a Python that holds ``extras``, having started the calling script again where needed."""
    python = ensure(extras, root)
    if python != Path(sys.executable) and not _is_inside(root / ".venv"):
        become([str(python), *sys.orig_argv[1:]])


def become(command: list[str]) -> NoReturn:
    """Go on as ``command``; where the system cannot replace a process, wait for it and exit as it did."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606  # no shell is wanted
    with subprocess.Popen(command) as child:
        while True:
            try:
                sys.exit(child.wait())
            except KeyboardInterrupt:  # the child has received it too, and decides what it means
                continue


def missing_for_venv() -> str | None:
    """Return the module without which Python cannot make a virtual environment, if one is missing."""
    # Debian and Ubuntu keep ensurepip in a package of its own; some minimal images leave venv out too.
    return next((name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None), None)


def _ensure_venv(venv: Path, extras: tuple[str, ...], project: dict[str, Any]) -> Path:
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    version = _version_of(venv, python)
    if version is not None:
        if version < _oldest_python.OLDEST:
            sys.exit(f"{venv} holds Python {version[0]}.{version[1]}, which is too old. Remove it and run this again.")
        digest = _stamp.digest_of(venv.parent, project, version)
        held = _stamp.installed_extras(venv, digest)
        if held is not None and _stamp.satisfies(held, set(extras), project):
            return python
        print("Installing into .venv (needs a package index)…", file=sys.stderr)
    else:
        print("Setting up .venv (first run only; needs a package index)…", file=sys.stderr)
        version, held = _make(venv, python), None
        digest = _stamp.digest_of(venv.parent, project, version)
    together = (held or set()) | set(extras)
    _stamp.remove_stamp(venv)
    _install(venv, python, together)
    _stamp.write_stamp(venv, digest, together)
    return python


def _is_inside(venv: Path) -> bool:
    return Path(sys.prefix).resolve() == venv.resolve()


def _serves(root: Path, name: str, requirements: set[str]) -> bool:
    """Return whether the running Python holds ``root``, installed as editable, and every requirement."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution(name).read_text("direct_url.json") or ""
        if f'"{root.as_uri()}"' not in origin:
            return False
        for requirement in requirements:
            # A requirement with a marker may rightly be absent on this system, so it is not asked for.
            if ";" not in requirement:
                distribution(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    except PackageNotFoundError:
        return False
    return True


def _version_of(venv: Path, python: Path) -> "tuple[int, int] | None":
    """Return the version of the Python that belongs to ``venv``, or nothing when none starts."""
    if _is_inside(venv):
        return sys.version_info[:2]
    try:
        answer = subprocess.run(
            [python, "-I", "-c", PROBE, venv], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.ENOMEM):
            raise  # the machine is at its limits; that says nothing about the environment
        return None
    found = re.match(r"(\d+) (\d+) True$", answer.stdout.strip())
    return (int(found[1]), int(found[2])) if found else None


def _make(venv: Path, python: Path) -> "tuple[int, int]":
    """Make ``venv`` and return its version of Python; what is there and is a broken one is removed first."""
    _clear(venv)
    uv = shutil.which("uv")
    made = uv is not None and _run([uv, "venv", "--quiet", "--python", sys.executable, venv], venv.parent)
    if not made:
        lacking = missing_for_venv()
        if lacking:
            sys.exit(
                f"This Python ({sys.executable}) has no module {lacking}, so .venv cannot be made. "
                f"{BRING_ENSUREPIP}, or install uv; then run this again."
            )
        made = _run([sys.executable, "-m", "venv", venv], venv.parent)
    version = _version_of(venv, python) if made else None
    if version is None:
        sys.exit(f"{venv} could not be made (see above). Put right what is named there and run this again.")
    return version


def _clear(venv: Path) -> None:
    """Remove a virtual environment that does not work; anything else in its place belongs to the person."""
    if not os.path.lexists(venv):
        return
    is_environment = (venv / "pyvenv.cfg").is_file() or (venv.is_dir() and not any(venv.iterdir()))
    if venv.is_symlink() or not is_environment:
        sys.exit(f"{venv} is in the way: it is no virtual environment. Move it and run this again.")
    try:
        shutil.rmtree(venv)
    except OSError as error:
        sys.exit(f"{venv} does not work and cannot be removed: {error}. Remove it and run this again.")


def _install(venv: Path, python: Path, extras: set[str]) -> None:
    """Install the project and ``extras``, editable, with the pins; exit with one line where that fails."""
    root = venv.parent
    project = f".[{','.join(sorted(extras))}]" if extras else "."
    what: list[str | Path] = ["-c", "constraints.txt", "-e", project]
    uv = shutil.which("uv")
    if uv and _run([uv, "pip", "install", "--quiet", "--python", python, *what], root):
        return
    # uv does not read pip's configuration, so where uv finds no index pip may still know one.
    if not _run([python, "-c", "import pip"], root, quiet=True) and not _run(
        [python, "-m", "ensurepip"], root, quiet=True
    ):
        sys.exit(f"There is no pip in .venv, nor ensurepip to bring it. {BRING_ENSUREPIP}; then run this again.")
    options = ["-qq", "--no-input", "--disable-pip-version-check"]  # errors only
    if not _run([python, "-m", "pip", "install", *options, *what], root):
        sys.exit(
            "The installation into .venv failed (see above). It needs a package index: check the network "
            "and pip's configuration, then run this again."
        )


def _run(command: list[str | Path], cwd: Path, quiet: bool = False) -> bool:
    """Return whether ``command`` succeeded; it reads nothing, and what it prints goes to stderr."""
    output = subprocess.DEVNULL if quiet else sys.__stderr__
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    return done.returncode == 0
