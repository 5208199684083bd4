"""Session Persistence: a durable context, a fresh dialogue."""
