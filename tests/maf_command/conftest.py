"""A project with four recorded sessions, as scripts/sample_project.py makes it; each test has a copy of its own."""

from __future__ import annotations

import asyncio
import importlib
import shutil
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, made once."""
    folder = tmp_path_factory.mktemp("sample") / "shop"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        sample = importlib.import_module("sample_project")
    folder.mkdir()
    asyncio.run(sample.make(folder))
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """The test's own copy, in a folder with a blank and an accent."""
    return shutil.copytree(made, tmp_path / "the shöp")
