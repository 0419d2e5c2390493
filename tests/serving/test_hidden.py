"""A token that may only search gets, over HTTP, what a server without the hidden documents says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

PLAIN = [
    sample(
        f"{n}.md",
        f"The harbour of night {n} has a lantern.",
        f"They take it over the bay {n} times.",
        title=f"Harbour {n}",
        collection="rules",
    )
    for n in range(49)
]
HIDDEN = [
    sample(
        "plan.md",
        "The takeover of quartzite needs a lanternkeeper.",
        "A takeover bid, der Hafen und die Laterne.",
        audience="dm-only",
        collection="rules",
        language="de",
        metadata={"price": 9},
    ),
    sample("copy.md", *(chunk.text for chunk in PLAIN[0].chunks), collection="vault"),
]
GUESSES = ("quartzite", "quartz", "takeover", "take", "bid", "lanternkeeper", "hafen", "und", "zzz")
_OF_THE_MOMENT = {"request_id", "took_ms", "timings_ms", "added_at", "updated_at", "seconds"}


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[TestClient]]:
    """The same token's holder at two servers: one has hidden documents, the other none."""
    with ExitStack() as opened:
        yield [_caller(tmp_path_factory.mktemp("library"), more, opened) for more in (HIDDEN, [])]


def _caller(folder: Path, more: list[Any], opened: ExitStack) -> TestClient:
    library = opened.enter_context(Library(open_embedded(folder), TOY, Settings()))
    with library.backend.writer.writing():
        library.backend.writer.put([*PLAIN, *more], TOY.fingerprint)
    _, token = library.tokens.create(audiences=(), collections=["rules"], rights=["search"])
    return opened.enter_context(client(library, token))


def said(answer: Any) -> Any:
    """The answer without what is of the moment."""

    def lasting(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: lasting(v) for k, v in value.items() if k not in _OF_THE_MOMENT}
        return [lasting(v) for v in value] if isinstance(value, list) else value

    return answer.status_code, lasting(answer.json())


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "fuzzy"])
def test_no_word_of_a_hidden_document_can_be_guessed(callers: list[TestClient], mode: str) -> None:
    for guess in GUESSES:
        for query in (guess, f"harbour {guess}", f"harbour -{guess}", [guess, "lantern"]):
            for by in ("passage", "document"):
                body = {"query": query, "mode": mode, "by": by, "explain": True, "limit": 60}
                if isinstance(query, list):
                    body["combine"] = "maximum"
                whole, without = (said(caller.post("/v1/search", json=body)) for caller in callers)
                assert whole == without, body
                assert whole[0] == 200


def test_takeover_finds_as_much_as_if_nobody_hid_one(callers: list[TestClient]) -> None:
    asked = {"query": "takeover", "mode": "fuzzy", "limit": 60}
    found = [len(caller.post("/v1/search", json=asked).json()["results"]) for caller in callers]
    assert found == [49, 49]


@pytest.mark.parametrize(
    "path",
    [
        *(f"/v1/suggest?q={guess[:4]}" for guess in GUESSES),
        "/v1/suggest?q=quartzitt",
        "/v1/collections",
        "/v1/documents?limit=100",
        "/v1/documents?where=price:9",
        "/v1/documents/1/similar",
        "/v1/documents/1",
    ],
)
def test_nothing_else_tells_of_hidden_documents(callers: list[TestClient], path: str) -> None:
    whole, without = (said(caller.get(path)) for caller in callers)
    assert whole == without


def test_no_answer_is_weighed_by_hidden_documents(callers: list[TestClient]) -> None:
    for guess in GUESSES:
        body = {"question": f"Which harbour has a lantern, a {guess}?", "stream": False}
        whole, without = (said(caller.post("/v1/query", json=body)) for caller in callers)
        assert whole == without
        assert whole[0] == 200
