"""Golden transcripts: what goes over the wire, in both directions and in its order, as golden/NAME.jsonl has it.

``python -m tests.mm.acp.test_golden_wire`` writes the files anew; the difference is then read in review.
"""

from __future__ import annotations

import difflib
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.consoles import environment
from tests.mm.acp.editors import Message, RawEditor, allowing, scripted

GOLDEN = Path(__file__).parent / "golden"

READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}
EDIT = {"calls": [{"name": "edit_file", "arguments": {"path": "a.txt", "old": "two", "new": "three"}}]}

PLACEHOLDERS = (
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}"), "SESSION"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"), "TIME"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "MESSAGE"),
)
"""What differs from run to run; each value has a number of its own, so that what is the same stays the same."""


def new(e: RawEditor) -> None:
    opened(e)


def prompt_with_tools(e: RawEditor) -> None:
    worked(e)


def load(e: RawEditor) -> None:
    session = worked(e)
    e.wire.clear()
    e.load(session)
    commands_told(e)


def listing(e: RawEditor) -> None:
    worked(e)
    e.wire.clear()
    e.ask("session/list", cwd=str(e.project))


def resume(e: RawEditor) -> None:
    session = worked(e)
    e.wire.clear()
    e.ask("session/resume", sessionId=session, cwd=str(e.project), mcpServers=[])
    commands_told(e)


def slash_new(e: RawEditor) -> None:
    session = worked(e)
    e.wire.clear()
    e.prompt(session, "/new")
    e.ask("session/list", cwd=str(e.project))


def cancel(e: RawEditor) -> None:
    e.decide = lambda _: None
    session = opened(e)
    e.prompt(session, "Read a.txt")
    e.wire.clear()
    request = e.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Edit a.txt"}])
    e.send(request)
    asked = e.until(lambda message: message.get("method") == "session/request_permission")
    e.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
    e.response(request["id"])
    e.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})


SCENES: dict[str, Callable[[RawEditor], None]] = {
    "new": new,
    "prompt-with-tools": prompt_with_tools,
    "load": load,
    "list": listing,
    "resume": resume,
    "slash-new": slash_new,
    "cancel": cancel,
}


def opened(e: RawEditor) -> str:
    session = e.new()
    commands_told(e)
    return session


def worked(e: RawEditor) -> str:
    session = opened(e)
    e.prompt(session, "Read a.txt")
    e.prompt(session, "Edit a.txt", {"type": "resource_link", "uri": (e.project / "a.txt").as_uri(), "name": "a.txt"})
    return session


def commands_told(e: RawEditor) -> None:
    """Read on until all that follows a response has come: the length of the conversation is the last of it."""
    wanted = '"usage_update"' if e.wire[0][1]["method"] != "initialize" else '"availableCommands"'
    e.until(lambda message: wanted in json.dumps(message))


def transcript(folder: Path, scene: Callable[[RawEditor], None]) -> str:
    """Play a scene with a real process and return its wire, a message a line."""
    project = folder / "project"
    scripted(project, READ, "I read it.", EDIT, "Changed.")
    (project / "a.txt").write_bytes(b"one\ntwo\n")
    e = RawEditor(project, environ=environment(TZ="UTC", MAF_STATE_ROOT=str(folder / "state")))
    try:
        e.decide = allowing()
        e.initialize()
        scene(e)
        assert e.leave() == 0
    finally:
        e.kill()
    return "".join(f"{line}\n" for line in placeheld([_line(*one) for one in e.wire], project))


def _line(direction: str, message: Message) -> str:
    return json.dumps({"editor" if direction == "→" else "mm": message}, ensure_ascii=False, sort_keys=True)


def placeheld(lines: list[str], project: Path) -> list[str]:
    text = "\n".join(lines).replace(project.as_uri(), "file://PROJECT").replace(str(project), "PROJECT")
    for pattern, name in PLACEHOLDERS:
        seen: dict[str, str] = {}

        def numbered(found: re.Match[str], name: str = name, seen: dict[str, str] = seen) -> str:
            return name if name == "TIME" else seen.setdefault(found[0], f"{name}-{len(seen) + 1}")

        text = pattern.sub(numbered, text)
    text = re.sub(r'("used": )\d+', r'\1"LENGTH"', text)  # a linked file counts with its path
    return re.sub(r'("version": )"[^"]+"', r'\1"VERSION"', text).split("\n")


@pytest.mark.parametrize("name", SCENES)
def test_the_wire_is_as_the_golden_transcript_has_it(tmp_path: Path, name: str) -> None:
    expected = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8")
    found = transcript(tmp_path, SCENES[name])
    difference = difflib.unified_diff(expected.splitlines(), found.splitlines(), "golden", "now", lineterm="", n=1)
    assert found == expected, "\n".join(difference)


def test_each_golden_transcript_has_its_scene() -> None:
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} == set(SCENES)


def write() -> None:
    """Write every transcript anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            (GOLDEN / f"{name}.jsonl").write_text(transcript(Path(folder), scene), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
