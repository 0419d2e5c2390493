"""The words that everything else is written in. Frozen dataclasses; none imports a package above.

types        library, document, interpretation, element, chunk, signal, audience
conditions   filters, and `Where`, which every read needs
modes        the choices of a search
access       access tokens and callers: who asks, and what they may see
places       where a library is
results      what a search returns
answers      what `ask` returns
history      a document's interpretations
work, pace   jobs, watched folders and synced sources; how much time is left
queries      the log of queries, saved searches
upkeep       a library's state and repairs
shapes       what callers get: the terminal's `--json`, HTTP and the schemas of tools
errors       every failure, with a stable code and what to do about it
advice       the same for people in a browser
"""
