"""Ctrl-C while part of a batch is stored: what was stored stays, and the run ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from trivium.core.types import OWNER, Processed
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.writing import FolderChanges
from trivium.store.sql.writer import SqlWriter
from trivium.testing.samples import TOY, sample


@pytest.mark.parametrize(("error", "ends"), [(KeyboardInterrupt, True), (ValueError, False)])
def test_what_was_stored_stays_and_ctrl_c_is_not_swallowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], ends: bool
) -> None:
    batch = [sample("a.md", "First."), sample("b.md", "Second.")]
    with closing(open_embedded(tmp_path / "library")) as store:
        writer = store.writer
        assert isinstance(writer, SqlWriter)
        assert isinstance(writer._changes, FolderChanges)
        staging = writer._changes.staging
        stage = staging.stage

        def one_then_stop(some: Sequence[Processed], model: str) -> Any:
            if len(some) < len(batch):
                raise error
            return stage(some[:1], model)

        monkeypatch.setattr(staging, "stage", one_then_stop)
        if ends:
            with pytest.raises(error):
                writer.put(batch, TOY.fingerprint)
        else:
            assert len(writer.put(batch, TOY.fingerprint)) == 1
        assert [document.uri for document in store.documents.all(OWNER)] == ["a.md"]
