"""Whether two sentences may disagree, by rules.

`roles` says what the words around a value make of it, `statement` which values a sentence gives of
whom, `differing` which of two sentences' values can't both be so. `claims` reads a passage into
what it states, and `compare` says why two claims may disagree. Pure; knows nothing of stores.
"""
