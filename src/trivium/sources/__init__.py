"""Where documents come from. A source offers items; it knows nothing of what happens to them."""
