"""The library over HTTP: thin routes over `Library`, and a door that decides who comes in.

`serve.py` starts it, `app.py` puts it together, `guard.py` looks at every request before anything
else does, `door.py` turns a token into a caller, `gate.py` bounds how much is worked on at once,
`problems.py` says what went wrong. Every route takes a `Caller` and asks the library within what
that caller may see.
"""
