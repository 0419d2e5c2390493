"""Pure functions over text: tokens, languages, boundaries, words, trigrams, query syntax.

Knows nothing of documents, files or stores.
"""
