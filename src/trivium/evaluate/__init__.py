"""Judges rankings against what people found relevant."""
