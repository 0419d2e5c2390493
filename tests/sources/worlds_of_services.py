"""Worlds for random histories of services, each against its local server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.sources.github_server import Hub
from tests.sources.grounds import Called, Grounds, Served
from tests.sources.imap_server import Mail
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.server import Asked, Reply
from tests.sources.slack_server import NOW, TOKEN, Workspace
from tests.sources.trilium_server import Trilium
from tests.sources.web_server import Site
from tests.sources.zotero_server import Zotero

from trivium.ports import SyncSource
from trivium.sources.feed import FeedSource, Pages, SitemapSource
from trivium.sources.github import GitHubSource, budget
from trivium.sources.imap import Account, ImapSource
from trivium.sources.linear import LinearSource
from trivium.sources.notion import NotionSource
from trivium.sources.service import Service
from trivium.sources.slack import SlackSource
from trivium.sources.trilium import TriliumSource
from trivium.sources.zotero import ZoteroApi, ZoteroSource
from trivium.testing.sync_histories import Life, Trouble

DAY = 86_400.0
Weighted = Mapping[Callable[[], object], int]


# --- services


class SlackPlace(Served):
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

    def _rewrite(self, channel: str, stamp: str) -> None:
        self._space.edit(channel, stamp, self._said())
        self._keep(channel, stamp)

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
            self._rewrite(*found)

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
            self._rewrite(*found)

    def _unshare(self) -> None:
        if found := self._one(self._files):
            del self._files[found]
            del self._space.messages[found[0]][found[1]]["files"]
            self._rewrite(*found)

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


class GitHubPlace(Served):
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


class NotionPlace(Served):
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


class LinearPlace(Served):
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


class TriliumPlace(Served):
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


class ImapPlace(Called):
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

    def _trouble(self, command: str) -> str:
        if trouble := self._spoiler.trouble(command):
            return trouble
        if self._life.happens(0.01):
            return "cut"
        return "refused" if command.startswith("LOGIN") and self._life.happens(0.05) else ""

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


class FeedPlace(Served):
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


class SitemapPlace(Served):
    kind = "sitemap"

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life, grounds)
        self._site = Site(url=self.server.url)
        self._words: dict[str, str] = {}
        self._made = 0

    def open(self) -> SyncSource:
        return SitemapSource(f"{self.server.url}sitemap.xml", Pages(private=True))

    def _troubled(self, asked: Asked, trouble: Trouble) -> Reply:
        if trouble == "page" and asked.path.strip("/") in self._site.pages:
            elsewhere = self.server.url.replace("127.0.0.1", "localhost")
            return Reply(b"", 302, {"Location": f"{elsewhere}sitemap.xml"})
        return super()._troubled(asked, trouble)

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


class ZoteroApiPlace(Served):
    kind = "zotero"
    is_joined = True

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
        """Read with the abstract, as one item."""
        if above := self._one(self._papers()):
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
