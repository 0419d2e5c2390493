"""A small results.json as `bench.compare` writes it."""

from typing import Any


def results() -> dict[str, Any]:
    return {
        "date": "2026-11-15T10:00:00+00:00",
        "machine": {"architecture": "x", "cores": 2, "processor": "Chip", "memory_gb": 8},
        "versions": {"python": "3.11.7"},
        "rows": {
            "1000": {
                "trivium": _system("Trivium", {"hybrid": _way(2.0, 4.0, letters=True)})
                | {"processes": {"processes": 2, "clients": 8, "per_second": 210.4}},
                "txtai": _system("txtai", {"hybrid": _way(6.0, 12.0, returned=1.5)}),
                "postgres": _system(
                    "PostgreSQL",
                    {"hybrid": _way(1.0, 3.0), "three": {"legs": ["vector"], "failed": "timeout"}},
                ),
            }
        },
        "judged": {
            "scifact": {
                "trivium": {"ndcg@10": 0.743, "legs": ["vector", "words", "letters"]},
                "txtai": {"ndcg@10": 0.7, "legs": ["vector", "words"]},
            }
        },
        "failed": {"chroma": "no wheel for x"},
        "ingest": {
            "set": "scifact",
            "texts": 200,
            "chunks": 210,
            "model_texts_per_second": [10.0, 10.0],
            "trivium_texts_per_second": 9.0,
            "share_in_model": 0.93,
        },
    }


def _system(name: str, ways: dict[str, Any]) -> dict[str, Any]:
    built = {way: {"seconds": 10.0, "bytes": 5_000_000} for way in ways}
    return {
        "built": {"ways": built},
        "settings": "defaults",
        "versions": {name: "1.0"},
        "ways": ways,
        "memory_mb": 100,
        "first_answer_s": 0.84,
        "recall": {"plain": 0.98, "filtered": 1.0},
    }


def _way(
    p50: float, p95: float, *, returned: float = 10.0, letters: bool = False
) -> dict[str, Any]:
    return {
        "legs": ["vector", "words", *(["letters"] if letters else [])],
        "plain": _side(p50, p95, 10.0),
        "filtered": _side(p50, p95, returned),
    }


def _side(p50: float, p95: float, returned: float) -> dict[str, Any]:
    return {
        "ms": {"p50": p50, "p95": p95, "p99": p95 + 1, "calls": 200, "others": 0.0},
        "returned": returned,
        "clients": [{"clients": n, "per_second": 100.0 * n, "others": 0.0} for n in (1, 2, 8)],
    }
