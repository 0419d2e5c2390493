"""A token's uploads don't change those of another, and reveal nothing about them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.types import OWNER, Document
from trivium.library import Library
from trivium.library.uploads import Wanted
from trivium.sources.web import Fetched
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder

if TYPE_CHECKING:
    from trivium.core.types import Vectors

TEXT = b"# Harbour\n\nThe takeover is on Friday."
LABELS = {"category": "rules", "metadata": json.dumps({"year": 2001})}


class Counting(ToyEmbedder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_documents(texts)


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def library(tmp_path: Path, model: Counting) -> Iterator[Library]:
    with Library(open_embedded(tmp_path / "library"), model, Settings()) as opened:
        yield opened


def token(library: Library, *rights: str, audiences: Sequence[str] = ()) -> TestClient:
    _, text = library.tokens.create(audiences=audiences, rights=rights or ("add",))
    return client(library, text)


def send(caller: TestClient, name: str, data: bytes = TEXT, **labels: str) -> dict[str, Any]:
    answer = caller.post("/v1/documents", files={"file": (name, data)}, data=labels)
    assert answer.status_code in (200, 201), answer.text
    told: dict[str, Any] = answer.json()
    return told


def said(library: Library, id_: int) -> tuple[Document, list[str]]:
    return library.documents.get(id_), [one.title for one in library.history.of(id_)]


def test_sending_the_same_bytes_relabels_nothing_of_others(library: Library) -> None:
    with token(library) as first, token(library) as second:
        mine = send(first, "a.md", **LABELS)["outcomes"][0]["document"]["id"]
        before = said(library, mine)
        for labels in ({}, LABELS, {"category": "lies"}, {"metadata": json.dumps({"year": 1})}):
            for name in ("a.md", "b.md"):
                (outcome,) = send(second, name, **labels)["outcomes"]
                assert outcome["document"]["id"] != mine
                assert said(library, mine) == before
        assert outcome["document"]["metadata"]["year"] == 1, "its own labels"
        (again,) = send(first, "a.md", category="new", metadata=LABELS["metadata"])["outcomes"]
        assert (again["fate"], again["document"]["id"]) == ("relabelled", mine), "one's own"


def test_the_answer_does_not_tell_that_the_bytes_are_there(library: Library) -> None:
    with token(library) as curious:
        alone = send(curious, "a.md")
    library.uploads.receive(LOCAL_OWNER, "hidden.md", BytesIO(TEXT), Wanted(audience="all"))
    with token(library) as other:
        told = send(other, "a.md")
    for one in (alone, told):
        for outcome in one["outcomes"]:
            for varying in ("uri", "document"):
                del outcome[varying]
    assert told == alone
    assert told["notes"] == [], "who may not search hears of no like document"


def test_a_page_of_the_web_is_each_senders_own(library: Library) -> None:
    url = "https://example.org/a.md"
    callers = [
        library.tokens.caller(library.tokens.create(audiences=[], rights=["add"])[1])
        for _ in range(2)
    ]
    ids = []
    for category in (None, "mine"):
        for caller in (*callers, LOCAL_OWNER):
            label = None if category is None else f"of {caller.id}"
            page = Fetched("a.md", TEXT, url)
            report = library.uploads.receive_url(
                caller, url, Wanted(category=label), fetcher=lambda _, page=page: page
            )
            assert report.outcomes[0].document is not None
            ids.append(report.outcomes[0].document.id)
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == 3
    assert [d.category for d in library.documents.all(OWNER)] == [
        f"of {caller.id}" for caller in (*callers, LOCAL_OWNER)
    ]


def test_the_owners_folder_takes_over_nothing_that_was_sent(
    library: Library, tmp_path: Path
) -> None:
    with token(library) as sender:
        sent = send(sender, "a.md", **LABELS)["outcomes"][0]["document"]
    (tmp_path / "mine.md").write_bytes(TEXT)
    library.add(tmp_path / "mine.md", category="mine", audience="dm-only")
    kept = library.documents.get(sent["id"])
    assert (kept.uri, kept.category, kept.audience) == (sent["uri"], "rules", "all")
    assert library.documents.get(str(tmp_path / "mine.md")).id != sent["id"]


def test_a_passage_of_others_is_embedded_as_if_it_were_new(
    library: Library, model: Counting
) -> None:
    library.uploads.receive(LOCAL_OWNER, "hidden.md", BytesIO(TEXT), Wanted(audience="dm-only"))
    with token(library, "add", "search") as guesser:
        model.asked.clear()
        sent = send(guesser, "guess.md")["outcomes"][0]["document"]["id"]
        assert len(model.asked) == 1, "whether or not a hidden document holds it"
        send(guesser, "own.md", TEXT, category="again")
        assert len(model.asked) == 1, "one's own are used again"
        listed = guesser.get(f"/v1/documents/{sent}/interpretations").json()["interpretations"]
        assert listed[0]["timings"] == {}
    assert library.history.of(sent)[0].timings, "the owner sees them"
    library.uploads.receive(LOCAL_OWNER, "more.md", BytesIO(TEXT), Wanted(category="more"))
    assert len(model.asked) == 1, "the owner uses every vector there is"


def test_a_sender_is_told_no_seconds_of_its_job(library: Library) -> None:
    with token(library) as sender:
        answer = sender.post("/v1/documents?wait=false", files={"file": ("a.md", TEXT)})
        job = answer.json()["job"]["id"]
        library.jobs.work(job)
        (task,) = sender.get(f"/v1/jobs/{job}/tasks").json()["tasks"]
        assert (task["state"], task["seconds"]) == ("done", {})
    assert library.jobs.tasks(job)[0].seconds
