"""The reference: every part of a backend in dictionaries and plain loops, small and obvious."""
