"""Where documents come from. A source offers items; it knows nothing of what becomes of them."""
