"""How much time is left, as a number that falls steadily.

Documents differ: a page of notes takes an instant, a scan minutes. So an estimate from the work
done so far jumps. `TimeLeft` keeps the moment at which it expects the end, and moves it slowly
towards each new estimate. Knows nothing of jobs.
"""

from __future__ import annotations

from math import exp

_FIRST_SECONDS = 3.0  # before that an estimate is a guess
# Until so much of all is done, too, but not for longer than ten minutes: after two small files of
# 128 it said 200 minutes for 22, with 1 % instead of 5 it rose from 8 to 24 in the first 90 s, and
# after a minute with 2 % it said 49 minutes for 6. With 5 % it spoke of short notes while they were
# only read: 127 s for 6; with 10 % the first values said twice too much.
_FIRST_SHARE, _LONGEST_SILENCE = 0.15, 600.0
_FIRST_STEPS = 3  # times that some was done: between two of them nobody sees a pace
# The pace is that of the later half of the work done: what came first was slow because files were
# sent, read, or the model loaded. Of simulated runs of a minute 34 % of what is said is within a
# factor of two by the whole work, 97 % by its later half; longer ones don't differ.
_RECENT = 0.5
# And until the last part's pace is within this factor of it: files may still be read.
_STEADY = 2.0
# How fast the expected end follows a new estimate, in parts of the time left, or of the time since
# the beginning if that is shorter: the first estimates have little behind them. Downwards quickly.
# Upwards slowly, so that a reader sees the number rise only while the estimate is twice as high.
_DOWN, _UP = 0.1, 1.0
_FASTEST = 4.0  # seconds: near the end, a quarter of the time left is almost nothing
# Work is done in jumps, as passages are embedded by the dozen. So the pace is measured when some is
# done, and holds until the next. After so long without any, in parts of the time since the
# beginning, it counts as slower.
_STANDSTILL = 0.25


class TimeLeft:
    """Fed with how much is done, by one observer who looks again and again."""

    def __init__(self) -> None:
        self._began: tuple[float, float] | None = None  # time, and work done by then
        self._looked = self._moved = 0.0
        self._done = 0.0
        self._end: float | None = None
        self._steps: list[tuple[float, float]] = []  # when some was done, and how much by then

    def after(self, now: float, done: float, left: float) -> float | None:
        """Seconds left at `now` (any clock that only goes forward), where so much is done and so
        much is left, in any unit. None: nobody can say yet."""
        looked, self._looked = self._looked, now
        if self._began is None or done < self._done:  # it is other work
            self._began, self._end = (now, done), None
            self._steps = [(now, done)]
        if done != self._done or now - self._moved > _STANDSTILL * (now - self._began[0]):
            self._moved = now
        if done != self._done:
            self._steps.append((now, done))
        self._done = done
        elapsed, gained = self._moved - self._began[0], done - self._began[1]
        if self._end is None and self._is_early(elapsed, gained, left):
            return None
        pace = self._pace(self._done - gained * _RECENT)
        late = self._pace(self._done - gained * _RECENT / 2)
        if self._end is None and not 1 / _STEADY <= late / pace <= _STEADY:
            return None
        if gained > 0:
            self._end = self._nearer(self._moved + left / pace, now, looked, elapsed)
        return None if self._end is None else max(0.0, self._end - now)

    def _is_early(self, elapsed: float, gained: float, left: float) -> bool:
        if elapsed < _FIRST_SECONDS or len(self._steps) <= _FIRST_STEPS:
            return True
        return gained < _FIRST_SHARE * (gained + left) and elapsed < _LONGEST_SILENCE

    def _pace(self, since: float) -> float:
        """Work a second, since so much was done."""
        time, done = next(step for step in reversed(self._steps) if step[1] <= since)
        return (self._done - done) / max(1e-9, self._moved - time)

    def _nearer(self, estimate: float, now: float, looked: float, elapsed: float) -> float:
        """The expected end, moved towards an estimate."""
        if self._end is None:
            return estimate
        follows = _UP if estimate > self._end else _DOWN
        slowness = max(_FASTEST, follows * min(elapsed, self._end - now, estimate - now))
        return self._end + (estimate - self._end) * (1 - exp((looked - now) / slowness))

    def expect_more(self) -> None:
        """More work came: the next estimate counts at once."""
        self._end = None

    def expect(self, now: float, seconds: float | None) -> float | None:
        """Begin with another's estimate: a page that was just opened has seen no progress yet."""
        if seconds is not None:
            self._end = now + seconds
        return seconds


def time_left(seconds: float | None) -> str:
    """As people say it; empty where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {round(seconds / 1800) / 2:g} h left"
