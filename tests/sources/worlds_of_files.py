"""Worlds for random histories of sources in files."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.sources.grounds import Grounds, Place
from tests.sources.zotero_server import SCHEMA

from trivium.ports import SyncSource
from trivium.sources.mbox import MboxSource
from trivium.sources.notes import NotesSource
from trivium.sources.slack_export import SlackExportSource
from trivium.sources.zotero import ZoteroFile, ZoteroSource
from trivium.sources.zotero_export import ZoteroExportSource
from trivium.testing.sync_histories import Life

DAY = 86_400.0
Weighted = Mapping[Callable[[], object], int]


# --- files


class NotesPlace(Place):
    kind = "notes"
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._folder = grounds.place()
        self._clock = 1_700_000_000
        self._notes: dict[str, tuple[str, str]] = {}  # by name: word and audience

    def open(self) -> SyncSource:
        return NotesSource(self._folder)

    def expected(self) -> Mapping[str, str | None]:
        return dict(self._notes.values())

    def change(self) -> None:
        self._do({self._new: 5, self._edit: 4, self._label: 2, self._delete: 2, self._move: 1})

    def _write(self, name: str, word: str, label: str) -> None:
        self._notes[name] = (word, label)
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        front = f"---\naudience: {label}\n---\n" if label != "all" else ""
        path.write_text(f"{front}It says {word}.")
        self._touch(path)

    def _touch(self, path: Path) -> None:
        self._clock += 1  # seconds: a file system doesn't tell two changes within milliseconds
        os.utime(path, (self._clock, self._clock))

    def _new(self) -> None:
        name = f"{self._random.choice(('', 'in/'))}{self._random.randrange(20)}.md"
        self._write(name, self._life.word(), self._random.choice(("all", "team")))

    def _edit(self) -> None:
        if name := self._one(self._notes):
            self._write(name, self._life.word(), self._notes[name][1])

    def _label(self) -> None:
        if name := self._one(self._notes):
            self._write(name, self._notes[name][0], self._random.choice(("all", "team")))

    def _delete(self) -> None:
        if name := self._one(self._notes):
            (self._folder / name).unlink()
            del self._notes[name]

    def _move(self) -> None:
        name, to = self._one(self._notes), f"moved{self._random.randrange(5)}.md"
        if name and to not in self._notes:
            (self._folder / name).rename(self._folder / to)
            self._notes[to] = self._notes.pop(name)
            self._life.returned[self._notes[to][0]] += 1


class MboxPlace(Place):
    kind = "mbox"
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._folder = grounds.place()
        self._clock = 1_700_000_000
        self._boxes: dict[str, list[str]] = {}  # words

    def open(self) -> SyncSource:
        return MboxSource(self._folder)

    def expected(self) -> Mapping[str, str | None]:
        return {word: None for words in self._boxes.values() for word in words}

    def change(self) -> None:
        self._do({self._append: 6, self._edit: 2, self._delete: 2, self._drop: 1})

    def _write(self, name: str, words: list[str], *, append: bool = False) -> None:
        held = self._boxes.setdefault(name, [])
        self._boxes[name] = held + words if append else words
        with (self._folder / name).open("a" if append else "w") as file:
            file.writelines(
                f"From ada@example.org Thu Jan  1 00:00:00 2026\nFrom: Ada <ada@example.org>\n"
                f"Subject: A letter\n\nIt says {word}.\n>From here.\n\n"
                for word in words
            )
        self._clock += 1
        os.utime(self._folder / name, (self._clock, self._clock))

    def _append(self) -> None:
        name = f"{self._random.choice('ab')}.mbox"
        words = [self._life.word() for _ in range(self._random.randint(1, 3))]
        self._write(name, words, append=True)

    def _edit(self) -> None:
        if name := self._one(self._boxes):
            words = [self._life.word(), *self._boxes[name][1:]]
            self._write(name, words)

    def _delete(self) -> None:
        if name := self._one(self._boxes):
            words = list(self._boxes[name])
            if words:
                words.remove(self._random.choice(words))
            self._write(name, words)

    def _drop(self) -> None:
        if name := self._one(self._boxes):
            (self._folder / name).unlink()
            del self._boxes[name]


class ExportPlace(Place):
    """A new archive comes as a whole, in the place of the old one."""

    kind = "slack-export"
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._place = grounds.place() / "export.zip"
        self._clock, self._stamp = 1_700_000_000, 1_451_865_600
        self._channels: dict[str, bool] = {"general": False}  # whether it is private
        self._said: dict[str, dict[str, str]] = {"general": {}}  # by channel: words by stamp
        self._threads: dict[str, str] = {}
        self._damaged: set[str] = set()
        self._save()

    def open(self) -> SyncSource:
        return SlackExportSource(self._place)

    def expected(self) -> Mapping[str, str | None]:
        return {
            word: f"slack/C{name}" if self._channels[name] else "all"
            for name, said in self._said.items()
            for word in said.values()
        }

    def calm(self) -> None:
        self._damaged.clear()
        self._save()

    def change(self) -> None:
        self._do(
            {self._post: 8, self._edit: 3, self._delete: 3, self._join: 1, self._leave: 1,
             self._damage: 1}
        )  # fmt: skip
        self._save()

    def _post(self) -> None:
        name = self._one(self._said)
        self._stamp += self._random.choice((60, 40_000))
        stamp = f"{self._stamp}.000100"
        if self._said[name] and self._random.random() < 0.4:
            self._threads[stamp] = self._one(self._said[name])
        self._said[name][stamp] = self._life.word()

    def _edit(self) -> None:
        name = self._one(self._said)
        if stamp := self._one(self._said[name]):
            self._said[name][stamp] = self._life.word()

    def _delete(self) -> None:
        name = self._one(self._said)
        if stamp := self._one(self._said[name]):
            del self._said[name][stamp]

    def _join(self) -> None:
        name = self._random.choice("abc")
        self._channels.setdefault(name, self._random.random() < 0.5)
        self._said.setdefault(name, {})

    def _leave(self) -> None:
        if len(self._said) > 1:
            del self._said[self._one(self._said)]

    def _damage(self) -> None:
        self._damaged = {self._one(self._said)} if self._random.random() < 0.6 else set()

    def _save(self) -> None:
        aside = self._place.with_suffix(".new")
        with zipfile.ZipFile(aside, "w") as archive:
            archive.writestr("users.json", json.dumps([{"id": "U1", "name": "ada"}]))
            for private, list_ in ((False, "channels.json"), (True, "groups.json")):
                told = [
                    {"id": f"C{name}", "name": name}
                    for name in self._said
                    if self._channels[name] == private
                ]
                archive.writestr(list_, json.dumps(told))
            for name, said in self._said.items():
                archive.writestr(f"{name}/2016-01-00.json", "[]")
                days: dict[str, list[dict[str, str]]] = {}
                for stamp, word in sorted(said.items()):
                    one = {"user": "U1", "text": f"It says {word}.", "ts": stamp}
                    if thread := self._threads.get(stamp):
                        one["thread_ts"] = thread
                    days.setdefault(f"{int(stamp[:10]) // 86_400}", []).append(one)
                for day, messages in days.items():
                    archive.writestr(f"{name}/{day}.json", json.dumps(messages))
                if name in self._damaged:
                    archive.writestr(f"{name}/damaged.json", "{oh")
        self._clock += 1
        os.utime(aside, (self._clock, self._clock))
        aside.replace(self._place)


# --- Zotero


class ZoteroFilePlace(Place):
    kind = "zotero"
    is_joined = True
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._folder = grounds.place()
        self._clock, self._rows = 1_700_000_000, 10
        self._papers: dict[int, str] = {}
        self._notes: dict[int, tuple[int, str]] = {}  # parent and word
        made = SCHEMA.partition("INSERT INTO items VALUES")[0]
        fields = "INSERT INTO fields VALUES (1, 'title'), (4, 'abstractNote');"
        self._sql([*made.split(";")[:-1], fields])

    def open(self) -> SyncSource:
        return ZoteroSource(ZoteroFile(self._folder))

    def expected(self) -> Mapping[str, str | None]:
        words = [*self._papers.values(), *(word for _, word in self._notes.values())]
        return dict.fromkeys(words, "all")

    def change(self) -> None:
        self._do({self._paper: 5, self._edit: 3, self._note: 4, self._edit_note: 2,
                  self._delete: 2, self._delete_note: 2})  # fmt: skip

    def _sql(self, statements: list[str]) -> None:
        path = self._folder / "zotero.sqlite"
        db = sqlite3.connect(path)
        with db:
            for one in statements:
                db.execute(one)
        db.close()
        self._clock += 1
        os.utime(path, (self._clock, self._clock))

    def _row(self) -> int:
        self._rows += 1
        return self._rows

    def _paper(self) -> None:
        id_, word = self._row(), self._life.word()
        self._papers[id_] = word
        self._sql([
            f"INSERT INTO items VALUES ({id_}, 1, 1, 'P{id_}')",
            f"INSERT INTO itemDataValues VALUES ({id_}, 'It says {word}.')",
            f"INSERT INTO itemData VALUES ({id_}, 4, {id_})",
        ])  # fmt: skip

    def _edit(self) -> None:
        if id_ := self._one(self._papers):
            self._papers[id_] = word = self._life.word()
            said = f"It says {word}."
            self._sql([f"UPDATE itemDataValues SET value = '{said}' WHERE valueID = {id_}"])

    def _note(self) -> None:
        if above := self._one(self._papers):
            id_, word = self._row(), self._life.word()
            self._notes[id_] = (above, word)
            self._sql([
                f"INSERT INTO items VALUES ({id_}, 3, 1, 'N{id_}')",
                f"INSERT INTO itemNotes VALUES ({id_}, {above}, '<p>Says {word}.</p>')",
            ])  # fmt: skip

    def _edit_note(self) -> None:
        if id_ := self._one(self._notes):
            word = self._life.word()
            self._notes[id_] = (self._notes[id_][0], word)
            note = f"<p>Says {word}.</p>"
            self._sql([f"UPDATE itemNotes SET note = '{note}' WHERE itemID = {id_}"])

    def _delete(self) -> None:
        if id_ := self._one(self._papers):
            del self._papers[id_]
            gone = [id_, *(one for one, (above, _) in self._notes.items() if above == id_)]
            self._notes = {one: told for one, told in self._notes.items() if told[0] != id_}
            self._sql([f"INSERT INTO deletedItems VALUES ({one})" for one in gone])

    def _delete_note(self) -> None:
        if id_ := self._one(self._notes):
            del self._notes[id_]
            self._sql([f"INSERT INTO deletedItems VALUES ({id_})"])


class ZoteroExportPlace(Place):
    kind = "zotero"
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._path = grounds.place() / "library.json"
        self._clock = 1_700_000_000
        self._words: dict[str, str] = {}
        self._save()

    def open(self) -> SyncSource:
        return ZoteroExportSource(self._path)

    def expected(self) -> Mapping[str, str | None]:
        return dict.fromkeys(self._words.values(), "all")

    def change(self) -> None:
        self._do({self._write: 6, self._delete: 2})
        self._save()

    def _write(self) -> None:
        self._words[f"ada{self._random.randrange(2000, 2020)}"] = self._life.word()

    def _delete(self) -> None:
        if key := self._one(self._words):
            del self._words[key]

    def _save(self) -> None:
        told = [
            {"id": key, "type": "book", "title": f"On {word}"} for key, word in self._words.items()
        ]
        self._path.write_text(json.dumps(told))
        self._clock += 1
        os.utime(self._path, (self._clock, self._clock))
