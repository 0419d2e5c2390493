"""Which embedding model a library uses: the one its manifest describes, unless the settings name
another, which is then a mistake or a wish for `trivium reembed`.

`CurrentModel` is that model with the searcher that uses it. Another process may embed the library
again at any time; its callers follow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from trivium.config import Settings, converted, names, shown
from trivium.core.errors import BadSetting, ModelChanged, ModelUnavailable
from trivium.core.types import Manifest, Where
from trivium.library.assembly import deep_reranker_for, embedder_for, generator_for, reranker_for
from trivium.library.grasp import Grasps
from trivium.models import catalogue, hub
from trivium.models.missing import MissingEmbedder
from trivium.models.weights import NAME
from trivium.ports import Backend, Embedder
from trivium.search.grasp import Passages
from trivium.search.run import Searcher

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
    known = {name: text for name, text in described.items() if name in NAMING}
    values: dict[str, Any] = {names()[name]: _DEFAULTS[names()[name]] for name in NAMING}
    return replace(settings, **(values | converted(known, "the library's manifest")))


def settings_for(settings: Settings, manifest: Manifest) -> Settings:
    """Settings that name a model win; the manifest fills in the rest."""
    given, described = _named(settings), manifest.settings
    # The name of a model that Trivium knows is a place too: nobody needs to name another.
    by_name = "embed.url" not in given and catalogue.known(settings.embed_model) is not None
    places = (*_PLACES, "embed.model") if by_name else _PLACES
    elsewhere = any(
        name in given and description(settings)[name] != described.get(name) for name in places
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
    known = catalogue.known(model)
    if known is not None:
        wanted = catalogue.embedding_named(model)
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
        self._grasps = Grasps(self._backend, embedder)
        self.searcher = Searcher(
            self._backend,
            embedder,
            self.generator,
            reranker,
            self._grasp,
            self._passages,
            deep_reranker_for(settings),
        )

    def renew_grasp(self) -> None:
        """After documents were added."""
        self._grasps.renew()

    def _grasp(self, where: Where) -> float | None:
        found = self._grasps.of(where)
        return None if found is None else found.grasp

    def _passages(self, where: Where) -> Passages:
        found = self._grasps.of(where)
        return Passages(few=True) if found is None else found.shape

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
