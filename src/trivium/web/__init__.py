"""The library in a browser: pages rendered on the server, with a little script to make them quick.

`site.py` adds the pages to the server of `http/`, `pages.py` renders templates whole or in parts
and explains errors, `assets.py` serves style and scripts, `entry.py` signs people in. Each screen
has a file, a template and at most one script, all of the same name. Every screen is a plain address
that works without script; a script requests the same address and names the parts it wants. Knows
nothing of stores; shows nothing outside `caller.within()`.
"""
