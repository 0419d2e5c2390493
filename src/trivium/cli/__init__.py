"""The terminal: a thin shell over `trivium.library`. Knows options, colours and exit codes."""
