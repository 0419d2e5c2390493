"""Files that a synced source shows: whoever adds their folder, too, gets each document once.

Apart from `sync`, because adding files asks this, and syncing adds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from trivium.core.errors import TriviumError
from trivium.core.work import KeptSource
from trivium.ports import Backend
from trivium.sources import kinds


def uri_prefix(source: KeptSource) -> str:
    return f"{source.kind}:{source.name}/"


def place_of(source: KeptSource) -> str:
    """The file or folder that it reads; empty: none, or its package is gone."""
    try:
        named = kinds.kind_of(source.kind).files[:1]
    except TriviumError:
        return ""
    return "".join(kinds.absolute(source.kind, source.options).get(one, "") for one in named)


def _twin(source: KeptSource, uri: str) -> str:
    """The beginning of the uris under which a source shows a file, if it reads the file; else
    empty."""
    place = place_of(source)
    if place and uri == place:
        return uri_prefix(source).removesuffix("/")
    inside = uri.removeprefix(f"{place}{os.sep}")
    return uri_prefix(source) + inside.replace(os.sep, "/") if place and inside != uri else ""


def synced(backend: Backend, collection: str, uris: Sequence[str]) -> set[str]:
    """Which of these files a source shows already: each document is there once."""
    if not any(map(os.path.isabs, uris)):
        return set()
    sources = [one for one in backend.sources.all() if one.collection == collection]
    twins = [(uri, twin) for one in sources for uri in uris if (twin := _twin(one, uri))]
    known = backend.documents.find_all([twin for _, twin in twins], collection) if twins else {}
    return {
        uri
        for uri, twin in twins
        if twin in known or backend.documents.below(f"{twin}/", collection)
    }
