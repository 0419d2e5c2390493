"""`POST /v1/query` of the real server in its own process, with a real small model behind it.

It has 135M parameters and doesn't follow rules well. We test that every part works with it, not
that it writes well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.language_model import KEY, NAME
from tests.serving.program import WINDOW
from tests.serving.running import serving
from tests.serving.shelf import SECRET, shelve

QUESTION = "Where does the crown lie, in the harbour?"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, language_model: str) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("written") / "library"
    shelve(folder).close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVIUM_GENERATE_KEY", KEY)
        with serving(folder, "--writer", language_model) as (address, _):
            yield address


# So small a model may write what no passage supports: then documents are quoted instead.
KINDS = ("written", "refused", "extracted")


def heard(address: str, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Events as they come over the wire."""
    name = ""
    with (
        httpx2.Client(trust_env=False, timeout=240.0) as client,
        client.stream("POST", f"{address}/v1/query", json=body) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            kind, _, said = line.partition(": ")
            if kind == "event":
                name = said
            elif kind == "data":
                yield name, json.loads(said)


def test_a_real_model_s_answer_over_http(address: str) -> None:
    body = {"question": QUESTION, "audiences": ["player"]}
    told = list(heard(address, body))
    names = [name for name, _ in told]
    assert names[0] == "step"
    assert names[-2:] == ["usage", "done"]
    assert "token" in names  # one for each sentence that the passages support
    done = told[-1][1]
    assert done["kind"] in KINDS
    assert done["kind"] != "written" or done["model"] == NAME
    assert "".join(data["text"] for name, data in told if name == "token") == done["text"]
    assert [data for name, data in told if name == "citation"] == done["citations"]
    usage = next(data for name, data in told if name == "usage")
    assert usage == done["usage"]
    assert 0 < usage["prompt"] < WINDOW
    assert 0 < usage["answer"] <= WINDOW // 4
    assert "hyde" in done["timings_ms"]
    assert SECRET not in json.dumps(told)
    with httpx2.Client(trust_env=False, timeout=240.0) as client:
        whole = client.post(f"{address}/v1/query", json={**body, "stream": False})
    assert whole.headers["content-type"] == "application/json"
    assert whole.json()["kind"] in KINDS
    assert whole.json()["usage"]["answer"] > 0
    # The same passages. Their order and match follow what the model guessed, anew each time.
    read = [{one["chunk"] for one in told["passages"]} for told in (whole.json(), done)]
    assert read[0] == read[1]
