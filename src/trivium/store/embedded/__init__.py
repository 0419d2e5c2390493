"""The store of one folder: SQLite is the truth, words and vectors are derived from it."""
