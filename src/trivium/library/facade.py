"""The façade that everything outside uses: one library, opened, filled, searched.

Puts store, models, pipeline and searcher together by the settings. Holds no logic of its own.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from threading import Event
from types import TracebackType

from trivium.config import Settings, load
from trivium.errors import ModelUnavailable
from trivium.library.answering import Answering
from trivium.library.assembly import blobs_for
from trivium.library.care import Care
from trivium.library.following import Following
from trivium.library.granting import Granting
from trivium.library.model import embedder_or_missing, refuse_another, settings_for, with_model
from trivium.library.picturing import Picturing
from trivium.library.receiving import Receiving
from trivium.library.reembedding import Reembedding
from trivium.library.watching import Watching
from trivium.models.missing import MissingEmbedder
from trivium.ports import Embedder
from trivium.store.embedded.store import EmbeddedStore


class Library(Watching, Answering, Receiving, Picturing, Granting, Following, Care, Reembedding):
    """One searchable library. Use it as a context manager, or call `close`.

    >>> with Library.open("notes.library") as library:     # doctest: +SKIP
    ...     library.add("notes/")
    ...     for result in library.search("where is the crown"):
    ...         print(result.rank, result.found.document.title)
    """

    def __init__(self, store: EmbeddedStore, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._views = OrderedDict()
        self._met = set()
        self._halt = Event()
        self._use(embedder, settings)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
        as_made: bool = False,
    ) -> Library:
        """The library in this folder, made if there is none. Without a path, the one that the
        settings name.

        The model is the one that it was embedded with; settings that name another raise
        ModelChanged, unless `as_made` says that they play no part.
        """
        settings = settings or load().settings
        # Before there is a folder: it raises BadSetting. A model's identity is .1 s of reading.
        embedder = None if as_made else embedder_or_missing(settings)
        folder = settings.library if path is None else Path(path).expanduser()
        store = EmbeddedStore(folder, create=create, blobs=blobs_for(settings))
        try:
            manifest = store.manifest()
            known = settings_for(settings, manifest)
            if as_made:
                known = with_model(settings, manifest.settings)
            if embedder is None or known != settings:
                settings, embedder = known, embedder_or_missing(known)
            if as_made and manifest.model not in ("", embedder.fingerprint):
                embedder = MissingEmbedder(ModelUnavailable(f"{manifest.model} cannot be loaded."))
            refuse_another(embedder, manifest)
        except BaseException:
            store.close()
            raise
        return cls(store, embedder, settings)

    def close(self) -> None:
        self._stop_painting()
        self._close_views()
        self._store.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
