"""Makes any number of passages from real sentences, and queries from real questions.

Deterministic: the same data folder and seed give the same passages, and the first 10,000 of a
million are the same as those of ten thousand. The words are real and so is how often they occur;
but a million passages made of 130,000 sentences know no more distinct words than those sentences
do. Standard library only: peers run it in environments without Trivium.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.harness import json_lines

PASSAGE_WORDS = 240
RUN = 3  # consecutive sentences taken at a time, so that neighbouring words are real too
SEED = 20_240
QUERIES = 200
WARM_UP = 50  # other queries, asked before the clock runs; a fifth of them where they are few
_ODD = ("xquad_de",)  # the rows are labelled English: German questions would be asked of no German
_QUERIES_FROM = 10_000  # passages that queries are taken from: the same ones at every size

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class DataMissing(SystemExit):
    """The folder of judged sets and documents is missing: a measurement ends by saying so."""


@dataclass(frozen=True, slots=True)
class Corpus:
    sentences: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A name for the data that passages and queries are made of."""
        made_of = hashlib.blake2b(f"{PASSAGE_WORDS} {RUN} {SEED}".encode(), digest_size=6)
        for text in (*self.sentences, *self.questions):
            made_of.update(text.encode())
        return made_of.hexdigest()

    def passages(self, count: int) -> Iterator[str]:
        """Passages of about 240 words, each from runs of consecutive sentences."""
        chance = random.Random(SEED)
        lengths = [len(sentence.split()) for sentence in self.sentences]
        for _ in range(count):
            parts: list[str] = []
            words = 0
            while words < PASSAGE_WORDS:
                at = chance.randrange(len(self.sentences) - RUN + 1)
                parts += self.sentences[at : at + RUN]
                words += sum(lengths[at : at + RUN])
            yield " ".join(parts)

    def runs(self, count: int) -> list[str]:
        """Short texts to embed: runs of consecutive sentences from the whole data."""
        chance = random.Random(SEED + 1)
        starts = [chance.randrange(len(self.sentences) - RUN + 1) for _ in range(count)]
        return [" ".join(self.sentences[at : at + RUN]) for at in starts]

    def queries(self, count: int = QUERIES + WARM_UP) -> list[str]:
        """Half are 2 to 8 consecutive words of a passage, half are questions people asked: fewer
        than asked for, where people asked too few."""
        count = min(count, 2 * len(self.questions))
        chance = random.Random(SEED + 2)
        passages = list(islice(self.passages(_QUERIES_FROM), _QUERIES_FROM))
        taken = [_words_of(chance.choice(passages), chance) for _ in range(count // 2)]
        asked = chance.sample(self.questions, count - len(taken))
        mixed = [query for pair in zip(taken, asked, strict=False) for query in pair]
        return mixed + asked[len(taken) :]


def warm_up(queries: Sized) -> int:
    """How many of the queries come before the clock runs."""
    return min(WARM_UP, len(queries) // 5)


def load_corpus(data: Path) -> Corpus:
    """Raises DataMissing."""
    judged = [p for p in sorted(data.glob("retrieval/*/corpus.jsonl")) if p.parent.name not in _ODD]
    notes = sorted(data.glob("documents/rulebook/**/*.md"))
    if not judged:
        raise DataMissing(
            f"There are no judged sets in {data.resolve() / 'retrieval'}.\n"
            "This measurement reads real text: retrieval/*/corpus.jsonl and queries.jsonl in BEIR's"
            " layout\nand documents/rulebook/**/*.md. Name the folder that holds them with --data."
        )
    texts = [str(row["text"]) for path in judged for row in json_lines(path)]
    texts += [path.read_text(encoding="utf-8", errors="replace") for path in notes]
    sentences = [
        " ".join(sentence.split())
        for text in texts
        for sentence in _SENTENCE_END.split(text)
        if 30 < len(sentence) < 600
    ]
    asked = [
        " ".join(str(row["text"]).split())
        for path in judged
        for row in json_lines(path.with_name("queries.jsonl"))
    ]
    return Corpus(tuple(sentences), tuple(q for q in dict.fromkeys(asked) if len(q) < 300))


def _words_of(passage: str, chance: random.Random) -> str:
    words = _PLAIN_WORD.findall(passage)
    at = chance.randrange(max(1, len(words) - 8))
    return " ".join(words[at : at + chance.randint(2, 8)])
