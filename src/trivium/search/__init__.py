"""Turns a query into explained results. Begin with `run.py`. Knows no particular store."""
