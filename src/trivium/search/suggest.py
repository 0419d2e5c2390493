"""What someone who types may want to type: how the last word goes on, or what it was meant to be.

Only words of documents that the caller may see. Knows stores only through their port.
"""

from __future__ import annotations

import re

from trivium.ports import Backend
from trivium.results import Suggestion
from trivium.text.normalise import words
from trivium.types import Where

_LAST = re.compile(r"[^\s\"()]+\Z")
LONGEST = 500  # characters typed


def suggest(store: Backend, typed: str, limit: int, where: Where) -> tuple[Suggestion, ...]:
    """The typed text with its last word completed; else with that word's likely corrections."""
    found = _LAST.search(typed[-LONGEST:])
    split = words(found[0]) if found else []
    if not found or not split:
        return ()
    word, before = split[-1], typed[: len(typed) - len(found[0])]
    begun = "-" if found[0].startswith("-") else ""
    store.signals.refresh()
    completed = store.signals.completions(word, where, limit)
    if completed:
        return tuple(
            Suggestion(f"{before}{begun}{' '.join(c.words)}", "completion", c.chunks)
            for c in completed
        )
    near = store.signals.spellings([word], where)[word]
    return tuple(
        Suggestion(f"{before}{begun}{' '.join(s.words)}", "spelling", s.chunks)
        for s in near[:limit]
        if s.words != (word,)
    )
