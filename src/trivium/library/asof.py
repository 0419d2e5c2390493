"""Searching a library as it was: an instant as people write it, and the stores that answer."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, date, datetime, time

from trivium.core.errors import BadSetting
from trivium.core.types import Where
from trivium.library.assembly import deep_reranker_for, reranker_for
from trivium.library.model import CurrentModel
from trivium.operations.searching import When
from trivium.ports import Backend
from trivium.search.run import Searcher
from trivium.text.values import check_scalar

MOST = 3  # open at a time: each takes the space of a library
_EMBEDDED_AT_ONCE = 256  # passages: 16 s at 16 a second (256 tokens each, two cores), once a view
_LACKING = (
    "Search by meaning can't find all passages of that time: today's model hasn't embedded them."
    " Search one document (`--source`) to embed its passages."
)


class PastViews:
    """Keeps the views of the last searches open. Not for several threads at once."""

    def __init__(self, backend: Backend, model: CurrentModel) -> None:
        self._backend = backend
        self._model = model
        self._views: OrderedDict[str, Backend] = OrderedDict()

    def open(self, when: When, where: Where) -> tuple[Backend, Searcher, str]:
        """A store with the documents that pass `where` as they were, its searcher, and a note on
        what the vector signal can't find in it."""
        views = self._backend.views
        if views is None:
            raise BadSetting("You can't search this library as of an earlier day.", fix="")
        digest, make = views.as_of(instant(when), where)
        view = self._views.pop(digest, None)
        if view is None:
            view = make()
        self._views[digest] = view
        while len(self._views) > MOST:
            self._views.popitem(last=False)[1].close()
        note = _LACKING if self._embed_lacking(view) else ""
        reranker = reranker_for(self._model.settings, self._model.embedder, view)
        deep = deep_reranker_for(self._model.settings)
        embedder, generator = self._model.embedder, self._model.generator
        searcher = Searcher(view, embedder, generator, reranker, deep=deep)
        return view, searcher, note

    def _embed_lacking(self, view: Backend) -> int:
        """Embed passages of the past that today's model has no vectors of, if there are few: a
        change of the model embeds active passages only. Returns how many are left."""
        model = view.models.manifest().model
        if not model:
            return 0
        lacking = view.models.count_unembedded(model)
        if not lacking or lacking > _EMBEDDED_AT_ONCE or model != self._model.embedder.fingerprint:
            return lacking
        from trivium.ingest.embedding import Embedding

        embedding = Embedding(view, self._model.embedder)
        view.models.embed_missing(model, lambda texts: embedding.embed(texts).vectors)
        return view.models.count_unembedded(model)

    def close(self) -> None:
        while self._views:
            self._views.popitem()[1].close()


def instant(when: When) -> int | str:
    """A number as it is; a date or time as the registry writes it. A day counts to its end, and
    times are local unless they name a zone."""
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
    try:
        at = at.astimezone(UTC)
    except (ValueError, OverflowError):  # at the edges of the calendar
        raise _not_understood(when) from None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(number: int) -> int:
    if number < 1:
        raise BadSetting(f"`as_of` can't be {number}.", fix="Interpretations count from 1.")
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
        f"`as_of` can't be {when!r}.",
        fix="Give an interpretation's number, a date (2026-11-01) or 2026-11-01T18:00.",
    )
