"""The library for AI assistants."""
