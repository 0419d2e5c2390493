"""The library as other frameworks want it."""
