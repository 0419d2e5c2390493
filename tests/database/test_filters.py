"""Filters of searches in PostgreSQL: their masks stay within a limit and outlive changes, and who
makes one keeps nobody waiting."""

from __future__ import annotations

from typing import Any, cast

import pytest
from sqlalchemy import event
from tests import postgres

from trivium.core.types import OWNER, Signal, Where
from trivium.ports import Backend
from trivium.store.postgres import snapshots
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.samples import TOY, probe, put, sample
from trivium.text.filters import parse_filter


def found(backend: Backend, filters: list[Where]) -> list[list[int]]:
    backend.signals.refresh()
    return [
        [hit.chunk_id for hit in backend.signals.search(signal, probe("lantern"), where, 30)]
        for where in filters
        for signal in (Signal.VECTOR, Signal.KEYWORD)
    ]


def test_masks_are_bounded_kept_across_changes_and_made_without_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with postgres.library() as place:
        backend = open_postgres(parse(place))
        documents = [
            sample(f"{n}.md", f"passage {n}", "lantern", metadata={"shelf": n}) for n in range(20)
        ]
        backend.writer.put(documents, TOY.fingerprint)
        filters = [OWNER, *(OWNER.narrowed(parse_filter(f"shelf<{n}")) for n in range(1, 20))]
        state = cast(Any, backend.signals)._snapshots
        try:
            expected = found(backend, filters)
            kept = state.latest()
            assert len(kept.allowed) == len(filters)
            with state._turn:  # another thread is reading what changed
                assert state.allowed(kept, OWNER.narrowed(parse_filter("shelf=7"))).count == 2
            kept.allowed.clear()
            monkeypatch.setattr(snapshots, "_MASKS", 5 * 41)  # five masks of 40 passages
            assert found(backend, filters) == found(backend, filters) == expected
            assert len(kept.allowed) <= 6
            assert OWNER in kept.allowed

            asked: list[Any] = []
            engine = state._feed.engine

            @event.listens_for(engine, "before_cursor_execute")
            def note(_c: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
                if "documents.changed >" in statement:
                    asked.append(values)

            put(backend, sample("new.md", "a lantern", metadata={"shelf": 3}))
            assert found(backend, filters)[-1] == [*expected[-1], 41]
            assert asked
            since = [values["since" if "since" in values else "upto"] for values in asked]
            assert min(since) > 0, "only what changed"
        finally:
            backend.close()
