"""The registry in SQL, shared by every store that keeps its truth in a database."""
