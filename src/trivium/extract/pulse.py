"""Lets a long extraction report progress, page by page. Knows nothing of the listener: the clock in
a sandbox's worker, elsewhere nobody."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[], None]] = []


def still_working() -> None:
    """Call it between steps: each may take as long as a whole file otherwise."""
    for tell in _listeners:
        tell()


def on_pulse(tell: Callable[[], None]) -> None:
    """From now on `tell` is called at every step, for as long as the process lives."""
    _listeners.append(tell)
