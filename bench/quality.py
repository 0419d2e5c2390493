"""Quality on judged sets: each signal alone, all three fused, and reranked.

    python -m bench.quality --data ../shared/data [--sets scifact,nfcorpus] [--cache DIR] [--json]

Each set is indexed once, whole, with the default settings. Each query is asked once and replayed
(`trivium.evaluate.replay`), which gives the pages that `trivium eval` measures in a fifth of its
time. *By documents* fuses documents by each signal's best passage (`fusion.documents`); it is the
same as hybrid where every document is one passage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.heard import SETS
from trivium.config import Settings, load
from trivium.evaluate.dataset import load_dataset
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.replay import Replay
from trivium.evaluate.subject import opened

SIGNALS = ("vector", "keyword", "trigram")


@dataclass(frozen=True, slots=True)
class Quality:
    """Mean nDCG@10 of one set by each way of ranking."""

    name: str
    documents: int
    queries: int
    means: Mapping[str, float]

    def beside_best(self, run: str) -> float:
        """How far a run is ahead of the best single signal."""
        return self.means[run] - max(self.means[signal] for signal in SIGNALS)


def alone(settings: Settings, signal: str) -> Settings:
    """The same with this signal only."""
    weights: dict[str, Any] = {f"fusion_{one}": float(one == signal) for one in SIGNALS}
    return replace(settings, **weights)


def measured(name: str, data: Path, settings: Settings) -> Quality:
    dataset = load_dataset(data / "retrieval" / name)
    with opened(dataset, settings, _tell) as subject:
        replay = Replay.listen(subject, _tell)
        ways = {
            **{signal: (alone(settings, signal), False) for signal in SIGNALS},
            "hybrid": (settings, False),
            "reranked": (settings, True),
            "by documents": (replace(settings, fusion_documents=True), False),
        }
        means = {
            way: round(fmean(replay.values(given, MAIN, rerank=rerank)), 4)
            for way, (given, rerank) in ways.items()
        }
        return Quality(name, subject.documents, len(replay), means)


def _tell(stage: str, done: int, total: int) -> None:
    if done % 500 == 0:
        print(f"  {stage} {done:,} of {total:,}", file=sys.stderr, flush=True)


def show(found: list[Quality]) -> None:
    ways = list(found[0].means)
    print(f"| set | documents | queries | {' | '.join(ways)} | hybrid, reranked less best |")
    print("|---" * (len(ways) + 4) + "|")
    for one in found:
        values = " | ".join(f"{one.means[way]:.4f}" for way in ways)
        ahead = ", ".join(f"{one.beside_best(run):+.4f}" for run in ("hybrid", "reranked"))
        print(f"| {one.name} | {one.documents:,} | {one.queries:,} | {values} | {ahead} |")
    means = " | ".join(f"{fmean(one.means[way] for one in found):.4f}" for way in ways)
    print(f"| mean | | | {means} | |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--cache", type=Path, help="where the indexed sets are kept")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each set")
    given = parser.parse_args()
    settings = load({"cache": str(given.cache)} if given.cache else {}).settings
    found = []
    for name in given.sets.split(","):
        found.append(measured(name, given.data, settings))
        if given.json:
            print(json.dumps(asdict(found[-1])), flush=True)
    if not given.json:
        show(found)


if __name__ == "__main__":
    main()
