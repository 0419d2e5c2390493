"""Keeps what is slow to start for all tests of one process: the processes that read files, the
graph of the model, and statements of SQL. Otherwise each `add` would start the first (.27 s of
processor time), each embedder would load the second (.1 s), and each library would compile the
third again (a fifth of the time of tests that open one each).

None remembers anything between two uses. They are kept by their settings, so that a test with
other settings gets another one.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from trivium.config import Settings
from trivium.extract import process
from trivium.extract.sandbox import Sandbox
from trivium.library import worker
from trivium.library.assembly import embeds_by_processor, readers_for, reading
from trivium.models import local
from trivium.store.embedded import database


@contextmanager
def kept() -> Iterator[None]:
    with ExitStack() as open_, pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "sandbox_for", _sandboxes(worker.sandbox_for, open_))
        patch.setattr(local, "open_session", _sessions(local.open_session))
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

    def open_session(graph: Path, threads: int) -> Any:
        told = graph.stat() if graph.exists() else None
        name = (graph, threads, told and (told.st_ino, told.st_size, told.st_mtime_ns))
        if name not in made:
            made[name] = load(graph, threads)
        return made[name]

    return open_session


def _engines() -> Callable[..., Engine]:
    statements: LRUCache[Any, Any] = LRUCache(5_000)

    def create(*address: Any, **options: Any) -> Engine:
        engine = create_engine(*address, **options)
        engine.update_execution_options(compiled_cache=statements)
        return engine

    return create
