"""Where chunks are kept, and how each store answers one signal at a time."""
