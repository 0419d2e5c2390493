"""The library in a browser: pages made on the server, quick with a little script.

`site.py` hangs the pages into the server of `http/`, `pages.py` renders templates whole or in parts
and says what went wrong, `assets.py` hands out style and scripts, `entry.py` lets people in. Each
screen has a file, a template and at most one script of its name. Every screen is a plain address
that works without script; a script asks for the same address and names the parts it wants. Knows
nothing of stores; shows nothing that `caller.within()` does not hold.
"""
