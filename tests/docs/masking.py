"""What may differ between two plays of one page: times, ages, tokens and temporary names, and nothing else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"(\blineage\W{1,4})[0-9a-f]{8}\b"), r"\1<lineage>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<session id>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<message id>"),
    (re.compile(r"\b(202609\d\d-\d{6}-)[0-9a-f]{8}\b"), r"\1<suffix>"),  # made at the sample projects' own times
    (re.compile(r"\b(?!202609)\d{8}-\d{6}-[0-9a-f]{8}\b"), "<session>"),
    (re.compile(r"\b(?!2026-09)\d{4}-\d\d-\d\d \d\d:\d\d\b"), "<minute>"),
    (re.compile(r"\b(?!2026-09)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"), "<time>"),
    (re.compile(r"(\.json|files,) \(?[\d,]+ bytes\)"), r"\1 <size>"),
    (re.compile(r"\([\d,]+ bytes, readable"), "(<size> bytes, readable"),
    (re.compile(r"· (?:just now|\d+ (?:min|h|days?|weeks?|months?|years?) ago)"), "· <age>"),
    (re.compile(r"\.[0-9a-f]{16}\.tmp\b"), ".<temporary>.tmp"),
    (re.compile(r"\bagent-framework-core \d[\w.]*"), "agent-framework-core <version>"),
)


def masked(line: str) -> str:
    """Return the line without what varies from run to run; the space at its end does not count either."""
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()


def settled(page: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the lines shown, each as the page has it where the two are equal once masked.

    So a page that is right stays as it is to the byte, and one that is wrong changes only where it is wrong.
    """
    lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, [*map(masked, page)], [*map(masked, shown)], autojunk=False)
    for tag, page_start, page_end, start, end in matcher.get_opcodes():
        lines += page[page_start:page_end] if tag == "equal" else shown[start:end]
    return lines
