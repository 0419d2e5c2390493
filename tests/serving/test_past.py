"""Old versions of a document that is public now: whoever couldn't see them then can't now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.library import Library
from trivium.web.site import furnish

RIGHTS = ("search", "manage")
# Every way to version 1.
WAYS = (
    "/v1/documents/{id}/text?interpretation=1",
    "/v1/documents/{id}/original?interpretation=1",
    "/v1/documents/{id}/diff",
    "/v1/documents/{id}/diff?old=1",
    "/v1/documents/{id}/diff?old=2&new=1",
)
# What shows the rest of a document to everyone.
LISTS = (
    "/v1/documents/{id}/interpretations",
    "/documents/{id}/history",
    "/documents/{id}/history?old=1&new=2",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    note = tmp_path / "note.md"
    with shelve(tmp_path / "library") as library:
        for title, text, audience in (
            ("Betrayal", "The traitor is Orsolya.", "dm-only"),
            ("Handout", "Someone is a traitor.", "all"),
        ):
            note.write_text(f"# {title}\n\n{text}")
            library.add(note, collection="rules", audience=audience)
        yield library


def reader(library: Library, *audiences: str) -> TestClient:
    _, token = library.tokens.create(audiences=audiences, rights=RIGHTS)
    return client(library, token, furnish=furnish)


def test_every_way_to_an_old_text_asks_for_its_own_label(library: Library) -> None:
    id_ = library.documents.get("note.md").id
    with reader(library, "player") as player, reader(library, "dm-only") as master:
        for way in WAYS:
            path = way.format(id=id_)
            assert player.get(path).status_code == 404, path
            told = master.get(path)
            assert told.status_code == 200, path
            assert "Orsolya" in told.text, path
        for way in LISTS:
            path = way.format(id=id_)
            told = player.get(path)
            assert told.status_code == 200, path
            assert "Betrayal" not in told.text, path
            assert "Orsolya" not in told.text, path
            assert "Betrayal" in master.get(path).text, path
        listed = master.get(LISTS[0].format(id=id_)).json()["interpretations"]
        assert [one["audience"] for one in listed] == ["dm-only", "all"]


def test_restoring_asks_for_both_labels(library: Library) -> None:
    id_ = library.documents.get("note.md").id
    with reader(library, "player") as player, reader(library, "dm-only") as master:
        refused = player.post(f"/v1/documents/{id_}/restore", json={"number": 1})
        assert (refused.status_code, refused.json()["code"]) == (404, "document.not_found")
        on_page = {"Origin": "http://localhost:8420"}
        form = {"number": "1"}
        assert player.post(f"/documents/{id_}/restore", data=form, headers=on_page).is_error
        assert library.documents.get(id_).interpretation == 2
        restored = master.post(f"/v1/documents/{id_}/restore", json={"number": 1}).json()
        assert restored["audience"] == "dm-only", "and it becomes no more public by that"
        assert player.get(f"/v1/documents/{id_}").status_code == 404
