"""Documents that are nearly equal are reported."""

from pathlib import Path

import pytest
from tests.cli.program import call

from trivium.core.errors import BadSetting
from trivium.library import Library, where
from trivium.operations.searching import Filters

WORDS = [f"word{n}" for n in range(300)]


@pytest.fixture
def drafts(library: Library, files: Path) -> Library:
    other = ["changed" if n == 150 else word for n, word in enumerate(WORDS)]
    (files / "a.txt").write_text(" ".join(WORDS))
    (files / "b.txt").write_text(" ".join(other))
    (files / "c.txt").write_text(" ".join(reversed(WORDS)))
    return library


def test_drafts_are_grouped(drafts: Library, files: Path) -> None:
    report = drafts.add(files)
    assert any("(#1 and #2)" in note for note in report.notes), "each pair is named once"
    (group,) = drafts.documents.duplicates()
    assert [one.document.id for one in group] == [1, 2]
    assert group[0].similarity == 1.0
    assert 0.9 < group[1].similarity < 1
    assert drafts.documents.duplicates(1.0) == []
    with pytest.raises(BadSetting):
        drafts.documents.duplicates(0)
    assert drafts.add(files).notes == (), "what is there is not told again"


def test_who_may_not_see_one_is_told_of_neither(drafts: Library, files: Path) -> None:
    drafts.add(files / "a.txt", audience="dm-only")
    drafts.add(files)
    assert drafts.documents.duplicates(within=where(Filters(audiences=["player"]))) == []


def test_the_command(drafts: Library, files: Path, tmp_path: Path) -> None:
    drafts.add(files)
    drafts.close()
    place = ("--library", tmp_path / "library", "--set", f"embed.folder={tmp_path / 'none'}")
    plain = call("duplicates", *place)
    assert plain.code == 0
    assert "#2 b" in plain.out
    assert "compare: 3" in plain.err
    (group,) = call("duplicates", *place, "--json").json["groups"]
    assert [one["id"] for one in group] == [1, 2]
    assert call("duplicates", "--threshold", "2", *place).code == 2
    assert "nearly the same" in call("duplicates", "--threshold", "1", *place).err
