"""The official clients of OpenAI and Cohere beside our own small one, and in its place.

What they send and what they hear is the same; and a library answers, guesses, summarises, embeds
and reranks through them. The real model behind llama.cpp is too small to write well: what is tried
is that every part meets it and holds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cohere
import numpy as np
import openai
import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.language_model import DIMENSIONS, KEY, NAME, serving
from tests.library.chat import streamed
from tests.reference import open_memory
from tests.relay import official, official_judge, through, through_judge

from trivium.answer.prompt import RULES as ANSWER
from trivium.config import Settings, load
from trivium.core.answers import AnswerKind
from trivium.core.errors import ModelRefused
from trivium.core.types import OWNER, StoredChunk
from trivium.ingest.outcomes import Fate
from trivium.ingest.summarising import RULES as SUMMARISE
from trivium.library import Library
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteEmbedder, RemoteGenerator, RemoteReranker, scaled
from trivium.operations.searching import SearchOptions
from trivium.ports import Generated, Message
from trivium.search.hyde import PROMPT as HYDE
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

SAID = (Message("system", "Be brief."), Message("user", "Name a colour."))
SAID_OFFICIALLY: Any = [{"role": one.role, "content": one.text} for one in SAID]
TEXTS = ["A lantern burns at the harbour.", "Bread needs flour and time."]
PORT = """# Port Amble

The harbour of Port Amble has twelve cranes.

# Divers

Divers raised a crown from its silt in spring.
"""


@pytest.fixture(scope="module")
def client(language_model: str) -> Iterator[openai.OpenAI]:
    with official(language_model) as opened:
        yield opened


def writer(url: str) -> RemoteGenerator:
    endpoint = Endpoint("generate", url, NAME, KEY, seconds=240.0, patience=240.0)
    return RemoteGenerator(Client(endpoint), 4096, 0.0)


def drained(stream: Any) -> tuple[list[str], Generated]:
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


def test_both_hear_the_same_from_a_real_model(language_model: str, client: openai.OpenAI) -> None:
    ours = writer(language_model)
    asked: Any = {"model": NAME, "messages": SAID_OFFICIALLY, "max_tokens": 8, "temperature": 0.0}
    whole = client.chat.completions.create(**asked)
    assert whole.usage is not None
    counted = (whole.usage.prompt_tokens, whole.usage.completion_tokens)
    written = Generated(whole.choices[0].message.content or "", *counted)
    assert ours.generate(SAID, 8) == written
    pieces, total = drained(ours.stream(SAID, 8))
    assert total == written
    with client.chat.completions.create(
        **asked, stream=True, stream_options={"include_usage": True}
    ) as events:
        heard = list(events)
    told = [event.choices[0].delta.content for event in heard if event.choices]
    assert pieces == [text for text in told if text]
    assert heard[-1].usage is not None
    assert (heard[-1].usage.prompt_tokens, heard[-1].usage.completion_tokens) == counted


def test_both_get_the_same_vectors_from_a_real_model(
    language_model: str, client: openai.OpenAI
) -> None:
    endpoint = Endpoint("embed", language_model, NAME, KEY, seconds=240.0, patience=240.0)
    ours = RemoteEmbedder(Client(endpoint)).embed_documents(TEXTS)
    theirs = client.embeddings.create(model=NAME, input=TEXTS)  # as base64, which it asks for
    assert ours.shape == (2, DIMENSIONS)
    assert np.allclose(ours, [row.embedding for row in theirs.data], atol=1e-5)


def test_a_wrong_key_is_a_wrong_key_to_both(language_model: str) -> None:
    with (
        openai.OpenAI(base_url=language_model, api_key="wrong", max_retries=0) as wrong,
        pytest.raises(openai.AuthenticationError),
    ):
        wrong.embeddings.create(model=NAME, input="x")
    with pytest.raises(ModelRefused, match=r"refuses the key \(401\)"):
        RemoteEmbedder(Client(Endpoint("embed", language_model, NAME, "wrong"))).embed_query("a")


def header(seen: Seen, name: str) -> str:
    return next(value for given, value in seen.headers.items() if given.lower() == name)


def same(ours: Seen, theirs: Seen) -> None:
    assert ours.path == theirs.path
    assert ours.body == theirs.body
    for name in ("authorization", "content-type"):
        assert header(ours, name) == header(theirs, name)


def test_both_send_the_same_to_write_and_to_embed() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    said = {"message": {"role": "assistant", "content": "Blue."}, "index": 0}
    chosen = {"choices": [{**said, "finish_reason": "stop"}], "usage": usage}
    rows = {"data": [{"index": n, "embedding": [1.0, 2.0]} for n in range(2)]}

    def answer(seen: Seen) -> Reply:
        if seen.path.endswith("/embeddings"):
            return Reply(rows)
        return streamed("Blue.") if "stream" in seen.body else Reply(chosen)

    with ScriptedEndpoint(answer) as server, official(server.url) as client:
        ours = writer(server.url)
        fixed: Any = {"model": NAME, "messages": SAID_OFFICIALLY, "temperature": 0.0}
        ours.generate(SAID, 5)
        client.chat.completions.create(**fixed, max_tokens=5)
        same(*server.requests)
        server.requests.clear()
        counted: Any = {"stream": True, "stream_options": {"include_usage": True}}
        assert drained(ours.stream(SAID, 5))[0] == ["Blue."]
        with client.chat.completions.create(**fixed, max_tokens=5, **counted) as events:
            assert next(e.choices[0].delta.content for e in events if e.choices) == "Blue."
        same(*server.requests)
        server.requests.clear()
        embedder = RemoteEmbedder(Client(Endpoint("embed", server.url, NAME, KEY)), 2)
        embedder.embed_documents(TEXTS)
        client.embeddings.create(model=NAME, input=TEXTS, dimensions=2, encoding_format="float")
        mine, theirs = server.requests
        assert theirs.body.pop("encoding_format") == "float", "the default, which we leave out"
        same(mine, theirs)


def passages(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    with store.writer.writing():
        [document] = store.writer.put([sample("a.md", *texts)], TOY.fingerprint)
    return store.documents.passages(document.id, OWNER)


def test_the_client_of_cohere_sends_the_same_to_rerank() -> None:
    results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    judged = passages("A quay.", "A quay in fog.")
    texts = [one.chunk.embedded_text for one in judged]
    asked: Any = {"model": "rerank-v3.5", "query": "fog", "documents": texts, "top_n": 2}
    with ScriptedEndpoint(lambda seen: Reply({"id": "x", "results": results})) as server:
        for version, make in ((1, cohere.Client), (2, cohere.ClientV2)):
            server.requests.clear()
            url = f"{server.url.removesuffix('/v1')}/v{version}"
            ours = RemoteReranker(Client(Endpoint("rerank", url, "rerank-v3.5", KEY)))
            assert ours.scores("fog", judged) == [0.2, 0.9]
            with make(KEY, base_url=server.url.removesuffix("/v1")) as client:
                theirs = client.rerank(**asked)
            assert [one.index for one in theirs.results] == [1, 0]
            same(*server.requests)


def test_a_library_reranks_through_the_client_of_cohere(tmp_path: Path) -> None:
    """The model was never trained to judge: this shows the wire, not quality."""
    judged = passages("A quay.", "A quay in fog.", "Ropes.")
    texts = [one.chunk.embedded_text for one in judged]
    with serving("RANK") as address, official_judge(address) as client:
        endpoint = Endpoint("rerank", address, NAME, KEY, seconds=240.0, patience=240.0)
        ours = RemoteReranker(Client(endpoint)).scores("fog", judged)
        theirs = client.rerank(model=NAME, query="fog", documents=texts, top_n=3).results
        by_place = sorted(theirs, key=lambda one: one.index)
        assert list(ours) == pytest.approx(scaled([one.relevance_score for one in by_place]))
        assert all(0.0 < score < 1.0 for score in ours)
        with ScriptedEndpoint(through_judge(client)) as server:
            settings = Settings(rerank_url=server.url, rerank_model=NAME, rerank_seconds=240.0)
            store = open_embedded(tmp_path / "library")
            with Library(store, TOY, settings) as library:
                store.writer.put([sample("a.md", *texts)], TOY.fingerprint)
                found = library.search("quay in fog", options=SearchOptions(rerank=True))
            assert found.notes == ()
            assert len(server.requests) == 1
            assert all(one.rerank is not None and 0 < one.rerank.judged < 1 for one in found)


def told(server: ScriptedEndpoint, rules: str) -> list[Seen]:
    """The requests to write something under these rules."""
    chats = [seen for seen in server.requests if seen.path == "/v1/chat/completions"]
    return [seen for seen in chats if seen.body["messages"][0]["content"].startswith(rules)]


def embedded(server: ScriptedEndpoint) -> list[str]:
    asked = [seen for seen in server.requests if seen.path == "/v1/embeddings"]
    return [text for seen in asked for text in seen.body["input"]]


def test_a_library_summarises_embeds_guesses_and_answers_through_the_official_client(
    client: openai.OpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "port.md").write_text(PORT)
    with ScriptedEndpoint(through(client)) as server:
        given = {"chunk.summary": "model", "generate.window": "640", "generate.temperature": "0"}
        given["embed.query_seconds"] = "240"
        # A language model's vectors rank by chance: nothing is too weak to answer from.
        given["search.floor"] = "0"
        for role in ("embed", "generate"):
            monkeypatch.setenv(f"TRIVIUM_{role.upper()}_KEY", KEY)
            given |= {f"{role}.url": server.url, f"{role}.model": NAME, f"{role}.seconds": "240"}
        with Library.open(tmp_path / "library", settings=load(given).settings) as library:
            assert library.add(tmp_path / "port.md").notes == ()
            document = library.documents.all()[0]
            summary = library.backend.documents.summary(document.content_hash, f"model/1:{NAME}")
            assert summary
            assert len(embedded(server)) == 2
            assert all(text.startswith(f"{summary}\n") for text in embedded(server))
            again = library.add(tmp_path / "port.md", collection="other")
            assert again.count(Fate.ADDED) == 1
            assert len(told(server, SUMMARISE)) == 1, "the same bytes are summarised once"
            assert len(embedded(server)) == 2, "and embedded once"
            answer = library.ask("How many cranes has the harbour of Port Amble?")
            # A model this small may write what no passage supports; then the documents are quoted.
            if answer.kind is AnswerKind.EXTRACTED:
                assert "wrote nothing that the passages support" in answer.notes[-1]
            assert answer.text.strip()
            assert answer.usage.prompt > 0
            assert answer.usage.answer > 0
            assert len(told(server, HYDE)) == 1
            assert len(told(server, ANSWER.partition("\n")[0])) == 1
            # With the guess behind it, unless a busy machine let it write too little.
            assert embedded(server)[2].startswith("How many cranes")
