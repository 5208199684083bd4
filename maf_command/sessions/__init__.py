"""``maf-memory sessions``: what a person asks about the conversations of a project, one module a command."""
