"""Which embedding model a library uses: the one its manifest describes, unless the settings name
another, which is then a mistake or a wish for `trivium reembed`.

`CurrentModel` is that model with the searcher that uses it. Another process may embed the library
again at any time; its callers follow. `Separation` measures how well the model tells a library's
passages apart, how long and how alike they are, again as the library grows.
"""

import json
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

from trivium.config import Settings, converted, names, shown
from trivium.core.errors import BadSetting, ModelChanged, ModelError, ModelUnavailable
from trivium.core.types import (
    EVERYONE,
    OWNER,
    ChunkId,
    DocumentId,
    Hit,
    Manifest,
    Probe,
    Query,
    Signal,
    Vector,
    Where,
)
from trivium.library.assembly import deep_reranker_for, embedder_for, generator_for, reranker_for
from trivium.models import catalogue, hub
from trivium.models.missing import MissingEmbedder
from trivium.models.weights import NAME
from trivium.ports import Backend, Embedder
from trivium.search.anchors import STEEPEST, anchored
from trivium.search.run import Searcher
from trivium.search.scale import Scale, scale_of
from trivium.search.separation import (
    LEAST,
    NEIGHBOURS,
    PASSAGES,
    Passages,
    alike,
    measure,
    usual_length,
    usual_likeness,
)

# What decides which vectors a text gets, and how to reach the model. The key itself is no setting.
NAMING = (
    "embed.folder",
    "embed.url",
    "embed.model",
    "embed.dimensions",
    "embed.max_tokens",
    "embed.query_prefix",
    "embed.document_prefix",
    "embed.key_file",
    "embed.key_header",
)
_PLACES = ("embed.folder", "embed.url")  # a model is in one or behind the other
_REMOTE = ("embed.model", "embed.key_file", "embed.key_header")
_DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(Settings)}


def description(settings: Settings) -> dict[str, str]:
    """The settings that name a model, as far as they are not the default; paths in full."""
    return {
        name: os.path.abspath(value) if isinstance(value, Path) else shown(value)
        for name, value in _named(settings).items()
    }


def with_model(settings: Settings, described: Mapping[str, str]) -> Settings:
    """The same settings with exactly this model, whatever they named."""
    naming = {name: text for name, text in described.items() if name in NAMING}
    values: dict[str, Any] = {names()[name]: _DEFAULTS[names()[name]] for name in NAMING}
    return replace(settings, **(values | converted(naming, "the library's manifest")))


def settings_for(settings: Settings, manifest: Manifest) -> Settings:
    """Settings that name a model win; the manifest fills in the rest."""
    named, described = _named(settings), manifest.settings
    # The name of a model that Trivium knows is a place too: nobody needs to name another.
    by_name = "embed.url" not in named and catalogue.known(settings.embed_model) is not None
    places = (*_PLACES, "embed.model") if by_name else _PLACES
    elsewhere = any(
        name in named and description(settings)[name] != described.get(name) for name in places
    )
    if elsewhere or not described:
        return settings
    return with_model(settings, {**described, **description(settings)})


def embedder_or_missing(settings: Settings) -> Embedder:
    try:
        return embedder_for(settings)
    except ModelUnavailable as reason:
        return MissingEmbedder(reason)


def refuse_another(embedder: Embedder, manifest: Manifest) -> None:
    """Raises ModelChanged where the settings name another model than the library's."""
    if manifest.model and embedder.fingerprint and manifest.model != embedder.fingerprint:
        raise ModelChanged(
            f"This library uses the model {manifest.model}, but your settings name"
            f" {embedder.fingerprint}.",
            fix="Run `trivium reembed` to change the library's model, or change your settings"
            " back.",
            on_page="Ask the person who runs this server to correct the model settings.",
        )


def names_another(settings: Settings, manifest: Manifest) -> bool:
    """Whether a library of this manifest would refuse to open under these settings."""
    try:
        refuse_another(embedder_or_missing(settings_for(settings, manifest)), manifest)
    except ModelChanged:
        return True
    return False


def wanted_settings(settings: Settings, manifest: Manifest, model: str | None) -> Settings | None:
    """The settings with the model to change to: the named one, else that of the settings. None: the
    unfinished change."""
    if model is not None:
        return _naming(settings, model)
    if names_another(settings, manifest):
        return settings_for(settings, manifest)
    if manifest.next_model:
        return None
    raise BadSetting(
        f"The library uses {manifest.model or 'no model yet'}, and your settings name"
        " no other model.",
        fix="Name one: `trivium reembed --model FOLDER`.",
    )


def _naming(settings: Settings, model: str) -> Settings:
    """The settings with the model that a person names: one of the catalogue (downloaded if needed),
    a folder, a model at `embed.url`, or the built-in one."""
    named = {name: text for name, text in description(settings).items() if name not in _PLACES}
    if model == NAME:
        return with_model(settings, {})
    local = {name: text for name, text in named.items() if name not in _REMOTE}
    catalogued = catalogue.known(model)
    if catalogued is not None:
        wanted = catalogue.named_for(model, "embedding")
        folder = hub.fetch(wanted, settings.cache, settings.models_hub)
        return with_model(settings, {**local, "embed.folder": os.path.abspath(folder)})
    if Path(model).expanduser().is_dir():
        return with_model(settings, {**local, "embed.folder": str(Path(model).expanduser())})
    if settings.embed_url:
        there = {"embed.url": settings.embed_url, "embed.model": model}
        return with_model(settings, {**named, **there})
    raise BadSetting(
        f"Unknown model {model!r}.",
        fix=f"Name a model that `trivium models` lists, {NAME}, a folder with a"
        " sentence-transformers model, or, with `--set embed.url=…`, a model at that address.",
    )


def _named(settings: Settings) -> dict[str, Any]:
    values = {name: getattr(settings, names()[name]) for name in NAMING}
    return {name: value for name, value in values.items() if value != _DEFAULTS[names()[name]]}


T = TypeVar("T")
_SWITCHES = 3  # of the model during one search; even two would take someone in a great hurry


class CurrentModel:
    """Settings, embedder, generator and searcher change together."""

    def __init__(self, backend: Backend, embedder: Embedder, settings: Settings) -> None:
        self._backend = backend
        self.observers: list[Callable[[Mapping[str, float]], None]] = []
        self._use(embedder, settings)

    def _use(self, embedder: Embedder, settings: Settings) -> None:
        # A remote model's are known from its first answer on: here, that of an earlier day.
        manifest = self._backend.models.manifest()
        if embedder.fingerprint == manifest.model:
            embedder.dimensions = embedder.dimensions or manifest.dimensions
        self.embedder = embedder
        self.settings = settings
        self.generator = generator_for(settings)
        reranker = reranker_for(settings, embedder, self._backend)
        self._separations = Separations(self._backend, embedder)
        self.searcher = Searcher(
            self._backend,
            embedder,
            self.generator,
            reranker,
            self._separation,
            self._passages,
            deep_reranker_for(settings),
        )

    def observe(self, milliseconds: Mapping[str, float]) -> None:
        """Tell how long each stage of a search took, whoever asked."""
        for observer in self.observers:
            observer(milliseconds)

    def renew_separation(self) -> None:
        """After documents were added or removed."""
        self._separations.renew()

    def _separation(self, where: Where) -> float | None:
        separation = self._separations.of(where)
        return None if separation is None else separation.value

    def scale(self, where: Where) -> Scale | None:
        """Of the model's cosines, as far as it is known for the passages a caller may see."""
        scale = scale_of(self.embedder.fingerprint)
        if scale is not None:
            return scale
        separation = self._separations.of(where)
        return None if separation is None else separation.scale

    def _passages(self, where: Where) -> Passages:
        separation = self._separations.of(where)
        return Passages(few=True) if separation is None else separation.shape

    def follow(self) -> None:
        """Use the model that the library's vectors are of by now, whatever the settings named when
        it was opened: another process has embedded it again."""
        manifest = self._backend.models.manifest()
        if manifest.model and manifest.model != self.embedder.fingerprint:
            settings = with_model(self.settings, manifest.settings)
            self._use(embedder_or_missing(settings), settings)

    def following(self, search: Callable[[], T]) -> T:
        """Run a search; if the model changed meanwhile, run it again with the new one."""
        for _ in range(_SWITCHES):
            try:
                return search()
            except ModelChanged:
                self.follow()
        return search()


GROWN = 1.5  # times as many passages as were there: time to look again
_SECONDS = 60.0  # that a search goes by what it last read or measured
_MOST_KNOWN = 1_000  # sets of collections
# Only public documents: no caller's ranking may reveal documents they can't see.
_PUBLIC = OWNER.held_by(frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Separation:
    """The measurement, its model, and the number of passages at the time."""

    value: float | None  # None: not measured, since it asks the model for a hundred vectors
    model: str
    passages: int
    length: float | None = None  # of passages (`usual_length`)
    alike: float | None = None  # of passages; None: measured before that was, as of the length
    slope: float = 0.0  # of the model's cosines, by its anchors; 0 if these say nothing
    offset: float = 0.0

    @property
    def scale(self) -> Scale | None:
        scale = scale_of(self.model)
        return scale or (Scale(self.slope, self.offset) if self.slope else None)

    @property
    def shape(self) -> Passages:
        scale = self.scale
        near = scale.similarity(self.alike) if scale and self.alike is not None else None
        return Passages(self.length or 0.0, usual_likeness(near))


def stored_separation(backend: Backend, model: str) -> Separation | None:
    """None if nothing was measured yet with this model, or the stored value can't be read."""
    with suppress(ValueError, TypeError, KeyError):
        stored = json.loads(backend.models.separation())
        separation = Separation(stored.pop("grasp"), **stored)  # as earlier releases call it
        figures = (separation.value or 0, separation.length or 0, separation.alike or 0)
        placed = max(abs(separation.slope), abs(separation.offset)) <= STEEPEST
        if separation.model == model and placed and all(-1 <= figure <= 1 for figure in figures):
            return separation
    return None


_UNPLACED = Scale(0.0, 0.0)


class Separations:
    """What was measured, by what a caller may see. Threads may share it."""

    def __init__(self, backend: Backend, embedder: Embedder) -> None:
        self._backend = backend
        self._embedder = embedder
        self._fitted = scale_of(embedder.fingerprint) is not None
        self._remembered: dict[frozenset[str] | None, tuple[Separation | None, float]] = {}
        self._lock = Lock()
        self._anchored: Scale | None = None
        self._lock_of_anchors = Lock()

    def renew(self) -> None:
        """Measure if the library is new or has grown much. A search works without it."""
        before = stored_separation(self._backend, self._embedder.fingerprint)
        separation = self._measured(_PUBLIC, before)
        if separation != before:
            stored = {} if separation is None else asdict(separation)
            stored["grasp"] = stored.pop("value", None)
            self._backend.models.keep_separation(json.dumps(stored) if separation else "")
        with self._lock:
            self._remembered.pop(None, None)

    def of(self, where: Where) -> Separation | None:
        """Of the public passages in the caller's collections, so that passages elsewhere change
        nothing. For a caller limited to some, it is measured by the first search: .6 s of a
        processor, once in a process and whenever they have grown much."""
        collections = where.collections
        with self._lock:
            separation, stale = self._remembered.get(collections, (None, 0.0))
            if monotonic() < stale:
                return separation
            if collections is None:  # another process may have measured it
                separation = stored_separation(self._backend, self._embedder.fingerprint)
            else:
                separation = self._measured(where.access.held_by(_PUBLIC.audiences), separation)
            if len(self._remembered) >= _MOST_KNOWN:
                self._remembered.clear()
            self._remembered[collections] = (separation, monotonic() + _SECONDS)
            return separation

    def _measured(self, public: Where, before: Separation | None) -> Separation | None:
        """A new measurement if there are many more passages than before, else that one. None if
        there are too few, by now too: then a match is computed as in a small library."""
        backend, embedder = self._backend, self._embedder
        count, ids = backend.signals.sample(PASSAGES, public)
        if count < LEAST:
            return None
        if before is not None and before.alike is not None and count < GROWN * before.passages:
            return before

        def nearest(vector: Vector) -> list[Hit]:
            probe = Probe(Query(""), vector, model=embedder.fingerprint)
            return backend.signals.search(Signal.VECTOR, probe, public, NEIGHBOURS + 1)

        def documents(collection: Collection[ChunkId]) -> dict[ChunkId, DocumentId]:
            return {
                c.id: c.document.id for c in backend.documents.chunks(sorted(collection), public)
            }

        with suppress(ModelError, ModelChanged):
            passages = backend.documents.chunks(ids, public)
            vectors = backend.signals.vectors(ids, public)
            value = measure(passages, vectors, embedder.embed_query) if self._fitted else None
            if value is not None or not self._fitted:
                near = alike(passages, vectors, nearest, documents)
                length, by = usual_length(passages), self._placed()
                return Separation(
                    value, embedder.fingerprint, count, length, near, by.slope, by.offset
                )
        return before

    def _placed(self) -> Scale:
        """Of a model whose cosines nobody measured, by its anchors: once for a library."""
        if self._fitted:
            return _UNPLACED
        with self._lock_of_anchors:
            if self._anchored is None:
                before = stored_separation(self._backend, self._embedder.fingerprint)
                self._anchored = (
                    Scale(before.slope, before.offset)
                    if before is not None
                    else anchored(self._embedder.embed_query, self._embedder.embed_documents)
                ) or _UNPLACED
            return self._anchored
