"""Durable sessions for agents on the Microsoft Agent Framework."""
