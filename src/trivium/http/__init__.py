"""The library over HTTP: thin routes over `Library`, and `Callers`, who checks access.

`serve.py` starts it, `app.py` puts it together, `guard.py` checks every request first, `callers.py`
turns a token into a caller, `limiter.py` limits how much runs at once, `problems.py` turns errors
into answers. Every route takes a `Caller` and asks the library within what that caller may see.
"""
