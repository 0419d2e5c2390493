"""The store of one folder: SQLite is the truth, tantivy and faiss are derived from it."""
