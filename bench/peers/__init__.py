"""Trivium and its peers behind one small interface, so that the same code times them all.

Each module is one system, run in an environment of its own (`bench/environments.py`), and shows how
that system's documentation says hybrid search is done. `worker.py` builds, asks and times it. Only
the module `trivium` may import Trivium.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bench.rows import Counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTOR, WORDS, LETTERS = "vector", "words", "letters"


@dataclass(frozen=True, slots=True)
class Asked:
    """One query, the same for every system."""

    text: str
    vector: NDArray[np.float32]
    filtered: bool = False  # only rows with `shard < PASSING`


@dataclass(frozen=True, slots=True)
class Found:
    """One result: its row, and its text, since a person wants to read it."""

    row: int
    text: str


@dataclass(frozen=True, slots=True)
class Way:
    """One way to search a system."""

    legs: tuple[str, ...]  # what it searches by
    ask: Callable[[Asked, int], Sequence[Found]]


@dataclass(frozen=True, slots=True)
class Built:
    """The cost of building what a way needs, everything before it included."""

    seconds: float
    bytes: int


class Engine(Protocol):
    """An open index. Threads may share it."""

    ways: Mapping[str, Way]  # the first is what the documentation recommends

    def versions(self) -> Mapping[str, str]: ...

    def near(self, asked: Asked, k: int) -> Sequence[int]:
        """Rows nearest by vector alone, for measuring its recall."""
        ...

    def memory_mb(self) -> int:
        """What it keeps resident, of all its processes."""
        ...

    def cpu_seconds(self) -> float:
        """Processor time used so far, of all its processes."""
        ...

    def close(self) -> None: ...


class Peer(Protocol):
    """What each module of this package offers."""

    SETTINGS: str  # in a line or two: what we set, and what we left at its default

    def build(self, folder: Path, blocks: Counted) -> Mapping[str, Built]:
        """Build everything in an empty folder; returns the cost by way."""
        ...

    def open(self, folder: Path, known: Sequence[Asked]) -> Engine:
        """`known`: queries that will be asked, for systems that embed them themselves."""
        ...
