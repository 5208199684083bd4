"""The ledger: after every command that changes state, what changed and what did not, always in the same rows."""

from __future__ import annotations

from collections.abc import Mapping

from maf_console.places import Places
from maf_console.supports import HOST, ROWS, SESSION_ROWS, Support, context, snapshot

_WIDTH = max(len(row) for row in ROWS)


async def take_stock(places: Places, conversation: Support) -> dict[str, Support]:
    """Read the three supports as they are now."""
    return {"conversation": conversation, "snapshot": await snapshot(places), "context": await context(places)}


def ledger(before: Mapping[str, Support], after: Mapping[str, Support]) -> str:
    """Return the three rows: changed, with both states, or unchanged, with the one state."""
    return "\n".join(f"  {row:<{_WIDTH}}  {_change(before[row], after[row])}" for row in ROWS)


def _change(before: Support, after: Support) -> str:
    if before.identity == after.identity and before.holds == after.holds:
        return f"unchanged  {after.holds}"
    if before.holds == after.holds:
        return f"changed    {before.holds} -> {after.holds}, but not the same"
    return f"changed    {before.holds} -> {after.holds}"


def whereabouts(stock: Mapping[str, Support], places: Places) -> str:
    """Return the rows of ``stock`` with the files behind them, then the root and what is not ours in it."""
    lines: list[str] = []
    for row in filter(stock.__contains__, (*ROWS, *SESSION_ROWS)):
        support = stock[row]
        first, *rest = [str(support.path), *support.facts] if support.path is not None else support.facts
        lines.append(f"  {row:<{_WIDTH}}  {first}")
        lines += [f"  {'':<{_WIDTH}}  {fact}" for fact in rest]
    lines.append(f"  {'state root':<{_WIDTH}}  {places.shown_root}")
    for path in places.left_over():
        lines.append(f"  {'':<{_WIDTH}}  {places.role(path)}: {path.relative_to(places.root)}")
    if HOST not in stock and places.has_host_sessions:
        lines.append(f"  {'':<{_WIDTH}}  session files of a host, left alone: {places.host_sessions.name}")
    for path in places.foreign():
        if HOST in stock and path.parent == places.host_sessions:
            continue  # its own row names it
        # A line break in somebody's file name must not look like a line of ours.
        name = " ".join(str(path.relative_to(places.root)).splitlines())
        lines.append(f"  {'':<{_WIDTH}}  not of these demos, left alone: {name}")
    return "\n".join(lines)
