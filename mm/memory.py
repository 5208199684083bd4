"""What earlier conversations of the project say: the ``search_memory`` tool and the ``/memory`` command.

Two keys, both off by default: a tool in the catalogue of a small model changes what it does, even unused (the seed's
«Pourquoi la recherche dans la mémoire porte sur les mots»). What the model already has is left out by its content.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line

if TYPE_CHECKING:
    from maf_memory.sessions.found import Found, Hit
    from mm.tools.spec import ToolSpec

NAME = "search_memory"

DESCRIPTION = (
    "Search what was said and done in earlier conversations about this project. Use it when the person refers to "
    "something that was decided or discussed before and that is not in this conversation. The search knows words, not "
    "meanings: give several alternatives separated by |, with synonyms and with the words in the other language, "
    "e.g. 'base de données | database | storage | SQLite'."
)

NO_HIT = "No earlier conversation holds these words. Try other words: synonyms, or the same in English."
_LIMIT = 8

Search = Callable[..., Awaitable["Found"]]


def told(found: Found) -> str:
    """Return the hits as text, for a person and for the model alike; one line that invites other words without any."""
    lines = [_hit(number, hit) for number, hit in enumerate(found.hits, start=1)]
    if not lines:
        lines = [NO_HIT]
    elif found.matched > len(found.hits):
        lines.append(f"{found.matched - len(found.hits)} more message(s) hold a word; more words narrow it down.")
    if found.unread:
        names = ", ".join(damaged.id for damaged in found.unread[:3])
        lines.append(f"{len(found.unread)} conversation(s) could not be searched: {names}.")
    return "\n\n".join(lines)


def _hit(number: int, hit: Hit) -> str:
    who = {"user": "the person", "assistant": "the model", "tool": "a tool"}.get(hit.role, hit.role)
    if hit.kind:
        who = f"mini-me's {hit.kind}"
    lines = [
        f"{number}. {one_line(hit.title, 90)} ({hit.updated:%Y-%m-%d %H:%M}, /resume {hit.session_id})",
        f"   {who}: {_indented(hit.excerpt)}",
    ]
    if hit.answer is not None:
        lines.append(f"   answered: {_indented(hit.answer)}")
    return "\n".join(lines)


def _indented(text: str) -> str:
    return text.replace("\n", "\n   ")


def memory_tool(search: Search) -> ToolSpec:
    """Return the tool over ``search``, which is :meth:`mm.keeper.Keeper.search`."""
    from agent_framework import tool
    from pydantic import Field

    from mm.tools.spec import ToolSpec

    @tool(name=NAME, description=DESCRIPTION, approval_mode="never_require")
    async def search_memory(
        words: Annotated[str, Field(description="The words, alternatives separated by |")],
    ) -> str:
        try:
            return told(await search(words, limit=_LIMIT))
        except (MafMemoryError, ValueError) as error:
            return f"Error: {error}"

    def title(arguments: Mapping[str, Any]) -> str:
        return f"{NAME} {one_line(str(arguments.get('words', '')), 80)}"

    return ToolSpec(search_memory, "search", asks=False, title=title, preview=title)
