"""Measurements of Trivium that a stranger can repeat. Not part of the package."""
