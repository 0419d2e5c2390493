"""The entry point for everything outside: open, fill and search one library.

Puts backend, models, pipeline and searcher together from the settings. Its parts do the work; the
everyday tasks have short methods here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import RLock
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from trivium.config import Settings, load
from trivium.core.errors import ModelUnavailable
from trivium.core.places import place_of
from trivium.core.types import Labels, Metadata
from trivium.library.asking import Scope, one_of
from trivium.library.assembly import backend_options
from trivium.library.documents import Documents
from trivium.library.model import (
    CurrentModel,
    embedder_or_missing,
    refuse_another,
    settings_for,
    with_model,
)
from trivium.library.queries import Alerts, LogMode, Queries
from trivium.library.searching import Searching
from trivium.models.missing import MissingEmbedder
from trivium.ports import Backend, Embedder, Waiting
from trivium.store.opening import open_backend

if TYPE_CHECKING:
    from trivium.core.work import Priority
    from trivium.ingest.outcomes import Outcome
    from trivium.library.answering import Answering, Conversations
    from trivium.library.contradictions import Contradictions
    from trivium.library.folders import Folders
    from trivium.library.history import History
    from trivium.library.jobs import Jobs, Report
    from trivium.library.models import Models
    from trivium.library.quotas import Quotas
    from trivium.library.quoting import Quoting
    from trivium.library.sync import Sync
    from trivium.library.tokens import Tokens
    from trivium.library.upkeep import Upkeep
    from trivium.library.uploads import Uploads

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


P = ParamSpec("P")
R = TypeVar("R")


class _LazyPart(Generic[R]):
    """A part of the library that loads when it is first used: a search, which needs few of them,
    starts with a sixth less processor time."""

    def __init__(self, make: Callable[[Library], R]) -> None:
        self._make = make

    def __get__(self, library: Library | None, _kind: type) -> R:
        if library is None:
            return cast("R", self)  # for people who ask for help
        parts, name = library.__dict__, self._make.__name__
        with library._loading:
            if name not in parts:  # another thread may have been faster
                parts[name] = self._make(library)
            return cast("R", parts[name])


class _Of(Generic[P, R]):
    """A method of one of the library's parts, for everyday use: the same options, the same text."""

    def __init__(self, part: str, method: Callable[[], Callable[Concatenate[Any, P], R]]) -> None:
        self._part = part
        self._method = method

    def __get__(self, library: Library | None, _kind: type) -> Callable[P, R]:
        if library is None:
            return cast("Callable[P, R]", self._method())  # for people who ask for help
        return MethodType(self._method(), getattr(library, self._part))


def _load_jobs() -> type[Jobs]:
    from trivium.library.jobs import Jobs

    return Jobs


def _load_history() -> type[History]:
    from trivium.library.history import History

    return History


def _load_quoting() -> type[Quoting]:
    from trivium.library.quoting import Quoting

    return Quoting


def _load_answering() -> type[Answering]:
    from trivium.library.answering import Answering

    return Answering


class Library:
    """One searchable library. Use it as a context manager, or call `close`.

    >>> with Library.open("notes.library") as library:     # doctest: +SKIP
    ...     library.add("notes/")
    ...     for result in library.search("where is the crown"):
    ...         print(result.rank, result.found.document.title)
    """

    def __init__(self, backend: Backend, embedder: Embedder, settings: Settings) -> None:
        self._loading = RLock()
        self._model = CurrentModel(backend, embedder, settings)
        self._scope = Scope(backend)
        self.backend = backend
        self.documents = Documents(backend, self._model, self._scope)
        self._searching = Searching(backend, self._model, self._scope, self.documents)
        mode = one_of(LogMode, "log.queries", settings.log_queries or LogMode.OFF)
        self.queries = Queries(backend, mode, settings.log_rows, settings.log_days)

    @_LazyPart
    def history(self) -> History:
        return _load_history()(self.backend, self._model, self.documents)

    @_LazyPart
    def jobs(self) -> Jobs:
        return _load_jobs()(self.backend, self._model, self.documents)

    @_LazyPart
    def quotas(self) -> Quotas:
        from trivium.library.quotas import Quotas

        return Quotas(self.backend, self._model.settings)

    @_LazyPart
    def uploads(self) -> Uploads:
        from trivium.library.uploads import Uploads

        return Uploads(self.backend, self._model, self.documents, self.jobs, self.quotas)

    @_LazyPart
    def folders(self) -> Folders:
        from trivium.library.folders import Folders

        return Folders(self.backend, self.jobs)

    @_LazyPart
    def sync(self) -> Sync:
        from trivium.library.sync import Sync

        return Sync(self.backend, self._model)

    @_LazyPart
    def models(self) -> Models:
        from trivium.library.models import Models

        return Models(self.backend, self._model)

    @_LazyPart
    def upkeep(self) -> Upkeep:
        from trivium.library.upkeep import Upkeep

        return Upkeep(self.backend, self._model, self.jobs)

    @_LazyPart
    def tokens(self) -> Tokens:
        from trivium.library.tokens import Tokens

        return Tokens(self.backend.tokens)

    @_LazyPart
    def conversations(self) -> Conversations:
        from trivium.library.answering import Conversations

        return Conversations(self.backend.conversations)

    @_LazyPart
    def contradictions(self) -> Contradictions:
        from trivium.library.contradictions import Contradictions

        return Contradictions(self._model, self._searching, self.documents)

    @_LazyPart
    def alerts(self) -> Alerts:
        return Alerts(self.backend, self._searching, self.documents)

    @_LazyPart
    def _quoting(self) -> Quoting:
        return _load_quoting()(self.backend, self._scope)

    @_LazyPart
    def _answering(self) -> Answering:
        return _load_answering()(
            self.backend, self._model, self._scope, self._searching, self.documents, self.history
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
        as_made: bool = False,
    ) -> Library:
        """Open the library in this folder, or at an address such as
        `postgresql://user@host/database`; creates it if there is none. Without a path, opens the
        one that the settings name.

        Uses the model that the library was embedded with; settings that name another raise
        ModelChanged, unless `as_made` tells it to ignore them.
        """
        settings = settings or load().settings
        # Before the folder is created, because it may raise BadSetting. Reading a model's identity
        # takes .1 s.
        embedder = None if as_made else embedder_or_missing(settings)
        place = settings.library if path is None else place_of(path)
        backend = open_backend(place, backend_options(settings, create=create))
        try:
            manifest = backend.models.manifest()
            own_settings = settings_for(settings, manifest)
            if as_made:
                own_settings = with_model(settings, manifest.settings)
            if embedder is None or own_settings != settings:
                settings, embedder = own_settings, embedder_or_missing(own_settings)
            if as_made and manifest.model not in ("", embedder.fingerprint):
                embedder = MissingEmbedder(ModelUnavailable(f"Couldn't load {manifest.model}."))
            refuse_another(embedder, manifest)
        except BaseException:
            backend.close()
            raise
        return cls(backend, embedder, settings)

    def observe_searches(self, observe: Callable[[Mapping[str, float]], None]) -> None:
        """Have it called with the milliseconds of each stage of every search."""
        self._model.observers.append(observe)

    def close(self) -> None:
        self.queries.flush(settled=False)
        self.documents.close()
        self._searching.close()
        self.backend.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The model in use. Another process may change the library's model at any time."""
        return self._model.embedder

    # --- documents in and out

    def add(
        self,
        paths: Paths,
        *,
        collection: str = "default",
        category: str | None = None,
        audience: str | None = None,
        metadata: Metadata | None = None,
        ignore: Sequence[str] = (),
        priority: Priority | None = None,
        password: str = "",
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add files, folders or patterns. Unchanged files cost no work.

        Labels you don't give come from the document's front matter, or stay as they were.
        `ignore`: .gitignore rules, in addition to .triviumignore files.
        `password` opens locked PDF and Office files and archives. It is kept nowhere.
        Adding is a job: if the process dies, `jobs.work` resumes it in any process.
        """
        from trivium.library.jobs import told_of

        listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        labels = Labels(collection, category, audience, metadata or {})
        source = self.folders.source(listed, ignore)
        job = self.jobs.enqueue(source, labels, what=told_of(listed), priority=priority)
        report = self.jobs.work(job.id, on_outcome=on_outcome, on_wait=on_wait)
        return self.add_locked(report, labels, password, on_wait=on_wait) if password else report

    def add_locked(
        self, report: Report, labels: Labels, password: str, *, on_wait: Waiting | None = None
    ) -> Report:
        """Add the files that a report of `jobs.work` calls locked, opened with a password."""
        from trivium.library.unlocking import add_locked

        add = partial(self.jobs.add_from, on_wait=on_wait)
        return add_locked(report, self._model.settings, password, add, labels)

    add_from = _Of("jobs", lambda: _load_jobs().add_from)
    remove = _Of("documents", lambda: Documents.remove)
    restore = _Of("history", lambda: _load_history().restore)
    show = _Of("documents", lambda: Documents.show)

    # --- asking

    search = _Of("_searching", lambda: Searching.search)
    similar = _Of("_searching", lambda: Searching.similar)
    suggest = _Of("_searching", lambda: Searching.suggest)
    quote = _Of("_quoting", lambda: _load_quoting().find)
    ask = _Of("_answering", lambda: _load_answering().ask)
    ask_stream = _Of("_answering", lambda: _load_answering().ask_stream)
    questions = _Of("_answering", lambda: _load_answering().questions)

    # --- for evaluation and tuning

    hear = _Of("_searching", lambda: Searching.hear)
    judge = _Of("_searching", lambda: Searching.judge)
