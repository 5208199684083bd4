"""What runs before a question is sent (``hooks.preGeneration``): commands that may add context to it, or block it.

A hook gets one JSON object on its standard input: ``prompt``, ``session_id`` and ``cwd``. It answers with nothing, or
with one JSON object on its standard output: ``{"context": "…"}`` is added to the question, ``{"block": "…"}`` keeps it
from being sent. A hook that fails, hangs or prints anything else is told in a line; the question goes on without it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from maf_memory.text import one_line, sound
from mm.config import Hook
from mm.processes import end_group, started

MAXIMUM_OUTPUT = 65_536
"""The most that a hook may print, in bytes."""


@dataclass(frozen=True, slots=True)
class Hooked:
    """What the hooks said: contexts to add, lines to show, and the reason where one of them blocked the question."""

    contexts: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    blocked: str | None = None


async def run_hooks(hooks: Sequence[Hook], prompt: str, *, project: Path, session_id: str) -> Hooked:
    """Run the hooks one after the other; the first one that blocks is the last one that runs."""
    contexts: list[str] = []
    notices: list[str] = []
    stdin = json.dumps({"prompt": sound(prompt), "session_id": session_id, "cwd": str(project)}).encode()
    for hook in hooks:
        try:
            said = _understood(await _output_of(hook, stdin, project))
        except _HookFailed as failed:
            notices.append(f"The hook {_name(hook)} {failed}; the question goes on without it.")
            continue
        if "block" in said:
            return Hooked(tuple(contexts), tuple(notices), one_line(said["block"].strip() or "no reason given", 400))
        if said.get("context", "").strip():
            contexts.append(said["context"])
    return Hooked(tuple(contexts), tuple(notices))


class _HookFailed(Exception):
    """What the hook did, as the rest of a sentence."""


async def _output_of(hook: Hook, stdin: bytes, project: Path) -> bytes:
    try:
        process = await started(hook.command, cwd=project, stdin=asyncio.subprocess.PIPE)
    except OSError as error:
        raise _HookFailed(f"cannot be started ({error.strerror or error})") from error
    try:
        async with asyncio.timeout(hook.timeout):
            output, errors, _ = await asyncio.gather(
                _read(process.stdout), _read(process.stderr), _feed(process, stdin)
            )
            status = await process.wait()
    except TimeoutError as error:
        raise _HookFailed(f"did not end within {hook.timeout:g} s") from error
    finally:
        await end_group(process)
    if status != 0:
        why = one_line(errors.decode("utf-8", "replace").strip(), 200)
        raise _HookFailed(f"ended with status {status}" + (f" ({why})" if why else ""))
    return output


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - it was started with a pipe
    with suppress(ConnectionError):  # a hook need not read its input
        process.stdin.write(stdin)
        await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    assert stream is not None  # noqa: S101 - it was started with a pipe
    output = bytearray()
    while block := await stream.read(8192):
        output += block
        if len(output) > MAXIMUM_OUTPUT:
            raise _HookFailed(f"printed more than {MAXIMUM_OUTPUT:,} bytes")
    return bytes(output)


def _understood(output: bytes) -> dict[str, str]:
    if not output.strip():
        return {}
    try:
        said = json.loads(output.decode("utf-8"))
    except (ValueError, RecursionError):
        said = None
    if type(said) is not dict or not all(type(value) is str for value in said.values()) or said.keys() - _FIELDS:
        raise _HookFailed('printed something else than {"context": "…"} or {"block": "…"}')
    return {name: sound(value) for name, value in said.items()}


_FIELDS = {"context", "block"}


def _name(hook: Hook) -> str:
    return one_line(" ".join(hook.command), 80)
