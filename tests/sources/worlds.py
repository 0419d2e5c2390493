"""A world for random histories of each connector: its service, and what can happen there."""

from __future__ import annotations

import json
import os
import shutil
import socketserver
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, ClassVar

from tests.sources.github_server import Hub
from tests.sources.imap_server import Handler, Mail
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.server import Asked, Reply, Server, nothing_there, serving
from tests.sources.slack_server import NOW, TOKEN, Workspace
from tests.sources.trilium_server import Trilium
from tests.sources.web_server import Site
from tests.sources.zotero_server import SCHEMA, Zotero

from trivium.ports import SyncSource
from trivium.sources.feed import FeedSource, Pages, SitemapSource
from trivium.sources.github import GitHubSource, budget
from trivium.sources.imap import Account, ImapSource
from trivium.sources.linear import LinearSource
from trivium.sources.mbox import MboxSource
from trivium.sources.notes import NotesSource
from trivium.sources.notion import NotionSource
from trivium.sources.service import Service
from trivium.sources.slack import SlackSource
from trivium.sources.slack_export import SlackExportSource
from trivium.sources.trilium import TriliumSource
from trivium.sources.zotero import ZoteroApi, ZoteroFile, ZoteroSource
from trivium.sources.zotero_export import ZoteroExportSource
from trivium.testing.sync_histories import Life, ToyWorld, World

DAY = 86_400.0
Weighted = Mapping[Callable[[], object], int]


@dataclass
class Grounds:
    """What worlds stand on: one server for all of them, one after the other, and a folder."""

    http: Server
    mail: type[Handler]
    mail_port: int
    folder: Path
    count: int = 0

    def place(self) -> Path:
        """An empty folder."""
        shutil.rmtree(self.folder / str(self.count), ignore_errors=True)
        self.count += 1
        made = self.folder / str(self.count)
        made.mkdir()
        return made


@contextmanager
def standing() -> Iterator[Grounds]:
    handler = type("Serving", (Handler,), {"mail": Mail()})
    mail = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    mail.daemon_threads = True
    thread = Thread(target=mail.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with serving(nothing_there) as http, TemporaryDirectory(prefix="trivium-worlds-") as aside:
            yield Grounds(http, handler, mail.server_address[1], Path(aside))
    finally:
        mail.shutdown()
        thread.join()
        mail.server_close()


def world_of(kind: str, life: Life, grounds: Grounds) -> World:
    return WORLDS[kind](life, grounds)


class _Place:
    """What worlds share."""

    kind: ClassVar[str]
    runs = 1
    changes_by_itself = False

    def __init__(self, life: Life) -> None:
        self._life = life
        self._random = life.random

    def _do(self, ways: Weighted) -> None:
        (way,) = self._random.choices(list(ways), list(ways.values()))
        way()

    def _one(self, some: Mapping[Any, Any]) -> Any:
        """The key of one of them; None where there are none."""
        return self._random.choice(sorted(some)) if some else None

    def calm(self) -> None:
        """Nothing to mend."""


class _Served(_Place):
    """Asked over HTTP. Requests fail, tokens expire for a while, answers are cut off, and things
    change while they are listed."""

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self.server = grounds.http
        self.server.answer = self._reply
        self.server.asked = _Forgetful()
        self._failing = 0  # requests

    def _answer(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def _refused(self) -> Reply:
        return Reply({"message": "expired"}, 401)

    def change(self) -> None:
        raise NotImplementedError

    def _reply(self, asked: Asked) -> Reply:
        life = self._life
        if life.happens(0.1):
            self.change()
        if life.happens(0.01):
            self._failing = self._random.choice((1, 2, 6))
        if self._failing and life.mood:
            self._failing -= 1
            return Reply(b"oops", 500)
        if life.happens(0.02):
            return Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "0.01"})
        if life.happens(0.005):
            return self._refused()
        reply = self._answer(asked)
        reply.cut = life.happens(0.01)
        return reply

    def calm(self) -> None:
        self._failing = 0


class _Forgetful(list):  # type: ignore[type-arg]
    """Histories have more requests than anyone looks at."""

    def append(self, _: object) -> None:
        """Forgets it."""


class ToyPlace(ToyWorld):
    def __init__(self, life: Life, _: Grounds) -> None:
        super().__init__(life)


# --- files


class NotesPlace(_Place):
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


class MboxPlace(_Place):
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


class ExportPlace(_Place):
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


class ZoteroFilePlace(_Place):
    kind = "zotero"
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


class ZoteroApiPlace(_Served):
    kind = "zotero"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._zotero = Zotero()
        self._keys = 0
        self._words: dict[str, str] = {}

    def open(self) -> SyncSource:
        return ZoteroSource(ZoteroApi(Service("Zotero", self.server.url)))

    def _answer(self, asked: Asked) -> Reply:
        return self._zotero.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        return dict.fromkeys(self._words.values(), "all")

    def change(self) -> None:
        self._do({self._paper: 5, self._note: 3, self._file: 2, self._edit: 4, self._delete: 3})

    def _papers(self) -> dict[str, Any]:
        return {key: one for key, one in self._zotero.items.items() if key[0] == "P"}

    def _key(self, letter: str) -> tuple[str, str]:
        self._keys += 1
        key = f"{letter}{self._keys}"
        self._words[key] = self._life.word()
        return key, f"It says {self._words[key]}."

    def _paper(self) -> None:
        key, said = self._key("P")
        self._zotero.put(key, itemType="book", title="A book", abstractNote=said)

    def _note(self) -> None:
        if above := self._one(self._papers()):
            key, said = self._key("N")
            self._zotero.put(key, itemType="note", parentItem=above, note=f"<p>{said}</p>")

    def _file(self) -> None:
        """Its text takes the place of the abstract, in one item."""
        above = self._one(self._papers())
        if above and above in self._words:
            del self._words[above]
            key, said = self._key("F")
            self._zotero.files[key] = said.encode()
            self._zotero.put(key, itemType="attachment", parentItem=above, filename=f"{key}.pdf",
                             md5=key, contentType="application/pdf",
                             linkMode="imported_file")  # fmt: skip

    def _edit(self) -> None:
        key = self._one({key: 1 for key in self._words if key[0] in "PN"})
        if key:
            self._words[key] = self._life.word()
            said = f"It says {self._words[key]}."
            field = "abstractNote" if key[0] == "P" else "note"
            self._zotero.put(key, **{field: said})

    def _delete(self) -> None:
        if above := self._one(self._papers()):
            items = self._zotero.items
            for key in [above, *(k for k, one in items.items() if one.get("parentItem") == above)]:
                self._zotero.drop(key)
                self._words.pop(key, None)


class ZoteroExportPlace(_Place):
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


# --- services


class SlackPlace(_Served):
    kind = "slack"
    runs = 2

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._clock = NOW
        self._space = Workspace(url=self.server.url, most=self._random.choice((3, 15)))
        self._space.channel("C0", "general")
        self._words: dict[tuple[str, str], str] = {}  # by channel and stamp
        self._files: dict[tuple[str, str], str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        service = Service("Slack", f"{self.server.url}api/", headers)
        return SlackSource(service, clock=lambda: self._clock)

    def _answer(self, asked: Asked) -> Reply:
        return self._space.answer(asked)

    def _refused(self) -> Reply:
        return Reply({"ok": False, "error": "token_expired"})

    def expected(self) -> Mapping[str, str | None]:
        def label(channel: str) -> str:
            private = self._space.channels[channel].get("is_private")
            return f"slack/{channel}" if private else "all"

        every = [*self._words.items(), *self._files.items()]
        return {word: label(channel) for (channel, _), word in every}

    def calm(self) -> None:
        super().calm()
        self._clock += 31 * DAY  # by then the replies of every thread are read again
        self._space.closed.clear()

    def change(self) -> None:
        self._clock += self._random.choice((1.0, 3_600.0, 5 * DAY, 20 * DAY))
        self._do({self._post: 6, self._answer_one: 5, self._edit: 4, self._delete: 3,
                  self._share: 1, self._unshare: 1, self._join: 1, self._leave: 1,
                  self._turn: 1, self._close: 1, self._chatter: 1})  # fmt: skip

    def _open_thread(self) -> tuple[str, str] | None:
        """A message that others can reply to."""
        held = self._space.messages
        heads = {
            (channel, stamp): 1
            for channel, stamp in self._words
            if held[channel][stamp].get("thread_ts", stamp) == stamp
        }
        found: tuple[str, str] | None = self._one(heads)
        return found

    def _said(self) -> str:
        return f"It says {self._life.word()}."

    def _keep(self, channel: str, stamp: str) -> None:
        self._words[channel, stamp] = f"w{self._life.words}x"

    def _post(self) -> None:
        channel = self._one(self._space.channels)
        self._keep(channel, self._space.post(channel, self._clock, self._said()))

    def _answer_one(self) -> None:
        if found := self._open_thread():
            channel, thread = found
            more = {"subtype": "thread_broadcast"} if self._random.random() < 0.2 else {}
            said = self._said()
            self._keep(channel, self._space.reply(channel, thread, self._clock, said, **more))

    def _edit(self) -> None:
        if found := self._one(self._words):
            self._space.edit(*found, self._said())
            self._keep(*found)

    def _delete(self) -> None:
        if found := self._one(self._words):
            self._space.delete(*found)
            del self._words[found]
            self._files.pop(found, None)
            if found[1] in self._space.messages[found[0]]:  # a thread goes on without it
                self._space.messages[found[0]][found[1]].pop("files", None)

    def _share(self) -> None:
        if (found := self._one(self._words)) and found not in self._files:
            self._made += 1
            id_, word = f"F{self._made}", self._life.word()
            self._space.files[id_] = f"The file says {word}.".encode()
            told = {"id": id_, "name": "map.txt", "size": 9,
                    "url_private_download": f"{self.server.url}files/{id_}"}  # fmt: skip
            self._space.messages[found[0]][found[1]]["files"] = [told]
            self._files[found] = word
            self._space.edit(*found, self._said())
            self._keep(*found)

    def _unshare(self) -> None:
        if found := self._one(self._files):
            del self._files[found]
            del self._space.messages[found[0]][found[1]]["files"]
            self._space.edit(*found, self._said())
            self._keep(*found)

    def _join(self) -> None:
        self._made += 1
        private = self._random.random() < 0.5
        self._space.channel(f"C{self._made}", f"channel{self._made}", is_private=private)

    def _leave(self) -> None:
        if len(self._space.channels) > 1:
            gone = self._one(self._space.channels)
            del self._space.channels[gone], self._space.messages[gone]
            for some in (self._words, self._files):
                for key in [one for one in some if one[0] == gone]:
                    del some[key]

    def _turn(self) -> None:
        channel = self._space.channels[self._one(self._space.channels)]
        channel["is_private"] = not channel.get("is_private")

    def _close(self) -> None:
        """The app is thrown out for a while."""
        self._space.closed = {self._one(self._space.channels)} if not self._space.closed else set()

    def _chatter(self) -> None:
        channel = self._one(self._space.channels)
        self._space.post(channel, self._clock, "joined", subtype="channel_join")


class GitHubPlace(_Served):
    kind = "github"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._hub = Hub(step=0.5, url=self.server.url)
        self._words: dict[tuple[str, int], str] = {}
        self._talks: dict[int, dict[int, str]] = {}  # discussions: words by comment, 0 is itself
        self._files: dict[str, str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        service = Service("GitHub", self.server.url, {"Authorization": "Bearer good"}, budget)
        return GitHubSource(service, ["o/r"], files=["docs/*.md"], discussions=True)

    def _answer(self, asked: Asked) -> Reply:
        return self._hub.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        talks = [word for one in self._talks.values() for word in one.values()]
        words = [*self._words.values(), *talks, *self._files.values()]
        return dict.fromkeys(words, None if self._hub.private else "all")

    def change(self) -> None:
        self._do({self._issue: 4, self._comment: 4, self._edit: 6, self._delete: 2, self._talk: 4,
                  self._hush: 1, self._push: 3, self._unpush: 1, self._turn: 1})  # fmt: skip

    def _write(self, kind: str, number: int) -> None:
        self._words[kind, number] = word = self._life.word()
        said = f"It says {word}."
        if kind == "issue":
            self._hub.issue(number, "An issue", body=said)
        else:
            self._hub.comment(number, 1, said, "issue" if kind == "comment" else "review")

    def _issue(self) -> None:
        self._made += 1
        self._write("issue", self._made)

    def _comment(self) -> None:
        self._made += 1
        kind = self._random.choice(("comment", "review"))
        self._write(kind, self._made)

    def _edit(self) -> None:
        if found := self._one(self._words):
            self._write(*found)

    def _delete(self) -> None:
        if found := self._one(self._words):
            kind, number = found
            hub = self._hub
            kept = {"issue": hub.issues, "comment": hub.comments, "review": hub.reviews}[kind]
            del kept[number], self._words[found]

    def _talk(self) -> None:
        """A new discussion, or another comment on one."""
        number = self._one(self._talks) if self._random.random() < 0.7 else None
        self._made += 1
        talk = self._talks.setdefault(number or self._made, {0: self._life.word()})
        if number:
            talk[self._made] = self._life.word()
        self._tell(number or self._made)

    def _tell(self, number: int) -> None:
        first, *rest = self._talks[number].items()
        said = [(id_, f"It says {word}.") for id_, word in rest]
        self._hub.discuss(number, "A talk", *said, body=f"It says {first[1]}.")

    def _hush(self) -> None:
        number = self._one(self._talks)
        if number and len(self._talks[number]) > 1:
            del self._talks[number][max(self._talks[number])]
            self._tell(number)

    def _push(self) -> None:
        name = f"docs/{self._random.randrange(4)}.md"
        self._files[name] = word = self._life.word()
        self._hub.files[name] = f"It says {word}."

    def _unpush(self) -> None:
        if name := self._one(self._files):
            del self._files[name], self._hub.files[name]

    def _turn(self) -> None:
        self._hub.private = not self._hub.private


class NotionPlace(_Served):
    kind = "notion"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._notion = Notion(step=0.4)
        self._words: dict[str, str] = {}
        self._trash: dict[str, str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        headers = {"Authorization": "Bearer good", "Notion-Version": "2025-09-03"}
        return NotionSource(Service("Notion", self.server.url, headers))

    def _answer(self, asked: Asked) -> Reply:
        return self._notion.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        return dict.fromkeys(self._words.values())

    def change(self) -> None:
        self._do({self._page: 5, self._edit: 6, self._throw: 2, self._restore: 1})

    def _write(self, id_: str, word: str) -> None:
        self._words[id_] = word
        more = {}
        if id_.startswith("row"):
            more["parent"] = {"type": "data_source_id", "data_source_id": "d1"}
        self._notion.page(id_, "A page", "First line.", f"It says {word}.", "Last.", "End.", **more)

    def _page(self) -> None:
        self._made += 1
        self._write(f"{self._random.choice(('page', 'row'))}-{self._made}", self._life.word())

    def _edit(self) -> None:
        if id_ := self._one(self._words):
            self._write(id_, self._life.word())

    def _throw(self) -> None:
        if id_ := self._one(self._words):
            self._trash[id_] = self._words.pop(id_)
            self._notion.trash(id_)

    def _restore(self) -> None:
        if id_ := self._one(self._trash):
            self._life.returned[self._trash[id_]] += 1
            self._write(id_, self._trash.pop(id_))


class LinearPlace(_Served):
    kind = "linear"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._linear = Linear()
        self._words: dict[str, str] = {}
        self._trash: dict[str, str] = {}
        self._on: dict[str, str] = {}  # comments and their issues
        self._made = 0

    def open(self) -> SyncSource:
        return LinearSource(Service("Linear", self.server.url, {"Authorization": "lin_good"}))

    def _answer(self, asked: Asked) -> Reply:
        return self._linear.answer(asked)

    def _refused(self) -> Reply:
        error = {"message": "not authenticated", "extensions": {"code": "AUTHENTICATION_ERROR"}}
        return Reply({"errors": [error]}, 400)

    def expected(self) -> Mapping[str, str | None]:
        hidden = {id_ for id_, issue in self._on.items() if issue in self._trash}
        return {word: None for id_, word in self._words.items() if id_ not in hidden}

    def change(self) -> None:
        self._do({self._issue: 4, self._comment: 4, self._edit: 6, self._delete: 2,
                  self._throw: 1, self._restore: 1})  # fmt: skip

    def _write(self, id_: str, word: str) -> None:
        self._words[id_] = word
        said = f"It says {word}."
        if id_[0] == "i":
            self._linear.issue(id_, "An issue", description=said)
        else:
            self._linear.comment(id_, self._on[id_], said)

    def _issues(self) -> dict[str, str]:
        return {id_: word for id_, word in self._words.items() if id_[0] == "i"}

    def _issue(self) -> None:
        self._made += 1
        self._write(f"i{self._made}", self._life.word())

    def _comment(self) -> None:
        if issue := self._one(self._issues()):
            self._made += 1
            self._on[f"c{self._made}"] = issue
            self._write(f"c{self._made}", self._life.word())

    def _edit(self) -> None:
        if id_ := self._one(self._words):
            self._write(id_, self._life.word())

    def _delete(self) -> None:
        if id_ := self._one(self._on):
            del self._words[id_], self._on[id_], self._linear.comments[id_]

    def _throw(self) -> None:
        if id_ := self._one(self._issues()):
            self._trash[id_] = self._words.pop(id_)
            self._linear.issue(id_, "Away", trashed=True)

    def _restore(self) -> None:
        if id_ := self._one(self._trash):
            word = self._trash.pop(id_)
            for one in [word, *(self._words[c] for c, on in self._on.items() if on == id_)]:
                self._life.returned[one] += 1
            self._write(id_, word)


class TriliumPlace(_Served):
    kind = "trilium"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._trilium = Trilium()
        self._words: dict[str, tuple[str, str | None]] = {}
        self._made = 0

    def open(self) -> SyncSource:
        url = f"{self.server.url}etapi/"
        return TriliumSource(Service("Trilium", url, {"Authorization": "good"}))

    def _answer(self, asked: Asked) -> Reply:
        return self._trilium.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        return dict(self._words.values())

    def change(self) -> None:
        self._do({self._note: 5, self._edit: 5, self._label: 2, self._delete: 2, self._hide: 1})

    def _write(self, id_: str, word: str, label: str | None, **more: Any) -> None:
        self._words[id_] = (word, label)
        told = [{"type": "label", "name": "audience", "value": label}] if label else []
        said = f"<p>It says {word}.</p>"
        self._trilium.note(id_, "A note", said, attributes=told, **more)

    def _note(self) -> None:
        self._made += 1
        self._write(f"n{self._made}", self._life.word(), self._random.choice((None, "team")))

    def _edit(self) -> None:
        if id_ := self._one(self._words):
            self._write(id_, self._life.word(), self._words[id_][1])

    def _label(self) -> None:
        if id_ := self._one(self._words):
            self._write(id_, self._words[id_][0], self._random.choice((None, "team")))

    def _delete(self) -> None:
        if id_ := self._one(self._words):
            del self._words[id_], self._trilium.notes[id_], self._trilium.contents[id_]

    def _hide(self) -> None:
        """Encrypted: the server can't read it any more."""
        if id_ := self._one(self._words):
            self._write(id_, self._words[id_][0], None, isProtected=True)
            del self._words[id_]


class ImapPlace(_Place):
    kind = "imap"
    changes_by_itself = True

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self._mail = Mail({"INBOX": {}})
        self._port = grounds.mail_port
        self._words: dict[tuple[str, int], str] = {}
        self._mail.trouble = self._trouble
        grounds.mail.mail = self._mail

    def open(self) -> SyncSource:
        return ImapSource(Account("127.0.0.1", "ada", "secret", self._port, encrypted=False))

    def expected(self) -> Mapping[str, str | None]:
        return dict.fromkeys(self._words.values())

    def _trouble(self, verb: str) -> str:
        if self._life.happens(0.01):
            return "cut"
        return "refused" if verb == "LOGIN" and self._life.happens(0.05) else ""

    def change(self) -> None:
        self._do({self._deliver: 8, self._delete: 3, self._renumber: 1, self._make: 1,
                  self._drop: 1})  # fmt: skip

    def _deliver(self) -> None:
        folder = self._one(self._mail.folders)
        word = self._life.word()
        self._words[folder, self._mail.deliver(folder, "A letter", f"It says {word}.")] = word

    def _delete(self) -> None:
        if found := self._one(self._words):
            del self._mail.folders[found[0]][found[1]], self._words[found]

    def _renumber(self) -> None:
        self._mail.validity += 1
        for word in self._words.values():
            self._life.returned[word] += 1

    def _make(self) -> None:
        self._mail.folders.setdefault(f"Lists/{self._random.choice('ab')}", {})

    def _drop(self) -> None:
        folder = self._one(self._mail.folders)
        if folder != "INBOX":
            del self._mail.folders[folder]
            self._words = {key: word for key, word in self._words.items() if key[0] != folder}


class FeedPlace(_Served):
    kind = "feed"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._site = Site(url=self.server.url)
        self._words: dict[str, str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        return FeedSource(f"{self.server.url}feed", Pages(private=True))

    def _answer(self, asked: Asked) -> Reply:
        return self._site.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        return dict.fromkeys(self._words.values(), "all")

    def change(self) -> None:
        self._do({self._new: 5, self._edit: 3, self._old: 2})
        self._site.entries = {id_: f"It says {word}." for id_, word in self._words.items()}

    def _new(self) -> None:
        self._made += 1
        self._words[f"e{self._made}"] = self._life.word()

    def _edit(self) -> None:
        if id_ := self._one(self._words):
            self._words[id_] = self._life.word()

    def _old(self) -> None:
        if id_ := self._one(self._words):
            del self._words[id_]


class SitemapPlace(_Served):
    kind = "sitemap"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._site = Site(url=self.server.url)
        self._words: dict[str, str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        return SitemapSource(f"{self.server.url}sitemap.xml", Pages(private=True))

    def _answer(self, asked: Asked) -> Reply:
        return self._site.answer(asked)

    def expected(self) -> Mapping[str, str | None]:
        closed = "hidden" if self._site.robots else "nothing"
        open_ = (word for id_, word in self._words.items() if not id_.startswith(closed))
        return dict.fromkeys(open_, "all")

    def change(self) -> None:
        self._do({self._new: 5, self._edit: 4, self._delete: 2, self._forbid: 1})

    def _write(self, id_: str) -> None:
        self._words[id_] = word = self._life.word()
        changed = f"2026-01-01T00:{self._life.words:02}" if id_.endswith("timed") else ""
        self._site.pages[id_] = (changed, f"It says {word}.")

    def _new(self) -> None:
        self._made += 1
        kind = self._random.choice(("page", "hidden"))
        self._write(f"{kind}{self._made}{self._random.choice(('', 'timed'))}")

    def _edit(self) -> None:
        if id_ := self._one(self._words):
            self._write(id_)

    def _delete(self) -> None:
        if id_ := self._one(self._words):
            del self._words[id_], self._site.pages[id_]

    def _forbid(self) -> None:
        self._site.robots = "" if self._site.robots else "User-agent: *\nDisallow: /hidden"
        for id_, word in self._words.items():
            if id_.startswith("hidden"):
                self._life.returned[word] += 1


WORLDS: dict[str, Callable[[Life, Grounds], World]] = {
    "toy": ToyPlace,
    "notes": NotesPlace,
    "mbox": MboxPlace,
    "slack-export": ExportPlace,
    "zotero-file": ZoteroFilePlace,
    "zotero-api": ZoteroApiPlace,
    "zotero-export": ZoteroExportPlace,
    "slack": SlackPlace,
    "github": GitHubPlace,
    "notion": NotionPlace,
    "linear": LinearPlace,
    "trilium": TriliumPlace,
    "imap": ImapPlace,
    "feed": FeedPlace,
    "sitemap": SitemapPlace,
}
