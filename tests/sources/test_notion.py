"""Notion with what its API can't or won't give, and everything that a row holds.

Shapes as in makenotion/notion-sdk-js, src/api-endpoints (`blocks.ts`, `common.ts`, `comments.ts`,
`search.ts`). That children of an unsupported block answer 400 is in n8n-io/n8n#26188 and
outline/outline#9289.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.sources.notion_server import Notion
from tests.sources.server import Reply, Server, serving

from trivium.core.errors import SourceRefused, SourceUnreachable
from trivium.core.types import Extraction
from trivium.ports import Change, Checkpoint, Failed, Gone, Put
from trivium.sources.notion import NotionSource
from trivium.sources.service import Service

ROW = {"type": "data_source_id", "data_source_id": "d1"}


@pytest.fixture
def notion() -> Notion:
    made = Notion()
    made.page("p1", "One", "First.")
    made.page("p2", "Two", "Second.")
    made.page("row-1", "A task", "Do it.", parent=ROW)
    return made


@pytest.fixture
def server(notion: Notion) -> Iterator[Server]:
    with serving(notion.answer) as made:
        yield made


def pages_of(server: Server, *, on_blocks: bool = False) -> NotionSource:
    headers = {"Authorization": "Bearer good", "Notion-Version": "2025-09-03"}
    return NotionSource(Service("Notion", server.url, headers), on_blocks=on_blocks)


def puts(changes: Iterator[Change]) -> dict[str, Put]:
    return {one.id: one for one in changes if isinstance(one, Put)}


def failures(changes: Sequence[Change]) -> dict[str, str]:
    return {one.id: one.message for one in changes if isinstance(one, Failed)}


def text(put: Put) -> str:
    assert isinstance(put.content, Extraction)
    return put.content.text


def block(id_: str, kind: str, held: Mapping[str, Any], children: bool = False) -> dict[str, Any]:
    return {"object": "block", "id": id_, "type": kind, "has_children": children, kind: held}


def rich(said: str) -> dict[str, Any]:
    return {"rich_text": [{"type": "text", "plain_text": said}]}


def test_blocks_that_the_api_does_not_give_are_left_out_with_a_note(
    notion: Notion, server: Server
) -> None:
    notion.blocks["p1"] = [
        block("b1", "paragraph", rich("Before.")),
        block("b2", "unsupported", {"block_type": "form"}, children=True),
        block("b3", "synced_block", {"synced_from": {"block_id": "x"}}, children=True),
        block("b4", "toggle", rich("Closed"), children=True),
        block("b5", "paragraph", rich("After.")),
    ]
    notion.refused = {f"blocks/{id_}/children": status
                      for id_, status in (("b2", 400), ("b3", 404), ("b4", 400))}  # fmt: skip
    page = puts(pages_of(server).changes(""))["p1"]
    assert text(page) == "Before.\n\nClosed\n\nAfter."
    assert page.metadata["not_read"] == (
        "1 × contents of a synced_block block",
        "1 × contents of a toggle block",
        "1 × form block",
    )


def test_blocks_that_are_refused_are_tried_again(notion: Notion, server: Server) -> None:
    notion.blocks["p1"] = [block("b4", "toggle", rich("Closed"), children=True)]
    notion.blocks["b4"] = [block("b5", "paragraph", rich("Inside."))]
    notion.refused = {"blocks/b4/children": 403}
    changes = list(pages_of(server).changes(""))
    assert failures(changes).keys() == {"p1/not_read"}
    assert "p1" in puts(iter(changes))
    again = list(pages_of(server).again(["p1/not_read"]))
    assert failures(again).keys() == {"p1/not_read"}
    notion.refused = {}
    again = list(pages_of(server).again(["p1/not_read"]))
    assert Gone("p1/not_read") in again
    assert text(puts(iter(again))["p1"]) == "Closed\n\nInside."


def test_names_that_are_given_later_are_filled_in(notion: Notion, server: Server) -> None:
    notion.refused = {"users": 403}
    changes = list(pages_of(server).changes(""))
    assert "authors" not in puts(iter(changes))["p1"].metadata
    notion.refused = {}
    cursor = changes[-1].cursor  # type: ignore[union-attr]
    later = list(pages_of(server).changes(cursor))
    assert puts(iter(later))["p1"].metadata["authors"] == ("Ada",)
    assert "nameless" not in later[-1].cursor  # type: ignore[union-attr]


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_page_that_is_not_given_fails_alone(notion: Notion, server: Server, status: int) -> None:
    notion.refused = {"blocks/p1/children": status}
    changes = list(pages_of(server).changes(""))
    assert failures(changes).keys() == {"p1"}
    assert f"({status}" in failures(changes)["p1"] or f"{status}:" in failures(changes)["p1"]
    assert puts(iter(changes)).keys() == {"p2", "row-1"}
    assert not [one for one in changes if isinstance(one, Gone)]


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_data_source_that_is_gone_fails_alone_and_hides_nothing(
    notion: Notion, server: Server, status: int
) -> None:
    notion.refused = {"data_sources/d1/query": status}
    changes = list(pages_of(server).changes(""))
    assert failures(changes).keys() == {"data_source/d1"}
    assert [one.partial for one in changes if isinstance(one, Failed)] == [True]
    assert puts(iter(changes)).keys() == {"p1", "p2"}
    listed = list(pages_of(server).ids())
    assert {one for one in listed if isinstance(one, str)} == {"p1", "p2"}
    assert [one.partial for one in listed if isinstance(one, Failed)] == [True]
    again = list(pages_of(server).again(["data_source/d1"]))
    assert failures(again).keys() == {"data_source/d1"}
    notion.refused = {}
    assert list(pages_of(server).again(["data_source/d1"])) == [Gone("data_source/d1")]


def test_a_data_source_that_failed_is_read_from_where_it_was(
    notion: Notion, server: Server
) -> None:
    first = list(pages_of(server).changes(""))
    cursor = first[-1].cursor  # type: ignore[union-attr]
    notion.page("row-2", "Another task", "And this.", parent=ROW)
    notion.page("p3", "Three", "Third.")
    notion.refused = {"data_sources/d1/query": 500}
    second = list(pages_of(server).changes(cursor))
    assert failures(second).keys() == {"data_source/d1"}
    assert "p3" in puts(iter(second))
    notion.refused = {}
    third = puts(pages_of(server).changes(second[-1].cursor))  # type: ignore[union-attr]
    assert "row-2" in third


def test_a_refused_token_and_a_service_that_is_away_end_the_run(
    notion: Notion, server: Server
) -> None:
    notion.page("p3", "Three")
    notion.refused = {f"blocks/{id_}/children": 500 for id_ in ("p1", "p2", "p3")}
    with pytest.raises(SourceUnreachable, match="500"):
        list(pages_of(server).changes(""))
    notion.refused = {"blocks/p1/children": 401}
    with pytest.raises(SourceRefused, match="401"):
        list(pages_of(server).changes(""))


def test_one_page_that_only_fails_does_not_end_it(notion: Notion, server: Server) -> None:
    notion.refused = {"blocks/p1/children": 502}
    changes = list(pages_of(server).changes(""))
    assert failures(changes).keys() == {"p1"}
    assert puts(iter(changes)).keys() == {"p2", "row-1"}


def test_a_sign_in_page_instead_of_json_is_said(notion: Notion, server: Server) -> None:
    server.troubles = [Reply(b"<html>Sign in</html>")]
    with pytest.raises(Exception, match="web page, such as a sign-in page, instead of an answer"):
        list(pages_of(server).changes(""))


def test_more_rows_than_a_query_lists_are_all_read(notion: Notion, server: Server) -> None:
    notion.most_rows = 2
    for number in range(2, 8):
        notion.page(f"row-{number}", f"Task {number}", parent=ROW)
    found = puts(pages_of(server).changes(""))
    assert {id_ for id_ in found if id_.startswith("row")} == {f"row-{n}" for n in range(1, 8)}


def test_every_property_is_text_and_a_field(notion: Notion, server: Server) -> None:
    def held(kind: str, value: object, **more: object) -> dict[str, Any]:
        return {"id": "x", "type": kind, kind: value, **more}

    many = [{"id": f"m{n}"} for n in range(30)]
    for n in range(30):
        notion.page(f"m{n}", f"Part {n}")
    notion.page(
        "row-9", "Everything", "Body.", parent=ROW,
        properties={
            "Total": held("formula", {"type": "number", "number": 42.5}),
            "Late": held("formula", {"type": "boolean", "boolean": True}),
            "Sum": held("rollup", {"type": "number", "number": 7, "function": "sum"}),
            "Names": held("rollup", {"type": "array", "function": "show_original",
                                     "array": [held("title", [{"plain_text": "Lamp"}]),
                                               held("relation", [{"id": "p1"}])]}),
            "Project": held("relation", [{"id": "p2"}, {"id": "unknown"}], has_more=False),
            "Parts": held("relation", many[:25], has_more=True, every=many, id="Pq%3A"),
            "Papers": held("files", [{"name": "plan.pdf", "type": "file", "file": {"url": "x"}}]),
            "Owner": held("people", [{"object": "user", "id": "p2"}]),
            "Status": held("status", {"id": "1", "name": "Doing", "color": "red"}),
            "ID": held("unique_id", {"prefix": "TASK", "number": 12}),
            "When": held("date", {"start": "2026-02-01", "end": "2026-02-03"}),
            "Checked": held("verification", {"state": "verified", "date": None}),
            "By": held("created_by", {"object": "user", "id": "p1"}),
            "Push": held("button", {}),
            "Nothing": held("select", None),
        },
    )  # fmt: skip
    row = puts(pages_of(server).changes(""))["row-9"]
    expected = {
        "total": 42.5, "late": "yes", "sum": 7, "names": ("Lamp", "One"),
        "project": ("Two",), "papers": ("plan.pdf",), "owner": ("Bob",), "state": "Doing",
        "id": "TASK-12", "when": "2026-02-01", "checked": "verified", "by": "Ada",
    }  # fmt: skip
    assert {name: row.metadata.get(name) for name in expected} == expected
    assert row.metadata["parts"] == tuple(f"Part {n}" for n in range(30))
    first = text(row).split("\n\n")[0].split("\n")
    assert "Total: 42.5" in first
    assert "When: 2026-02-01 – 2026-02-03" in first
    assert "Names: Lamp, One" in first
    assert "Nothing" not in text(row)
    assert "Body." in text(row)


def test_comments_and_meeting_notes_are_read(notion: Notion, server: Server) -> None:
    notion.comments["p1"] = [
        {"object": "comment", "id": "c1", "created_by": {"id": "p2"}, **rich("Why?"),
         "display_name": {"type": "user", "resolved_name": "Bob"}},
        {"object": "comment", "id": "c2", "created_by": {"id": "bot"}, **rich("Because."),
         "display_name": {"type": "integration", "resolved_name": "Helper"}},
    ]  # fmt: skip
    parts = {"summary_block_id": "s", "notes_block_id": "n", "transcript_block_id": "t"}
    meeting = {"title": [{"plain_text": "Weekly"}], "status": "notes_ready", "children": parts}
    notion.blocks["p1"] = [block("m", "transcription", meeting, children=True)]
    notion.blocks |= {"s": [block("s1", "paragraph", rich("We agreed."))],
                      "n": [block("n1", "paragraph", rich("Ask Ada."))]}  # fmt: skip
    notion.refused = {"blocks/t/children": 403}
    page = puts(pages_of(server).changes(""))["p1"]
    assert text(page) == "Weekly\n\nWe agreed.\n\nAsk Ada.\n\nBob: Why?\n\nHelper: Because."
    assert page.metadata["not_read"] == ("1 × contents of a transcription block",)


def test_without_the_right_to_read_comments_the_pages_are_read(
    notion: Notion, server: Server
) -> None:
    notion.refused = {"comments": 403}
    changes = list(pages_of(server).changes(""))
    assert puts(iter(changes)).keys() == {"p1", "p2", "row-1"}
    assert not failures(changes)
    assert len([one for one in server.asked if one.path == "/comments"]) == 1
    notion.refused = {}
    notion.comments["p1"] = [{"object": "comment", "id": "c1", **rich("Why?")}]
    assert isinstance(changes[-1], Checkpoint)
    later = list(pages_of(server).changes(changes[-1].cursor))
    assert text(puts(iter(later))["p1"]).endswith("Why?"), "now that they may be read"
    assert isinstance(later[-1], Checkpoint)
    assert "p1" not in puts(pages_of(server).changes(later[-1].cursor)), "only once"


def test_comments_on_blocks_are_read_if_you_ask(notion: Notion, server: Server) -> None:
    notion.comments["p1-0"] = [{"object": "comment", "id": "c1", **rich("Which lamp?")}]
    first = notion.blocks["p1"][0]["paragraph"]["rich_text"][0]["plain_text"]
    assert "Which lamp?" not in text(puts(pages_of(server).changes(""))["p1"])
    page = puts(pages_of(server, on_blocks=True).changes(""))["p1"]
    assert text(page).startswith(f"{first}\n\nWhich lamp?")
