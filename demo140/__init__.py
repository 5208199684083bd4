"""Native Session: the conversation itself, in a versioned envelope."""
