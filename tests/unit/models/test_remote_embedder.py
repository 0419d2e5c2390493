import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint import HANG, RESET, Reply, ScriptedEndpoint, Seen, every_third_fails
from tests.language_model import DIMENSIONS, KEY, NAME

from trivium.core.errors import (
    BadSetting,
    DimensionMismatch,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteEmbedder
from trivium.models.retrying import HURRIED, Clock


def client(url: str, seconds: float = 20.0) -> Client:
    endpoint = Endpoint("embed", url, "small", seconds=seconds, patience=seconds)
    return Client(endpoint, clock=Clock(lambda pause: None))


def vector(text: str) -> list[float]:
    """Not of unit length, and another one for each text."""
    return [float(len(text)), 3.0, float(ord(text[-1]))]


def embedding(seen: Seen) -> Reply:
    data = [
        {"object": "embedding", "index": place, "embedding": vector(text)}
        for place, text in enumerate(seen.body["input"])
    ]
    return Reply({"object": "list", "data": data[::-1]})  # an order of its own


def unit(texts: list[str]) -> Any:
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_unit_vectors_in_the_order_of_the_texts() -> None:
    texts = [f"text {n}{chr(65 + n % 26)}" for n in range(7)]
    with ScriptedEndpoint(embedding) as server:
        embedder = RemoteEmbedder(client(server.url))
        found = embedder.embed_documents(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, unit(texts), atol=1e-6)
    assert embedder.dimensions == 3
    assert server.requests[0].body == {"model": "small", "input": texts}


@pytest.mark.parametrize("parallel", [1, 3])
def test_at_most_a_batch_in_one_call(parallel: int) -> None:
    texts = [f"text {n}" for n in range(250)]
    with ScriptedEndpoint(embedding) as server:
        embedder = RemoteEmbedder(client(server.url), parallel=parallel)
        found = embedder.embed_documents(texts)
    np.testing.assert_allclose(found, unit(texts), atol=1e-6)
    assert sorted(len(seen.body["input"]) for seen in server.requests) == [50, 100, 100]


def test_no_texts_no_call() -> None:
    embedder = RemoteEmbedder(client("http://127.0.0.1:1"), 64)
    assert embedder.embed_documents([]).shape == (0, 64)


def test_prefixes_and_dimensions_are_sent() -> None:
    with ScriptedEndpoint(embedding) as server:
        embedder = RemoteEmbedder(client(server.url), 3, "query: ", "passage: ")
        embedder.embed_documents(["a"])
        embedder.embed_query("b")
    sent = [(seen.body["input"], seen.body["dimensions"]) for seen in server.requests]
    assert sent == [(["passage: a"], 3), (["query: b"], 3)]


def test_the_fingerprint_names_what_decides_the_vectors_and_no_address() -> None:
    def fingerprint(url: str, *arguments: Any) -> str:
        return RemoteEmbedder(client(url), *arguments).fingerprint

    here, there = "http://one.invalid/v1", "https://two.invalid/v1"
    assert fingerprint(here) == fingerprint(there) == "small"
    assert fingerprint(here, 0, "query: ") == "small"
    names = {fingerprint(here, *with_) for with_ in ((), (64,), (64, "", "p: "), (64, "", "q: "))}
    assert len(names) == 4


def test_every_third_call_fails_and_nothing_is_missing() -> None:
    texts = [f"text {n}" for n in range(60)]
    with ScriptedEndpoint(every_third_fails(embedding)) as server:
        embedder = RemoteEmbedder(client(server.url), batch=5, parallel=2)
        np.testing.assert_allclose(embedder.embed_documents(texts), unit(texts), atol=1e-6)
    assert len(server.requests) == 12 + 4


def test_one_batch_that_fails_ends_the_call() -> None:
    def answer(seen: Seen) -> Reply:
        return Reply({}, 400) if "text 7" in seen.body["input"] else embedding(seen)

    with ScriptedEndpoint(answer) as server:
        embedder = RemoteEmbedder(client(server.url), batch=2, parallel=2)
        with pytest.raises(ModelRefused):
            embedder.embed_documents([f"text {n}" for n in range(20)])


def row(place: Any, numbers: Any) -> dict[str, Any]:
    return {"index": place, "embedding": numbers}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"error": "no"}, "no list"),
        ([], "no list"),
        ({"data": "x"}, "no list"),
        ({"data": ["x", "y"]}, "no list"),
        ({"data": [row(0, [1, 2]), row(0, [1, 2])]}, "no list"),
        ({"data": [row("0", [1, 2]), row("1", [1, 2])]}, "no list"),
        ({"data": []}, "0 embeddings for 2 texts"),
        ({"data": [row(0, [1, 2])]}, "1 embeddings for 2"),
        ({"data": [row(n, [1, 2]) for n in range(3)]}, "3 embeddings for 2"),
        ({"data": [row(1, [1, 2]), row(2, [1, 2])]}, "2 embeddings for 2"),
        ({"data": [row(0, [1, 2]), row(1, [1])]}, "n't lists of numbers"),
        ({"data": [row(0, [1, 2]), row(1, None)]}, "n't lists of numbers"),
        ({"data": [row(0, []), row(1, [])]}, "n't lists of numbers"),
        ({"data": [row(0, 1), row(1, 2)]}, "n't lists of numbers"),
        ({"data": [row(0, [[1]]), row(1, [[1]])]}, "n't lists of numbers"),
        ({"data": [row(0, ["a", 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [{}, 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [None, 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [math.nan, 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [math.inf, 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [10**400, 1]), row(1, [1, 2])]}, "n't lists of numbers"),
        ({"data": [row(0, [0, 0]), row(1, [1, 2])]}, "zeros"),
    ],
)
def test_answers_that_cannot_be_used(data: object, said: str) -> None:
    with ScriptedEndpoint(lambda seen: Reply(data)) as server:
        embedder = RemoteEmbedder(client(server.url))
        with pytest.raises(ModelNonsense, match=said):
            embedder.embed_documents(["a", "b"])
    assert len(server.requests) == 1
    assert embedder.dimensions == 0 or said == "zeros"


def test_a_server_without_positions_means_the_order_it_gives() -> None:
    data = {"data": [{"embedding": vector(text)} for text in ("a", "bb")]}
    with ScriptedEndpoint(lambda seen: Reply(data)) as server:
        found = RemoteEmbedder(client(server.url)).embed_documents(["a", "bb"])
    np.testing.assert_allclose(found, unit(["a", "bb"]), atol=1e-6)


def test_other_dimensions_than_were_asked_for() -> None:
    with ScriptedEndpoint(embedding) as server:
        embedder = RemoteEmbedder(client(server.url), 1536)
        with pytest.raises(
            DimensionMismatch, match=r"returned 3 dimensions.*`embed.dimensions` to 3"
        ):
            embedder.embed_query("a")


def test_other_dimensions_than_before() -> None:
    wide = Reply({"data": [row(0, [1, 2, 3, 4])]})
    with ScriptedEndpoint(lambda s: embedding(s) if s.number == 1 else wide) as server:
        embedder = RemoteEmbedder(client(server.url))
        embedder.embed_query("a")
        with pytest.raises(DimensionMismatch, match=r"returned 4 dimensions, not 3.*embed.model"):
            embedder.embed_query("a")


@pytest.mark.parametrize(
    ("cut", "seconds", "kind"),
    [
        (HANG, 0.05, ModelTimeout),
        (RESET, 60.0, ModelUnavailable),
        (Reply({}, 500), 60.0, ModelFailing),
    ],
)
def test_a_query_waits_no_longer_than_a_person(
    cut: Reply, seconds: float, kind: type[ModelUnavailable]
) -> None:
    with ScriptedEndpoint(lambda seen: cut) as server:
        embedder = RemoteEmbedder(client(server.url, 300.0), query_seconds=seconds)
        with pytest.raises(kind):
            embedder.embed_query("a")
    assert len(server.requests) <= HURRIED


@pytest.mark.parametrize("bad", [{"batch": 0}, {"batch": 101}, {"parallel": 0}])
def test_settings_that_make_no_sense(bad: dict[str, int]) -> None:
    with pytest.raises(BadSetting, match=f"embed.{next(iter(bad))}"):
        RemoteEmbedder(client("http://127.0.0.1:1"), **bad)  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match=r"embed\.dimensions"):
        RemoteEmbedder(client("http://127.0.0.1:1"), -1)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(
                st.floats(-1e308, 1e308).filter(lambda x: x == 0 or abs(x) > 1e-290),
                min_size=width,
                max_size=width,
            ).filter(any),
            min_size=1,
            max_size=4,
        )
    )
)
def test_whatever_comes_has_unit_length_and_its_direction(rows: list[list[float]]) -> None:
    embedder = RemoteEmbedder(client("http://127.0.0.1:1"))
    found = embedder._checked(dict(enumerate(rows)), len(rows))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    for given_, unit_ in zip(rows, found, strict=True):
        assert np.argmax(np.abs(given_)) == np.argmax(np.abs(unit_)) or np.isclose(
            np.abs(unit_).max(), np.abs(unit_[np.argmax(np.abs(given_))])
        )


def together(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_many_threads_share_one() -> None:
    found: dict[int, Any] = {}
    with ScriptedEndpoint(embedding) as server:
        embedder = RemoteEmbedder(client(server.url))
        together(8, lambda n: found.update({n: embedder.embed_query(f"text {n}")}))
    for n in range(8):
        np.testing.assert_allclose(found[n], unit([f"text {n}"])[0], atol=1e-6)


def test_a_real_model(language_model: str) -> None:
    asking = Client(Endpoint("embed", language_model, NAME, KEY))
    embedder = RemoteEmbedder(asking, batch=2, parallel=2)
    embedder.embed_query("ready")
    assert embedder.dimensions == DIMENSIONS
    texts = ["A lighthouse warns ships.", "Bread needs flour.", "A lighthouse warns ships."]
    found = embedder.embed_documents(texts)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    likeness = found @ embedder.embed_query(texts[0])
    assert likeness[0] == pytest.approx(1.0, abs=1e-3)
    assert likeness[1] < 0.99


def test_a_real_server_refuses_a_wrong_key(language_model: str) -> None:
    embedder = RemoteEmbedder(Client(Endpoint("embed", language_model, NAME, "sk-wrong")))
    with pytest.raises(ModelRefused, match=r"refuses the key \(401\). It says: Invalid API Key"):
        embedder.embed_query("ready")
