"""What `bench.compare` wrote, as one typed line for each system and way, for tables and charts.

Pure: knows only the dictionary that stands in results.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OURS = "trivium"
NAMES = {
    "trivium": "Trivium",
    "fts5_faiss": "SQLite FTS5 + faiss",
    "lancedb": "LanceDB",
    "chroma": "Chroma",
    "txtai": "txtai",
    "postgres": "PostgreSQL",
    "qdrant_edge": "Qdrant Edge",
    "duckdb": "DuckDB",
}
LEGS = ("vector", "words", "letters")


@dataclass(frozen=True, slots=True)
class Side:
    """Searches without, or with, the filter."""

    p50: float
    p95: float
    p99: float
    calls: int
    others: float  # cores that other processes kept busy, at most
    returned: float  # results of one search, as a mean
    per_second: Mapping[int, float]  # by number of clients; empty where it was too slow to count


@dataclass(frozen=True, slots=True)
class Line:
    system: str
    label: str
    legs: tuple[str, ...]
    plain: Side | None  # None: it failed
    filtered: Side | None
    failed: str
    recall: float
    recall_filtered: float
    build_seconds: float
    megabytes: float
    memory_mb: int
    first_answer: float  # seconds of a new process, files in memory

    @property
    def ours(self) -> bool:
        return self.system == OURS

    @property
    def lacks(self) -> tuple[str, ...]:
        return tuple(leg for leg in LEGS if leg not in self.legs)


def lines(found: Mapping[str, Any], chunks: int) -> list[Line]:
    """In the order they were measured."""
    return [
        _line(system, way, measured, here)
        for system, here in found["rows"][str(chunks)].items()
        for way, measured in here.get("ways", {}).items()  # none yet where a run was stopped
    ]


def versions(found: Mapping[str, Any]) -> dict[str, str]:
    """Of everything that was compared, by name."""
    known: dict[str, str] = {}
    for here in found["rows"].values():
        for measured in here.values():
            known |= measured.get("versions", {})
    return known


def reference(of: list[Line]) -> Line | None:
    """Trivium's first way, which the others are compared with."""
    return next((line for line in of if line.ours), None)


def _line(system: str, way: str, measured: Mapping[str, Any], here: Mapping[str, Any]) -> Line:
    built = here["built"]["ways"][way]
    return Line(
        system=system,
        label=f"{NAMES.get(system, system)}, {way}",
        legs=tuple(measured["legs"]),
        plain=_side(measured.get("plain")),
        filtered=_side(measured.get("filtered")),
        failed=measured.get("failed", ""),
        recall=here["recall"]["plain"],
        recall_filtered=here["recall"]["filtered"],
        build_seconds=built["seconds"],
        megabytes=round(built["bytes"] / 1e6, 1),
        memory_mb=here["memory_mb"],
        first_answer=here["first_answer_s"],
    )


def _side(measured: Mapping[str, Any] | None) -> Side | None:
    if measured is None:
        return None
    ms, clients = measured["ms"], measured.get("clients", ())
    return Side(
        ms["p50"],
        ms["p95"],
        ms["p99"],
        ms["calls"],
        max(ms["others"], *(one["others"] for one in clients)) if clients else ms["others"],
        measured["returned"],
        {one["clients"]: one["per_second"] for one in clients},
    )
