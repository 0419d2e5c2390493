"""What search gains if every chunk is embedded with a summary of its document.

    python -m bench.contextual [--json] [--only NAME] [--data FOLDER]

code        Anthropic's set for contextual retrieval: 737 chunks of 90 source files as the set cuts
            them, 248 questions. Pass@k as in Anthropic's own code: the share of a question's chunks
            that are among the k best, mean over the questions.
texts       Three long texts of Chroma's chunking evaluation (chats, a speech, encyclopedia) and the
            questions about them, 400/80 tokens a chunk: recall of the answer's characters by the 5
            best, and by the best 2,000 tokens.

`off` embeds the chunk alone, `extractive` puts trivium.text.summary in front. `vector` ranks by
cosine alone, `hybrid` is Trivium's search as it stands; the summary takes no part in its keyword
and trigram signals. In percent. Vectors are kept under `cache/bench/contextual`, in steps.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench import chunking, harness
from bench.harness import Namespace, arguments, json_lines
from trivium.chunk.recursive import RecursiveChunker
from trivium.config import load
from trivium.core.types import OWNER, Chunk, Extraction, Processed
from trivium.extract.code import read_code
from trivium.library import embedder_for
from trivium.ports import Blob, Embedder, Summariser
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.store.embedded.backend import open_embedded
from trivium.text.summary import ExtractiveSummariser
from trivium.text.tokens import Cl100kTokens

DATA = harness.DATA / "retrieval"
TEXTS = ("chatlogs", "state_of_the_union", "wikitexts")  # the others have five times as many chunks
DEPTHS = (5, 10, 20)
VARIANTS: Mapping[str, Summariser | None] = {"off": None, "extractive": ExtractiveSummariser()}


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the code set, and its chunks as the set gives them."""

    extraction: Extraction
    chunks: tuple[tuple[str, Chunk], ...]  # with the set's name of each


def main() -> None:
    asked = _arguments()
    settings = load().settings
    embedder = embedder_for(settings)
    kept = settings.cache / "bench" / "contextual"
    kept.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, float]] = {}
    for set_, measure in (("code", measure_code), ("texts", measure_texts)):
        for variant, summariser in VARIANTS.items():
            name = f"{set_} {variant}"
            if not asked.only or name in asked.only:
                found[name] = measure(name, asked.data, summariser, embedder, kept)
                print(f"{name}: {found[name]}", file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1) if asked.json else table(found))


# --- code ----------------------------------------------------------------------------------------


def measure_code(
    name: str, data: Path, summariser: Summariser | None, embedder: Embedder, kept: Path
) -> dict[str, float]:
    folder = data / "anthropic_codebase"
    sources = read_sources(folder)
    summaries = [
        summariser.summarise(s.extraction) if summariser and len(s.chunks) > 1 else ""
        for s in sources
    ]
    chunks = [
        (id_, c, s) for src, s in zip(sources, summaries, strict=True) for id_, c in src.chunks
    ]
    vectors = chunking.embed(name, [c.embedded_under(s) for _, c, s in chunks], embedder, kept)
    questions, wanted = read_questions(folder)
    asked = np.stack([embedder.embed_query(text) for text in questions.values()])
    order = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, : max(DEPTHS)]
    names = [id_ for id_, _, _ in chunks]
    by_vector = [[names[i] for i in ranks] for ranks in order]
    by_all = _search(sources, names, vectors, questions, embedder)
    return {
        f"{kind} Pass@{k}": _pass(rankings, list(wanted.values()), k)
        for kind, rankings in (("vector", by_vector), ("hybrid", by_all))
        for k in DEPTHS
    }


def read_sources(folder: Path) -> list[Source]:
    if not folder.is_dir():
        sys.exit(f"There is no folder {folder}. Name its parent with --data.")
    chunks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in json_lines(folder / "corpus.jsonl"):
        chunks[row["_id"].partition("#")[0]].append((row["_id"], row["text"]))
    sources = []
    for row in json_lines(folder / "full_docs.jsonl"):
        read = read_code.extract(Blob("source.txt", row["content"].encode()))
        # The set names its files doc_1, doc_2: no title that says anything.
        extraction = Extraction(read.text, read.elements, "", read.media_type)
        own = [
            (id_, Chunk(at, max(0, read.text.find(text)), 0, text))
            for at, (id_, text) in enumerate(chunks[row["uuid"]])
        ]
        sources.append(Source(extraction, tuple(own)))
    return sources


def read_questions(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    wanted: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, chunk, _ = line.split("\t")
        wanted[question].add(chunk)
    questions = {row["_id"]: row["text"] for row in json_lines(folder / "queries.jsonl")}
    return questions, {id_: wanted[id_] for id_ in questions}


def _search(
    sources: Sequence[Source],
    names: Sequence[str],
    vectors: Any,
    questions: Mapping[str, str],
    embedder: Embedder,
) -> list[list[str]]:
    """Results of a library with these chunks."""
    with TemporaryDirectory() as folder:
        store = open_embedded(Path(folder) / "library")
        try:
            with store.writer.writing():
                store.writer.put(list(_processed(sources, vectors)), embedder.fingerprint)
            searcher = Searcher(store, embedder)
            return [
                [
                    names[int(result.found.document.uri) + result.found.chunk.index]
                    for result in searcher.search(SearchRequest((text,), OWNER, limit=max(DEPTHS)))
                ]
                for text in questions.values()
            ]
        finally:
            store.close()


def _processed(sources: Sequence[Source], vectors: Any) -> list[Processed]:
    """Known by the position of their first chunk."""
    found, first = [], 0
    for source in sources:
        last = first + len(source.chunks)
        found.append(
            Processed(
                uri=str(first),
                collection="default",
                category="",
                audience="all",
                metadata={},
                content_hash=str(first),
                size=len(source.extraction.text),
                extraction=source.extraction,
                chunks=tuple(chunk for _, chunk in source.chunks),
                hashes=tuple(str(at) for at in range(first, last)),
                vectors=vectors[first:last],
                fingerprint="bench",
            )
        )
        first = last
    return found


def _pass(rankings: Sequence[Sequence[str]], wanted: Sequence[set[str]], k: int) -> float:
    shares = [len(w & set(r[:k])) / len(w) for r, w in zip(rankings, wanted, strict=True)]
    return round(100 * sum(shares) / len(shares), 2)


# --- texts ---------------------------------------------------------------------------------------


def measure_texts(
    name: str, data: Path, summariser: Summariser | None, embedder: Embedder, kept: Path
) -> dict[str, float]:
    read, asked = chunking.read(data / "chunking_evaluation")
    texts = {source: text for source, text in read.items() if source in TEXTS}
    questions = [question for question in asked if question.source in TEXTS]
    passages = chunking.cut(texts, RecursiveChunker(Cl100kTokens(), 400, 80, 40))
    summaries = {
        source: summariser.summarise(chunking.extraction(text)) if summariser else ""
        for source, text in texts.items()
    }
    embedded = [p.chunk.embedded_under(summaries[p.source]) for p in passages]
    vectors = chunking.embed(name, embedded, embedder, kept)
    row = chunking.measure(name, texts, passages, vectors, questions, embedder)
    return {
        f"{kind} {label}": round(100 * value, 2)
        for kind, scores in (("vector", row.vector), ("hybrid", row.hybrid))
        for label, value in (("recall@5", scores.recall), ("recall 2k", scores.recall_budget))
    }


# --- for people ----------------------------------------------------------------------------------


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    lines = []
    for name, measures in found.items():
        lines += [name, *(f"  {label:<18}{value:6.2f}" for label, value in measures.items())]
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "json",
        only=({"action": "append"}, "such as `code off`; may be repeated"),
        data=(DATA, "folder of the judged sets"),
    )


if __name__ == "__main__":
    main()
