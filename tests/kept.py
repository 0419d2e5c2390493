"""What is costly to start is kept for as long as the tests of one process run: the processes that
read files, and the graph of the model. Each `add` starts the former anew, .27 s of a processor, and
each embedder loads the latter, .1 s.

Neither remembers anything from one use to the next. What they are made of is their name here, so
that a test that wants another one has it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from trivium.config import Settings
from trivium.extract import process
from trivium.extract.sandbox import Sandbox
from trivium.library import readers
from trivium.library.assembly import readers_for, reading
from trivium.models import local


@contextmanager
def kept() -> Iterator[None]:
    with ExitStack() as open_, pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "sandbox_for", _sandboxes(readers.sandbox_for, open_))
        patch.setattr(local, "open_session", _sessions(local.open_session))
        yield


def _sandboxes(
    make: Callable[[Settings], Sandbox], open_: ExitStack
) -> Callable[[Settings], AbstractContextManager[Sandbox]]:
    made: dict[str, Sandbox] = {}

    def sandbox_for(settings: Settings) -> AbstractContextManager[Sandbox]:
        s = settings
        limits = (readers_for(s), s.read_seconds, s.read_memory, s.read_max_bytes)
        name = repr((limits, reading(s), process._environment("")))
        if name not in made:
            made[name] = open_.enter_context(make(s))
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
