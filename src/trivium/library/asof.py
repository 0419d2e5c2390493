"""Searching a library as it was: an instant as people write it, and the stores that answer."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, date, datetime, time

from trivium.errors import BadSetting
from trivium.ingest.embedding import Embedding
from trivium.library.assembly import generator_for, reranker_for
from trivium.library.parts import Parts
from trivium.options import When
from trivium.search.run import Searcher
from trivium.store.embedded.asof import MOST
from trivium.store.embedded.store import EmbeddedStore
from trivium.text.values import check_scalar
from trivium.types import Where

_EMBEDDED_AT_ONCE = 256  # passages: 16 s at 16 a second (256 tokens each, two cores), once a view
_LACKING = (
    "The vector signal can't find all passages of that time: today's model has not embedded them."
    " Search one document (`--source`) to embed its passages."
)


class AsOf(Parts):
    """Keeps the views of the last searches open. Not for several threads at once."""

    _views: OrderedDict[str, EmbeddedStore]

    def _as_of(self, when: When, where: Where) -> tuple[EmbeddedStore, Searcher, str]:
        """A store that holds the documents that pass `where` as they were, its searcher, and what
        the vector signal cannot find in it."""
        digest, make = self._store.as_of(instant(when), where)
        view = self._views.pop(digest, None)
        if view is None:
            view = make()
        self._views[digest] = view
        while len(self._views) > MOST:
            self._views.popitem(last=False)[1].close()
        note = _LACKING if self._embed_lacking(view) else ""
        reranker = reranker_for(self._settings, self._embedder, view)
        searcher = Searcher(view, self._embedder, generator_for(self._settings), reranker)
        return view, searcher, note

    def _embed_lacking(self, view: EmbeddedStore) -> int:
        """Embed passages of the past that the model of today has not met, where there are few: a
        change of the model embeds active passages only. How many are left comes back."""
        model = view.manifest().model
        if not model:
            return 0
        lacking = view.count_unembedded(model)
        if not lacking or lacking > _EMBEDDED_AT_ONCE or model != self._embedder.fingerprint:
            return lacking
        embedding = Embedding(view, self._embedder)
        view.embed_missing(model, lambda texts: embedding.embed(texts).vectors)
        return view.count_unembedded(model)

    def _close_views(self) -> None:
        while self._views:
            self._views.popitem()[1].close()


def instant(when: When) -> int | str:
    """A number as it is; a date or time as the registry writes it. A day counts to its end, and
    times are local unless they say otherwise."""
    if isinstance(when, int) and not isinstance(when, bool):
        return _number(when)
    if isinstance(when, str):
        if when.strip().isdecimal() and len(when.strip()) < 4:  # four digits are a year
            return _number(int(when))
        when = _parsed(when.strip())
    if isinstance(when, datetime):
        at = when
    elif isinstance(when, date):
        at = datetime.combine(when, time.max)
    else:
        raise _not_understood(when)
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(number: int) -> int:
    if number < 1:
        raise BadSetting(f"`as_of` is {number}.", fix="Interpretations are counted from 1.")
    check_scalar("as_of", number)
    return number


def _parsed(text: str) -> date | datetime:
    for parse in (date.fromisoformat, datetime.fromisoformat):
        try:
            return parse(text)
        except ValueError:
            continue
    raise _not_understood(text)


def _not_understood(when: object) -> BadSetting:
    return BadSetting(
        f"`as_of` is {when!r}.",
        fix="It takes an interpretation's number, a date (2026-11-01) or 2026-11-01T18:00.",
    )
