"""How a library is looked after: what it was made with, whether it is whole, made anew."""

from __future__ import annotations

from collections.abc import Mapping

from trivium.library.parts import Parts
from trivium.ports import Waiting
from trivium.types import Manifest


class Care(Parts):
    def manifest(self) -> Manifest:
        """Format of the library and the model it was embedded with."""
        return self._store.manifest()

    def health(self) -> Mapping[str, int]:
        """Documents, active chunks, and how many of those each index holds."""
        return self._store.health()

    def rebuild(self, *, on_wait: Waiting | None = None) -> None:
        """Make the search indexes anew from the database."""
        with self._store.writing(on_wait):
            self._store.rebuild()
