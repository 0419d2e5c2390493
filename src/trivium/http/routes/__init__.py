"""One file for each kind of thing that can be asked for."""
