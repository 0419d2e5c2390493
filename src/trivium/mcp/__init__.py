"""The library for AI assistants, by the Model Context Protocol: few tools, read-only by default,
answers of bounded size. `tools` does the work, `server` speaks the protocol.
"""
