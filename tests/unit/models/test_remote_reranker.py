import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.reference import open_memory

from trivium.core.errors import ModelNonsense, ModelRefused
from trivium.core.types import OWNER, StoredChunk
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteReranker, scaled
from trivium.models.retrying import Clock
from trivium.testing.samples import TOY, sample


def passages(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    with store.writer.writing():
        [document] = store.writer.put([sample("a.md", *texts, title="Harbour")], TOY.fingerprint)
    return store.documents.passages(document.id, OWNER)


def reranker(url: str) -> RemoteReranker:
    return RemoteReranker(Client(Endpoint("rerank", url, "judge"), clock=Clock(lambda pause: None)))


def cohere(seen: Seen) -> Reply:
    """Best first, as Cohere, Jina and vLLM answer."""
    scores = [round(0.01 * len(text), 2) for text in seen.body["documents"]]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    results = [{"index": i, "relevance_score": scores[i]} for i in order]
    return Reply({"id": "x", "results": results[: seen.body["top_n"]]})


def tei(seen: Seen) -> Reply:
    if "texts" not in seen.body:
        said = b"Failed to deserialize the JSON body: missing field `texts` at line 1 column 85"
        return Reply(said, 422)
    return Reply([{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}])


def test_scores_in_the_order_of_the_passages() -> None:
    with ScriptedEndpoint(cohere) as server:
        judging = reranker(server.url)
        assert judging.scores("fog", passages("A quay.", "A quay in fog.")) == [0.15, 0.22]
    assert judging.fingerprint == "judge"
    assert server.requests[0].path == "/v1/rerank"
    assert server.requests[0].body == {
        "model": "judge",
        "query": "fog",
        "documents": ["Harbour\nA quay.", "Harbour\nA quay in fog."],
        "top_n": 2,
    }


def test_the_dialect_of_tei_is_learned_once() -> None:
    with ScriptedEndpoint(tei) as server:
        judging = reranker(server.url)
        for _ in range(2):
            assert judging.scores("fog", passages("x", "y")) == [0.2, 0.9]
    assert ["texts" in seen.body for seen in server.requests] == [False, True, True]


def test_another_refusal_is_one() -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply({"message": "unknown model judge"}, 400)) as server,
        pytest.raises(ModelRefused, match="unknown model judge"),
    ):
        reranker(server.url).scores("fog", passages("x"))
    assert len(server.requests) == 1


def test_long_passages_are_cut() -> None:
    with ScriptedEndpoint(cohere) as server:
        reranker(server.url).scores("fog", passages("word " * 2000))
    assert [len(text) for text in server.requests[0].body["documents"]] == [4000]


def test_nothing_to_judge() -> None:
    assert reranker("http://127.0.0.1:1").scores("fog", []) == []


def result(place: Any, score: Any) -> dict[str, Any]:
    return {"index": place, "relevance_score": score}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"results": None},
        {"results": []},
        "text",
        {"results": [1, 2]},
        {"results": [result(0, 0.1)]},
        {"results": [result(0, 0.1), result(0, 0.2)]},
        {"results": [result(1, 0.1), result(2, 0.2)]},
        {"results": [result(0, 0.1), result(1, None)]},
        {"results": [result(0, 0.1), result(1, "high")]},
        {"results": [result(0, 0.1), result(1, math.nan)]},
        {"results": [result(0, 0.1), result(True, 0.2)]},
        {"results": [result(n, 0.1) for n in range(3)]},
        [{"index": 0, "score": 1}, {"score": 0}],
    ],
)
def test_answers_that_cannot_be_used(answer: object) -> None:
    with ScriptedEndpoint(lambda seen: Reply(answer)) as server, pytest.raises(ModelNonsense):
        reranker(server.url).scores("fog", passages("x", "y"))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_any_scores_come_within_bounds_and_keep_their_order(scores: list[float]) -> None:
    found = scaled(scores)
    assert all(0.0 <= score <= 1.0 for score in found)
    by_given = sorted(range(len(scores)), key=lambda i: scores[i])
    assert [found[i] for i in by_given] == sorted(found)


@given(st.lists(st.floats(0, 1)))
def test_scores_within_bounds_stay(scores: list[float]) -> None:
    assert scaled(scores) == scores
