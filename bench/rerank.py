"""Reranking by late interaction: quality on judged sets, time, space and the cost for indexing.

    python -m bench.rerank --sets scifact,nfcorpus,cranfield,mlquestions,xquad_en,xquad_de
    python -m bench.rerank --chunks 100000

Each set is indexed once with token vectors, into a library of its own below the cache; a search
then fetches thirty candidates and reranks them, as the product does for ten results.

With `--chunks` only time counts: the library of `bench.search` with token vectors beside it (signs
by chance, as many as a passage has tokens), searched without and with reranking.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from bench.build import fill, place, prepare
from bench.corpus import load_corpus, warm_up
from bench.harness import Namespace, arguments
from bench.rows import make_rows
from bench.timing import as_json, folder_bytes, measure
from trivium.config import Settings, load
from trivium.core.results import Results
from trivium.core.types import OWNER, Labels, StoredChunk, TokenVectors
from trivium.evaluate.dataset import Dataset, load_dataset
from trivium.evaluate.metrics import Ranking
from trivium.evaluate.metrics import measure as judge_ranking
from trivium.ingest.embedding import Embedding
from trivium.ingest.preparing import Preparer
from trivium.ingest.run import Pipeline
from trivium.ingest.tasks import Offer
from trivium.library.asking import request_for
from trivium.library.assembly import chunker_for, deep_reranker_for, local_embedder_for
from trivium.models.late import EVERY, FORMAT, LateReranker
from trivium.models.local import LocalEmbedder
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend
from trivium.search.request import OVERFETCHED, SearchRequest
from trivium.search.rerank import Shares, blend
from trivium.search.run import Searcher
from trivium.search.weigh import MINILM
from trivium.store.embedded.backend import open_embedded

SETS = "scifact,nfcorpus,cranfield,mlquestions,xquad_en,xquad_de"
LIMIT = 10
SIZES = (20, 50)
SEED = 7
_EMBEDDED = 24  # passages that the cost of keeping token vectors is measured on


def bench(folder: Path, settings: Settings, queries: int, seconds: float) -> dict[str, Any]:
    dataset = load_dataset(folder)
    embedder = local_embedder_for(settings)
    place = settings.cache / "bench" / "rerank" / dataset.name
    store = open_embedded(place)
    _index(store, embedder, dataset, settings)
    model = embedder.fingerprint
    reranker = LateReranker(
        embedder, lambda ids: store.signals.token_vectors(ids, OWNER, model), store.signals.rarities
    )
    searcher = Searcher(store, embedder)
    asked = sorted(dataset.queries.items())
    if len(asked) > queries:
        asked = random.Random(SEED).sample(asked, queries)
    hybrid: Ranking = {}
    reranked: Ranking = {}
    for query_id, text in asked:
        found = searcher.search(
            SearchRequest((text,), OWNER, limit=LIMIT * OVERFETCHED, evidence=MINILM)
        )
        hybrid[query_id] = _documents([r.found for r in found])
        reranked[query_id] = _documents(_rerank(reranker, text, found))
    judgments = {query_id: dataset.judgments[query_id] for query_id, _ in asked}
    timings = {str(n): _time(searcher, reranker, asked, n, seconds) for n in SIZES}
    report = {
        "set": dataset.name,
        "queries": len(asked),
        "hybrid": judge_ranking(judgments, hybrid)["ndcg@10"],
        "reranked": judge_ranking(judgments, reranked)["ndcg@10"],
        "ms": timings,
        **_space(store, place),
        "ingest": _cost(store, embedder),
    }
    store.close()
    return report


def timed(chunks: int, data: Path, settings: Settings, seconds: float) -> dict[str, Any]:
    """Hybrid search of the same queries without and with reranking, and in depth where the
    cross-encoder is on this machine; twice each in turn."""
    corpus = load_corpus(data)
    at = place(settings, corpus, chunks)
    prepare(at, corpus, settings)
    library = at.folder / f"{chunks}-tokens"
    embedder = local_embedder_for(settings)
    model = embedder.fingerprint
    if not (library / "library.db").exists():
        blocks = make_rows(corpus, at.prepared.base, chunks)
        fill(library, blocks, model, lambda text: _signs(text, embedder.dimensions))
    store = open_embedded(library, create=False)
    late = LateReranker(
        embedder, lambda ids: store.signals.token_vectors(ids, OWNER, model), store.signals.rarities
    )
    deep = deep_reranker_for(settings)
    searcher = Searcher(store, embedder, reranker=late, deep=deep)
    queries = at.prepared.queries

    def ask(query: str, *, way: str) -> None:
        rerank = way != "hybrid"
        options = SearchOptions(limit=LIMIT, rerank=rerank, deep=way == "deep")
        found = searcher.search(request_for(settings, model, (query,), OWNER, options))
        if rerank and any(one.rerank is None for one in found):
            raise RuntimeError(f"Not reranked: {found.notes}")

    warm = warm_up(queries)
    ways = ("hybrid", "reranked", *(("deep",) if deep else ()))
    for query in queries[:warm]:
        ask(query, way="reranked")
    ms: dict[str, Any] = {}
    for name in (*ways, *(f"{way}, again" for way in ways)):
        call = partial(ask, way=name.removesuffix(", again"))
        ms[name] = as_json(measure(call, queries[warm:], seconds))
    store.close()
    return {"chunks": chunks, "ms": ms}


def _signs(text: str, dimensions: int) -> TokenVectors:
    """Token vectors of the size that a passage's have: one for each word that is kept."""
    rows = max(1, len(text.split()))
    return bytes([FORMAT]) + random.Random(len(text)).randbytes(rows * -(-dimensions // EVERY // 8))


def _index(store: Backend, embedder: LocalEmbedder, dataset: Dataset, settings: Settings) -> None:
    preparer = Preparer(
        store,
        chunker_for(settings, embedder),
        lambda blobs: [],  # a judged set brings texts, not files
        (),
        max_bytes=settings.read_max_bytes,
        max_chunks=settings.chunk_limit,
    )
    with store.writer.writing(), Pipeline(store, Embedding(store, embedder, embedder)) as pipeline:
        for _ in pipeline.run(Offer(item, Labels(), preparer) for item in dataset.items()):
            pass


def _rerank(reranker: LateReranker, query: str, found: Results) -> list[StoredChunk]:
    passages = [r.found for r in found]
    judged = reranker.scores(query, passages)
    return [passages[one.at] for one in blend([r.score for r in found], judged, Shares())]


def _documents(passages: Sequence[StoredChunk]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for rank, passage in enumerate(passages, start=1):
        scores.setdefault(passage.document.uri, 1.0 / rank)
    return scores


def _time(
    searcher: Searcher,
    reranker: LateReranker,
    asked: Sequence[tuple[str, str]],
    size: int,
    seconds: float,
) -> dict[str, float]:
    """Of the reranker alone: embedding the query, reading token vectors, comparing."""
    searches = [
        (text, [r.found for r in searcher.search(SearchRequest((text,), OWNER, limit=size))])
        for _, text in asked[:100]
    ]
    return as_json(measure(lambda pair: reranker.scores(*pair), searches, seconds))


def _space(store: Backend, place: Path) -> dict[str, float]:
    documents = store.documents.all(OWNER)
    ids = [p.id for d in documents for p in store.documents.passages(d.id, OWNER)]
    kept = store.signals.token_vectors(ids, OWNER, store.models.manifest().model)
    return {
        "chunks": len(ids),
        "token_bytes_a_chunk": round(sum(map(len, kept.values())) / len(ids)),
        "library_bytes_a_chunk": round(folder_bytes(place) / len(ids)),
    }


def _cost(store: Backend, embedder: LocalEmbedder) -> dict[str, float]:
    """Processor time of the same passages with and without token vectors, the best of three."""
    some = [
        p
        for d in store.documents.all(OWNER, limit=_EMBEDDED)
        for p in store.documents.passages(d.id, OWNER)
    ]
    texts = [p.chunk.embedded_text for p in some[:_EMBEDDED]]
    took: dict[str, list[float]] = {"plain": [], "with_tokens": []}
    for _ in range(3):
        for name, run in (
            ("plain", embedder.embed_documents),
            ("with_tokens", embedder.embed_with_tokens),
        ):
            started = process_time()
            run(texts)
            took[name].append(process_time() - started)
    return {name: round(min(seconds), 3) for name, seconds in took.items()}


def main() -> None:
    asked = _arguments()
    settings = load().settings
    if asked.chunks:
        print(json.dumps(timed(asked.chunks, asked.data.parent, settings, asked.seconds), indent=2))
        return
    reports = []
    for name in asked.sets.split(","):
        report = bench(asked.data / name, settings, asked.queries, asked.seconds)
        reports.append(report)
        if not asked.json:
            times = "  ".join(
                f"{n} in {t['p50']:.0f} / {t['p95']:.0f} ms" for n, t in report["ms"].items()
            )
            print(
                f"{name:12} {report['queries']:5} queries  hybrid {report['hybrid']:.4f}"
                f"  reranked {report['reranked']:.4f}  {times}"
                f"  {report['token_bytes_a_chunk']} of {report['library_bytes_a_chunk']} bytes"
                f"  embedding {report['ingest']['plain']} -> {report['ingest']['with_tokens']} s",
                flush=True,
            )
    if asked.json:
        print(json.dumps(reports, indent=2))


def _arguments() -> Namespace:
    data = Path(__file__).parents[2] / "shared" / "data" / "retrieval"
    return arguments(
        __doc__,
        "json",
        data=(data, "folder of judged sets"),
        sets=(SETS, "names of judged sets, with commas"),
        chunks=(int, "time only, in a library of so many passages"),
        queries=(500, "the most of a set, by chance"),
        seconds=(30.0, "for one measurement of time"),
    )


if __name__ == "__main__":
    main()
