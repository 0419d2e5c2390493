"""One dataclass an answer: its JSON has the keys that its schema names, and nothing private."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from trivium.core import answers, results, shapes, types
from trivium.core.access import AccessToken, Right
from trivium.core.answers import Answer, AnswerKind
from trivium.core.results import (
    Analysis,
    OrderPart,
    PreferencePart,
    QueryPart,
    RerankPart,
    Result,
    Results,
)
from trivium.core.shapes import DocumentAnswer, JobAnswer, ResultsAnswer, TokenAnswer, to_json
from trivium.core.types import Chunk, Document, Signal, StoredChunk, Told
from trivium.core.work import Job, JobState, Priority
from trivium.evaluate import judged_sets, saved
from trivium.http import answers as http_answers
from trivium.mcp import shapes as mcp_shapes

DOCUMENT = Document(
    1, "a.md", "A", "default", "", "all", "text/markdown", "en", "c0", 9, 1, "f", 1, "then", "now",
    original="blob", seen_hash="c1", seen_fingerprint="g", sender="token",
)  # fmt: skip
RESULT = Result(1, 0.5, 0.5, StoredChunk(7, DOCUMENT, Chunk(0, 0, 4, "text")), {})


def found(*items: Result) -> Results:
    return Results(("crown",), (Analysis({Signal.VECTOR: 1.0}),), items, {"fuse": 0.1}, 1.0)


# Every module that says what callers are told.
SHAPES = {
    one
    for module in (answers, http_answers, judged_sets, mcp_shapes, results, saved, shapes, types)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, Told) and getattr(one, "__dataclass_fields__", {})
}


@pytest.mark.parametrize("shape", sorted(SHAPES, key=repr), ids=lambda shape: shape.__name__)
def test_the_schema_names_the_keys_of_the_json(shape: Any) -> None:
    schema = TypeAdapter(shape).json_schema(mode="serialization")
    assert list(schema["properties"]) == [one.name for one in fields(shape)]
    assert schema["additionalProperties"] is False
    always = {one.name for one in fields(shape) if one.default is not None}
    assert set(schema["required"]) == always


def test_what_does_not_apply_is_left_out() -> None:
    always = ["rank", "score", "match", "why", "weak", "document", "chunk", "signals", "fields"]
    always.append("passages")
    (told,) = json.loads(to_json(ResultsAnswer.of(found(RESULT))))["results"]
    assert list(told) == always
    whole = replace(
        RESULT,
        queries=(QueryPart(0.5, 0.5, {}),),
        rerank=RerankPart(0.5, 1, 0.1, 0.2, 0.2, 0.0),
        preferences=(PreferencePart("recent", 2.0, 0.1),),
        in_order=OrderPart(4, 5, 0.1),
        after="more",
    )
    (told,) = json.loads(to_json(ResultsAnswer.of(found(whole))))["results"]
    assert list(told) == [*always, "queries", "rerank", "preferences", "in_order", "context"]
    assert told["context"] == {"before": "", "after": "more"}


def test_without_an_explanation_a_search_says_less() -> None:
    explained = json.loads(to_json(ResultsAnswer.of(found(RESULT))))
    short = json.loads(to_json(ResultsAnswer.of(found(RESULT), explain=False)))
    assert set(explained) - set(short) == {"analysis", "queries", "timings_ms"}
    assert explained["analysis"] == explained["queries"][0]["analysis"]


def test_what_is_the_library_s_own_is_not_told() -> None:
    told = json.loads(to_json(DocumentAnswer.of(DOCUMENT)))
    assert not {"original", "seen_hash", "seen_fingerprint", "sender"} & set(told)
    job = Job(1, "add", "a", JobState.DONE, Priority.BULK, "now", worker="w", options={"by": "t"})
    assert not {"worker", "options"} & set(json.loads(to_json(JobAnswer.of(job))))
    token = AccessToken("id", "ann", "hash", None, None, frozenset(Right), "now")
    assert json.loads(to_json(TokenAnswer.of(token))) == {
        "id": "id", "name": "ann", "audiences": None, "collections": None,
        "rights": ["add", "manage", "search"], "created_at": "now", "expires_at": "",
        "session": False, "quota": dict.fromkeys(("documents", "bytes", "searches"), 0),
        "used": dict.fromkeys(("documents", "bytes", "searches"), 0),
    }  # fmt: skip


@pytest.mark.parametrize("inner", [DOCUMENT, RESULT, {"documents": [DOCUMENT]}])
def test_what_is_no_shape_becomes_no_json(inner: object) -> None:
    with pytest.raises(TypeError, match="is not for callers"):
        to_json(inner)


def test_an_answer_is_its_own_shape() -> None:
    answer = Answer("why?", "why?", AnswerKind.REFUSED, "No.", (), (), ())
    told = json.loads(to_json(answer))
    assert list(told) == [one.name for one in fields(Answer)]
    assert (told["kind"], told["usage"]) == ("refused", {"prompt": 0, "answer": 0})


def test_shapes_need_no_pydantic() -> None:
    """It comes with the extra `serve`; the terminal prints JSON without it."""
    code = "import sys, trivium.core.shapes; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
