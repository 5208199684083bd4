"""A scripted model for a real process, and what it was sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Script:
    """A scripted model for a real process, and what it was sent."""

    path: Path

    @classmethod
    def of(cls, folder: Path, *replies: Any) -> Script:
        """Write a script; ``record`` beside it takes the requests."""
        folder.mkdir(parents=True, exist_ok=True)
        script = cls(folder / "script.json")
        script.path.write_text(json.dumps({"replies": replies, "record": "requests.jsonl"}), encoding="utf-8")
        script.record.unlink(missing_ok=True)
        return script

    @property
    def record(self) -> Path:
        """The file of recorded requests."""
        return self.path.with_name("requests.jsonl")

    @property
    def option(self) -> str:
        """The option that chooses this script."""
        return f"--chat=script:{self.path}"

    def requests(self) -> list[list[tuple[str, str]]]:
        """The messages of each request, as (role, text)."""
        return [
            [
                (message["role"], "".join(part.get("text", "") for part in message["contents"]))
                for message in one["messages"]
            ]
            for one in self._recorded()
        ]

    def instructions(self) -> list[str]:
        """The instructions of each request."""
        return [one["options"]["instructions"] for one in self._recorded()]

    def _recorded(self) -> list[Mapping[str, Any]]:
        return [json.loads(line) for line in self.record.read_text(encoding="utf-8").split("\n") if line]
