"""The command maf-memory: what a person asks about a chat or a state root, outside a console."""
