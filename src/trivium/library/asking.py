"""Turns a caller's options and the settings into one typed request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from trivium.config import Settings
from trivium.core.errors import BadFilter, BadSetting
from trivium.core.types import (
    AllOf,
    AnyOf,
    Combine,
    Compare,
    Condition,
    Document,
    Exists,
    Granularity,
    Label,
    Mode,
    Not,
    Signal,
    Where,
)
from trivium.library.assembly import is_deep
from trivium.models.catalogue import languages_of
from trivium.operations.declaring import kinds_of
from trivium.operations.searching import Filters, SearchOptions
from trivium.ports import Backend
from trivium.search.fuse import Fusion
from trivium.search.match import Fits, fits_for
from trivium.search.prefer import RECENT, DocumentBoost, Preference, boosts_of, boosts_written
from trivium.search.request import MODES, Rerank, SearchRequest
from trivium.search.rerank import Shares
from trivium.search.scale import Scale, scale_of
from trivium.search.weigh import SignalEvidence, evidence_for
from trivium.store.where import UPLOADED
from trivium.text.filters import BUILT_IN, OF_PASSAGES, check_filter, fields_of, parse_filter
from trivium.text.known import ALIASES
from trivium.text.values import LARGEST, check_text

_Choice = TypeVar("_Choice", bound=StrEnum)

_KINDS = kinds_of(SearchOptions)
DEEP = "deep"
_LABELS: tuple[Label, ...] = ("collection", "category", "type", "language")
MOST_NAMES = 5_000  # documents whose names are compared with a mistyped one: .1 s
_MOST_MET = 10_000  # pairs of a caller and a field that are remembered: 2 MB
_PROPOSED = 5  # near values that are looked at more closely


def request_for(
    settings: Settings,
    model: str,
    queries: tuple[str, ...],
    within: Where,
    options: SearchOptions,
    scale: Scale | None = None,
) -> SearchRequest:
    """`model`: fingerprint of the embedder in use; `scale`: of its cosines, if it was measured."""
    scale = scale_of(model) or scale
    s, o = settings, options
    _refuse_wrong_types(queries, o)
    mode = one_of(Mode, "mode", o.mode)
    _refuse_contradictions(mode, queries, o)
    default = {
        Signal.VECTOR: s.fusion_vector,
        Signal.KEYWORD: s.fusion_keyword,
        Signal.TRIGRAM: s.fusion_trigram,
    }
    limit = s.search_limit if o.limit is None else o.limit
    # `every_word` off, given by a caller, is stronger than a preset that is strict.
    strict = s.search_strict and o.every_word is not False if o.strict is None else o.strict
    method = one_of(Fusion, "fusion.method", s.fusion_method)
    return SearchRequest(
        queries=queries,
        where=within,
        limit=limit,
        mode=mode,
        by=one_of(Granularity, "by", s.search_by if o.by is None else o.by),
        combine=one_of(Combine, "combine", o.combine or Combine.MINIMUM),
        weights=default if o.weights is None else o.weights,
        # A rank constant only makes sense for ranks: giving one asks for rank fusion.
        fusion=method if o.k is None else Fusion.RANKS,
        # Weights that a caller gives, or that a signal alone has, are not moved.
        analysis=_strength(s, o) if o.weights is None and mode is Mode.HYBRID else 0.0,
        correct=s.search_correct if o.correct is None else o.correct,
        every_word=strict or (s.search_every_word if o.every_word is None else o.every_word),
        strict=strict,
        evidence=_evidence(s, scale) if o.weights is None else None,
        k=s.fusion_k if o.k is None else o.k,
        threshold=s.search_threshold if o.threshold is None else o.threshold,
        fuse_documents=s.fusion_documents,
        match=_fits(s, scale),
        floor=s.search_floor,
        min_match=s.search_min_match if o.min_match is None else o.min_match,
        candidates=s.search_candidates or s.search_per_result * limit or None,
        expand=s.search_expand if o.expand is None else o.expand,
        prefer=_preference(s, o),
        rerank=_rerank(s, o),
        fields=s.known_fields,
        languages=languages_of(model),
        hyde=(s.search_hyde if o.hyde is None else o.hyde) and Signal.VECTOR in MODES[mode],
    )


def _preference(settings: Settings, options: SearchOptions) -> Preference | None:
    s, o = settings, options
    prefer = s.search_prefer if o.prefer is None else o.prefer
    _demand(prefer in ("", RECENT), "prefer", prefer, f"`{RECENT}`, or nothing")
    written = [text for text in s.search_boosts.split(";") if text.strip()]
    boosts = boosts_of(boosts_written(written) if o.boosts is None else o.boosts)
    days = s.search_half_life if o.half_life is None else o.half_life
    if not prefer and o.half_life is not None:
        raise BadSetting("`half_life` needs `prefer`.", fix="Prefer `recent`.")
    return Preference(days if prefer else None, boosts) if prefer or boosts else None


def _refuse_wrong_types(queries: tuple[object, ...], options: SearchOptions) -> None:
    """Python accepts any value, so this names the wrong field here and not deep inside."""
    o = options
    for query in queries:
        _demand(isinstance(query, str), "query", query, "one text, or two to four")
    _demand(o.limit is None or _is_whole(o.limit), "limit", o.limit, "a whole number")
    _demand(
        o.boosts is None or isinstance(o.boosts, Mapping), "boosts", o.boosts, "weights by filter"
    )
    for name, kind in _KINDS.items():
        value = getattr(o, name)
        if kind is float:
            _demand(value is None or _is_number(value), name, value, "a number")
    if o.weights is None:
        return
    _demand(isinstance(o.weights, Mapping), "weights", o.weights, "a number for each signal")
    for signal, weight in o.weights.items():
        one_of(Signal, "weights", signal)
        _demand(_is_number(weight), f"weights.{signal}", weight, "a number")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -LARGEST <= value <= LARGEST  # NaN is not


def _demand(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise BadSetting(f"`{name}` can't be {value!r}.", fix=f"Give {allowed}.")


def _refuse_contradictions(mode: Mode, queries: tuple[str, ...], options: SearchOptions) -> None:
    if options.analysis and options.weights is not None:
        raise BadSetting(
            "`analysis` changes the weights that `weights` fixes.", fix="Leave one out."
        )
    if options.analysis and mode is not Mode.HYBRID:
        raise BadSetting(f"`analysis` has no effect in mode {mode}.", fix="Leave one of them out.")
    if options.combine is not None and len(queries) == 1:
        raise BadSetting("`combine` has no effect with one query.", fix="Give two to four queries.")
    if options.k is not None and mode is not Mode.HYBRID:
        raise BadSetting(f"`k` has no effect in mode {mode}.", fix="Leave one of them out.")
    if options.weights is not None and mode is not Mode.HYBRID:
        raise BadSetting(f"`weights` have no effect in mode {mode}.", fix="Leave one of them out.")
    if options.hyde and Signal.VECTOR not in MODES[mode]:
        raise BadSetting(f"`hyde` has no effect in mode {mode}.", fix="Leave one of them out.")
    if options.threshold is not None and Signal.VECTOR not in MODES[mode]:
        raise BadSetting(f"`threshold` has no effect in mode {mode}.", fix="Leave one of them out.")


class Scope:
    """What a caller may see, narrowed to what they ask for."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._met: set[tuple[Where, str]] = set()  # fields that documents have, and who may know

    def within(self, allowed: Where, filters: Filters, view: Backend | None = None) -> Where:
        """`view`: of the past, which has its own fields. Raises BadFilter."""
        filter_ = where(filters)
        within = allowed.held_by(filter_.audiences).narrowed(filter_.condition)
        met = self._met if view is None else set()
        _refuse_unknown_fields(within, view or self._backend, met)
        return within

    def idle(
        self, within: Where, boosts: Iterable[DocumentBoost], view: Backend | None = None
    ) -> tuple[str, ...]:
        """A note for each boost by a field that none of this caller's documents has. Not an error:
        other callers may see documents that have it."""
        met = self._met if view is None else set()
        notes = []
        for boost in boosts:
            if boost.condition is not None:
                try:
                    boosted = within.access.narrowed(boost.condition)
                    _refuse_unknown_fields(boosted, view or self._backend, met)
                except BadFilter as reason:
                    notes.append(f"The boost {boost.told} has no effect. {reason}")
        return tuple(notes)

    def slips(self, within: Where, view: Backend | None = None) -> tuple[str, ...]:
        """For a filter that matches nothing: each value that no document has, with the nearest
        value in this caller's documents. For people who mistyped it."""
        backend = view or self._backend
        texts = []
        for label in _wanted(within.condition):
            field, value = label.field, str(label.value)
            if backend.documents.all(within.access.narrowed(label), limit=1):
                continue
            near = nearest(value, _known_values(backend, field, within.access))
            hint = f" Did you mean `{near}`?" if near else ""
            texts.append(f"No document has the {field} `{value}`.{hint}")
        return tuple(texts)


def _wanted(condition: Condition) -> list[Compare]:
    """The labels that a filter requires. An excluded value can't be why nothing matches."""
    match condition:
        case AllOf(of) | AnyOf(of):
            return [label for part in of for label in _wanted(part)]
        case Compare(field, "eq", _) if field in (*_LABELS, "source"):
            return [condition]
    return []


def _known_values(backend: Backend, field: str, access: Where) -> list[str]:
    for label in _LABELS:
        if label == field:
            return [value for value in backend.documents.counts(label, access) if value]
    return names_of(backend.documents.all(access, limit=MOST_NAMES))


def names_of(documents: Iterable[Document]) -> list[str]:
    """The file names by which people know documents."""
    uris = (document.uri.removeprefix(UPLOADED).rstrip("/") for document in documents)
    return list(dict.fromkeys(map(os.path.basename, uris)))


def nearest(typed: str, choices: Iterable[str]) -> str:
    """The value that was probably meant; empty: none is near. Without their endings two names must
    be near as well: `nope.pdf` doesn't mean `skew.pdf`."""
    from difflib import get_close_matches

    by_case = {value.lower(): value for value in choices}
    stem = _without_ending(typed.lower())
    for match in get_close_matches(typed.lower(), by_case, n=_PROPOSED):
        if get_close_matches(stem, [_without_ending(match)]):
            return by_case[match]
    return ""


def _without_ending(name: str) -> str:
    return name.rpartition(".")[0] or name


def _refuse_unknown_fields(within: Where, backend: Backend, met: set[tuple[Where, str]]) -> None:
    """A filter by a field that no document has is a slip of the pen, not a wish for nothing.
    `met`: by whom which were found before; they are not looked for again, which takes 1.5 ms."""
    for field in sorted(fields_of(within.condition) - {*BUILT_IN, *OF_PASSAGES, *ALIASES}):
        name = field.removeprefix("metadata.")
        if (within.access, name) in met:
            continue
        if backend.documents.all(within.access.narrowed(Exists(f"metadata.{name}")), limit=1):
            if len(met) < _MOST_MET:
                met.add((within.access, name))
            continue
        field_names = sorted(
            {*BUILT_IN, *OF_PASSAGES, *backend.documents.field_names(within.access)}
        )
        near = nearest(name, field_names)
        hint = f"Did you mean `{near}`? " if near else ""
        raise BadFilter(
            f"No document has a field `{name}`.",
            fix=f"{hint}Known fields: {', '.join(field_names)}.",
        )


def _rerank(settings: Settings, options: SearchOptions) -> Rerank | None:
    s, o = settings, options
    _demand(o.rerank in (None, True, False, DEEP), "rerank", o.rerank, f"true, false or `{DEEP}`")
    if not (s.search_rerank if o.rerank is None else o.rerank) and not o.deep:
        return None
    shares = Shares(s.rerank_share, s.rerank_hybrid, s.rerank_position)
    deep = o.rerank == DEEP or (s.search_deep if o.deep is None else o.deep) or is_deep(s)
    return Rerank(shares, s.rerank_seconds, s.rerank_candidates or None, deep)


def _strength(settings: Settings, options: SearchOptions) -> float:
    if options.analysis is None:
        return settings.analysis_strength
    return (settings.analysis_strength or 1.0) if options.analysis else 0.0


def _evidence(settings: Settings, scale: Scale | None) -> SignalEvidence | None:
    """Weights move only for models whose cosines are known."""
    return evidence_for(scale) if settings.fusion_adaptive else None


class Match(StrEnum):
    PROBABILITY = "probability"
    RULE = "rule"


def _fits(settings: Settings, scale: Scale | None) -> Fits | None:
    if one_of(Match, "search.match", settings.search_match) is Match.RULE:
        return None
    return fits_for(scale)


def where(filters: Filters) -> Where:
    """What these filters ask for, and of whom."""
    parts = [
        _any_of(name, values)
        for name, values in (
            ("collection", filters.collection),
            ("source", filters.source),
            ("category", filters.category),
        )
        if values is not None
    ]
    parts += [Compare(f"metadata.{name}", "eq", v) for name, v in (filters.metadata or {}).items()]
    check_filter(AllOf(tuple(parts)))
    if filters.where:
        parts.append(as_condition(filters.where))
    audiences = filters.audiences
    if isinstance(audiences, str):  # one label, not the set of its letters
        audiences = [audiences]
    labels = None if audiences is None else frozenset(audiences)
    for label in labels or ():
        _demand(isinstance(label, str), "audiences", label, "labels as texts")
        check_text("audiences", label)
    return Where(labels, AllOf(tuple(parts)))


def as_condition(condition_or_text: Condition | str) -> Condition:
    condition = (
        parse_filter(condition_or_text) if isinstance(condition_or_text, str) else condition_or_text
    )
    if not isinstance(condition, Compare | Exists | Not | AllOf | AnyOf):
        raise BadFilter(
            f"The filter can't be {condition_or_text!r}.", fix="Give a text or a condition."
        )
    check_filter(condition)
    return condition


def _any_of(name: str, values: str | Sequence[str]) -> Condition:
    listed = [values] if isinstance(values, str) else values
    if not isinstance(listed, Sequence) or not all(isinstance(v, str) for v in listed):
        raise BadFilter(f"`{name}` can't be {values!r}.", fix="Give a text, or several.")
    return AnyOf(tuple(Compare(name, "eq", value) for value in listed))


def one_of(kind: type[_Choice], name: str, value: object) -> _Choice:
    try:
        return kind(str(value))
    except ValueError as reason:
        choices = ", ".join(kind)
        raise BadSetting(
            f"`{name}` can't be {value!r}.", fix=f"Choose one of {choices}."
        ) from reason
