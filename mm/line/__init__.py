"""The façade of one turn: ``mm -p QUESTION``, for scripts and pipes."""
