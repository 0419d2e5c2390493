"""A library made by a released version opens and works: you don't have to add anything again.

`tests/released/schema-12.tar.xz` was made by the commit before backends had parts: two Markdown
files in the collection `game`, one of them changed once and met under a second name, one for
`dm-only`; a token for `player`; a conversation `talk`.
"""

import tarfile
from pathlib import Path

import pytest

from trivium.library import Library, where
from trivium.operations.searching import Filters, SearchOptions

MADE = Path(__file__).parents[1] / "released" / "schema-12.tar.xz"
TOKEN = "trv_630a659374ed_9WaSjb1ZzqqXr2kH9F876xvLBO3UchtIrRUBaxOQueU"


@pytest.fixture
def released(tmp_path: Path) -> Path:
    with tarfile.open(MADE) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "lib"


def test_every_signal_finds(released: Path) -> None:
    with Library.open(released, create=False) as library:
        for mode, query in (
            ("semantic", "a weapon that needs two hands"),
            ("keyword", "short sword"),
            ("fuzzy", "battleaxe"),
        ):
            first = library.search(query, options=SearchOptions(mode=mode))[0]
            assert first.found.document.title == "Weapons", mode


def test_its_past_its_names_and_its_labels_are_kept(released: Path) -> None:
    with Library.open(released, create=False) as library:
        ferryman, weapons = library.documents.all()
        assert ferryman.audience == "dm-only"
        assert [Path(name).name for name in (weapons.uri, *weapons.names)] == [
            "weapons.md",
            "copy.md",
        ]
        assert [one.number for one in library.history.of(weapons.id)] == [1, 2]
        assert library.history.diff(weapons.id).lines[-1].endswith("A whip cracks at ten feet.")
        assert b"whip" not in library.history.original(weapons.id, interpretation=1)
        found = library.search("whip", options=SearchOptions(as_of=1, mode="keyword"))
        assert not found
        player = where(Filters(audiences=["player"]))
        assert [one.title for one in library.documents.all(player)] == ["Weapons"]
        assert not library.conversations.all(player)
        assert library.conversations.get("talk")[0].question == "who poisoned the ferryman"
        assert library.tokens.caller(TOKEN).within() == player


def test_it_can_be_written_and_is_whole(released: Path, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("# Bows\n\nA longbow reaches far.")
    with Library.open(released, create=False) as library:
        assert [one for one in library.upkeep.examine() if not one.ok] == []
        library.add(tmp_path / "new.md", collection="game")
        library.restore(2, 1)
        assert library.search("longbow")[0].found.document.title == "Bows"
        assert not library.search("whip", options=SearchOptions(mode="keyword"))
        assert [one for one in library.upkeep.examine() if not one.ok] == []
