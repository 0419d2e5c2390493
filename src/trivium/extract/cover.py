"""Knows the covers of forms that companies file: the name above a caption, form and period."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

MAX_ENTITY = 80  # characters of a company's name
_FORM = re.compile(
    r"(?i)(form\s+[\w-]{1,8}(?:/a)?"
    r"|(?:annual|quarterly|half-year|interim|current)\s+report(?:\s+\d{4})?)(?:\s*\(mark one\))?$"
)
_PERIOD = re.compile(
    r"(?i:year|quarter|period|months|weeks)\s+(?i:ended):?\s*([A-Z][a-z]+\.?\s+\d{1,2},?\s+(?:19|20)\d\d)"
)
NAME_CAPTION = re.compile(r"\s*\(\s*(?:exact|full|legal)?\s*name\b[^)]*\)?", re.I)
# How the names of companies end.
COMPANY = re.compile(
    r"(?:\b(?:inc|incorporated|corp|corporation|company|co|ltd|limited|llc|l\.?l\.?c|l\.?p|llp|plc"
    r"|ag|gmbh|kgaa|se|n\.?v|s\.?a|s\.?p\.?a|oyj?|ab|asa|holdings?|bancorp|trust|partners)"
    r"|& co)\.?(?:\s*\([^)]*\))?$",
    re.I,
)
_BLANK_STOP = re.compile(r"(?<=\w) (?=[.,](?:\s|$))")


def cover_title(texts: Sequence[str]) -> str:
    """What a form's cover names: "NIKE, Inc., FORM 10-K, May 31, 2021"; empty for other texts."""
    for above, text in pairwise(("", *texts)):
        if caption := NAME_CAPTION.search(text):
            name = tidy(text[: caption.start()] or above)
            if 2 < len(name) <= MAX_ENTITY:
                return ", ".join([name, *form_of(texts)])
    return ""


def tidy(name: str) -> str:
    """Without the rules of a form around it, and blanks before its stops: "NIKE, Inc ."."""
    return _BLANK_STOP.sub("", name).strip(" _")


def form_of(texts: Sequence[str]) -> list[str]:
    """What kind of document a cover says it is, and for which period."""
    form = next((match[1] for text in texts if (match := _FORM.match(text))), "")
    period = _PERIOD.search(" ".join(texts))
    return [part for part in (form, period[1] if period else "") if part]
