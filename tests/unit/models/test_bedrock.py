"""The three models of Amazon Bedrock: real boto3 against a scripted server."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.bedrock import (
    COUNTED,
    ID,
    REGION,
    SECRET,
    START,
    STOP,
    URL,
    asked_for,
    aws,
    bedrock,
    failure,
    frames,
    piece,
    refusal,
    whole,
    written,
)
from tests.endpoint import HANG, RESET, Reply, ScriptedEndpoint, Seen, closed_port
from tests.reference import open_memory

from trivium.core.errors import (
    BadSetting,
    DimensionMismatch,
    ModelBusy,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
)
from trivium.core.types import OWNER, StoredChunk
from trivium.models.bedrock.client import BedrockClient, BedrockEndpoint
from trivium.models.bedrock.models import (
    LONGEST_V3,
    BedrockEmbedder,
    BedrockGenerator,
    BedrockReranker,
)
from trivium.models.retrying import ATTEMPTS, Clock
from trivium.ports import Generated, Message
from trivium.testing.samples import TOY, sample

TITAN, COHERE, COHERE_4 = (
    "amazon.titan-embed-text-v2:0",
    "cohere.embed-multilingual-v3",
    "eu.cohere.embed-v4:0",
)
JUDGE, WRITER = "cohere.rerank-v3-5:0", "eu.amazon.nova-lite-v1:0"
SAID = (Message("system", "Be brief."), Message("user", "Name a colour."))
ROW = [3.0, 4.0]


class Pauses(list[float]):
    """Waits for nothing, and remembers how long it should have."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def client(
    role: str, model: str, seconds: float = 20.0, wait: Callable[[float], None] | None = None
) -> BedrockClient:
    endpoint = BedrockEndpoint(role, URL, model, seconds=seconds, patience=seconds * 3)
    return BedrockClient(endpoint, Clock(Pauses() if wait is None else wait))


@contextmanager
def scripted(answer: Callable[[Seen], Reply]) -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(answer) as server, bedrock(server):
        yield server


def passages(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    with store.writer.writing():
        [document] = store.writer.put([sample("a.md", *texts)], TOY.fingerprint)
    return store.documents.passages(document.id, OWNER)


def drained(stream: Any) -> tuple[list[str], Generated]:
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


# --- embedding -----------------------------------------------------------------------------------


def titan(seen: Seen) -> Reply:
    return Reply({"embedding": [len(seen.body["inputText"]), 0.0], "inputTextTokenCount": 3})


def test_titan_is_given_one_text_a_call() -> None:
    with scripted(titan) as server:
        embedder = BedrockEmbedder(client("embed", TITAN), 2, document_prefix="d:", parallel=2)
        vectors = embedder.embed_documents(["ab", "c"])
        query = embedder.embed_query("ab")
    assert np.allclose(vectors, [[1, 0], [1, 0]])
    assert np.allclose(query, [1, 0])
    assert sorted(seen.body["inputText"] for seen in server.requests) == ["ab", "d:ab", "d:c"]
    assert all(seen.body["dimensions"] == 2 for seen in server.requests)
    assert asked_for(server.requests[0]) == (TITAN, "invoke")
    signed = server.requests[0].headers["Authorization"]
    assert signed.startswith(f"AWS4-HMAC-SHA256 Credential={ID}/")
    assert f"/{REGION}/bedrock/" in signed
    assert embedder.batch == 1
    assert embedder.fingerprint.startswith(f"{TITAN}-2-")


@pytest.mark.parametrize(
    ("model", "kept", "cut", "chosen"),
    [(COHERE, LONGEST_V3, "END", {}), (COHERE_4, 3000, "RIGHT", {"output_dimension": 2})],
)
@pytest.mark.parametrize("by_type", [True, False])
def test_cohere_is_told_what_is_a_query(
    model: str, kept: int, cut: str, chosen: dict[str, int], by_type: bool
) -> None:
    def answer(seen: Seen) -> Reply:
        rows = [ROW] * len(seen.body["texts"])
        return Reply({"embeddings": {"float": rows} if by_type else rows})

    with scripted(answer) as server:
        embedder = BedrockEmbedder(client("embed", model), chosen.get("output_dimension", 0))
        assert embedder.embed_documents(["x" * 3000] * 97).shape == (97, 2)
        assert np.allclose(embedder.embed_query("fog"), [0.6, 0.8])
    first, second, query = (seen.body for seen in server.requests)
    assert (len(first["texts"]), len(second["texts"])) == (96, 1)
    assert len(second.pop("texts")[0]) == kept
    fixed = {"embedding_types": ["float"], "truncate": cut, **chosen}
    assert second == {"input_type": "search_document", **fixed}
    assert query == {"input_type": "search_query", "texts": ["fog"], **fixed}


@pytest.mark.parametrize("answer", [{}, [], {"embeddings": "no"}, {"embeddings": [ROW, ROW]}])
def test_embeddings_that_cannot_be_used(answer: object) -> None:
    with scripted(lambda seen: Reply(answer)), pytest.raises(ModelNonsense):
        BedrockEmbedder(client("embed", COHERE)).embed_documents(["x"])


def test_other_dimensions_and_no_json() -> None:
    with scripted(titan), pytest.raises(DimensionMismatch, match="returned 2 dimensions, not 256"):
        BedrockEmbedder(client("embed", TITAN), 256).embed_documents(["x"])
    with scripted(lambda seen: Reply(b"<html>")), pytest.raises(ModelNonsense, match="JSON"):
        BedrockEmbedder(client("embed", TITAN)).embed_documents(["x"])


def test_a_model_that_nobody_knows_how_to_ask() -> None:
    with pytest.raises(BadSetting, match="titan-embed-text or cohere"):
        BedrockEmbedder(client("embed", "amazon.nova-lite-v1:0"))


# --- reranking -----------------------------------------------------------------------------------


def test_passages_are_judged() -> None:
    results = [{"index": 1, "relevanceScore": 0.9}, {"index": 0, "relevanceScore": 0.2}]
    with scripted(lambda seen: Reply({"results": results})) as server:
        judging = BedrockReranker(client("rerank", JUDGE))
        assert judging.scores("fog", passages("A quay.", "Fog. " * 2000)) == [0.2, 0.9]
        assert judging.scores("fog", []) == []
    (seen,) = server.requests
    assert seen.path == "/rerank"
    assert seen.body["queries"] == [{"type": "TEXT", "textQuery": {"text": "fog"}}]
    texts = [one["inlineDocumentSource"]["textDocument"]["text"] for one in seen.body["sources"]]
    assert "A quay." in texts[0]
    assert len(texts[1]) == 4000
    asked = seen.body["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    arn = f"arn:aws:bedrock:{REGION}::foundation-model/{JUDGE}"
    assert asked == {"modelConfiguration": {"modelArn": arn}, "numberOfResults": 2}
    assert judging.fingerprint == JUDGE


@pytest.mark.parametrize("results", [[], [{"index": 3, "relevanceScore": 0.5}]])
def test_scores_that_cannot_be_used(results: list[Any]) -> None:
    with scripted(lambda seen: Reply({"results": results})), pytest.raises(ModelNonsense):
        BedrockReranker(client("rerank", JUDGE)).scores("fog", passages("x"))


def test_a_reranker_named_in_full() -> None:
    arn = f"arn:aws:bedrock:us-west-2::foundation-model/{JUDGE}"
    with scripted(lambda seen: Reply({"results": [{"index": 0, "relevanceScore": 1.0}]})) as server:
        assert BedrockReranker(client("rerank", arn)).scores("fog", passages("x")) == [1.0]
    (seen,) = server.requests
    assert arn in str(seen.body["rerankingConfiguration"])


# --- writing -------------------------------------------------------------------------------------


def writer(wait: Callable[[float], None] | None = None, seconds: float = 20.0) -> BedrockGenerator:
    return BedrockGenerator(client("generate", WRITER, seconds, wait), 4096, 0.5)


def test_an_answer_in_one_piece() -> None:
    picture = Message("user", "Describe it.", (("image/png", b"\x89PNG"),))
    with scripted(lambda seen: whole("Bl", "ue.")) as server:
        assert writer().generate((*SAID, Message("assistant", "Red."), picture), 9) == Generated(
            "Blue.", 50, 7
        )
        plain = BedrockGenerator(client("generate", WRITER), 4096)
        plain.generate((Message("user", "Hm?"),), 9)
    first, second = server.requests
    assert asked_for(first) == (WRITER, "converse")
    assert first.body == {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Name a colour."}]},
            {"role": "assistant", "content": [{"text": "Red."}]},
            {
                "role": "user",
                "content": [
                    {"text": "Describe it."},
                    {"image": {"format": "png", "source": {"bytes": "iVBORw=="}}},
                ],
            },
        ],
        "inferenceConfig": {"maxTokens": 9, "temperature": 0.5},
    }
    assert second.body["inferenceConfig"] == {"maxTokens": 9}
    assert "system" not in second.body


def test_an_answer_as_it_is_written() -> None:
    with scripted(lambda seen: written("Blue is a colour.")) as server:
        pieces, all_of_it = drained(writer().stream(SAID, 9))
    assert pieces == ["Blue is", " a colo", "ur."]
    assert all_of_it == Generated("Blue is a colour.", 50, 7)
    assert asked_for(server.requests[0]) == (WRITER, "converse-stream")


def test_what_no_encoding_has_is_left_out() -> None:
    with scripted(lambda seen: whole("Blue.")) as server:
        writer().generate((Message("user", "Half \ud83d a pair"),), 9)
    assert "\ud83d" not in server.requests[0].body["messages"][0]["content"][0]["text"]


def test_whoever_has_enough_closes_it() -> None:
    with scripted(lambda seen: frames(START, piece("Blue"), then="hang")) as server:
        stream = writer().stream(SAID, 9)
        assert next(stream) == "Blue"
        stream.close()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("sent", "error", "why"),
    [
        ((START, STOP, COUNTED), ModelNonsense, "wrote nothing"),
        ((START, piece("Bl")), ModelFailing, "stopped in the middle"),
        ((START, piece("Bl"), failure("throttlingException", "slow")), ModelBusy, "slow"),
        ((START, piece("Bl"), failure("modelStreamErrorException", "x")), ModelFailing, "fails"),
        ((START, piece("Bl"), failure("validationException", "x")), ModelRefused, "refuses"),
        ((START, piece("Bl")[:-1] + b"\0"), ModelNonsense, "unreadable"),
        ((START, piece("Bl")[:30]), ModelFailing, "stopped in the middle"),
    ],
)
def test_streams_that_go_wrong(
    sent: tuple[bytes, ...], error: type[ModelUnavailable], why: str
) -> None:
    with scripted(lambda seen: frames(*sent)) as server, pytest.raises(error, match=why):
        drained(writer().stream(SAID, 9))
    assert len(server.requests) == 1, "what has begun is not begun again"


def test_a_stream_that_falls_silent_or_breaks() -> None:
    silent = frames(START, piece("Bl"), then="hang")
    broken = frames(START, piece("Bl"), then="reset")
    with scripted(lambda seen: silent), pytest.raises(ModelTimeout, match=r"within 0\.5 seconds"):
        drained(writer(seconds=0.5).stream(SAID, 9))
    with scripted(lambda seen: broken), pytest.raises(ModelUnreachable, match="Couldn't connect"):
        drained(writer().stream(SAID, 9))


def test_a_stream_that_is_refused_at_first_is_begun_again() -> None:
    def answer(seen: Seen) -> Reply:
        busy = frames(failure("throttlingException", "slow"))
        return busy if seen.number == 1 else written("Blue.")

    with scripted(answer):
        assert drained(writer().stream(SAID, 9))[1].text == "Blue."


# --- what may go wrong ---------------------------------------------------------------------------


def test_throttling_passes() -> None:
    def answer(seen: Seen) -> Reply:
        busy = refusal("ThrottlingException", 429, "Too many requests", **{"Retry-After": "3"})
        return busy if seen.number < 3 else whole("Blue.")

    pauses = Pauses()
    with scripted(answer) as server:
        assert writer(pauses).generate(SAID, 9).text == "Blue."
    assert len(server.requests) == 3
    assert pauses == [3, 3]


def test_throttling_that_does_not_pass() -> None:
    busy = refusal("ThrottlingException", 400, "Too many requests")
    with (
        scripted(lambda seen: busy) as server,
        pytest.raises(ModelBusy, match=r"Too many requests\. That was attempt 5"),
    ):
        writer().generate(SAID, 9)
    assert len(server.requests) == ATTEMPTS, "by us, and by nobody below us"


@pytest.mark.parametrize(
    ("reply", "error", "why", "tries"),
    [
        (refusal("AccessDeniedException", 403), ModelRefused, "these credentials.*AWS_PROFILE", 1),
        (refusal("ExpiredTokenException", 403), ModelRefused, "ExpiredToken.*`aws configure`", 1),
        (refusal("ResourceNotFoundException", 404), ModelRefused, "generate.model", 1),
        (refusal("ValidationException", 400, "bad id"), ModelRefused, "bad id", 1),
        (refusal("ModelErrorException", 424), ModelFailing, "fails", ATTEMPTS),
        (refusal("InternalServerException", 500), ModelFailing, "fails", ATTEMPTS),
        (refusal("ServiceUnavailableException", 503), ModelBusy, "busy", ATTEMPTS),
        (RESET, ModelUnreachable, "Couldn't connect", ATTEMPTS),
        (Reply({}), ModelNonsense, "wrote nothing", 1),
        (Reply(b"<html>"), ModelNonsense, "wrote nothing", 1),
    ],
)
def test_refusals(reply: Reply, error: type[ModelUnavailable], why: str, tries: int) -> None:
    with scripted(lambda seen: reply) as server, pytest.raises(error, match=why) as raised:
        writer().generate(SAID, 9)
    assert len(server.requests) == tries
    assert f"{WRITER} at Bedrock ({REGION})" in str(raised.value)
    assert SECRET not in str(raised.value)


def test_silence_ends() -> None:
    with scripted(lambda seen: HANG), pytest.raises(ModelTimeout, match=r"within 0\.3 seconds"):
        BedrockEmbedder(client("embed", TITAN), query_seconds=0.3).embed_query("fog")


def test_nobody_is_there() -> None:
    with (
        bedrock(f"http://127.0.0.1:{closed_port()}"),
        pytest.raises(ModelUnreachable, match="Check the network"),
    ):
        writer().generate(SAID, 9)


def test_without_credentials_or_a_region() -> None:
    with aws(), pytest.raises(ModelRefused, match=r"Unable to locate credentials.*aws configure"):
        writer().generate(SAID, 9)
    anywhere = BedrockClient(BedrockEndpoint("generate", "bedrock:", WRITER))
    with aws(), pytest.raises(ModelRefused, match=r"specify a region.*generate\.url"):
        BedrockGenerator(anywhere, 4096).generate(SAID, 9)
    judge = BedrockClient(BedrockEndpoint("rerank", "bedrock:", JUDGE))
    with aws(), pytest.raises(ModelRefused, match=r"no region is named.*rerank\.url"):
        BedrockReranker(judge).scores("fog", passages("x"))
    with aws(AWS_PROFILE="unknown"), pytest.raises(ModelRefused, match="unknown"):
        writer().generate(SAID, 9)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[bedrock\]'"):
        writer().generate(SAID, 9)
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[bedrock\]'"):
        drained(writer().stream(SAID, 9))
