"""mini-me: a small local agent whose conversations live beside the project as readable files."""

PROGRAM = "mm"
"""How this program marks what it writes into a conversation itself."""
