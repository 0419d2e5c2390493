"""Notices damaged index files where they are read.

A damaged file gives numbers that make no sense, and whatever uses them fails in one way or another.
Here that becomes `IndexDamaged`, and whoever holds the index sets it aside and rebuilds it from the
database.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from trivium.core.errors import IndexDamaged

P = ParamSpec("P")
T = TypeVar("T")


def guarded(part: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Turn what damaged files lead to into an `IndexDamaged` of this part."""

    def guard(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*given: P.args, **named: P.kwargs) -> T:
            try:
                return method(*given, **named)
            except IndexDamaged:
                raise
            except (ValueError, ArithmeticError, LookupError) as error:
                told = (str(error).splitlines() or [type(error).__name__])[0][:200]
                raise IndexDamaged.of(part, told) from error

        return call

    return guard
