"""Splits an extraction into passages. One file for each way of splitting. Knows nothing of file
formats, embedding models or stores."""
