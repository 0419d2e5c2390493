"""GitHub, Notion, Linear and Trilium keep the contract, each against a local server written from
its public documents."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.sources.server import Asked, Reply, Server, serving

from trivium.errors import SourceRefused
from trivium.ports import Checkpoint, Put, SyncSource, Wait
from trivium.sources.github import GitHubSource, budget
from trivium.sources.linear import LinearSource
from trivium.sources.notion import NotionSource
from trivium.sources.service import Service
from trivium.sources.trilium import TriliumSource
from trivium.testing.source_contract import SourceContract, everything
from trivium.types import Extraction

Edits = Sequence[Callable[[], object]]
PAGE = 3


def at(minute: int) -> str:
    return f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00Z"


def puts(source: SyncSource) -> dict[str, Put]:
    return {one.id: one for one in source.changes("") if isinstance(one, Put)}


# --- GitHub


@dataclass
class Hub:
    """One repository. `clock` is the minute of the next change."""

    private: bool = False
    clock: int = 0
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, dict[str, Any]] = field(default_factory=dict)
    discussions: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    url: str = ""

    def now(self) -> str:
        self.clock += 1
        return at(self.clock)

    def issue(self, number: int, title: str, **more: Any) -> None:
        made = self.issues.get(number, {"created_at": self.now(), "number": number})
        self.issues[number] = {
            **made, "title": title, "body": f"About {title}", "user": {"login": "ada"},
            "state": "open", "labels": [], "html_url": f"https://github.com/o/r/issues/{number}",
            **more, "updated_at": self.now(),
        }  # fmt: skip

    def comment(self, id_: int, number: int, text: str, where: str = "issue") -> None:
        kept = self.comments if where == "issue" else self.reviews
        made = kept.get(id_, {"created_at": self.now(), "id": id_})
        address = f"{self.url}repos/o/r/{'issues' if where == 'issue' else 'pulls'}/{number}"
        kept[id_] = {
            **made, "body": text, "user": {"login": "bob"}, "updated_at": self.now(),
            "issue_url" if where == "issue" else "pull_request_url": address,
            "html_url": f"https://github.com/o/r/issues/{number}#c{id_}",
        }  # fmt: skip

    def discuss(self, number: int, title: str, *said: tuple[int, str]) -> None:
        nodes = [
            {"databaseId": id_, "body": text, "author": {"login": "cyn"}, "createdAt": at(0),
             "updatedAt": at(0), "url": ""}
            for id_, text in said
        ]  # fmt: skip
        self.discussions[number] = {
            "number": number, "title": title, "body": "Hm.", "url": "", "createdAt": at(0),
            "updatedAt": self.now(), "author": {"login": "ada"}, "category": {"name": "Ideas"},
            "closed": False, "labels": {"nodes": [{"name": "big"}]}, "comments": {"nodes": nodes},
        }  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != "Bearer good":
            return Reply({"message": "Bad credentials"}, 401)
        if asked.path == "/graphql":
            return self._graphql(asked.body["variables"])
        path = asked.path.removeprefix("/repos/o/r").strip("/")
        lists = {
            "issues": self.issues, "issues/comments": self.comments,
            "pulls/comments": self.reviews,
        }  # fmt: skip
        if not path:
            return Reply({"private": self.private, "default_branch": "main"})
        if path in lists:
            return self._page(asked, list(lists[path].values()))
        if path.startswith("git/trees/"):
            tree = [
                {"path": name, "type": "blob", "size": len(text), "sha": text.encode().hex()}
                for name, text in self.files.items()
            ]
            return Reply({"tree": [*tree, {"path": "docs", "type": "tree", "sha": "d"}]})
        if path.startswith("git/blobs/"):
            data = bytes.fromhex(path.rpartition("/")[2])
            return Reply({"content": base64.b64encode(data).decode(), "encoding": "base64"})
        above, _, last = path.rpartition("/")
        if above in lists and last.isdecimal() and int(last) in lists[above]:
            return Reply(lists[above][int(last)])
        return Reply({"message": "Not Found"}, 404)

    def _page(self, asked: Asked, found: list[dict[str, Any]]) -> Reply:
        since = asked.params.get("since", "")
        found = sorted(
            (one for one in found if one["updated_at"] >= since),
            key=lambda one: one["updated_at"],
        )
        page = int(asked.params.get("page", 1))
        rest = found[page * PAGE :]
        query = "&".join(f"{n}={v}" for n, v in {**asked.params, "page": page + 1}.items())
        link = f'<{self.url}{asked.path.strip("/")}?{query}>; rel="next", <x>; rel="last"'
        headers = {"Link": link} if rest else {}
        return Reply(found[(page - 1) * PAGE : page * PAGE], headers=headers)

    def _graphql(self, variables: Mapping[str, Any]) -> Reply:
        order = sorted(self.discussions.values(), key=lambda one: one["updatedAt"], reverse=True)
        start = int(variables["after"] or 0)
        info = {"hasNextPage": start + 1 < len(order), "endCursor": str(start + 1)}
        found = {"nodes": order[start : start + 1], "pageInfo": info}
        return Reply({"data": {"repository": {"discussions": found}}})


@pytest.fixture
def hub() -> Iterator[tuple[Hub, Server]]:
    made = Hub()
    with serving(made.answer) as server:
        made.url = server.url
        for number in range(1, 8):
            made.issue(number, f"Issue {number}")
        made.issue(8, "A change", pull_request={"url": "x"}, state="closed",
                   labels=[{"name": "bug"}], milestone={"title": "v1"})  # fmt: skip
        made.comment(11, 1, "First!")
        made.comment(12, 8, "This line.", "review")
        made.discuss(20, "An idea", (31, "Yes."), (32, "No."))
        made.discuss(21, "Another")
        made.files = {"docs/a.md": "# A", "docs/b.md": "# B", "code.py": "x = 1"}
        yield made, server


def github(server: Server) -> GitHubSource:
    service = Service("GitHub", server.url, {"Authorization": "Bearer good"}, budget)
    return GitHubSource(service, ["o/r"], files=["docs/*.md"], discussions=True)


class TestGitHub(SourceContract):
    @pytest.fixture
    def source(self, hub: tuple[Hub, Server]) -> SyncSource:
        return github(hub[1])

    @pytest.fixture
    def edits(self, hub: tuple[Hub, Server], source: SyncSource) -> Edits:
        made = hub[0]

        def make_private() -> None:
            made.private = True

        return (
            lambda: made.issue(9, "A new one"),
            lambda: made.issue(2, "Closed", state="closed"),
            lambda: made.comment(11, 1, "First, edited"),
            lambda: made.comments.pop(11),
            lambda: made.discuss(20, "An idea", (31, "Yes."), (33, "Maybe.")),
            lambda: made.files.update({"docs/b.md": "# B2", "docs/c.md": "# C"}),
            lambda: made.files.pop("docs/a.md"),
            make_private,
        )

    def test_everything_known_is_told(self, source: SyncSource) -> None:
        found = puts(source)
        change = found["o/r/issues/8"].metadata
        assert (change["state"], change["labels"], change["kind"], change["milestone"]) == (
            "closed", ("bug",), "pull request", "v1",
        )  # fmt: skip
        review = found["o/r/pulls/8/comments/12"]
        assert review.metadata["authors"] == ("bob",)
        assert str(review.metadata["link"]).endswith("#c12")
        assert isinstance(review.content, Extraction)
        assert review.content.media_type == "text/x-github"
        file = found["o/r/files/docs/a.md"]
        assert not isinstance(file.content, Extraction)
        assert (file.content(), file.audience) == (b"# A", "all")
        assert "o/r/discussions/20/comments/31" in found
        assert "o/r/files/code.py" not in found

    def test_budgets_and_secondary_limits_are_obeyed(self, hub: tuple[Hub, Server]) -> None:
        server = hub[1]
        whole = everything(github(server))
        server.troubles = [
            Reply({"message": "secondary rate limit"}, 403, {"Retry-After": "30"}),
            Reply({"message": "limit"}, 429, {"X-RateLimit-Remaining": "0",
                                              "X-RateLimit-Reset": "9999999999"}),
        ]  # fmt: skip
        waits = [one for one in github(server).changes("") if isinstance(one, Wait)]
        assert waits[0].seconds == 30
        assert waits[1].seconds > 1_000_000
        assert everything(github(server)) == whole

    def test_a_bad_token_is_said(self, hub: tuple[Hub, Server]) -> None:
        source = GitHubSource(Service("GitHub", hub[1].url), ["o/r"])
        with pytest.raises(SourceRefused, match="Bad credentials"):
            list(source.changes(""))


# --- Notion


@dataclass
class Notion:
    clock: int = 0
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def page(self, id_: str, title: str, *lines: str, **more: Any) -> None:
        self.clock += 1
        made = self.pages.get(id_, {"created_time": at(self.clock)})
        named = {"Name": {"type": "title", "title": [{"plain_text": title}]}}
        self.pages[id_] = {
            **made, "object": "page", "id": id_, "in_trash": False, "archived": False,
            "last_edited_time": at(self.clock), "url": f"https://notion.so/{id_}",
            "created_by": {"id": "p1"}, "last_edited_by": {"id": "p2"},
            "parent": {"type": "workspace", "workspace": True}, **more,
            "properties": {**named, **more.get("properties", {})},
        }  # fmt: skip
        self.blocks[id_] = [
            {"id": f"{id_}-{n}", "type": "paragraph", "has_children": False,
             "paragraph": {"rich_text": [{"plain_text": line}]}}
            for n, line in enumerate(lines)
        ]  # fmt: skip

    def trash(self, id_: str) -> None:
        self.pages[id_]["in_trash"] = True

    def answer(self, asked: Asked) -> Reply:
        assert asked.headers.get("notion-version") == "2025-09-03"
        if asked.headers.get("authorization") != "Bearer good":
            return Reply({"code": "unauthorized"}, 401)
        path = asked.path.strip("/")
        kept = [one for one in self.pages.values() if not one["in_trash"]]
        order = sorted(kept, key=lambda one: one["last_edited_time"], reverse=True)
        if path == "users":
            people = [{"id": "p1", "name": "Ada"}, {"id": "p2", "name": "Bob"}]
            return self._page(people, asked.params)
        if path == "search":
            if asked.body["filter"]["value"] == "data_source":
                found = [{"object": "data_source", "id": "d1", "title": [{"plain_text": "Tasks"}]}]
                return self._page(found, asked.body)
            # The search forgets rows at times: that is why data sources are asked as well.
            return self._page([one for one in order if "row" not in one["id"]], asked.body)
        if path == "data_sources/d1/query":
            rows = [one for one in order if one["parent"].get("data_source_id") == "d1"]
            wanted = asked.body.get("filter", {}).get("last_edited_time", {}).get("on_or_after", "")
            return self._page([r for r in rows if r["last_edited_time"] >= wanted], asked.body)
        if found_page := re.fullmatch(r"pages/(.+)", path):
            page = self.pages.get(found_page[1])
            return Reply(page) if page else Reply({"code": "object_not_found"}, 404)
        if children := re.fullmatch(r"blocks/(.+)/children", path):
            return self._page(self.blocks.get(children[1], []), asked.params)
        return Reply({"code": "invalid_request_url"}, 400)

    def _page(self, found: list[dict[str, Any]], asked: Mapping[str, Any]) -> Reply:
        start = int(asked.get("start_cursor") or 0)
        more = start + PAGE < len(found)
        told = {"object": "list", "results": found[start : start + PAGE], "has_more": more}
        return Reply({**told, "next_cursor": str(start + PAGE) if more else None})


@pytest.fixture
def notion() -> Iterator[tuple[Notion, Server]]:
    made = Notion()
    for n in range(5):
        made.page(f"page-{n}", f"Page {n}", "One.", "Two.", "Three.", "Four.")
    made.page(
        "row-1", "A task", "Do it.",
        parent={"type": "data_source_id", "data_source_id": "d1"},
        properties={
            "Status": {"type": "status", "status": {"name": "Doing"}},
            "Tags": {"type": "multi_select", "multi_select": [{"name": "x"}, {"name": "y"}]},
            "Who": {"type": "people", "people": [{"id": "p2"}]},
            "Due": {"type": "date", "date": {"start": "2026-02-01"}},
            "Points": {"type": "number", "number": 3},
        },
    )  # fmt: skip
    made.page("with-blocks", "Blocks")
    made.blocks["with-blocks"] = [
        {"id": "h", "type": "heading_1", "has_children": False,
         "heading_1": {"rich_text": [{"plain_text": "Top"}]}},
        {"id": "t", "type": "toggle", "has_children": True,
         "toggle": {"rich_text": [{"plain_text": "Open me"}]}},
        {"id": "c", "type": "child_page", "has_children": True, "child_page": {"title": "Other"}},
        {"id": "d", "type": "to_do", "has_children": False,
         "to_do": {"rich_text": [{"plain_text": "Buy oil"}], "checked": True}},
    ]  # fmt: skip
    made.blocks["t"] = [
        {"id": "u", "type": "paragraph", "has_children": False,
         "paragraph": {"rich_text": [{"plain_text": "Inside"}]}},
    ]  # fmt: skip
    with serving(made.answer) as server:
        yield made, server


def pages_of(server: Server) -> NotionSource:
    headers = {"Authorization": "Bearer good", "Notion-Version": "2025-09-03"}
    return NotionSource(Service("Notion", server.url, headers))


class TestNotion(SourceContract):
    @pytest.fixture
    def source(self, notion: tuple[Notion, Server], monkeypatch: pytest.MonkeyPatch) -> SyncSource:
        monkeypatch.setattr("trivium.sources.notion._SAVED", 2)
        return pages_of(notion[1])

    @pytest.fixture
    def edits(self, notion: tuple[Notion, Server], source: SyncSource) -> Edits:
        made = notion[0]
        row = {"type": "data_source_id", "data_source_id": "d1"}
        return (
            lambda: made.page("new", "New", "Words."),
            lambda: made.page("page-1", "Page 1", "Edited."),
            lambda: made.page("row-2", "A second task", "And this.", parent=row),
            lambda: made.trash("page-2"),
            lambda: made.trash("row-1"),
        )

    def test_everything_known_is_told(self, source: SyncSource) -> None:
        found = puts(source)
        row = found["row-1"]
        assert row.audience is None
        assert {
            name: row.metadata[name]
            for name in ("database", "state", "labels", "who", "due", "points", "authors",
                         "edited_by", "notionPageId", "link")
        } == {
            "database": "Tasks", "state": "Doing", "labels": ("x", "y"), "who": ("Bob",),
            "due": "2026-02-01", "points": 3, "authors": ("Ada",), "edited_by": "Bob",
            "notionPageId": ("row-1", "row1"), "link": "https://notion.so/row-1",
        }  # fmt: skip
        blocks = found["with-blocks"].content
        assert isinstance(blocks, Extraction)
        assert blocks.text == "# Top\n\nOpen me\n\nInside\n\n- [x] Buy oil"


# --- Linear


@dataclass
class Linear:
    clock: int = 0
    issues: dict[str, dict[str, Any]] = field(default_factory=dict)
    comments: dict[str, dict[str, Any]] = field(default_factory=dict)

    def now(self) -> str:
        self.clock += 1
        return at(self.clock)

    def issue(self, id_: str, title: str, **more: Any) -> None:
        made = self.issues.get(id_, {"createdAt": self.now()})
        self.issues[id_] = {
            **made, "id": id_, "identifier": f"ENG-{id_[1:]}", "title": title, "trashed": None,
            "description": f"About {title}", "url": f"https://linear.app/x/issue/{id_}",
            "state": {"name": "Todo"}, "team": {"id": "t", "key": "ENG", "name": "Engineering"},
            "project": {"name": "Lamp"}, "labels": {"nodes": [{"name": "bug"}]},
            "assignee": {"name": "Bob"}, "creator": {"name": "Ada"}, "priorityLabel": "High",
            **more, "updatedAt": self.now(),
        }  # fmt: skip

    def comment(self, id_: str, issue: str, text: str) -> None:
        made = self.comments.get(id_, {"createdAt": self.now()})
        self.comments[id_] = {
            **made, "id": id_, "body": text, "url": f"https://linear.app/c/{id_}",
            "user": {"name": "Cyn"}, "updatedAt": self.now(), "on": issue,
        }  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != "lin_good":
            error = {"message": "not authenticated", "extensions": {"code": "AUTHENTICATION_ERROR"}}
            return Reply({"errors": [error]}, 400)
        query, variables = asked.body["query"], asked.body["variables"]
        shown = {
            id_: {**one, "issue": self.issues.get(one["on"])} for id_, one in self.comments.items()
        }
        if "id" in variables:
            kept = shown if "comment(" in query else self.issues
            if variables["id"] in kept:
                return Reply({"data": {"found": kept[variables["id"]]}})
            error = {"message": "Entity not found", "extensions": {"code": "INPUT_ERROR"}}
            return Reply({"errors": [error]}, 400)
        kept = shown if "comments(" in query else self.issues
        since = variables["filter"].get("updatedAt", {}).get("gte", "")
        found = [one for one in kept.values() if one["updatedAt"] >= since]
        found.sort(key=lambda one: one["updatedAt"], reverse=True)
        start = int(variables["after"] or 0)
        info = {"hasNextPage": start + PAGE < len(found), "endCursor": str(start + PAGE)}
        page = {"nodes": found[start : start + PAGE], "pageInfo": info}
        return Reply({"data": {"found": page}})


@pytest.fixture
def linear() -> Iterator[tuple[Linear, Server]]:
    made = Linear()
    for n in range(5):
        made.issue(f"i{n}", f"Issue {n}")
    made.comment("c1", "i1", "I see.")
    made.comment("c2", "i2", "Me too.")
    with serving(made.answer) as server:
        yield made, server


def issues_of(server: Server, key: str = "lin_good") -> LinearSource:
    return LinearSource(Service("Linear", server.url, {"Authorization": key}))


class TestLinear(SourceContract):
    @pytest.fixture
    def source(self, linear: tuple[Linear, Server], monkeypatch: pytest.MonkeyPatch) -> SyncSource:
        monkeypatch.setattr("trivium.sources.linear._PAGE", 2)
        return issues_of(linear[1])

    @pytest.fixture
    def edits(self, linear: tuple[Linear, Server], source: SyncSource) -> Edits:
        made = linear[0]
        return (
            lambda: made.issue("i9", "New"),
            lambda: made.issue("i1", "Done", state={"name": "Done"}),
            lambda: made.comment("c1", "i1", "I see it now."),
            lambda: made.comments.pop("c2"),
            lambda: made.issue("i2", "Away", trashed=True),
        )

    def test_everything_known_is_told(self, source: SyncSource) -> None:
        found = puts(source)
        assert dict(found["i1"].metadata) == {
            "authors": ("Ada",), "date": at(3), "year": 2026, "edited": at(4), "project": "Lamp",
            "link": "https://linear.app/x/issue/i1", "team": ("Engineering", "ENG"),
            "issue": "ENG-1", "linearIssueId": ("ENG-1", "i1"), "state": "Todo",
            "labels": ("bug",), "assignees": ("Bob",), "priority": "High",
        }  # fmt: skip
        assert found["i1/c1"].metadata["authors"] == ("Cyn",)
        assert found["i1/c1"].metadata["linearIssueId"] == ("ENG-1", "i1")

    def test_limits_and_refusals(self, linear: tuple[Linear, Server]) -> None:
        server = linear[1]
        error = {"message": "Rate limit exceeded", "extensions": {"code": "RATELIMITED"}}
        server.troubles = [Reply({"errors": [error]}, 400)]
        waits = [one for one in issues_of(server).changes("") if isinstance(one, Wait)]
        assert [one.seconds for one in waits] == [60.0]
        with pytest.raises(SourceRefused, match="not authenticated"):
            list(issues_of(server, "bad").changes(""))


# --- Trilium


@dataclass
class Trilium:
    clock: int = 0
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)

    def note(self, id_: str, title: str, content: str, **more: Any) -> None:
        self.clock += 1
        self.notes[id_] = {
            "noteId": id_, "title": title, "type": "text", "mime": "text/html",
            "isProtected": False, "utcDateCreated": at(0), "utcDateModified": at(self.clock),
            "blobId": f"b{self.clock}", "parentNoteIds": ["root"], "attributes": [], **more,
        }  # fmt: skip
        self.contents[id_] = content

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != "good":
            return Reply({"code": "NOT_AUTHENTICATED"}, 401)
        path = asked.path.removeprefix("/etapi/")
        if path == "notes":
            assert "note.isProtected = false" in asked.params["search"]
            found = [one for one in self.notes.values() if not one["isProtected"]]
            return Reply({"results": found})
        content = re.fullmatch(r"notes/(.+)/content", path)
        if content and content[1] in self.contents:
            return Reply(self.contents[content[1]].encode())
        return Reply({"code": "NOTE_NOT_FOUND"}, 404)


@pytest.fixture
def trilium() -> Iterator[tuple[Trilium, Server]]:
    made = Trilium()
    made.note("root", "root", "")
    made.note("world", "The world", "<p>Large.</p>")
    lore = [
        {"type": "label", "name": "audience", "value": "dm-only"},
        {"type": "label", "name": "era", "value": "third"},
        {"type": "relation", "name": "near", "value": "root"},
    ]
    made.note("crown", "The crown", "<p>Sunk.</p>", attributes=lore, parentNoteIds=["world"])
    made.note("diary", "Diary", "x", isProtected=True)
    made.note("map", "map", "", type="relationMap")
    with serving(made.answer) as server:
        yield made, server


class TestTrilium(SourceContract):
    @pytest.fixture
    def source(self, trilium: tuple[Trilium, Server]) -> SyncSource:
        url = f"{trilium[1].url}etapi/"
        return TriliumSource(Service("Trilium", url, {"Authorization": "good"}))

    @pytest.fixture
    def edits(self, trilium: tuple[Trilium, Server], source: SyncSource) -> Edits:
        made = trilium[0]
        return (
            lambda: made.note("new", "New", "<p>New.</p>"),
            lambda: made.note("world", "The wide world", "<p>Larger.</p>"),
            lambda: made.notes["crown"].update(attributes=[]),
            lambda: made.notes.pop("new"),
        )

    def test_everything_known_is_told(self, source: SyncSource) -> None:
        found = puts(source)
        assert sorted(found) == ["crown", "root", "world"]
        crown = found["crown"]
        assert (crown.title, crown.audience) == ("The crown", "dm-only")
        assert crown.metadata["era"] == ("third",)
        assert crown.metadata["parents"] == ("The world",)
        assert not isinstance(crown.content, Extraction)
        assert b"<p>Sunk.</p>" in crown.content()


def test_cursors_are_small_enough_to_be_kept(notion: tuple[Notion, Server]) -> None:
    cursors = [one for one in pages_of(notion[1]).changes("") if isinstance(one, Checkpoint)]
    assert json.loads(cursors[-1].cursor).keys() == {"since"}
