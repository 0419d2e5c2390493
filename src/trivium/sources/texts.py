"""Text from services as items: a message, an issue, a comment.

Most of it is Markdown. It is split into paragraphs and otherwise left alone: people read the markup
of a comment as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from trivium.core.types import Element, ElementKind, Extraction, Kind, Metadata, Place
from trivium.extract.composer import clean, describe
from trivium.ports import Put
from trivium.text.languages import detect_language

_BLANK = re.compile(r"\n[ \t]*\n\s*")


def text_put(
    id_: str,
    text: str,
    *,
    title: str,
    media_type: str,
    headings: Sequence[str] = (),
    author: str = "",
    time: str = "",
    link: str = "",
    metadata: Mapping[str, object] | None = None,
    audience: str | None = None,
    kind: Kind = Kind.TEXT,
) -> Put:
    """Without any text, the title can be found."""
    body = clean(text).strip() or title or id_
    place = Place(authors=(author,) if author else (), time=time, link=link)
    above = tuple(dict.fromkeys(heading for heading in headings if heading))
    about: Metadata = describe(
        {"authors": [author], "date": time, "link": link, **(metadata or {})}
    )
    element_kind: ElementKind = "message" if kind is Kind.MESSAGES else "paragraph"
    elements = []
    edges = [0, *(match.end() for match in _BLANK.finditer(body)), len(body)]
    for number, (start, stop) in enumerate(pairwise(edges), start=1):
        end = start + len(body[start:stop].rstrip())
        if start < end:
            elements.append(Element(element_kind, start, end, above, paragraph=number, place=place))
    read = Extraction(
        body,
        tuple(elements),
        " ".join(title.split()) or id_,
        media_type,
        detect_language(body),
        kind=kind,
    )
    return Put(id_, f"{id_.rpartition('/')[2]}.txt", read, metadata=about, audience=audience)
