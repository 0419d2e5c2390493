"""The source keeps Trivium's contract."""

import json
from pathlib import Path

import pytest
from bookmarks import BookmarksSource
from trivium.testing.source_contract import SourceContract

FOG = {"url": "https://example.org/fog", "title": "Fog", "note": "It is wet."}
RAIN = {"url": "https://example.org/rain", "title": "Rain"}


class TestBookmarks(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> BookmarksSource:
        (tmp_path / "marks.json").write_text(json.dumps([FOG, RAIN]))
        return BookmarksSource(tmp_path / "marks.json")

    @pytest.fixture
    def edits(self, tmp_path: Path, source: BookmarksSource):
        def write(*marks: dict[str, str]):
            return lambda: (tmp_path / "marks.json").write_text(json.dumps(marks))

        return write(FOG), write(RAIN, {**FOG, "note": "It is very wet."}), write()
