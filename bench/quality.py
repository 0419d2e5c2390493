"""Quality on judged sets: each signal alone, all three fused, and reranked.

    python -m bench.quality --data ../shared/data [--sets scifact,nfcorpus] [--cache DIR] [--json]
        [--set embed.model=bge-small] [--deep 200] [--misspelled]

Each set is indexed once, whole, with the default settings. Each query is asked once and replayed
(`trivium.evaluate.replay`), which gives the pages that `trivium eval` measures in a fifth of its
time. *By documents* fuses documents by each signal's best passage (`fusion.documents`); it is the
same as hybrid where every document is one passage. *Deep* is searched for real, as many queries of
a set as you say, without a limit on its time: a cross-encoder can't be replayed. *Misspelled*:
hybrid on the set's queries.misspelled*.jsonl, where it has them, as a share of the same queries
clean; of those of at most seven words too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.harness import arguments
from bench.heard import SETS
from trivium.config import Settings, load
from trivium.core.types import Granularity
from trivium.evaluate.dataset import Files, load_dataset
from trivium.evaluate.metrics import MAIN, MEASURES
from trivium.evaluate.replay import PAGE, Replay
from trivium.evaluate.subject import Subject, opened
from trivium.operations.searching import SearchOptions

SIGNALS = ("vector", "keyword", "trigram")
MISSPELLED = ("misspelled", "misspelled3")  # one word of each query, three
SHORT = 7  # words of a query


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


def searched(subject: Subject, most: int, *, deep: bool) -> float:
    """By real searches, of the first `most` queries."""
    options = SearchOptions(limit=PAGE, by=Granularity.DOCUMENT, rerank=deep, deep=deep)
    values = []
    for done, (query, text) in enumerate(list(subject.dataset.queries.items())[:most]):
        _tell("search", done, most)
        results = subject.library.search(text, options=options)
        page = [result.found.document.uri for result in results]
        values.append(MEASURES[MAIN](page, subject.dataset.judgments[query]))
    return round(fmean(values), 4)


def kept(subject: Subject, folder: Path, settings: Settings, clean: Replay) -> dict[str, float]:
    """What misspelled queries keep of the nDCG@10 of the same queries clean."""
    told = {}
    before = dict(zip(subject.dataset.queries, clean.values(settings, MAIN), strict=True))
    for variant in MISSPELLED:
        path = folder / f"queries.{variant}.jsonl"
        if not path.is_file():
            continue
        dataset = load_dataset(Files(folder, queries=path))
        replay = Replay.listen(replace(subject, dataset=dataset), _tell)
        after = dict(zip(dataset.queries, replay.values(settings, MAIN), strict=True))
        for kind, most in (("all", sys.maxsize), ("short", SHORT)):
            chosen = [query for query, text in dataset.queries.items() if len(text.split()) <= most]
            best = sum(before[query] for query in chosen)
            if best:
                share = sum(after[query] for query in chosen) / best
                told[f"{variant}, {kind} {len(chosen)}"] = round(share, 4)
    return told


def measured(
    name: str, data: Path, settings: Settings, deep: int = 0, misspelled: bool = False
) -> Quality:
    folder = data / "retrieval" / name
    dataset = load_dataset(folder)
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
        if deep:
            means |= {f"of {deep}": searched(subject, deep, deep=False)}
            means |= {f"of {deep}, deep": searched(subject, deep, deep=True)}
        if misspelled:
            for what, share in kept(subject, folder, settings, replay).items():
                print(f"{name}, {what}: {share:.1%} kept", flush=True)
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
    given = arguments(
        __doc__,
        "data",
        sets=",".join(SETS),
        cache=(Path, "where the indexed sets are kept"),
        json=(False, "print JSON, a line for each set"),
        set=({"action": "append", "default": []}, "a setting, as NAME=VALUE"),
        deep=(0, "queries of a set to search in depth"),
        misspelled=(False, "measure misspelled queries too"),
    )
    named = {"rerank.seconds": "240"} if given.deep else {}
    named |= dict(one.split("=", 1) for one in given.set)
    settings = load({"cache": str(given.cache), **named} if given.cache else named).settings
    found = []
    for name in given.sets.split(","):
        found.append(measured(name, given.data, settings, given.deep, given.misspelled))
        if given.json:
            print(json.dumps(asdict(found[-1])), flush=True)
    if not given.json:
        show(found)


if __name__ == "__main__":
    main()
