"""Turns the bytes of a document into text with structure, one file per family of formats.

`detect.read` is the way in. Knows nothing of chunks, models or stores.
"""
