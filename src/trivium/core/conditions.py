"""Conditions of a filter, and `Where`, which every read needs. Part of `types`, which exports them;
in its own file because access is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

MetaScalar: TypeAlias = str | int | float | bool
Operator: TypeAlias = Literal["eq", "lt", "le", "gt", "ge"]


@dataclass(frozen=True, slots=True)
class Compare:
    """`field op value`. A field with several values passes if one of them does."""

    field: str  # one of `text.filters.BUILT_IN` or `OF_PASSAGES`, or a metadata name
    op: Operator
    value: MetaScalar


@dataclass(frozen=True, slots=True)
class Exists:
    """The document has a value for this field."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    of: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    of: tuple[Condition, ...] = ()  # empty passes everything


@dataclass(frozen=True, slots=True)
class AnyOf:
    of: tuple[Condition, ...] = ()  # empty passes nothing


Condition: TypeAlias = Compare | Exists | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Where:
    """Which documents a caller may see and asks for. Required everywhere: no forgotten access."""

    audiences: frozenset[str] | None  # labels the caller holds; None: the owner, who holds all
    condition: Condition = AllOf()
    collections: frozenset[str] | None = None  # that the caller may see; None: every one

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see every document."""
        return self.audiences is None and self.collections is None

    @property
    def access(self) -> Where:
        """All that the caller may see, whatever is asked for."""
        if self.condition == _EVERYTHING:
            return self
        return Where(self.audiences, AllOf(), self.collections)

    def held_by(self, audiences: frozenset[str] | None) -> Where:
        """The same for someone with only these labels; None: unchanged."""
        if audiences is None:
            return self
        allowed = audiences if self.audiences is None else self.audiences & audiences
        return Where(allowed, self.condition, self.collections)

    def narrowed(self, condition: Condition) -> Where:
        """The same caller, asking for less."""
        if self.condition == AllOf():
            return Where(self.audiences, condition, self.collections)
        return Where(self.audiences, AllOf((self.condition, condition)), self.collections)


_EVERYTHING = AllOf()
OWNER = Where(audiences=None)
