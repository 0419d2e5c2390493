"""Fits how sure an answer is (`trivium.answer.confidence`) over open questions whose answers are
known by sentence: four texts of chunking_evaluation and eight chats of locomo10. None of them is a
source of the judged set (`bench.answers`).

    python -m bench.confidence --data ../shared/data [--questions 400] [--keep evidence.npz]

Every question is asked twice: among the eight best passages by their words, and among these without
those that have the answer. Prints the coefficients, fitted on two thirds of the questions, and for
the rest how many would be answered rightly and wrongly from each limit on.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from random import Random

import numpy as np

from trivium.answer.confidence import Evidence
from trivium.answer.extractive import Extractor
from trivium.answer.likeness import Likeness, WordVectors
from trivium.answer.passages import Passage
from trivium.answer.question import read
from trivium.answer.support import Words
from trivium.config import load
from trivium.core.answers import Citation
from trivium.core.types import Speaker
from trivium.models.local import LocalEmbedder
from trivium.text.normalise import words
from trivium.text.stems import stem

TEXTS = ("chatlogs", "pubmed", "state_of_the_union", "wikitexts")  # finance is judged
JUDGED_CHATS = ("conv-26", "conv-30")
LONGEST = 1200  # characters of a passage
PASSAGES = 8
CANDIDATES = 6  # of each question, the best by what a sentence says


@dataclass(frozen=True)
class Asked:
    question: str
    source: str  # the text or chat that has its answer
    answers: tuple[str, ...]  # empty: nobody can answer it


@dataclass(frozen=True)
class Piece:
    source: str
    text: str
    speakers: tuple[Speaker, ...] = ()

    def passage(self, number: int) -> Passage:
        citation = Citation(
            number=number,
            chunk=number,
            index=0,
            document=number,
            title=self.source,
            uri=self.source,
            collection="default",
            headings=(),
            pages=(),
            paragraph=1,
            link="",
            text=self.text,
        )
        return Passage(citation, self.text, "en", speakers=self.speakers)


def texts(data: Path) -> Iterator[Asked | Piece]:
    folder = data / "retrieval" / "chunking_evaluation"
    for name in TEXTS:
        held = ""
        for part in (folder / "corpora" / f"{name}.md").read_text("utf-8").split("\n\n"):
            if held and len(held) + len(part) > LONGEST:
                yield Piece(name, held)
                held = ""
            held = f"{held}\n\n{part}".strip()
        yield Piece(name, held)
    for row in csv.DictReader((folder / "questions_df.csv").open(encoding="utf-8")):
        if row["corpus_id"] in TEXTS:
            answers = tuple(one["content"] for one in json.loads(row["references"]))
            yield Asked(row["question"], row["corpus_id"], answers)


def chats(data: Path) -> Iterator[Asked | Piece]:
    folder = data / "retrieval" / "locomo10"
    messages: dict[str, str] = {}
    lines: list[str] = []
    speakers: list[Speaker] = []
    last = ""
    for row in _rows(folder / "corpus.jsonl"):
        chat, _, place = row["_id"].partition("/")
        day = f"{chat}/{place.partition(':')[0]}"
        messages[row["_id"]] = row["text"]
        length = sum(map(len, lines))
        if lines and (day != last or length > LONGEST):
            if last.partition("/")[0] not in JUDGED_CHATS:
                yield Piece(last.partition("/")[0], "\n".join(lines), tuple(speakers))
            lines, speakers, length = [], [], 0
        who, _, when = row["title"].partition(" ")
        speakers.append(Speaker(length + len(lines), who, when))
        lines.append(row["text"])
        last = day
    proofs: dict[str, list[str]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, _ = line.split("\t")
        proofs.setdefault(query, []).append(messages[document])
    for row in _rows(folder / "queries.jsonl"):
        if row["conversation"] not in JUDGED_CHATS and str(row["category"]) in "45":
            found = proofs.get(row["_id"], []) if str(row["category"]) == "4" else []
            yield Asked(row["text"], row["conversation"], tuple(found))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a text has an answer, or is most of it or a good part of it."""
    mine = _plain(text)
    for answer in map(_plain, answers):
        shared = len(set(mine.split()) & set(answer.split()))
        if answer in mine or mine in answer or shared >= 0.8 * len(set(mine.split())):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(words(text))


class Corpus:
    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.counts = [Counter(stem(words(piece.text), "en")) for piece in pieces]
        self.spread = Counter(word for counts in self.counts for word in counts)

    def rarities(self, some: Sequence[str]) -> list[float]:
        return [self._rarity(one) for one in stem(list(some), "en")]

    def _rarity(self, word: str) -> float:
        return math.log(1 + len(self.pieces) / (1 + self.spread[word]))

    def best(self, question: str) -> list[Piece]:
        asked = set(stem(words(question), "en"))
        scores = [
            sum(self._rarity(w) * c[w] / (c[w] + 1) for w in asked if w in c) for c in self.counts
        ]
        order = sorted(range(len(scores)), key=lambda at: -scores[at])
        return [self.pieces[at] for at in order[:PASSAGES]]


def gathered(
    every: Sequence[Asked], corpus: Corpus
) -> Iterator[tuple[int, bool, list[tuple[Evidence, bool]]]]:
    """Number of the question, whether it can be answered, and its best candidates."""
    extractor = Extractor(
        LocalEmbedder(None, load().settings.cache, threads=1), Words(corpus.rarities), WordVectors()
    )
    for number, one in enumerate(every):
        asked = read(one.question, "en", corpus.rarities)
        best = corpus.best(one.question)
        passages = [piece.passage(at) for at, piece in enumerate(best, 1)]
        without = [p.number for p in passages if not _has(p.text, one.answers)]
        found = extractor.evidence(asked, passages, Likeness(extractor._embedder, extractor._kept))
        found.sort(key=lambda pair: -pair[1].said - pair[1].near)
        if one.answers:
            some = [(e, holds(c.text, one.answers)) for c, e in found[:CANDIDATES]]
            yield number, True, some
        rest = [(c.passage.number, e) for c, e in found if c.passage.number in without]
        moved = [(replace(e, rank=1 / (without.index(at) + 1)), False) for at, e in rest]
        yield number, False, moved[:CANDIDATES]


def _has(text: str, answers: Sequence[str]) -> bool:
    return any(_plain(answer) in _plain(text) for answer in answers)


def fitted(x: np.ndarray, y: np.ndarray, ridge: float = 1.0) -> np.ndarray:
    """Newton's steps; the constant comes last."""
    x = np.hstack([x, np.ones((len(x), 1))])
    found = np.zeros(x.shape[1])
    penalty = np.diag([ridge] * (x.shape[1] - 1) + [0.0])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ found))
        gradient = x.T @ (p - y) + penalty @ found
        found -= np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + penalty, gradient)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="write the evidence to this file")
    given = parser.parse_args()
    rows = [*texts(given.data), *chats(given.data)]
    corpus = Corpus([row for row in rows if isinstance(row, Piece)])
    every = [row for row in rows if isinstance(row, Asked)]
    Random(given.seed).shuffle(every)
    groups = []
    for group in gathered(every[: given.questions], corpus):
        groups.append(group)
        if given.keep and len(groups) % 20 == 0:
            _write(given.keep, groups)
            print(len(groups), flush=True)
    train = [group for group in groups if group[0] % 3]
    x = np.array([astuple(e) for _, _, some in train for e, _ in some])
    y = np.array([right for _, _, some in train for _, right in some], float)
    weights = fitted(x, y)
    for name, weight in zip(
        (*(f.name for f in fields(Evidence)), "constant"), weights, strict=True
    ):
        print(f"{name}: {weight:.2f}")
    report([group for group in groups if not group[0] % 3], weights)


def _write(path: Path, groups: Sequence[tuple[int, bool, list[tuple[Evidence, bool]]]]) -> None:
    rows = [(n, able, *astuple(e), right) for n, able, some in groups for e, right in some]
    empty = [(n, able) for n, able, some in groups if not some]
    np.savez(path, rows=np.array(rows, float), empty=np.array(empty, float))


def report(
    groups: Sequence[tuple[int, bool, list[tuple[Evidence, bool]]]], weights: np.ndarray
) -> None:
    chosen = []
    for _, is_able, some in groups:
        sure = [1 / (1 + math.exp(-weights[:-1] @ astuple(e) - weights[-1])) for e, _ in some]
        at = int(np.argmax(sure)) if sure else -1
        chosen.append((sure[at] if some else 0.0, is_able, bool(some) and some[at][1]))
    able = [one for one in chosen if one[1]]
    unable = [one for one in chosen if not one[1]]
    print(f"Of {len(able)} that can be answered and {len(unable)} that can't, held out:")
    for limit in np.arange(0.1, 0.95, 0.05):
        right = sum(sure >= limit and ok for sure, _, ok in able) / max(1, len(able))
        wrong = sum(sure >= limit and not ok for sure, _, ok in able) / max(1, len(able))
        refused = sum(sure < limit for sure, *_ in unable) / max(1, len(unable))
        print(f"{limit:.2f}: {right:.0%} right, {wrong:.0%} wrong, {refused:.0%} refused")


if __name__ == "__main__":
    main()
