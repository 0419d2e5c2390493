"""The state of the search screen, read from its address and written into links.

Options that don't apply (weights when searching with one signal) stay in the address and out of the
search, so that you can change your mind. Knows nothing of libraries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from starlette.datastructures import QueryParams

from trivium.core.errors import BadSetting
from trivium.core.types import Combine, Granularity, Mode, Signal
from trivium.operations.declaring import boxes_of, labels_of
from trivium.operations.searching import MOST_QUERIES, SearchOptions
from trivium.web.pages import query

_Kind = TypeVar("_Kind", bound=StrEnum)

_STEPS = (10, 20, 50, 100)  # results on a page: each is asked for by "more"
_WEIGHTS = {"wv": Signal.VECTOR, "wk": Signal.KEYWORD, "wt": Signal.TRIGRAM}
BOXES, LABELS = boxes_of(SearchOptions), labels_of(SearchOptions)
_FILTERS = ("collection", "category", "type", "source")


@dataclass(frozen=True)
class SearchState:
    queries: tuple[str, ...] = ()
    combine: Combine = Combine.MINIMUM
    mode: Mode = Mode.HYBRID
    by: Granularity | None = None  # None: as the settings say
    limit: int | None = None
    weights: dict[Signal, int] | None = None  # of 100 each; None: decided for each query
    checked: frozenset[str] = frozenset()  # options with a box
    boost: str = ""  # as people type them, with `;` between
    collection: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    where: str = ""
    as_of: str = ""  # a day: search documents as they were then
    by_date: bool = False  # the newest first, among those shown
    explain: int | None = None  # the result whose drawer is open; 0: of all together
    fields: int = 1  # boxes for queries, at least

    @classmethod
    def of(cls, params: QueryParams) -> SearchState:
        """Raises BadSetting for values that no link or form of ours produces."""
        queries = tuple(text for text in params.getlist("q") if text.strip())
        limit, explain = _number(params, "n"), _number(params, "explain")
        return cls(
            queries=queries,
            combine=_choice(Combine, params, "combine") or Combine.MINIMUM,
            mode=_choice(Mode, params, "mode") or Mode.HYBRID,
            by=_choice(Granularity, params, "by"),
            limit=None if limit is None else max(1, min(limit, _STEPS[-1])),
            weights=_weights(params),
            checked=frozenset(name for name, box in BOXES.items() if params.get(box.name) == "1"),
            boost=params.get("boost", "").strip(),
            collection=tuple(params.getlist("collection")),
            category=tuple(params.getlist("category")),
            type=tuple(params.getlist("type")),
            source=tuple(params.getlist("source")),
            where=params.get("where", "").strip(),
            as_of=params.get("as_of", "").strip(),
            by_date=params.get("sort") == "date",
            explain=explain,
            fields=min(MOST_QUERIES, max(1, len(queries) + (params.get("add") == "1"))),
        )

    @property
    def boxes(self) -> tuple[str, ...]:
        """The text in each query box, empty ones included."""
        return (*self.queries, *[""] * (self.fields - len(self.queries)))

    @property
    def filtered(self) -> bool:
        return any(getattr(self, name) for name in _FILTERS) or bool(self.where)

    @property
    def chosen(self) -> int:
        """How many filters and options differ from their defaults."""
        filters = sum(len(getattr(self, name)) for name in _FILTERS) + bool(self.where)
        options = (bool(self.boost), bool(self.as_of), not self.is_hybrid, self.by is not None)
        weighed = self.weights is not None and self.is_hybrid
        return filters + len(self.checked) + sum(options) + weighed

    @property
    def is_advanced(self) -> bool:
        """Whether an option under Advanced is in use."""
        typed = (self.boost, self.where, self.as_of)
        return any((self.checked, *typed, not self.is_hybrid, self.weights is not None))

    @property
    def boxed(self) -> dict[str, Any]:
        """The options with a box, as a search takes them."""
        return {
            name: box.checked if name in self.checked else box.unchecked
            for name, box in BOXES.items()
        }

    @property
    def is_hybrid(self) -> bool:
        return self.mode is Mode.HYBRID

    @property
    def address(self) -> str:
        pairs = [("q", text) for text in self.queries]
        params: list[tuple[str, str, bool]] = [
            ("combine", self.combine.value, self.combine is not Combine.MINIMUM),
            ("mode", self.mode.value, self.mode is not Mode.HYBRID),
            ("by", self.by.value if self.by else "", self.by is not None),
            ("n", str(self.limit), self.limit is not None),
            *((box.name, "1", name in self.checked) for name, box in BOXES.items()),
            ("boost", self.boost, bool(self.boost)),
            ("as_of", self.as_of, bool(self.as_of)),
            ("sort", "date", self.by_date),
        ]
        pairs += [(name, value) for name, value, differs in params if differs]
        if self.weights is not None:
            pairs += [("weights", "fixed")]
            pairs += [(name, str(self.weights[signal])) for name, signal in _WEIGHTS.items()]
        pairs += [(name, value) for name in _FILTERS for value in getattr(self, name)]
        if self.where:
            pairs.append(("where", self.where))
        if self.explain is not None:
            pairs.append(("explain", str(self.explain)))
        return f"/?{query(pairs)}" if pairs else "/"

    @property
    def origin(self) -> str:
        """The part of a result's address that leads back here. The address already has the
        queries, so this is empty if there is nothing else."""
        state = replace(self, explain=None)
        alone = state == SearchState(self.queries, fields=self.fields)
        return "" if alone else state.address.removeprefix("/?")

    # --- where links lead

    def explaining(self, rank: int | None) -> str:
        return replace(self, explain=rank).address

    def more(self, shown: int) -> str:
        """The same search with more results; empty if there are no more."""
        larger = next((step for step in _STEPS if step > shown), None)
        return replace(self, limit=larger, explain=None).address if larger else ""

    def unfiltered(self) -> str:
        gone: dict[str, tuple[str, ...]] = dict.fromkeys(_FILTERS, ())
        return replace(self, where="", explain=None, **gone).address  # type: ignore[arg-type]

    def meaning(self, value: str, meant: str) -> str:
        """The same search with a filter's mistyped value corrected."""
        fixed = {n: tuple(meant if v == value else v for v in getattr(self, n)) for n in _FILTERS}
        where = corrected(self.where, value, meant)
        return replace(self, where=where, explain=None, **fixed).address  # type: ignore[arg-type]

    def without(self, name: str) -> SearchState:
        """The same search without one label's filter."""
        gone: dict[str, tuple[str, ...]] = {name: ()}
        return replace(self, **gone)  # type: ignore[arg-type]

    def all_three(self) -> str:
        return replace(self, mode=Mode.HYBRID, explain=None).address

    def current(self) -> str:
        return replace(self, as_of="", explain=None).address

    def any_of(self) -> str:
        return replace(self, combine=Combine.MAXIMUM, explain=None).address

    def asking(self, text: str, instead_of: int = 0) -> str:
        """The same with one query in another wording."""
        queries = [*self.queries]
        queries[instead_of : instead_of + 1] = [text]
        return replace(self, queries=tuple(queries), explain=None).address

    def sorted_by_date(self, by_date: bool) -> str:
        return replace(self, by_date=by_date, explain=None).address


def corrected(where: str, value: str, meant: str) -> str:
    """A filter as typed, with a mistyped value replaced."""
    quoted = f'"{meant}"' if " " in meant else meant
    return re.sub(rf'"?(?<![\w.-]){re.escape(value)}(?![\w.-])"?', lambda _: quoted, where)


def _weights(params: QueryParams) -> dict[Signal, int] | None:
    if params.get("weights") != "fixed":
        return None
    return {
        signal: max(0, min(100, _number(params, name) or 0)) for name, signal in _WEIGHTS.items()
    }


def _number(params: QueryParams, name: str) -> int | None:
    text = params.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise BadSetting(f"The address has `{name}={text[:50]}`.", fix="Use a whole number.")
    return int(text)


def _choice(kind: type[_Kind], params: QueryParams, name: str) -> _Kind | None:
    text = params.get(name, "")
    try:
        return kind(text) if text else None
    except ValueError:
        choices = ", ".join(choice.value for choice in kind)
        problem = f"The address has `{name}={text[:50]}`."
        raise BadSetting(problem, fix=f"Use one of these: {choices}.") from None
