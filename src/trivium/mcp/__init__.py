"""The library for AI assistants, over the Model Context Protocol: few tools, read-only by default,
answers of limited size. `tools` does the work, `server` speaks the protocol.
"""
