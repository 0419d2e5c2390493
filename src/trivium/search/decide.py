"""What a search decides between asking the signals and fetching results: what the query's words
say, the weight of each signal, one fused list. Pure, so `tune` can ask the signals once and try
many settings on their answers. Knows no store and no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trivium.core.results import Analysis, OrderPart
from trivium.core.types import ChunkId, Hit, Query, Signal
from trivium.search.analyse import EVEN, analyse, favour_spelling, lean
from trivium.search.correct import Corrected
from trivium.search.fuse import Fused, Fusion, by_document, fuse
from trivium.search.in_order import LOOKED_AT, with_bonus
from trivium.search.request import SearchRequest
from trivium.search.weigh import TRACE, weigh

_ALIKE = 0.05  # of the total weight: a smaller difference counts as equal
_MOVED = 0.02  # of the total weight: a smaller shift isn't worth a reason
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """One query, parsed and corrected, and the answers of every signal, whatever its weight."""

    query: Query  # as typed
    corrected: Corrected
    lists: Mapping[Signal, Sequence[Hit]]
    documents: Mapping[ChunkId, str]  # the uri of each chunk in the lists
    in_order: Mapping[ChunkId, OrderPart] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # signals that couldn't run, and why
    separation: float | None = None  # how well the model tells the library's passages apart
    span: float | None = None  # how far the reranker's scores lie apart


def decide(request: SearchRequest, query: Query, corrected: Corrected) -> Analysis:
    """The weight of each signal, before any is asked."""
    analysis = Analysis(
        request.signal_weights(),
        request.fusion.value,
        request.k if request.fusion is Fusion.RANKS else 0.0,
        notes=corrected.notes,
        corrections=corrected.corrections,
        suggestion=corrected.suggestion,
        unknown=corrected.unknown,
    )
    if not request.analysis:
        return analysis
    balance = analyse(query)
    strength, beside = request.analysis, request.evidence is not None
    weights = lean(analysis.weights, balance, strength, beside_evidence=beside)
    weights = favour_spelling(weights, corrected.unknown_share, strength)
    return replace(analysis, weights=weights, semantic=balance.semantic, boosts=balance.boosts)


def join(
    request: SearchRequest,
    analysis: Analysis,
    lists: Mapping[Signal, Sequence[Hit]],
    most: int | None = None,
    *,
    known_item: bool = False,
) -> tuple[Analysis, list[Fused]]:
    """The weights, now with the signals' answers, and one list of the `most` best, or of all.
    `known_item`: a document is known by the query's words, so meaning hardly counts."""
    before, why, notes = analysis.weights, "", [*analysis.notes]
    if request.analysis and analysis.unknown and lists.get(Signal.TRIGRAM):
        notes.append(f"Spelling counts more: no document has {', '.join(analysis.unknown)}.")
    if known_item:
        why = "a document is known by these words"
        analysis = replace(analysis, weights=_worded(before), by_answers=True)
    elif request.evidence is not None:
        weights, text, why = weigh(before, lists, request.evidence)
        notes += [text] if text else []
        analysis = replace(analysis, weights=weights, by_answers=bool(text))
    silent = tuple(signal for signal in analysis.weights if not lists.get(signal))
    analysis = replace(analysis, notes=tuple(notes), silent=silent)
    analysis = replace(analysis, decided=_decided(analysis, before, why))
    wanted = sum(map(len, lists.values())) if most is None else most
    return analysis, fuse(lists, analysis.weights, request.fusion, request.k, wanted)


def _decided(analysis: Analysis, before: Mapping[Signal, float], why: str) -> str:
    """One sentence, built from the weights of the signals that found something, so it can't
    contradict them. `why`: what moved the weights after the signals answered."""
    whole = _shares(analysis.weights)
    if len(whole) < 2:
        return "".join(f"Searched by {signal.told} only." for signal in whole)
    shares = {signal: share for signal, share in whole.items() if signal not in analysis.silent}
    nothing = f"{' and '.join(signal.told for signal in analysis.silent)} gave no results"
    if not shares:
        return "No signal gave results."
    if len(shares) < 2:
        return "".join(f"Ranked by {signal.told} alone: {nothing}." for signal in shares)
    ordered = sorted(shares, key=lambda signal: -shares[signal])
    first = ordered[0]
    alike = [s.told for s in ordered if shares[first] - shares[s] < _ALIKE]
    most = "mostly" if round(shares[first], 2) >= _HALF else "most of all"
    if len(alike) > 1:
        by = f"equally by {', '.join(alike[:-1])} and {alike[-1]}"
    else:
        by = f"{most} by {first.told}"
    text = ", ".join(f"{signal.told} {share:.0%}" for signal, share in shares.items())
    ranked = f"Ranked {by} ({text})"
    if analysis.silent:
        return f"{ranked}: {nothing}."
    moved = shares.get(Signal.VECTOR, 0.0) - _shares(before).get(Signal.VECTOR, 0.0)
    side, reason = _reason(analysis, moved, why)
    if not reason:
        return f"{ranked}."
    against = len(alike) == 1 and side != ("semantic" if first is Signal.VECTOR else "keyword")
    return f"{ranked}, {'but less so than usual ' if against else ''}because {reason}."


def _reason(analysis: Analysis, moved: float, why: str) -> tuple[str, str]:
    """The favoured side and the reason; empty if nothing is worth mentioning."""
    if analysis.by_answers and abs(moved) >= _MOVED:
        return "semantic" if moved > 0 else "keyword", why
    if analysis.by_answers or analysis.semantic in (None, EVEN):
        return "", ""
    side = "semantic" if (analysis.semantic or EVEN) > EVEN else "keyword"
    signs = [f"{boost.name} ({boost.because})" for boost in analysis.boosts if boost.side == side]
    return side, f"of the query's {' and '.join(signs)}"


def _worded(weights: Mapping[Signal, float]) -> dict[Signal, float]:
    """The same total, with little for meaning."""
    total, meant = sum(weights.values()), weights.get(Signal.VECTOR, 0.0)
    if not 0 < meant < total:
        return dict(weights)
    least = min(meant, TRACE * total)
    worded = (total - least) / (total - meant)
    return {s: least if s is Signal.VECTOR else w * worded for s, w in weights.items()}


def _shares(weights: Mapping[Signal, float]) -> dict[Signal, float]:
    whole = sum(weights.values()) or 1.0
    return {signal: weight / whole for signal, weight in weights.items()}


def decide_anew(request: SearchRequest, heard: Heard, depth: int, most: int) -> list[Fused]:
    """What a search with this request would fuse if it asked each signal for `depth` chunks."""
    if request.evidence is not None:
        request = replace(request, evidence=request.evidence.in_library(heard.separation))
    analysis = decide(request, heard.query, heard.corrected)
    lists: dict[Signal, Sequence[Hit]] = {}
    for signal in analysis.weights:
        if signal in heard.lists:
            lists[signal] = heard.lists[signal][:depth]
    if request.threshold > -1 and Signal.VECTOR in lists:
        least = request.threshold
        lists[Signal.VECTOR] = [hit for hit in lists[Signal.VECTOR] if hit.score >= least]
    if request.of_documents:
        lists = {**by_document(lists, heard.documents)}
    fused = join(request, analysis, lists, max(most, LOOKED_AT))[1]
    return (with_bonus(fused, heard.in_order) if request.counts_order else fused)[:most]
