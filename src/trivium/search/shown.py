"""The results that are shown: intact, with enough match, and widened by what stands around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trivium.core.results import Result
from trivium.core.types import ChunkId, Neighbours, Signal, StoredChunk
from trivium.ports import Backend
from trivium.search.expand import context, surrounding
from trivium.search.match import Candidate, explained
from trivium.search.progress import SearchProgress
from trivium.search.request import SearchRequest
from trivium.text.known import fields_with
from trivium.text.snippet import hit_in, second_said
from trivium.text.stems import DEFAULT_LANGUAGE, content_words

_CHANGED_TEXT = (
    "Passages left out because the stored text has changed on disk: {count}, of {which}."
    " Repair the library to restore them."
)
_CHANGED_VECTORS = (
    "Results whose vector has changed on disk, so that the rank by meaning may be wrong: {count}."
    " Repair the library to restore the vectors."
)


def intact(
    backend: Backend, candidates: list[Candidate], limit: int, progress: SearchProgress
) -> list[Candidate]:
    """Without passages that have changed on disk since they were written: nobody is shown a
    text that no document has. What the vector signal made of changed vectors is told."""
    changed: list[StoredChunk] = []
    unchanged: list[Candidate] = []
    for candidate in candidates:
        if len(unchanged) == limit:
            break
        if candidate.found.is_intact:
            unchanged.append(candidate)
        else:
            changed.append(candidate.found)
    if changed:
        which = ", ".join(sorted({f"#{passage.document.id}" for passage in changed}))
        progress.tell(_CHANGED_TEXT.format(count=len(changed), which=which))
    by_meaning = [c.found.id for c in unchanged if Signal.VECTOR in c.signals]
    if wrong := backend.signals.changed_vectors(by_meaning):
        progress.tell(_CHANGED_VECTORS.format(count=len(wrong)))
    progress.clock.lap("verify")
    return unchanged


def results(
    backend: Backend,
    request: SearchRequest,
    candidates: Sequence[Candidate],
    words: tuple[str, ...],
    progress: SearchProgress,
) -> tuple[Result, ...]:
    around: Mapping[ChunkId, Neighbours] = {}
    if request.expand:
        passages = [candidate.found for candidate in candidates]
        around = surrounding(backend.documents, passages, request.where)
        progress.clock.lap("expand")
    return tuple(
        result(
            rank,
            _under_heading(candidate, words),
            around.get(candidate.found.id),
            words,
            request.fields,
        )
        for rank, candidate in enumerate(candidates, start=1)
    )


def _under_heading(candidate: Candidate, words: tuple[str, ...]) -> Candidate:
    """With the headings that its hit stands under, if a passage has several."""
    chunk, document = candidate.found.chunk, candidate.found.document
    if not chunk.place.heading_starts:
        return candidate
    headings = chunk.headings_at(hit_in(chunk.text, words, document.language))
    return replace(
        candidate, found=replace(candidate.found, chunk=replace(chunk, headings=headings))
    )


def with_enough_match(
    request: SearchRequest, candidates: list[Candidate], progress: SearchProgress
) -> list[Candidate]:
    """Those with the minimum match; a note counts the others."""
    matching = [candidate for candidate in candidates if candidate.match >= request.min_match]
    if hidden := len(candidates) - len(matching):
        results = "result" if hidden == 1 else "results"
        progress.tell(f"Hid {hidden} {results} with a match below {request.min_match:.0%}.")
    return matching


def result(
    rank: int,
    candidate: Candidate,
    around: Neighbours | None,
    words: tuple[str, ...] = (),
    fields: Sequence[str] = (),
) -> Result:
    passage = candidate.found
    before, after = context(passage, around) if around else ("", "")
    telling = content_words(words, {passage.document.language, DEFAULT_LANGUAGE})
    return Result(
        rank=rank,
        score=candidate.score,
        match=candidate.match,
        found=passage,
        signals=candidate.signals,
        queries=candidate.queries,
        rerank=candidate.rerank,
        preferences=candidate.preferences,
        in_order=candidate.in_order,
        passages=candidate.passages,
        fields=fields_with(passage.document, telling, fields) if telling else (),
        why=explained(candidate.signs) if candidate.signs else "",
        before=before,
        after=after,
        at=second_said(passage.chunk, words, passage.document.language),
    )
