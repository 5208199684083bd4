"""The stores that the bench measures beside each other, this project's first."""

from __future__ import annotations

from _peer import Peer
from _peers_of_files import Framework, Ours, Strands
from _peers_of_sqlite import GoogleADK, LangGraph, LangGraphSteps, OpenAIAgents, OpenAIAgentsRunner

PEERS: tuple[type[Peer], ...] = (
    Ours,
    Framework,
    OpenAIAgents,
    OpenAIAgentsRunner,
    LangGraph,
    LangGraphSteps,
    GoogleADK,
    Strands,
)
