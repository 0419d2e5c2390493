"""What can be done with a library, each operation and each of its options declared once.

The terminal's options, HTTP bodies, tools of assistants, the page's boxes, settings and the tables
in docs/ are made from these declarations. Imports nothing heavy: `trivium --help` reads it.
"""
