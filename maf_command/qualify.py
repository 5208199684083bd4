"""``maf-memory qualify``: tells whether the demos would work with a model, check by check."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_command.ending import end_with

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.chat.endpoint import Endpoint
    from maf_memory.chat.qualification import Finding

QUALIFY_HELP = """Example:

\b
  maf-memory qualify --base-url http://127.0.0.1:8080/v1 --model small

Test an OpenAI-compatible endpoint before a class uses it: it is reachable, an answer streams, and a conversation of two
turns and a context are each recalled in 3 of 3 tries. Whether the model is listed, tools work, and two user messages in
a row are accepted is told for information.

The exit status is 0 only if the demos would work. Nothing is saved, and no request is repeated. The key comes from
OPENAI_API_KEY; MAF_CHAT_TIMEOUT is how many seconds the endpoint may be silent (120).
"""

_NAMES = 17  # the width of the longest check
_OUTCOMES = 10


def qualify(
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The endpoint, in place of OPENAI_BASE_URL.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, in place of OPENAI_CHAT_COMPLETION_MODEL.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object in place of the table.")] = False,
) -> None:
    """Test the endpoint of the environment, or the one of the options."""
    given = {"OPENAI_BASE_URL": base_url, "OPENAI_CHAT_COMPLETION_MODEL": model}
    environ = {**os.environ, **{name: value for name, value in given.items() if value is not None}}
    end_with(lambda screen: _qualify(screen, environ, as_json=as_json))


def _qualify(screen: Screen, environ: dict[str, str], *, as_json: bool) -> int:
    from maf_memory.chat.endpoint import Endpoint
    from maf_memory.errors import ChatUnavailable

    if not environ.get("OPENAI_CHAT_COMPLETION_MODEL", "").strip():
        raise ChatUnavailable("qualify needs the name of a model: give --model, or set OPENAI_CHAT_COMPLETION_MODEL.")
    endpoint = Endpoint.from_environ(environ)
    if not as_json:
        screen.notice(
            f"Testing {endpoint}\n"
            f"An endpoint that is silent for {endpoint.silence:g} s fails; no request is repeated.\n"
        )
        screen.result(_row("check", "outcome", "time", "detail"))
    findings = asyncio.run(_findings(endpoint, None if as_json else screen))
    qualified = all(finding.holds for finding in findings)
    if as_json:
        screen.result(json.dumps(_report(endpoint, findings, qualified=qualified), indent=2, ensure_ascii=False))
    elif qualified:
        screen.result("\nQualified: the demos work with this model.")
    else:
        failed = [finding.check for finding in findings if not finding.holds and finding.outcome == "FAILED"]
        screen.result(f"\nNot qualified: the demos need what failed ({', '.join(failed)}).")
    return 0 if qualified else 1


async def _findings(endpoint: Endpoint, screen: Screen | None) -> list[Finding]:
    """Make every check, and show each finding as it comes."""
    try:
        from maf_memory.chat.qualification import qualify as check
    except ModuleNotFoundError:
        endpoint.connect()  # says which package is missing
        raise

    findings = []
    async for finding in check(endpoint):
        findings.append(finding)
        if screen is not None:
            detail = finding.detail if finding.required else f"(for information) {finding.detail}"
            screen.result(_row(finding.check, finding.outcome, f"{finding.seconds:.1f} s", detail))
    return findings


def _row(check: str, outcome: str, time: str, detail: str) -> str:
    return f"{check:<{_NAMES}}  {outcome:<{_OUTCOMES}}  {time:>7}  {detail}"


def _report(endpoint: Endpoint, findings: list[Finding], *, qualified: bool) -> dict[str, Any]:
    from maf_memory.chat.failures import address

    return {
        "endpoint": address(endpoint.base_url),
        "model": endpoint.model,
        "qualified": qualified,
        "checks": [
            {
                "check": finding.check,
                "outcome": finding.outcome,
                "required": finding.required,
                "seconds": round(finding.seconds, 3),
                "detail": finding.detail,
            }
            for finding in findings
        ],
    }
