"""GitHub, Notion, Linear and Trilium keep the contract, each against a local server written from
its public documents."""

import json
from collections.abc import Callable, Iterator, Sequence

import pytest
from tests.sources.github_server import Hub
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.server import Reply, Server, at, serving
from tests.sources.trilium_server import Trilium

from trivium.core.errors import SourceRefused
from trivium.core.types import Extraction
from trivium.ports import Checkpoint, Failed, Put, SyncSource, Wait
from trivium.sources.github import GitHubSource, budget
from trivium.sources.linear import LinearSource
from trivium.sources.linear import budget as linear_budget
from trivium.sources.notion import NotionSource
from trivium.sources.service import Service
from trivium.sources.trilium import TriliumSource
from trivium.testing.source_contract import SourceContract, everything

Edits = Sequence[Callable[[], object]]


def puts(source: SyncSource) -> dict[str, Put]:
    return {one.id: one for one in source.changes("") if isinstance(one, Put)}


# --- GitHub


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
        assert waits[1].seconds == 86_400  # a day at most, whatever a service says
        assert everything(github(server)) == whole

    def test_a_bad_token_is_said(self, hub: tuple[Hub, Server]) -> None:
        source = GitHubSource(Service("GitHub", hub[1].url), ["o/r"])
        with pytest.raises(SourceRefused, match="Bad credentials"):
            list(source.changes(""))


# --- Notion


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


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"requests-remaining": "0", "requests-reset": "61", "complexity-reset": "5"}, 61),
        ({"requests-remaining": "9", "requests-reset": "5", "complexity-remaining": "30",
          "complexity-reset": "61"}, 61),
        ({"complexity-remaining": "0", "complexity-reset": "61", "requests-reset": "900"}, 61),
        ({"requests-remaining": "0", "requests-reset": "9" * 400}, 60),
        ({}, 60),
    ],
)  # fmt: skip
def test_linear_is_waited_for_by_the_limit_that_ran_out(
    headers: dict[str, str], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers as in linear/linear, packages/sdk/src/error.ts."""
    monkeypatch.setattr("trivium.sources.linear.time.time", lambda: 0.0)
    told = {f"x-ratelimit-{name}": f"{value}000" if name.endswith("reset") else value
            for name, value in headers.items()}  # fmt: skip
    assert linear_budget(told, spent=True) == seconds + (1 if seconds == 61 else 0)


def test_comments_of_integrations_have_an_author(linear: tuple[Linear, Server]) -> None:
    """Fields of Comment in linear/linear, packages/sdk/src/schema.graphql."""
    made, server = linear
    made.comments["c1"] |= {"user": None, "botActor": {"name": "GitHub", "userDisplayName": None}}
    made.comments["c2"] |= {"user": None, "externalUser": {"name": "Eve"}}
    made.issues["i1"] |= {"creator": None, "botActor": {"name": "Zapier",
                                                        "userDisplayName": "Dan"}}  # fmt: skip
    found = puts(issues_of(server))
    authors = [found[id_].metadata["authors"] for id_ in ("i1/c1", "i2/c2", "i1")]
    assert authors == [("GitHub",), ("Eve",), ("Dan",)]


# --- Trilium


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


def test_a_sign_in_page_is_no_note(trilium: tuple[Trilium, Server]) -> None:
    trilium[0].contents["world"] = "<!DOCTYPE html><title>Sign in</title>"
    service = Service("Trilium", f"{trilium[1].url}etapi/", {"Authorization": "good"})
    changes = list(TriliumSource(service).changes(""))
    assert [one.id for one in changes if isinstance(one, Failed)] == ["world"]
    assert {one.id for one in changes if isinstance(one, Put)} == {"crown", "root"}


def test_a_search_of_ones_own_stays_in_parentheses(trilium: tuple[Trilium, Server]) -> None:
    service = Service("Trilium", f"{trilium[1].url}etapi/", {"Authorization": "good"})
    list(TriliumSource(service, "#lore OR #map").changes(""))
    asked = next(one.params["search"] for one in trilium[1].asked if "search" in one.params)
    assert asked.startswith("(#lore OR #map) AND ")


def test_cursors_are_small_enough_to_be_kept(notion: tuple[Notion, Server]) -> None:
    cursors = [one for one in pages_of(notion[1]).changes("") if isinstance(one, Checkpoint)]
    assert json.loads(cursors[-1].cursor).keys() == {"since"}
