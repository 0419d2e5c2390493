"""Two processes share a library, in any order of add, remove, compact, rebuild, reembed and search:
what one remembers never outlives what the other changed. The memory store is the reference."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from random import Random
from threading import Event
from typing import Any, cast

import pytest
from sqlalchemy import event, text
from tests import postgres
from tests.reference import open_memory

from trivium.core.errors import ModelChanged
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Signal, Where
from trivium.ports import Backend
from trivium.store.postgres import upkeep
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.words import generation
from trivium.testing.samples import OTHER, TOY, ToyEmbedder, embed_beside, found, probe, put, sample

WORDS = ("sword", "swords", "axe", "crown", "fog", "lamp", "drowned", "river")
QUERIES = (*WORDS, "battle axe", '"fog lamp"', "sord")
ALL = 1000
STEPS = 30


class History:
    """Random steps, each in one of the processes and in the reference."""

    def __init__(self, processes: tuple[Backend, ...], seed: int) -> None:
        self.processes = processes
        self.reference = open_memory()
        self.embedder: ToyEmbedder = TOY
        self.random = Random(seed)

    def step(self) -> None:
        acts: list[Callable[[Backend], None]] = [self.add, self.add, self.remove, self.search]
        acts += [self.search, self.tidy, self.tidy, self.reembed]
        self.random.choice(acts)(self.random.choice(self.processes))

    def add(self, store: Backend) -> None:
        words = (*WORDS, f"word{self.random.randrange(6)}")
        texts = [" ".join(self.random.choices(words, k=4)) for _ in range(2)]
        document = sample(f"{self.random.randrange(6)}.md", *texts, embedder=self.embedder)
        for backend in (store, self.reference):
            with backend.writer.writing():
                backend.writer.put([document], self.embedder.fingerprint)

    def remove(self, store: Backend) -> None:
        documents = self.reference.documents.all(OWNER)
        if documents:
            gone = [self.random.choice(documents).id]
            for backend in (store, self.reference):
                with backend.writer.writing():
                    backend.writer.remove(gone)

    def tidy(self, store: Backend) -> None:
        act = self.random.choice(["compact", "rebuild"])
        for backend in (store, self.reference):
            getattr(backend.upkeep, act)()

    def reembed(self, store: Backend) -> None:
        if not self.reference.documents.all(OWNER):
            return
        self.embedder = OTHER if self.embedder is TOY else TOY
        model = self.embedder.fingerprint
        for backend in (store, self.reference):
            backend.models.begin(model, {"embed.model": model})
            embed_beside(backend, self.embedder)
            with backend.writer.writing():
                backend.models.switch(model)
            backend.models.drop_others()

    def search(self, store: Backend) -> None:
        store.signals.refresh()
        where = self.random.choice([OWNER, Where(frozenset())])
        for query in QUERIES:
            asked = probe(query, embedder=self.embedder)
            for signal in Signal:
                ours = store.signals.search(signal, asked, where, ALL)
                theirs = self.reference.signals.search(signal, asked, where, ALL)
                expected = {hit.chunk_id: hit.score for hit in theirs}
                got = {hit.chunk_id: hit.score for hit in ours}
                assert got == pytest.approx(expected, abs=1e-3), (query, signal)


@pytest.mark.parametrize("seed", range(3))
def test_processes_agree_in_any_order(seed: int) -> None:
    with postgres.library() as place:
        address = parse(place)
        processes = (open_postgres(address), open_postgres(address))
        try:
            history = History(processes, seed)
            for _ in range(STEPS):
                history.step()
            for store in processes:
                history.search(store)
                assert [one for one in store.upkeep.examine() if not one.ok] == []
        finally:
            for store in processes:
                store.close()


def test_searches_go_on_beside_upkeep() -> None:
    """While another process compacts, rebuilds and changes the model, there and back, every search
    of this one is answered as before. How long each waits: `python -m bench.team --upkeep`."""
    with postgres.library() as place, ExitStack() as stack:
        address = parse(place)
        worker, server = open_postgres(address), open_postgres(address)
        stack.callback(worker.close)
        stack.callback(server.close)
        history = History((worker,), 1)
        for _ in range(8):
            history.add(worker)
        history.remove(worker)  # its words are left over
        server.signals.refresh()
        beside = _Searching(server, history.reference)
        with ThreadPoolExecutor(1) as thread:
            searching = thread.submit(beside.run)
            try:
                there_and_back = [partial(history.reembed, worker)] * 2
                for act in (worker.upkeep.compact, worker.upkeep.rebuild, *there_and_back):
                    act()
                    beside.passed.clear()
                    assert beside.passed.wait(120) or searching.done()
            finally:
                beside.over.set()
            searching.result()


class _Searching:
    def __init__(self, server: Backend, reference: Backend) -> None:
        self._server, self.over, self.passed = server, Event(), Event()
        self._expected = {
            (query, signal): _scores(reference, signal, query, TOY)
            for query in QUERIES
            for signal in (Signal.KEYWORD, Signal.TRIGRAM)
        }

    def run(self) -> None:
        embedder = TOY
        while not self.over.is_set():
            self._server.signals.refresh()
            for (query, signal), expected in self._expected.items():
                got = _scores(self._server, signal, query, embedder)
                assert got == pytest.approx(expected, abs=1e-3), (query, signal)
            try:
                assert _scores(self._server, Signal.VECTOR, "fog", embedder), "nothing by meaning"
            except ModelChanged:
                embedder = OTHER if embedder is TOY else TOY
                continue
            self.passed.set()


def _scores(backend: Backend, signal: Signal, query: str, by: ToyEmbedder) -> dict[int, float]:
    hits = backend.signals.search(signal, probe(query, embedder=by), OWNER, ALL)
    return {hit.chunk_id: hit.score for hit in hits}


def test_doctor_counts_words_and_occurrences_that_miss_each_other() -> None:
    with postgres.library() as place:
        backend = open_postgres(parse(place))
        try:
            put(backend, sample("a.md", "A lantern burns."))
            with postgres.as_owner() as connection:
                connection.execute(text(f"SET search_path TO {parse(place).schema}"))
                lost = "UPDATE postings SET word = 900 + word WHERE word > 0"
                connection.execute(text(lost))
            (finding,) = [one for one in backend.upkeep.examine() if not one.ok]
            assert finding.name == "occurrences"
            assert "3 words with occurrences" in finding.message
            assert "3 in the list" in finding.message
            assert "Rebuilt the search indexes." in backend.upkeep.repair()
            assert all(one.ok for one in backend.upkeep.examine())
            assert found(backend, Signal.KEYWORD, "lantern") == ["A lantern burns."]
        finally:
            backend.close()


def test_a_server_goes_on_after_its_database_was_restored_from_a_backup() -> None:
    """The sequence goes back, words lose their numbers, and other documents get them."""
    with postgres.library() as place:
        backend, other = open_postgres(parse(place)), open_postgres(parse(place))
        try:
            put(backend, sample("a.md", "A lantern burns."))
            put(backend, sample("b.md", "Fog at the harbour."))
            put(backend, sample("b.md", "Fog at the harbour, again."))
            assert found(backend, Signal.KEYWORD, "harbour")
            with postgres.as_owner() as connection:
                postgres.empty(connection, parse(place).schema)
            put(other, sample("c.md", "A crown."))
            backend.signals.refresh()
            assert found(backend, Signal.KEYWORD, "harbour") == []
            put(backend, sample("d.md", "Fog and a lantern."))
            for store in (backend, other):
                store.signals.refresh()
                assert found(store, Signal.KEYWORD, "lantern fog") == ["Fog and a lantern."]
                assert all(one.ok for one in store.upkeep.examine())
        finally:
            backend.close()
            other.close()


def test_compact_rewrites_small_tables_and_never_stops_searches_of_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`VACUUM FULL` locks a table against everyone; without FULL, readers go on."""
    asked: list[str] = []
    with postgres.library() as place:
        backend = open_postgres(parse(place))
        try:
            put(backend, sample("a.md", "A lantern burns."), sample("b.md", "Fog."))
            engine = cast(Any, backend.upkeep)._engine

            @event.listens_for(engine, "before_cursor_execute")
            def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
                asked.append(statement)

            before = generation_of(place)
            backend.upkeep.compact()
            assert generation_of(place) == before, "nothing was removed: the words stay"
            assert any("VACUUM (FULL" in one and "chunks" in one for one in asked)
            assert not any("FULL" in one and "vectors_" in one for one in asked)
            backend.writer.remove([2])
            backend.upkeep.compact()
            assert generation_of(place) != before
            asked.clear()
            monkeypatch.setattr(upkeep, "_REWRITTEN", -1)
            backend.upkeep.compact()
            assert [one for one in asked if "VACUUM" in one]
            assert not [one for one in asked if "FULL" in one]
            assert found(backend, Signal.KEYWORD, "lantern") == ["A lantern burns."]
        finally:
            backend.close()


def generation_of(place: DatabaseAddress) -> int:
    with postgres.as_owner() as connection:
        connection.execute(text(f"SET LOCAL search_path TO {parse(place).schema}"))
        return generation(connection)
