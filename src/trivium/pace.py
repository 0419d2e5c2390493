"""How much time is left, as a number that falls steadily.

Documents differ: a page of notes takes an instant, a scan minutes. So an estimate from the work
done so far jumps. `TimeLeft` keeps the moment at which it expects the end, and moves it slowly
towards each new estimate. Knows nothing of jobs.
"""

from __future__ import annotations

from math import exp

_FIRST_SECONDS = 3.0  # before that an estimate is a guess
# How fast the expected end follows a new estimate, in parts of the time left. Downwards quickly.
# Upwards slowly, so that a reader sees the number rise only while the estimate is twice as high.
_DOWN, _UP = 0.25, 1.0
_FASTEST = 4.0  # seconds: near the end, a quarter of the time left is almost nothing


class TimeLeft:
    """Fed with how much is done, by one observer who looks again and again."""

    def __init__(self) -> None:
        self._began: tuple[float, float] | None = None  # time, and work done by then
        self._looked = (0.0, 0.0)
        self._end: float | None = None

    def after(self, now: float, done: float) -> float | None:
        """Seconds left at `now` (any clock that only goes forward), where `done` of the whole, a
        share from 0 to 1, is done. None: nobody can say yet."""
        looked, before = self._looked
        if self._began is None or done < before:  # more work came
            self._began, self._end = (now, done), None
        elapsed, gained = now - self._began[0], done - self._began[1]
        if gained <= 0 or elapsed < _FIRST_SECONDS:
            left = None if self._end is None else max(0.0, self._end - now)
        else:
            estimate = now + elapsed * (1 - done) / gained
            if self._end is None:
                self._end = estimate
            else:
                follows = _UP if estimate > self._end else _DOWN
                slowness = max(_FASTEST, follows * (self._end - now))
                self._end += (estimate - self._end) * (1 - exp((looked - now) / slowness))
            left = max(0.0, self._end - now)
        self._looked = (now, done)
        return left

    def expect(self, now: float, seconds: float | None) -> float | None:
        """Begin with another's estimate: a page that was just opened has seen no progress yet."""
        if seconds is not None:
            self._end = now + seconds
        return seconds


def share_done(ended: int, tasks: int, ended_size: int, size: int) -> float:
    """How much of some documents is done: half by their number and half by their bytes, since
    neither alone says how long a document takes."""
    by_number = ended / tasks if tasks else 0.0
    return (by_number + ended_size / size) / 2 if size else by_number


def time_left(seconds: float | None) -> str:
    """As people say it; empty where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"
