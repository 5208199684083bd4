"""The tools that the agent may use on a project."""
