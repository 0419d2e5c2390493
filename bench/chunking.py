"""How well passages of several sizes contain the answers to questions.

    python -m bench.chunking [--json] [--only NAME] [--data FOLDER]

The data are the five texts and 472 questions of Chroma's chunking evaluation, each question with
the character ranges of its answer. All texts are cut into chunks, every chunk is embedded as it
would be in a library (the texts are given whole, without headings or title), and the best chunks of
all texts together are compared with the answer. As in that evaluation's own code all lengths are
counted in characters, and a character that two retrieved chunks share counts twice as retrieved:

recall      characters of the answer that are in a retrieved chunk / characters of the answer
precision   the same / characters of all retrieved chunks
IoU         the same / (characters of all retrieved chunks + characters of the answer missed)

The five best chunks are retrieved, which favours large chunks in recall and small ones in
precision. `recall 2k` therefore takes as many of the best as have 2,000 tokens together: what fits
into one prompt. `vector` ranks by cosine alone, `hybrid` is Trivium's search as it stands. Means
over the questions, in percent.

Vectors are kept under `cache/bench/chunking`, in steps: an interrupted run goes on where it was.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from bench import harness
from bench.harness import Namespace, arguments, say
from trivium.chunk.bibliography import Range, united
from trivium.chunk.recursive import RecursiveChunker
from trivium.chunk.sections import SectionsChunker
from trivium.config import load
from trivium.core.types import OWNER, Chunk, Extraction, Processed
from trivium.library import embedder_for
from trivium.ports import Chunker, Embedder
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.store.embedded.backend import open_embedded
from trivium.text.tokens import Cl100kTokens

if TYPE_CHECKING:
    from trivium.core.types import Vectors

DATA = harness.DATA / "retrieval/chunking_evaluation"
SIZES = (100, 200, 300, 400, 600)
CEILINGS = (400, 2000)  # of sections; the built-in model reads the first 512 tokens of a chunk
MOST = 10_000  # no limit: a text here is many documents
TOP = 5  # as in Chroma's report
BUDGET = 2000  # tokens of `recall 2k`: five chunks of the default size
DEEPEST = 64  # chunks of a ranking that may be needed to fill the budget
STEP = 64  # chunks embedded between two writes to the disk


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    source: str
    answer: tuple[Range, ...]  # disjoint


@dataclass(frozen=True, slots=True)
class Passage:
    source: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Scores:
    recall: float
    precision: float
    iou: float
    recall_budget: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    chunks: int
    tokens: int  # of a chunk, the mean
    vector: Scores
    hybrid: Scores


def main() -> None:
    asked = _arguments()
    settings = load().settings
    embedder = embedder_for(settings)
    kept = settings.cache / "bench" / "chunking"
    kept.mkdir(parents=True, exist_ok=True)
    texts, questions = read(asked.data)
    rows: list[Row] = []
    for name, chunker in configurations().items():
        if asked.only and name not in asked.only:
            continue
        passages = cut(texts, chunker)
        vectors = embed(name, [p.chunk.embedded_text for p in passages], embedder, kept)
        rows.append(measure(name, texts, passages, vectors, questions, embedder))
        say(f"{name}: {asdict(rows[-1])}")
    shown = json.dumps([asdict(row) for row in rows], indent=1) if asked.json else table(rows)
    print(shown)


def configurations() -> dict[str, Chunker]:
    """The settings to compare, by their names in the table."""
    tokens = Cl100kTokens()
    found: dict[str, Chunker] = {}
    for size in SIZES:
        for overlap in (size // 5, 0):
            name = f"recursive {size}/{overlap}"
            found[name] = RecursiveChunker(tokens, size, overlap, size // 10)
    for ceiling in CEILINGS:
        found[f"sections {ceiling}"] = SectionsChunker(tokens, ceiling, most=MOST)
    return found


def read(folder: Path) -> tuple[dict[str, str], list[Question]]:
    if not folder.is_dir():
        sys.exit(f"There is no folder {folder}. Name it with --data.")
    corpora = sorted((folder / "corpora").iterdir())
    texts = {path.stem: path.read_text(encoding="utf-8") for path in corpora}
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        questions = [_question(row, texts) for row in csv.DictReader(file)]
    return texts, questions


def _question(row: Mapping[str, str], texts: Mapping[str, str]) -> Question:
    source = row["corpus_id"]
    ranges = []
    for part in json.loads(row["references"]):
        start, end = int(part["start_index"]), int(part["end_index"])
        if texts[source][start:end] != part["content"]:
            sys.exit(f"The answer at {start} of {source} is not where the file says.")
        ranges.append((start, end))
    return Question(row["question"], source, tuple(united(ranges)))


def cut(texts: Mapping[str, str], chunker: Chunker) -> list[Passage]:
    return [
        Passage(source, chunk)
        for source, text in texts.items()
        for chunk in chunker.chunk(extraction(text))
    ]


def extraction(text: str) -> Extraction:
    return Extraction(text, (), title="", media_type="text/plain", language="en")


# --- vectors -------------------------------------------------------------------------------------


def embed(name: str, texts: Sequence[str], embedder: Embedder, kept: Path) -> Vectors:
    """Read from the disk if saved, else computed by the model."""
    digest = hashlib.blake2b(f"{embedder.fingerprint}\n".encode(), digest_size=8)
    for text in texts:
        digest.update(text.encode() + b"\0")
    path = kept / f"{name.replace(' ', '-').replace('/', '-')}-{digest.hexdigest()}.f32"
    path.touch()
    width = embedder.dimensions * 4
    done = path.stat().st_size // width
    started, before = perf_counter(), done
    with path.open("r+b") as file:
        file.truncate(done * width)  # a row that a kill cut in two
        file.seek(done * width)
        while done < len(texts):
            vectors = embedder.embed_documents(texts[done : done + STEP])
            file.write(vectors.tobytes())
            file.flush()
            done += len(vectors)
            rate = (done - before) / (perf_counter() - started)
            left = (len(texts) - done) / rate
            say(f"{name}: {done:,} of {len(texts):,} chunks, {rate:.1f}/s, {left:,.0f} s left")
    found: Vectors = np.fromfile(path, np.float32).reshape(len(texts), embedder.dimensions)
    return found


# --- measuring -----------------------------------------------------------------------------------


def measure(
    name: str,
    texts: Mapping[str, str],
    passages: Sequence[Passage],
    vectors: Vectors,
    questions: Sequence[Question],
    embedder: Embedder,
) -> Row:
    asked = np.stack([embedder.embed_query(question.text) for question in questions])
    order = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :DEEPEST]
    by_vector = [[passages[i] for i in ranks] for ranks in order]
    by_all = hybrid(texts, passages, vectors, questions, embedder)
    tokens = sum(p.chunk.tokens for p in passages) / len(passages)
    return Row(
        name,
        len(passages),
        round(tokens),
        _mean([judge(q, found) for q, found in zip(questions, by_vector, strict=True)]),
        _mean([judge(q, found) for q, found in zip(questions, by_all, strict=True)]),
    )


def hybrid(
    texts: Mapping[str, str],
    passages: Sequence[Passage],
    vectors: Vectors,
    questions: Sequence[Question],
    embedder: Embedder,
) -> list[list[Passage]]:
    """Results of a library with the five texts."""
    with TemporaryDirectory() as folder:
        store = open_embedded(Path(folder) / "library")
        try:
            with store.writer.writing():
                documents = [_processed(s, t, passages, vectors) for s, t in texts.items()]
                store.writer.put(documents, embedder.fingerprint)
            searcher = Searcher(store, embedder)
            answers = []
            for question in questions:
                results = searcher.search(SearchRequest((question.text,), OWNER, limit=DEEPEST))
                found = [result.found for result in results]
                answers.append([Passage(f.document.uri, f.chunk) for f in found])
            return answers
        finally:
            store.close()


def _processed(source: str, text: str, passages: Sequence[Passage], vectors: Vectors) -> Processed:
    own = [i for i, passage in enumerate(passages) if passage.source == source]
    return Processed(
        uri=source,
        collection="default",
        category="",
        audience="all",
        metadata={},
        content_hash=source,
        size=len(text),
        extraction=extraction(text),
        chunks=tuple(passages[i].chunk for i in own),
        hashes=tuple(f"{source}-{i}" for i in own),
        vectors=vectors[own],
        fingerprint="bench",
    )


def judge(question: Question, ranking: Sequence[Passage]) -> Scores:
    best = ranking[:TOP]
    found = covered(question, best)
    wanted = sum(end - start for start, end in question.answer)
    retrieved = sum(p.chunk.end - p.chunk.start for p in best)
    room, budget = BUDGET, 0
    while budget < len(ranking) and ranking[budget].chunk.tokens <= room:
        room -= ranking[budget].chunk.tokens
        budget += 1
    return Scores(
        recall=found / wanted,
        precision=found / retrieved if retrieved else 0.0,
        iou=found / (retrieved + wanted - found),
        recall_budget=covered(question, ranking[:budget]) / wanted,
    )


def covered(question: Question, retrieved: Sequence[Passage]) -> int:
    """Characters of the answer in the retrieved chunks, each counted once."""
    ranges = united(
        [(p.chunk.start, p.chunk.end) for p in retrieved if p.source == question.source]
    )
    overlaps = (
        min(end, stop) - max(start, begin)
        for start, end in ranges
        for begin, stop in question.answer
    )
    return sum(length for length in overlaps if length > 0)


def _mean(scores: Sequence[Scores]) -> Scores:
    values = np.array([list(asdict(one).values()) for one in scores])
    return Scores(*(round(float(value), 4) for value in values.mean(axis=0)))


# --- for people ----------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    measures = ("recall", "precision", "IoU", "recall 2k")
    columns = [f"{kind} {measure}" for kind in ("vector", "hybrid") for measure in measures]
    lines = [
        "| size/overlap in tokens | chunks | mean tokens | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 3) + "|",
    ]
    for row in rows:
        values = [*asdict(row.vector).values(), *asdict(row.hybrid).values()]
        cells = [row.name, f"{row.chunks:,}", str(row.tokens), *(f"{100 * v:.1f}" for v in values)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "json",
        only=({"action": "append"}, "a configuration's name; may be repeated"),
        data=(DATA, "folder of the evaluation's files"),
    )


if __name__ == "__main__":
    main()
