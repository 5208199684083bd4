"""The façade for editors: the Agent Client Protocol over standard input and output. It holds no rule about storage."""
