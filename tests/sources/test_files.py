"""Sources in files keep the contract: notes, mailboxes, Slack exports."""

import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from trivium.core.errors import SourceUnreachable
from trivium.core.types import Extraction
from trivium.ports import Checkpoint, Failed, Only, Put, SyncSource
from trivium.sources.mbox import MboxSource
from trivium.sources.notes import NotesSource, readable
from trivium.sources.slack_export import SlackExportSource
from trivium.testing.source_contract import SourceContract, everything

Edits = Sequence[Callable[[], object]]


# --- notes

LAMP = """---
title: The lamp
tags: [light, "#brass"]
aliases: [lantern]
audience: keepers
---
A lamp from [[Tower|the tower]], see [[places/Tower#Stairs]]. #oil/whale and `#no` [x](#y)

```
[[Kept]] #kept
```
"""


class TestNotes(SourceContract):
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "places").mkdir()
        (tmp_path / ".obsidian").mkdir()
        (tmp_path / ".obsidian" / "app.json").write_text("{}")
        (tmp_path / "lamp.md").write_text(LAMP)
        (tmp_path / "places" / "Tower.md").write_text("# Tower\n\nHigh.")
        (tmp_path / "map.png").write_bytes(b"\x89PNG")
        return tmp_path

    @pytest.fixture
    def source(self, folder: Path) -> SyncSource:
        return NotesSource(folder)

    @pytest.fixture
    def edits(self, folder: Path, source: SyncSource) -> Edits:
        return (
            lambda: (folder / "new.md").write_text("New."),
            lambda: (folder / "lamp.md").write_text("Other words."),
            lambda: (folder / "places" / "Tower.md").rename(folder / "Tower.md"),
            (folder / "new.md").unlink,
        )

    def test_what_such_programs_add_is_understood(self, source: SyncSource) -> None:
        found = {one.id: one for one in source.changes("") if isinstance(one, Put)}
        assert sorted(found) == ["lamp.md", "map.png", "places/Tower.md"]
        lamp = found["lamp.md"]
        assert (lamp.title, lamp.audience) == ("The lamp", "keepers")
        assert lamp.metadata == {
            "path": "lamp.md",
            "tags": ("light", "brass", "oil/whale"),
            "aliases": ("lantern",),
            "links": ("Tower",),
        }
        assert found["places/Tower.md"].metadata["folder"] == "places"
        assert not isinstance(lamp.content, Extraction)
        assert b"A lamp from the tower, see Tower." in lamp.content()
        assert b"[[Kept]] #kept" in lamp.content()

    def test_a_folder_that_is_away_loses_nothing(self, folder: Path, source: SyncSource) -> None:
        shutil.rmtree(folder)
        with pytest.raises(SourceUnreachable):
            list(source.changes(""))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![[pic.png|300]]", "pic.png"),
        ("![[art/pic.png|300x200]]", "pic.png"),
        ("[[2026|300]]", "300"),
        ("| [[Note\\|shown]] | b |", "| shown | b |"),
        ("[[A]]", "A"),
        ("[[a/B|c]]", "c"),
        ("[[A#Part]] ![[b.png]]", "A b.png"),
        ("[[#Part]]", "Part"),
        ("`[[A]]`", "`[[A]]`"),
        ("[[A]", "[[A]"),
    ],
)
def test_wiki_links_are_shown_as_their_words(written: str, shown: str) -> None:
    assert readable(written) == shown


# --- mailboxes


def letter(number: int, text: str = "") -> str:
    said = text or f"Words {number}."
    return (
        f"From ada@example.org Thu Jan  1 00:00:00 2026\nFrom: Ada <ada@example.org>\n"
        f"Subject: Number {number}\nMessage-ID: <{number}@example.org>\n\n{said}\n>From here.\n\n"
    )


class TestMbox(SourceContract):
    @pytest.fixture
    def box(self, tmp_path: Path) -> Path:
        place = tmp_path / "mail" / "in.mbox"
        place.parent.mkdir()
        place.write_text("".join(letter(n) for n in range(5)))
        return place

    @pytest.fixture
    def source(self, box: Path, monkeypatch: pytest.MonkeyPatch) -> SyncSource:
        monkeypatch.setattr("trivium.sources.mbox.PAGE", 2)
        return MboxSource(box.parent)

    @pytest.fixture
    def edits(self, box: Path, source: SyncSource) -> Edits:
        def append(path: Path, *numbers: int) -> None:
            with path.open("a") as file:
                file.writelines(letter(n) for n in numbers)

        return (
            lambda: append(box, 5, 6, 7),
            lambda: box.write_text("".join(letter(n) for n in (1, 2, 6, 8))),
            lambda: append(box.parent / "more.mbox", 9),
            box.unlink,
        )

    def test_a_box_that_grew_is_read_from_its_old_end(self, box: Path, source: SyncSource) -> None:
        cursor = [one for one in source.changes("") if isinstance(one, Checkpoint)][-1].cursor
        with box.open("a") as file:
            file.write(letter(5))
        found = [one for one in source.changes(cursor) if not isinstance(one, Checkpoint)]
        assert len(found) == 1
        assert isinstance(found[0], Put)
        assert not isinstance(found[0].content, Extraction)
        assert found[0].content().endswith(b"Words 5.\nFrom here.\n\n")


# --- Slack exports

USERS = [
    {"id": "U1", "name": "ada", "profile": {"display_name": "Ada"}},
    {"id": "U2", "name": "bob", "real_name": "Bob B"},
]
DAY = [
    {"type": "message", "user": "U1", "text": "Who has the <@U2> map?", "ts": "1451865600.000100",
     "thread_ts": "1451865600.000100"},
    {"type": "message", "user": "U2", "text": "I &amp; you", "ts": "1451865700.000200",
     "thread_ts": "1451865600.000100"},
    {"subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1451865800.000300"},
]  # fmt: skip


def export(place: Path, days: dict[str, object]) -> None:
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("users.json", json.dumps(USERS))
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]))
        archive.writestr("groups.json", json.dumps([{"id": "G1", "name": "secret"}]))
        archive.writestr("dms.json", json.dumps([{"id": "D1", "members": ["U1", "U2"]}]))
        for name, messages in days.items():
            said = messages if isinstance(messages, str) else json.dumps(messages)
            archive.writestr(name, said)


class TestSlackExport(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        place = tmp_path / "export.zip"
        other = {"user": "U1", "text": "hush", "ts": "1451865900.000100"}
        export(
            place,
            {"general/2016-01-04.json": DAY, "secret/2016-01-04.json": [other],
             "D1/2016-01-04.json": [other]},
        )  # fmt: skip
        return place

    @pytest.fixture
    def source(self, place: Path) -> SyncSource:
        return SlackExportSource(place, "https://x.slack.com")

    @pytest.fixture
    def edits(self, place: Path, source: SyncSource) -> Edits:
        edited = [{**DAY[0], "text": "Who has it?"}]
        return (
            lambda: export(place, {"general/2016-01-04.json": edited}),
            lambda: export(place, {"general/2016-01-04.json": [*DAY, *edited]}),
        )

    def test_messages_are_told_with_all_that_is_known(self, source: SyncSource) -> None:
        found = {one.id: one for one in source.changes("") if isinstance(one, Put)}
        assert sorted(found) == [
            "C1/1451865600.000100", "C1/1451865700.000200", "D1/1451865900.000100",
            "G1/1451865900.000100",
        ]  # fmt: skip
        reply = found["C1/1451865700.000200"]
        assert isinstance(reply.content, Extraction)
        assert reply.content.text == "I & you"
        assert reply.content.elements[0].headings == (
            "#general",
            "Who has the @Bob B map?",
            "Bob B, 04 January 2016",
        )
        link = "https://x.slack.com/archives/C1/p1451865700000200"
        assert reply.metadata == {
            "authors": ("Bob B",),
            "date": "2016-01-04T00:01:40+00:00",
            "year": 2016,
            "link": f"{link}?thread_ts=1451865600.000100&cid=C1",
            "channel": "general",
            "thread": "1451865600.000100",
            "slackChannelId": "C1",
            "slackAuthor": ("Bob B", "U2"),
        }
        labels = {one.metadata["channel"]: one.audience for one in found.values()}
        assert labels == {"general": "all", "secret": "slack/G1", "Ada, Bob B": "slack/D1"}

    def test_a_damaged_day_hides_no_other_and_removes_nothing(
        self, place: Path, source: SyncSource
    ) -> None:
        days = {"general/2016-01-04.json": DAY, "general/2016-01-05.json": "{damaged"}
        export(place, days)
        changes = list(source.changes(""))
        assert [one.id for one in changes if isinstance(one, Failed)] == [
            "C1/general/2016-01-05.json"
        ]
        assert not [one for one in changes if isinstance(one, Only)]
        assert len(everything(source)) == 2


def test_a_canvas_is_the_texts_of_its_cards(tmp_path: Path) -> None:
    """jsoncanvas.org, version 1.0."""
    canvas = {
        "nodes": [
            {"id": "2", "type": "text", "text": "Second [[Lamp|card]] #idea", "x": 0, "y": 90},
            {"id": "1", "type": "text", "text": "# First card", "x": 0, "y": 10},
            {"id": "3", "type": "file", "file": "notes/Lamp.md", "x": 0, "y": 200},
            {"id": "4", "type": "link", "url": "https://x.org", "x": 0, "y": 1e400},
            {"id": "5", "type": "group", "label": "Plans", "x": 0, "y": 5},
        ],
        "edges": [{"id": "e", "fromNode": "1", "toNode": "2", "label": "leads to"}],
    }
    (tmp_path / "plan.canvas").write_text(json.dumps(canvas))
    (tmp_path / "empty.canvas").write_text("")
    (tmp_path / "odd.canvas").write_text("[1")
    found = {one.id: one for one in NotesSource(tmp_path).changes("") if isinstance(one, Put)}
    plan = found["plan.canvas"]
    assert callable(plan.content)
    assert plan.content().decode().split("\n\n") == [
        "https://x.org", "Plans", "# First card", "Second card #idea", "Lamp.md", "leads to",
    ]  # fmt: skip
    assert (plan.title, plan.name) == ("plan", "plan.canvas.md")
    assert plan.metadata["tags"] == ("idea",)
    assert plan.metadata["links"] == ("Lamp", "Lamp.md")
