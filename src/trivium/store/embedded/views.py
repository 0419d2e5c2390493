"""A library in a folder as it was: other folders like it, built on request. `asof` says what is in
them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine

from trivium.core.types import Where
from trivium.ports import Backend
from trivium.store.embedded import asof
from trivium.store.embedded.asof import AS_OF, Chosen
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import translated


class EmbeddedViews:
    def __init__(self, folder: Path, engine: Engine, open_: Callable[[Path], Backend]) -> None:
        """`open_`: opens a folder and builds its indexes."""
        self._folder = folder
        self._engine = engine
        self._open = open_

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        chosen = Chosen(self._engine, when, where)
        return chosen.digest, lambda: self._opened(when, where, chosen)

    def _opened(self, when: int | str, where: Where, chosen: Chosen) -> Backend:
        with translated(self._folder):
            while True:
                target = self._folder / AS_OF / chosen.digest
                if not target.exists():
                    with asof.place(self._folder) as made:
                        self._open(made).close()
                        asof.fill(made / DATABASE, self._folder / DATABASE, chosen)
                        self._open(made).close()  # opening builds the indexes
                        asof.settle(made, target)
                # Something was removed since then: it must not live on in a view.
                again = Chosen(self._engine, when, where)
                if again.digest == chosen.digest:
                    return self._open(target)
                shutil.rmtree(target, ignore_errors=True)
                chosen = again
