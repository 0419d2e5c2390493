"""Notices when a model says that no passage has the answer. Knows nothing of prompts and
streams."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_EXCUSE = 400  # characters: a longer text also says something else
# In English, German, French and Spanish; in other languages, models use the sign that the rules ask
# for.
_SOURCES = (
    r"(?:passages?|sources?|documents?|context|texts?|abschnitte?n?|quellen?|dokumente?n?|passagen"
    r"|textes?|fuentes?|pasajes?|documentos?)"
)
_LACK = (
    r"(?:do(?:es)? not|don[’']t|doesn[’']t|cannot|can[’']t|no information|not (?:contain|mention"
    r"|provid|includ|specif|answer)\w*|kein\w*|nicht|ne .{1,20} pas|aucun\w*|no (?:contien|mencion"
    r"|dice)\w*)"
)
_EXCUSE = re.compile(
    rf"\b{_SOURCES}\b.{{0,80}}\b{_LACK}|\b{_LACK}\b.{{0,80}}\b{_SOURCES}\b", re.I | re.S
)


def is_excuse(text: str, cited: Sequence[int]) -> bool:
    """Whether a model says in its own words that the passages don't have the answer: briefly, and
    without a citation."""
    return not cited and len(text) <= LONGEST_EXCUSE and bool(_EXCUSE.search(text))
