"""Cuts an extraction into passages. One file per way of cutting.

Knows nothing of file formats, embedding models or stores.
"""
