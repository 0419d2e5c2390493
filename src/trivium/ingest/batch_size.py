"""How much a model gets at once: more for a fast one, since storing costs something for each batch
besides what it costs for each passage."""

from __future__ import annotations

_QUICK = 0.5  # seconds; a model that takes less for all that it may get gets twice as much
_SLOW = 4.0  # seconds; after that many it gets the least again


class BatchSize:
    def __init__(self, least: int, most: int) -> None:
        self.now = self._least = least
        self._most = most

    def learn(self, given: int, seconds: float) -> None:
        """The model took so long for the last batch."""
        if seconds > _SLOW:
            self.now = self._least
        elif seconds < _QUICK and given >= self.now:
            self.now = min(2 * self.now, self._most)
