"""Rewriting a follow-up into a question that makes sense alone: by a model, or by rules."""

from collections.abc import Callable

import pytest
from tests.endpoint import HANG, Reply, ScriptedEndpoint, Seen, events

from trivium.answer.rewrite import Rewritten, stand_alone
from trivium.core.answers import Turn, Usage
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteGenerator
from trivium.models.retrying import Clock

SAID = (
    Turn("Where was the crown found?", "Divers raised the crown from the harbour of Port Amble."),
)


def writes(text: str) -> Callable[[Seen], Reply]:
    told = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    used = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 8}}
    return lambda seen: Reply(events(told, used))


def rewritten(
    answer: Callable[[Seen], Reply], seconds: float = 20.0
) -> tuple[Rewritten, list[Seen]]:
    with ScriptedEndpoint(answer) as server:
        endpoint = Endpoint("generate", server.url, "writer", seconds=240.0, patience=240.0)
        generator = RemoteGenerator(Client(endpoint, clock=Clock(lambda pause: None)), 4096)
        return stand_alone("And who wore it?", SAID, generator, seconds), server.requests


def test_the_first_question_needs_no_model() -> None:
    assert stand_alone("Who wore it?", (), None) == Rewritten("Who wore it?")


def test_by_a_model() -> None:
    found, requests = rewritten(writes('"Who wore the crown of Port Amble?"\n'))
    assert found == Rewritten("Who wore the crown of Port Amble?", usage=Usage(30, 8))
    (seen,) = requests
    told = [(one["role"], one["content"]) for one in seen.body["messages"]]
    assert [role for role, _ in told] == ["system", "user", "assistant", "user"]
    assert told[1:3] == [("user", SAID[0].question), ("assistant", SAID[0].answer)]
    assert told[3][1].endswith("And who wore it?")


RULED = "Who wore the crown?"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (writes("Dragons hoard gold inside distant mountains?"), "asked something else"),
        (writes("crown " * 200), "asked something else"),
        (lambda seen: Reply({}, 401), "TRIVIUM_GENERATE_KEY"),
    ],
)
def test_otherwise_by_rules(answer: Callable[[Seen], Reply], why: str) -> None:
    found, _ = rewritten(answer)
    assert found.text == RULED
    assert why in found.note


def test_a_model_that_hangs_costs_no_more_than_the_limit() -> None:
    found, _ = rewritten(lambda seen: HANG, 0.05)
    assert found.text == RULED
    assert "within 0.05 seconds" in found.note


def test_without_a_model() -> None:
    assert stand_alone("And who wore it?", SAID, None) == Rewritten(RULED)
