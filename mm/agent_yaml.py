"""Reads ``agent.yaml``: each mistake is one line with the file, the line, and the nearest right key.

Nothing of the file is executed: it is composed into plain nodes, aliases are refused, and each value
is taken over by the key's own rule.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, get_args

from maf_memory.errors import FileRefused
from maf_memory.reading import ReadFile
from maf_memory.text import one_line
from mm.config import TOOL_NAMES, Compaction, Config, Hook, Model, Provider
from mm.errors import ConfigRefused

NAME = "agent.yaml"
MAXIMUM_SIZE = 256 * 1024

_DURATION = re.compile(r"(?:(?P<m>\d{1,5})m)?(?:(?P<s>\d{1,6}(?:\.\d{1,3})?)s?)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_LONGEST_SECONDS = 24 * 3600.0


def read_config(project: Path, given: Path | None = None) -> Config:
    """Return the configuration of ``project``: from ``given``, else from its ``agent.yaml``, else the defaults.

    Raises:
        ConfigRefused: the given file is not there, or a file cannot be read or holds a mistake; the first one is told.
    """
    path = (project / NAME if given is None else given).absolute()
    try:
        content = ReadFile(path, limit=MAXIMUM_SIZE).read()
    except FileRefused as error:
        raise ConfigRefused(f"{path} is not used: {error.found}.") from error
    if content is None:
        if given is not None:
            raise ConfigRefused(f"{path} is not there. Write one with mm init, or leave --config out.")
        return Config()
    return replace(_Reader(path).config(content), source=path)


class _Reader:
    """One reading of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def refuse(self, line: int | None, what: str, cause: Exception | None = None) -> NoReturn:
        where = f"{self._path}" if line is None else f"{self._path}, line {line}"
        raise ConfigRefused(f"{where}: {what}") from cause

    def config(self, content: bytes) -> Config:
        node = self._composed(content)
        if node is None:
            return Config()
        config: Config = self._take(node, _TOP, Config(), "")
        return config

    def _composed(self, content: bytes) -> Any:
        import yaml

        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.refuse(content[: error.start].count(b"\n") + 1, "it is not UTF-8.", error)
        try:
            for event in yaml.parse(text, Loader=yaml.SafeLoader):
                if isinstance(event, yaml.AliasEvent):
                    self.refuse(_line(event.start_mark), "aliases (*name) are not used here; write the value out.")
            return yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self.refuse(
                line, f"it holds a character that YAML does not allow, U+{ord(text[error.position]):04X}.", error
            )
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = one_line(str(error.problem or error.context), 160)
            self.refuse(_line(mark), f"it is not YAML: {problem}.", error)
        except (yaml.YAMLError, RecursionError) as error:
            self.refuse(None, f"it is not YAML: {one_line(str(error), 160) or 'it nests too deeply'}.", error)

    def _take(self, node: Any, rules: Mapping[str, Rule], into: Any, within: str) -> Any:
        """Return ``into`` with what the mapping ``node`` says."""
        if node.id != "mapping":
            what = f"{within or 'the file'} must hold keys, such as {next(iter(rules))}: …"
            self.refuse(node.start_mark.line + 1, f"{what}.")
        changes: dict[str, Any] = {}
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value) if key.id == "scalar" else "?"
            line = key.start_mark.line + 1
            whole = f"{within}.{name}" if within else name
            if name not in rules:
                self._unknown(line, whole, within, rules)
            if name in seen:
                self.refuse(line, f"{whole} stands here a second time.")
            seen.add(name)
            field, rule = rules[name]
            if isinstance(rule, Mapping):
                changes[field] = self._take(value, rule, getattr(into, field) if field else into, whole)
                if not field:
                    into = changes.pop(field)
                continue
            try:
                changes[field] = rule(value)
            except ValueError as error:
                at = error.node if isinstance(error, _Within) else value
                self.refuse(at.start_mark.line + 1, f"{whole} {error}", error)
        return replace(into, **changes)

    def _unknown(self, line: int, whole: str, within: str, rules: Mapping[str, Rule]) -> NoReturn:
        shown = one_line(whole, 80)
        bare = {_bare(name): name for name in rules}
        nearest = difflib.get_close_matches(_bare(whole.rpartition(".")[2]), bare, n=1, cutoff=0.5)
        prefix = f"{within}." if within else ""
        elsewhere = [path for path in ALL_KEYS if path.rpartition(".")[2] == whole.rpartition(".")[2]]
        hint = f"did you mean {elsewhere[0]}?" if elsewhere else ""
        if not hint and nearest:
            hint = f"did you mean {prefix}{bare[nearest[0]]}?"
        known = ", ".join(f"{prefix}{name}" for name in rules)
        self.refuse(line, f"there is no key {shown}; {hint or f'the keys here are {known}.'}")


class _Within(ValueError):
    """A mistake inside a value of several lines, with the node where it stands."""

    def __init__(self, node: Any, what: str) -> None:
        super().__init__(what)
        self.node = node


def _bare(key: str) -> str:
    """Return a key as it is compared: whoever writes max_output or MaxOutput means maxOutput."""
    return key.replace("_", "").replace("-", "").lower()


def _line(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1


def _kind(node: Any) -> str:
    return str(node.tag).rpartition(":")[2]


def _text(node: Any) -> str:
    if node.id != "scalar" or _kind(node) != "str" or not node.value.strip():
        raise ValueError(f"must be a text{_quoted(node)}.")
    return str(node.value)


def _quoted(node: Any) -> str:
    """Return advice for a value that YAML takes for something else than the text that it looks like."""
    return ", in quotes" if node.id == "scalar" and _kind(node) in ("int", "float", "bool", "timestamp") else ""


def _claim(node: Any) -> bool:
    if node.id != "scalar" or _kind(node) != "bool":
        raise ValueError("must be true or false.")
    return str(node.value).lower() in ("true", "yes", "on")


def _whole_number(least: int, most: int) -> Callable[[Any], int]:
    def rule(node: Any) -> int:
        if node.id == "scalar" and re.fullmatch(r"[0-9][0-9_]{0,15}", node.value):
            number = int(node.value)
            if least <= number <= most:
                return number
        raise ValueError(f"must be a whole number from {least:,} to {most:,}.")

    return rule


def _share(node: Any) -> float | None:
    if (
        node.id == "scalar"
        and _kind(node) in ("bool", "null")
        and node.value.lower() in ("off", "false", "no", "null", "~")
    ):
        return None
    try:
        share = float(node.value) if node.id == "scalar" and _kind(node) in ("float", "int") else 0.0
    except ValueError:
        share = 0.0
    if not 0.1 <= share <= 1:
        raise ValueError("must be a number from 0.1 to 1, or off.")
    return share


def duration(node: Any) -> float:
    """Return seconds: ``90``, ``90s``, ``2m`` or ``1m30s``."""
    written = node.value.strip() if node.id == "scalar" else ""
    found = _DURATION.fullmatch(written)
    seconds = 60.0 * int(found["m"] or 0) + float(found["s"] or 0) if found and written else 0.0
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise ValueError("must be a duration up to 24 hours, such as 90s, 2m or 1m30s.")
    return seconds


def _provider(node: Any) -> Provider:
    providers: tuple[Provider, ...] = get_args(Provider)
    for one in providers:
        if node.id == "scalar" and node.value == one:
            return one
    raise ValueError(f"must be one of {', '.join(providers)}.")


def _url(node: Any) -> str:
    url = _text(node)
    if not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", url):
        raise ValueError("must be an address such as http://127.0.0.1:8080/v1, without a user or a password.")
    return url


def _variable(node: Any) -> str:
    if node.id != "scalar" or not _VARIABLE.fullmatch(node.value):  # never quoted: it may be a key
        raise ValueError("must be the name of an environment variable, never the key itself.")
    return str(node.value)


def _tools(node: Any) -> tuple[str, ...]:
    if node.id != "sequence":
        raise ValueError(f"must be a list, of {', '.join(TOOL_NAMES)}.")
    names = []
    for item in node.value:
        if item.id != "scalar" or item.value not in TOOL_NAMES:
            written = one_line(str(item.value), 40) if item.id == "scalar" else "a tool"
            nearest = difflib.get_close_matches(written, TOOL_NAMES, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"the tools are {', '.join(TOOL_NAMES)}."
            raise _Within(item, f"names {written}, which is no tool; {hint}")
        names.append(item.value)
    return tuple(dict.fromkeys(names))


def _hooks(node: Any) -> tuple[Hook, ...]:
    if node.id != "sequence":
        raise ValueError("must be a list of commands.")
    return tuple(_hook(item) for item in node.value)


def _hook(node: Any) -> Hook:
    if node.id != "mapping":
        return Hook(_words(node))
    parts = {str(key.value): value for key, value in node.value if key.id == "scalar"}
    if "command" not in parts or parts.keys() - {"command", "timeout"} or len(parts) < len(node.value):
        raise _Within(node, "holds a hook with other keys than command and timeout.")
    hook = Hook(_words(parts["command"]))
    if "timeout" not in parts:
        return hook
    try:
        return replace(hook, timeout=duration(parts["timeout"]))
    except ValueError as error:
        raise _Within(parts["timeout"], f"holds a hook whose timeout {error}") from error


def _words(node: Any) -> tuple[str, ...]:
    """Return a command as its words; a text is split as a shell splits it, and no shell runs it."""
    try:
        texts = [_text(item) for item in (node.value if node.id == "sequence" else [node])]
    except ValueError as error:
        raise _Within(node, f"holds a command that {error}") from error
    try:
        words = texts if node.id == "sequence" else shlex.split(texts[0])
    except ValueError as error:
        raise _Within(node, f"holds a command that cannot be split into words ({error}).") from error
    if not words:
        raise _Within(node, "holds an empty command.")
    return tuple(words)


Rule = tuple[str, Any]
"""The field that a key sets, and how: a function of the value's node, or the rules of the keys inside."""

_TOP: dict[str, Rule] = {
    "name": ("name", _text),
    "instructions": ("instructions", _text),
    "model": (
        "model",
        {
            "provider": ("provider", _provider),
            "name": ("name", _text),
            "baseURL": ("base_url", _url),
            "keyVariable": ("key_variable", _variable),
            "script": ("script", lambda node: Path(_text(node))),
        },
    ),
    "maxOutput": ("max_output", _whole_number(200, 1_000_000)),
    "watchdogTimeout": ("watchdog_timeout", duration),
    "sessions": ("", {"enabled": ("sessions_enabled", _claim)}),
    "memory": ("", {"command": ("memory_command", _claim), "tool": ("memory_tool", _claim)}),
    "compaction": (
        "compaction",
        {
            "threshold": ("threshold", _share),
            "contextSize": ("context_size", _whole_number(1_000, 10_000_000)),
            "keepOriginal": ("keep_original", _claim),
            "keepTurns": ("keep_turns", _whole_number(0, 1_000)),
        },
    ),
    "tools": ("tools", _tools),
    "hooks": ("", {"preGeneration": ("pre_generation", _hooks)}),
}


def _paths(rules: Mapping[str, Rule], within: str = "") -> list[str]:
    paths = []
    for name, (_, rule) in rules.items():
        paths += _paths(rule, f"{within}{name}.") if isinstance(rule, Mapping) else [f"{within}{name}"]
    return paths


ALL_KEYS = tuple(_paths(_TOP))
"""Every key, as a path: ``sessions.enabled``."""

__all__ = ["ALL_KEYS", "Compaction", "Model", "read_config"]
