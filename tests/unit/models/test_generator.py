from typing import Any

import pytest
from tests.endpoint import HANG, RESET, Reply, ScriptedEndpoint, Seen, events
from tests.language_model import KEY, NAME

from trivium.core.errors import (
    ModelBusy,
    ModelError,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
)
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteGenerator
from trivium.models.retrying import Clock
from trivium.ports import Generated, Message

ASKED = (Message("system", "Be brief."), Message("user", "What is fog?"))
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


SOON = 5.0  # seconds of a silence that is waited out, and that a good answer may take


def generator(url: str, seconds: float = 20.0, **more: Any) -> RemoteGenerator:
    endpoint = Endpoint("generate", url, "writer", seconds=seconds, patience=60.0)
    return RemoteGenerator(Client(endpoint, **{"clock": Clock(lambda pause: None), **more}), 8192)


def whole(text: object) -> Reply:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Reply({"choices": [choice], "usage": USAGE})


def piece(text: str | None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def streamed(*payloads: object, done: bool = True) -> Reply:
    content = events(*payloads, done=done)
    return Reply(content, headers={"Content-Type": "text/event-stream"}, then="close")


def test_an_answer_and_what_it_took() -> None:
    with ScriptedEndpoint(lambda seen: whole("Low clouds.")) as server:
        assert generator(server.url).generate(ASKED, 50) == Generated("Low clouds.", 9, 3)
    [seen] = server.requests
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "writer",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is fog?"},
        ],
        "max_tokens": 50,
    }


def test_nobody_counts_the_tokens() -> None:
    bare = Reply({"choices": [{"message": {"content": "Fog."}}]})
    with ScriptedEndpoint(lambda seen: bare) as server:
        assert generator(server.url).generate(ASKED, 50) == Generated("Fog.", 0, 0)


def test_temperature_is_sent_where_it_is_set() -> None:
    with ScriptedEndpoint(lambda seen: whole("Fog.")) as server:
        writing = RemoteGenerator(Client(Endpoint("generate", server.url, "w")), 10, 0.0)
        writing.generate(ASKED, 5)
    assert server.requests[0].body["temperature"] == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        Reply([]),
        Reply({}),
        Reply({"choices": []}),
        Reply({"choices": ["x"]}),
        Reply({"choices": [{"text": "old API"}]}),
        whole(""),
        whole(None),
        whole([{"type": "text"}]),
    ],
)
def test_answers_that_cannot_be_used(answer: Reply) -> None:
    with ScriptedEndpoint(lambda seen: answer) as server, pytest.raises(ModelNonsense):
        generator(server.url).generate(ASKED, 50)


def test_a_stream_and_what_it_took() -> None:
    reply = streamed(
        {"choices": [{"delta": {"role": "assistant", "content": None}}]},
        piece("Low "),
        {"choices": []},
        piece("clouds."),
        piece(None, "stop"),
        {"choices": [], "usage": USAGE},
    )
    with ScriptedEndpoint(lambda seen: reply) as server:
        stream = generator(server.url).stream(ASKED, 50)
        pieces = [next(stream), next(stream)]
        with pytest.raises(StopIteration) as stopped:
            next(stream)
    assert pieces == ["Low ", "clouds."]
    assert stopped.value.value == Generated("Low clouds.", 9, 3)
    body = server.requests[0].body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_comments_other_lines_and_line_ends_of_the_web() -> None:
    content = events(piece("Fog."), piece(None, "stop")).replace(b"\n", b"\r\n")
    content = b": keep alive\r\n\r\nevent: message\r\nid: 1\r\n" + content
    with ScriptedEndpoint(lambda seen: Reply(content)) as server:
        assert list(generator(server.url).stream(ASKED, 50)) == ["Fog."]


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (streamed(piece("Low "), done=False), ModelFailing, "in the middle"),
        (streamed(piece("Low ")), ModelFailing, "in the middle"),
        (Reply(events(piece("Low "), done=False), then="hang"), ModelTimeout, "within"),
        (Reply(events(piece("Low "), done=False), then="reset"), ModelUnreachable, "connect"),
        (
            streamed(piece("Low "), {"error": {"message": "out of memory"}}),
            ModelFailing,
            "stopped: out of",
        ),
        (streamed(piece("Low "), "nonsense"), ModelNonsense, "no answer"),
        (Reply(events(piece("Low "), done=False) + b"data: {\n"), ModelNonsense, "JSON"),
    ],
)
def test_a_stream_that_stops_half_way(reply: Reply, kind: type[ModelError], said: str) -> None:
    seconds = SOON if reply.then == "hang" else 20.0
    with ScriptedEndpoint(lambda seen: reply) as server:
        stream = generator(server.url, seconds).stream(ASKED, 50)
        assert next(stream) == "Low "
        with pytest.raises(kind, match=said):
            next(stream)
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [HANG, RESET, Reply({}, 500), Reply({}, 429)])
def test_a_stream_that_has_not_begun_is_tried_again(cut: Reply) -> None:
    good = streamed(piece("Fog."), piece(None, "stop"))
    seconds = SOON if cut == HANG else 20.0
    with ScriptedEndpoint(lambda seen: cut if seen.number < 2 else good) as server:
        assert list(generator(server.url, seconds).stream(ASKED, 50)) == ["Fog."]
    assert len(server.requests) == 2  # once more and no oftener: someone waits


def test_a_stream_that_never_begins() -> None:
    with ScriptedEndpoint(lambda seen: Reply({}, 429)) as server, pytest.raises(ModelBusy):
        next(generator(server.url).stream(ASKED, 50))


@pytest.mark.parametrize("reply", [streamed(), streamed(piece(None, "stop")), streamed(done=False)])
def test_a_stream_of_nothing(reply: Reply) -> None:
    with (
        ScriptedEndpoint(lambda seen: reply) as server,
        pytest.raises((ModelNonsense, ModelFailing)),
    ):
        list(generator(server.url).stream(ASKED, 50))


def test_comments_alone_are_no_answer() -> None:
    """They keep the connection open, as slow servers mean them to, but not forever."""
    now = iter(range(100_000))
    with ScriptedEndpoint(lambda seen: Reply(b": wait\n" * 10_000)) as server:
        writing = generator(
            server.url, 5.0, clock=Clock(lambda pause: None, lambda: float(next(now)))
        )
        with pytest.raises(ModelTimeout):
            next(writing.stream(ASKED, 50))


def test_a_line_without_an_end() -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply(b"data: " + b"x" * 50_000, then="hang")) as server,
        pytest.raises(ModelNonsense, match="line of more than 10,000"),
    ):
        next(generator(server.url, max_bytes=10_000).stream(ASKED, 50))


def test_whoever_stops_asking_closes_the_connection() -> None:
    reply = Reply(events(*(piece("fog ") for _ in range(3)), done=False), then="hang")
    with ScriptedEndpoint(lambda seen: reply) as server:
        stream = generator(server.url).stream(ASKED, 50)
        assert next(stream) == "fog "
        stream.close()
        assert list(stream) == []


def picky(seen: Seen) -> Reply:
    """As OpenAI's newer models and some gateways are."""
    if "max_tokens" in seen.body:
        said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return Reply({"error": {"message": said}}, 400)
    if "stream_options" in seen.body:
        return Reply({"error": {"message": "Unrecognized argument: stream_options"}}, 400)
    if "stream" in seen.body:
        return streamed(piece("Fog."), piece(None, "stop"))
    return whole("Fog.")


def test_parameters_that_a_server_does_not_know() -> None:
    with ScriptedEndpoint(picky) as server:
        writing = generator(server.url)
        for _ in range(2):
            assert list(writing.stream(ASKED, 50)) == ["Fog."]
            assert writing.generate(ASKED, 50).text == "Fog."
    assert len(server.requests) == 6  # two refusals, and never again


def test_any_other_refusal_is_one() -> None:
    refused = Reply({"error": {"message": "use max_completion_tokens, stream_options"}}, 400)
    with ScriptedEndpoint(lambda seen: refused) as server:
        writing = generator(server.url)
        with pytest.raises(ModelRefused):
            writing.generate(ASKED, 50)
        with pytest.raises(ModelRefused):
            list(writing.stream(ASKED, 50))
    assert len(server.requests) <= 5


def test_a_real_model_answers_and_streams(language_model: str) -> None:
    writing = RemoteGenerator(Client(Endpoint("generate", language_model, NAME, KEY)), 2048, 0.0)
    answer = writing.generate(ASKED, 12)
    assert answer.text.strip()
    assert 5 < answer.prompt_tokens < 100
    assert 0 < answer.completion_tokens <= 12
    stream = writing.stream(ASKED, 12)
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as stopped:
            end = stopped.value
            break
    assert len(pieces) > 3
    assert end.text == "".join(pieces)
    assert end.prompt_tokens == answer.prompt_tokens
    assert 0 < end.completion_tokens <= 12
