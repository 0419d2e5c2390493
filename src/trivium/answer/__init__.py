"""Answers a question from passages: search, read, write, cite, check, or refuse."""
