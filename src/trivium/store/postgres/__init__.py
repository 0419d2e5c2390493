"""A library in a PostgreSQL database, for many servers and workers."""
