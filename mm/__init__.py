"""mini-me: a small local agent whose conversations live beside the project as readable files."""
