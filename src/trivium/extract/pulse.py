"""Lets a long extraction report progress, page by page or minute by minute. Knows nothing of the
listener: the clock in a sandbox's worker, elsewhere nobody."""

from __future__ import annotations

from collections.abc import Callable

Pulse = Callable[[float, float, str], None]
_listeners: list[Pulse] = []


def still_working() -> None:
    """Call it between steps: each may take as long as a whole file otherwise."""
    heard(0, 0)


def heard(done: float, total: float, piece: str = "") -> None:
    """The same, of a recording: seconds done of all, and what was heard in the last of them, for
    whoever reads it again after a crash."""
    for tell in _listeners:
        tell(done, total, piece)


def on_pulse(tell: Pulse) -> None:
    """From now on `tell` is called at every step, for as long as the process lives."""
    _listeners.append(tell)
