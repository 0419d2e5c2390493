"""Asks the three signals at once. Knows stores and models only through their ports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from trivium.core.errors import IndexDamaged, ModelUnavailable
from trivium.core.types import Hit, Probe, Query, Signal, Where, hits_in
from trivium.ports import Backend, Embedder
from trivium.search.progress import SearchProgress
from trivium.search.turns import Turns

if TYPE_CHECKING:
    from trivium.core.types import Vector

Lookup: TypeAlias = Callable[[], list[Hit]]

_PLACES = 5  # of a cosine
_NOT_EVERY_WORD = "No passage has every word of “{query}”"
_SO_ANY = ", so keyword search accepted any of them."


@dataclass(frozen=True, slots=True)
class ReadyQuery:
    """One query, ready for the signals."""

    query: Query  # as typed
    words: Query  # with corrected words instead of misspelled ones
    meaning: str  # the text to embed
    missing: tuple[str, ...] = ()  # typed words that no visible chunk has
    every_word: bool = False  # keyword: only chunks with all words, if there are any
    strict: bool = False  # with every word: nothing if there are none

    @property
    def typed(self) -> Query:
        """As typed, with required words as corrected."""
        if self.query.required == self.words.required:
            return self.query
        return replace(self.query, required=self.words.required)

    def without_required(self) -> ReadyQuery:
        return replace(self, words=replace(self.words, required=()))


class _Damaged:
    """The signals that can't answer because their index is damaged."""

    def __init__(self) -> None:
        self._signals: list[Signal] = []
        self._reason: IndexDamaged | None = None

    @contextmanager
    def left_out(self, signal: Signal) -> Iterator[None]:
        try:
            yield
        except IndexDamaged as reason:
            self._signals.append(signal)
            self._reason = self._reason or reason

    def tell(self, progress: SearchProgress, *, alone: bool) -> None:
        """A note; an error if no other signal could answer."""
        if self._reason is not None:
            if alone:
                raise self._reason
            names = " and ".join(signal.value for signal in self._signals)
            progress.tell(f"Searched without the signals {names}. {self._reason}")


class _Beside:
    """Runs the word signals in their own threads beside the vector signal while cores are free:
    faiss and numpy release the interpreter's lock. With more searches than that, each search
    stays in its own thread, because more threads would only take turns."""

    def __init__(self, *, on_our_cores: bool) -> None:
        """`on_our_cores`: this process does the work, not a database server."""
        self._most = max(1, (os.cpu_count() or 2) // 2) if on_our_cores else sys.maxsize
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="trivium-signal")
        self._searches = 0
        self._counting = Lock()

    @contextmanager
    def search(self) -> Iterator[Callable[[Lookup], Lookup]]:
        """Gives a function that starts a lookup and returns how to wait for its answer."""
        with self._counting:
            self._searches += 1
            crowded = self._searches > self._most
        try:
            yield (lambda lookup: lookup) if crowded else self._begin
        finally:
            with self._counting:
                self._searches -= 1

    def _begin(self, lookup: Lookup) -> Lookup:
        return self._threads.submit(lookup).result


def settled(hits: list[Hit]) -> list[Hit]:
    """With cosines of five places, equal ones by chunk: stores sum in different orders, which moves
    the seventh place and must not decide who comes first."""
    ordered = sorted([(-round(score, _PLACES), chunk) for chunk, score in hits])
    return hits_in([(chunk, -below) for below, chunk in ordered])


class Signals:
    """Threads may share it."""

    def __init__(self, backend: Backend, embedder: Embedder, turns: Turns) -> None:
        """`turns`: a search gives its turn up while the model, maybe elsewhere, embeds a query."""
        self._turns = turns
        self._backend = backend
        self._embedder = embedder
        self._beside = _Beside(on_our_cores=not backend.is_elsewhere)

    def ask(
        self,
        ready: ReadyQuery,
        wanted: Iterable[Signal],
        where: Where,
        depth: int,
        threshold: float,
        progress: SearchProgress,
    ) -> dict[Signal, list[Hit]]:
        """The `depth` best chunks of each requested signal. Leaves out vector hits less similar
        than `threshold`."""
        wanted = [signal for signal in Signal if signal in set(wanted)]

        def ask(signal: Signal, probe: Probe) -> list[Hit]:
            started = perf_counter()
            hits = self._backend.signals.search(signal, probe, where, depth)
            progress.clock.note(signal.value, perf_counter() - started)
            return hits

        def ask_for_words() -> list[Hit]:
            if ready.every_word and len(ready.words.clauses) > 1:
                hits = ask(Signal.KEYWORD, Probe(replace(ready.words, every_word=True)))
                none = _NOT_EVERY_WORD.format(query=ready.words.text)
                if ready.strict and not hits and len(wanted) == 1:
                    progress.tell(f"{none}.")
                if hits or ready.strict:
                    return hits
                progress.tell(none + _SO_ANY)
            return ask(Signal.KEYWORD, Probe(ready.words))

        worded: dict[Signal, Lookup] = {
            Signal.KEYWORD: ask_for_words,
            # as typed: this signal finds similar spellings itself
            Signal.TRIGRAM: lambda: ask(Signal.TRIGRAM, Probe(ready.typed)),
        }
        lists: dict[Signal, list[Hit]] = {}
        damaged = _Damaged()
        with self._beside.search() as begun:
            answers = {signal: begun(worded[signal]) for signal in wanted if signal in worded}
            if Signal.VECTOR in wanted:
                vector = self._embed(ready.meaning, progress, alone=not answers)
                if vector is not None:
                    probe = Probe(ready.typed, vector, threshold, self._embedder.fingerprint)
                    with damaged.left_out(Signal.VECTOR):
                        lists[Signal.VECTOR] = settled(ask(Signal.VECTOR, probe))
            for signal, answer in answers.items():
                with damaged.left_out(signal):
                    lists[signal] = answer()
        damaged.tell(progress, alone=not lists)
        progress.clock.skip()
        return lists

    def any_holds(self, query: Query, where: Where) -> bool:
        """Whether a chunk within the filter has everything the query requires."""
        return bool(self._backend.signals.search(Signal.KEYWORD, Probe(query), where, 1))

    def _embed(self, meaning: str, progress: SearchProgress, *, alone: bool) -> Vector | None:
        """None and a note if there is no model; an error if no other signal could answer."""
        earlier = progress.vectors.get(meaning)
        if earlier is not None:
            return earlier
        started = perf_counter()
        try:
            with self._turns.given_up():
                vector = progress.vectors[meaning] = self._embedder.embed_query(meaning)
        except ModelUnavailable as reason:
            if alone:
                raise
            progress.tell(f"Searched by words and spelling only. {reason}")
            return None
        finally:
            progress.clock.note("embed", perf_counter() - started)
        return vector
