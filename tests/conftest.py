"""Every test has a state root of its own, and sees neither the person's environment nor a real endpoint."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

FOREIGN = (
    "MAF_CHAT",
    "MAF_CHAT_TIMEOUT",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_CHAT_COMPLETION_MODEL",
    "NO_COLOR",
    "FORCE_COLOR",
)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background with Ctrl-C ignored, and the consoles under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def state_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own MAF_STATE_ROOT; the folder does not exist yet."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "state root é"
    monkeypatch.setenv("MAF_STATE_ROOT", str(root))
    return root
