"""Keeps what is slow to start for all tests of one process: the processes that read files, the
graph of the model, and statements of SQL. Otherwise each `add` would start the first (.27 s of
processor time), each embedder would load the second (.1 s), and each library would compile the
third again (a fifth of the time of tests that open one each). A batch of documents that the model
has embedded has the same vectors when the next test adds it: guides add the same samples, each to a
library of its own.

Nothing else is remembered between two uses. They are kept by their settings, so that a test
with other settings gets another one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from trivium.config import Settings
from trivium.extract import process
from trivium.extract.sandbox import Sandbox
from trivium.library import worker
from trivium.library.assembly import embeds_by_processor, readers_for, reading
from trivium.models import colbert, cross_encoder, local, reader
from trivium.store.embedded import database

DOCUMENTS = 150  # numbers in a batch that may be one of documents; a query of ten words has 40
MOST = 300  # batches of a graph: the samples are 60, with 20 MB
Computed: TypeAlias = dict[object, list[Any]]


@contextmanager
def kept() -> Iterator[None]:
    with ExitStack() as open_, pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "sandbox_for", _sandboxes(worker.sandbox_for, open_))
        open_session = _sessions(local.open_session)
        for module in (local, reader, cross_encoder, colbert):
            patch.setattr(module, "open_session", open_session)
        patch.setattr(database, "create_engine", _engines())
        # A compiled statement is kept for its dialect, and every engine has a dialect of its own.
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda one: hash(type(one)))
        yield


def _sandboxes(
    make: Callable[[Settings, int], Sandbox], open_: ExitStack
) -> Callable[[Settings, int], AbstractContextManager[Sandbox]]:
    made: dict[str, Sandbox] = {}

    def sandbox_for(settings: Settings, workers: int = 0) -> AbstractContextManager[Sandbox]:
        s = settings
        limits = (
            workers or readers_for(s),
            s.read_seconds,
            s.read_memory,
            s.read_max_bytes,
            s.cache,
        )
        name = repr((limits, embeds_by_processor(s), reading(s), process._environment("")))
        if name not in made:
            made[name] = open_.enter_context(make(s, workers))
        return nullcontext(made[name])  # whoever closes it closes nothing

    return sandbox_for


def _sessions(load: Callable[[Path, int], Any]) -> Callable[[Path, int], Any]:
    made: dict[object, Any] = {}
    computed: defaultdict[object, Computed] = defaultdict(dict)  # by the graph, for any threads

    def open_session(graph: Path, threads: int) -> Any:
        told = graph.stat() if graph.exists() else None
        name = (graph, threads, told and (told.st_ino, told.st_size, told.st_mtime_ns))
        if name not in made:
            made[name] = _Session(load(graph, threads), computed[graph, name[2]])
        return made[name]

    return open_session


class _Session:
    """Computes the same batch of documents once; queries every time."""

    def __init__(self, session: Any, computed: Computed) -> None:
        self._session = session
        self._computed = computed

    def run(self, outputs: list[str] | None, feed: Mapping[str, Any]) -> list[Any]:
        if sum(values.size for values in feed.values()) < DOCUMENTS:
            return self._session.run(outputs, feed)  # type: ignore[no-any-return]
        name = (str(outputs), *((k, v.shape, v.tobytes()) for k, v in feed.items()))
        made = self._computed.get(name)
        if made is None:
            if len(self._computed) >= MOST:
                self._computed.clear()
            made = self._computed[name] = self._session.run(outputs, feed)
        return [array.copy() for array in made]  # whose caller may change it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def _engines() -> Callable[..., Engine]:
    statements: LRUCache[Any, Any] = LRUCache(5_000)

    def create(*address: Any, **options: Any) -> Engine:
        engine = create_engine(*address, **options)
        engine.update_execution_options(compiled_cache=statements)
        return engine

    return create
