"""Suites that any extractor or source must pass, for this project and for others who write one.
Needs pytest."""
