"""The tools that the agent may use on a project."""

from mm.tools.project import project_tools

__all__ = ["project_tools"]
