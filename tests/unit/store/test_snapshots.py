"""What a snapshot keeps of filters stays within its limit, and answers stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from trivium.core.types import OWNER, Signal
from trivium.store.embedded import snapshots
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, probe, sample
from trivium.text.filters import parse_filter


def test_masks_of_filters_are_forgotten_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_embedded(tmp_path)
    documents = [
        sample(f"{n}.md", f"passage {n}", "lantern", metadata={"shelf": n}) for n in range(20)
    ]
    store.writer.put(documents, TOY.fingerprint)
    filters = [OWNER, *(OWNER.narrowed(parse_filter(f"shelf<{n}")) for n in range(1, 20))]

    def found() -> list[Any]:
        return [
            [hit.chunk_id for hit in store.signals.search(signal, probe("lantern"), where, 30)]
            for where in filters
            for signal in (Signal.VECTOR, Signal.KEYWORD)
        ]

    kept = cast(Any, store.signals)._snapshots.latest()
    expected = found()
    assert len(kept.positions) == len(kept.allowed) == len(filters)
    kept.positions.clear()
    kept.allowed.clear()
    monkeypatch.setattr(snapshots, "_MASKS", 5 * 41)  # five masks of 40 passages
    assert found() == expected
    assert found() == expected
    assert len(kept.positions) <= 6
    assert len(kept.allowed) <= 6
    assert OWNER in kept.positions
    store.close()
