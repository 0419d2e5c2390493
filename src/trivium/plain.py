"""Results, documents and passages as plain values, for JSON: the same whichever way one asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trivium.access import AccessToken
    from trivium.answers import Answer
    from trivium.history import Interpretation
    from trivium.results import Analysis, Result, Results, SignalPart
    from trivium.types import Document, Signal, StoredChunk
    from trivium.work import Job, Task


def results_as_json(results: Results) -> dict[str, object]:
    return {
        "query": results.query,
        "analysis": _analysis_as_json(results.analysis),
        "queries": [
            {"text": text, "analysis": _analysis_as_json(analysis)}
            for text, analysis in zip(results.queries, results.analyses, strict=True)
        ],
        "combine": results.combine,
        "weak": results.weak,
        "took_ms": results.took_ms,
        "timings_ms": dict(results.timings_ms),
        "results": [_result_as_json(result, weak=not results.fits(result)) for result in results],
        "notes": list(results.notes),
    }


def _analysis_as_json(analysis: Analysis) -> dict[str, object]:
    return {
        "weights": {signal.value: w for signal, w in analysis.weights.items()},
        "fusion": analysis.fusion,
        "k": analysis.k,
        "semantic": analysis.semantic,
        "keyword": None if analysis.semantic is None else 100 - analysis.semantic,
        "boosts": [asdict(boost) for boost in analysis.boosts],
        "corrections": [asdict(correction) for correction in analysis.corrections],
        "suggestion": analysis.suggestion,
        "unknown": list(analysis.unknown),
        "hypothesis": analysis.hypothesis,
        "decided": analysis.decided,
        "notes": list(analysis.notes),
    }


def _result_as_json(result: Result, *, weak: bool) -> dict[str, object]:
    document = result.found.document
    told: dict[str, object] = {
        "rank": result.rank,
        "score": result.score,
        "match": result.match,
        "weak": weak,
        "document": {
            "id": document.id,
            "title": document.title,
            "uri": document.uri,
            "collection": document.collection,
            "category": document.category,
            "interpretation": document.interpretation,
        },
        "chunk": chunk_as_json(result.found),
        "signals": _signals_as_json(result.signals),
        "passages": result.passages,
    }
    if result.queries:
        told["queries"] = [
            {"match": p.match, "score": p.score, "signals": _signals_as_json(p.signals)}
            for p in result.queries
        ]
    if result.rerank:
        told["rerank"] = asdict(result.rerank)
    if result.preferences:
        told["preferences"] = [asdict(part) for part in result.preferences]
    if result.before or result.after:
        told["context"] = {"before": result.before, "after": result.after}
    return told


def _signals_as_json(signals: Mapping[Signal, SignalPart]) -> dict[str, object]:
    return {
        signal.value: {
            "rank": part.rank,
            "score": part.score,
            "weight": part.weight,
            "contribution": part.contribution,
        }
        for signal, part in signals.items()
    }


def chunk_as_json(found: StoredChunk) -> dict[str, object]:
    chunk = found.chunk
    return {
        "id": found.id,
        "index": chunk.index,
        "text": chunk.text,
        "heading": heading(found),
        "section": chunk.section,
        "section_label": chunk.section_label,
        "pages": list(chunk.pages),
        "paragraph": chunk.paragraph,
        "start": chunk.start,
        "end": chunk.end,
    }


def heading(found: StoredChunk) -> str:
    return " › ".join(found.chunk.headings)


def document_as_json(document: Document) -> dict[str, object]:
    """What whoever may see a document is told of it."""
    told = asdict(document)
    for inner in (
        "original",
        "seen_hash",
        "seen_fingerprint",
        "sender",
    ):  # how the library keeps it
        del told[inner]
    return told


def interpretation_as_json(interpretation: Interpretation) -> dict[str, object]:
    told = asdict(interpretation)
    del told["original"], told["document"]
    return told


def job_as_json(job: Job) -> dict[str, object]:
    """Without its options and its worker, which are the library's own."""
    told = asdict(job)
    del told["options"], told["worker"]
    return told


def task_as_json(task: Task) -> dict[str, object]:
    told = asdict(task)
    del told["key"], told["anew"], told["lost"], told["worker"]
    return told


def answer_as_json(answer: Answer) -> dict[str, object]:
    return asdict(answer)


def token_as_json(token: AccessToken) -> dict[str, object]:
    """All but the hash."""
    return {
        "id": token.id,
        "name": token.name,
        "audiences": None if token.audiences is None else sorted(token.audiences),
        "collections": None if token.collections is None else sorted(token.collections),
        "rights": [right.value for right in sorted(token.rights)],
        "created_at": token.created_at,
        "expires_at": token.expires_at,
    }
