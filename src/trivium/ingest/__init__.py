"""From something a source offers to chunks in a store."""
