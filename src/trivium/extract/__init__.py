"""Turns the bytes of a document into text with structure, one file for each family of formats.
Start at `detect.read`. Knows nothing of chunks, models or stores."""
