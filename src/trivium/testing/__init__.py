"""Suites that any store must pass, for this project and for others who write one. Needs pytest
and hypothesis."""
