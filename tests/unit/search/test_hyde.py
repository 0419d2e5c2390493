import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.endpoint import HANG, Reply, ScriptedEndpoint, closed_port, events
from tests.language_model import KEY, NAME

from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteGenerator
from trivium.models.retrying import Clock
from trivium.ports import Generated, Message
from trivium.search.hyde import MOST_TOKENS, hypothesise

PATIENCE = 120.0  # seconds: for a machine that is busy with other things


def generator(url: str) -> RemoteGenerator:
    endpoint = Endpoint("generate", url, "writer", KEY, seconds=PATIENCE, patience=PATIENCE)
    return RemoteGenerator(Client(endpoint, clock=Clock(lambda pause: None)), 4096)


def piece(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def written(*pieces: str) -> bytes:
    return events(*map(piece, pieces), piece("", "stop"))


def test_a_passage_in_one_line() -> None:
    reply = Reply(written("Fog is a cloud\n", "that touches ", " the ground."))
    with ScriptedEndpoint(lambda seen: reply) as server:
        found = hypothesise(generator(server.url), "what is fog", PATIENCE)
    assert (found.text, found.note) == ("Fog is a cloud that touches the ground.", "")
    asked = server.requests[0].body
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert asked["messages"][1]["content"] == "what is fog"
    assert asked["max_tokens"] == MOST_TOKENS


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply({}, 500), r"writer \(`generate.url`\) fails \(500\)"),
        (Reply({}, 401), "TRIVIUM_GENERATE_KEY"),
        (Reply(written("I cannot.")), "wrote too little"),
        (Reply(b"<html>"), "in the middle"),
    ],
)
def test_any_failure_is_a_sentence(reply: Reply, why: str) -> None:
    with ScriptedEndpoint(lambda seen: reply) as server:
        found = hypothesise(generator(server.url), "what is fog", PATIENCE)
    assert found.text == ""
    assert found.note.startswith("Searched without a generated answer (HyDE). ")
    assert re.search(why, found.note)


def test_nobody_listens() -> None:
    found = hypothesise(generator(f"http://127.0.0.1:{closed_port()}"), "what is fog")
    assert "Couldn't connect" in found.note


def test_a_model_that_hangs_costs_no_more_than_the_limit() -> None:
    with ScriptedEndpoint(lambda seen: HANG) as server:
        found = hypothesise(generator(server.url), "what is fog", 0.05)
    assert found.text == ""
    assert "wrote too little within 0.05 seconds" in found.note


class Slow:
    """Writes six words, then waits to be released, then would write on."""

    name = "slow"
    window = 4096

    def __init__(self) -> None:
        self.waiting, self.released = threading.Event(), threading.Event()
        self.closed = threading.Event()
        self.went_on = False

    def generate(self, messages: Sequence[Message], most_tokens: int) -> Generated:
        raise NotImplementedError

    def stream(self, messages: Sequence[Message], most_tokens: int) -> Iterator[str]:
        try:
            yield "six words of a long answer"
            self.waiting.set()
            self.released.wait()
            yield " and one that is late"
            self.went_on = True
        finally:
            self.closed.set()


def test_what_was_written_in_time_counts_and_the_rest_is_not_asked_for() -> None:
    slow = Slow()
    found = hypothesise(slow, "what is fog", 2.0)
    assert slow.waiting.wait(PATIENCE)
    assert (found.text, found.note) == ("six words of a long answer", "")
    slow.released.set()
    assert slow.closed.wait(PATIENCE)
    assert not slow.went_on


def test_a_real_model(language_model: str) -> None:
    writing = RemoteGenerator(Client(Endpoint("generate", language_model, NAME, KEY)), 2048, 0.0)
    found = hypothesise(writing, "What does a lighthouse do?", 120.0)
    assert found.note == ""
    assert len(found.text.split()) >= 5
