"""The errors that are mini-me's own, in the family that a façade shows as one line."""

from __future__ import annotations

from maf_memory.errors import MafMemoryError


class SessionsDisabled(MafMemoryError):
    """Conversations are not kept in this project; nothing was read or written."""

    def __str__(self) -> str:
        return "Sessions are off in this project: set sessions.enabled to true in agent.yaml to keep and find them."


class UnknownNumber(MafMemoryError):
    """No conversation has this number in the list as it was shown."""

    def __init__(self, number: str, listed: int) -> None:
        super().__init__(number, listed)
        self.number = number
        self.listed = listed

    def __str__(self) -> str:
        return f"There is no conversation {self.number}: /sessions lists {self.listed}."


class CompactionFailed(MafMemoryError):
    """No summary came; the conversation is as it was."""


class ConfigRefused(MafMemoryError):
    """``agent.yaml`` cannot be used; the line says where and why, and nothing was started."""
