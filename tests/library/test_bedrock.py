"""A library whose three models are at Amazon Bedrock, from its settings to an answer: real boto3
against a scripted server."""

from pathlib import Path
from typing import Any

import pytest
from tests.bedrock import URL, asked_for, aws, bedrock, refusal, whole, written
from tests.cli.program import call
from tests.endpoint import Reply, ScriptedEndpoint, Seen

from trivium.config import Settings, load
from trivium.core.answers import AnswerKind
from trivium.core.errors import BadSetting
from trivium.core.types import Signal
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.testing.samples import TOY

TITAN, JUDGE, WRITER = "amazon.titan-embed-text-v2:0", "amazon.rerank-v1:0", "amazon.nova-lite-v1:0"
GIVEN = {
    "embed.url": URL,
    "embed.model": TITAN,
    "rerank.url": URL,
    "rerank.model": JUDGE,
    "rerank.seconds": "60",
    "generate.url": URL,
    "generate.model": WRITER,
    "chunk.summary": "model",
}
NOTE = "# Amble\n\nPort Amble has twelve cranes.\n\n# Tides\n\nThe tide turns at noon."
SUMMARY, GUESS = "A note on Port Amble.", "The port of Amble has many tall cranes."
ANSWER = "Port Amble has twelve cranes [1]."


def amazon(seen: Seen) -> Reply:
    body: dict[str, Any] = seen.body
    if seen.path == "/rerank":
        found = [one["inlineDocumentSource"]["textDocument"]["text"] for one in body["sources"]]
        scores = [0.9 if "cranes" in text else 0.1 for text in found]
        return Reply({"results": [{"index": n, "relevanceScore": s} for n, s in enumerate(scores)]})
    model, operation = asked_for(seen)
    if model == TITAN:
        return Reply({"embedding": TOY.embed_query(body["inputText"]).tolist()})
    if operation == "converse":
        return whole(SUMMARY)
    is_guess = "about 100 words" in body["system"][0]["text"]
    return written(GUESS if is_guess else ANSWER)


def asked(server: ScriptedEndpoint, operation: str) -> list[Seen]:
    return [seen for seen in server.requests if seen.path.endswith(f"/{operation}")]


def test_from_settings_to_an_answer(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    settings = load(GIVEN).settings
    with ScriptedEndpoint(amazon) as server, bedrock(server):
        with Library.open(tmp_path / "library", settings=settings) as library:
            assert library.add(tmp_path / "note.md").notes == ()
            assert library.models.manifest().model == TITAN
            embedded = [seen.body["inputText"] for seen in asked(server, "invoke")]
            assert len(embedded) == 2
            assert all(text.startswith(SUMMARY) for text in embedded)
            answer = library.ask("How many cranes has Port Amble?")
        assert (answer.kind, answer.text, answer.model) == (AnswerKind.WRITTEN, ANSWER, WRITER)
        assert (answer.usage.prompt, answer.usage.answer) == (50, 7)
        assert answer.notes == ()
        (judged,) = asked(server, "rerank")
        assert judged.body["queries"][0]["textQuery"]["text"] == "How many cranes has Port Amble?"
        assert any(one.body["inputText"].endswith(GUESS) for one in asked(server, "invoke"))
        # The manifest knows the address of the model, not the credentials.
        with Library.open(tmp_path / "library", settings=Settings()) as plain:
            assert Signal.VECTOR in plain.search("twelve cranes")[0].signals
    assert "secret" not in str(library.models.manifest())


def test_a_library_goes_on_without_it(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    settings = load(GIVEN).settings

    def denied(seen: Seen) -> Reply:
        return refusal("AccessDeniedException", 403, "You don't have access to the model.")

    with (
        ScriptedEndpoint(denied) as server,
        bedrock(server),
        Library.open(tmp_path / "library", settings=settings) as library,
    ):
        (note,) = library.add(tmp_path / "note.md").notes
        answer = library.ask("How many cranes has Port Amble?")
    assert note.startswith("Added without vectors: you can search by words and spelling only.")
    assert "You don't have access to the model." in note
    assert "AWS credentials" in note
    assert answer.kind is AnswerKind.EXTRACTED
    assert "twelve cranes" in answer.text
    assert any("Not reranked." in note for note in answer.notes)


def test_the_settings_say_where_and_never_who() -> None:
    shown = call("config", "--json", "--set", "embed.url=bedrock:").json
    assert "bedrock:" in str(shown)
    with pytest.raises(BadSetting, match="names no region"):
        load({"embed.url": "bedrock:eu central"})
    with pytest.raises(BadSetting, match=r"`embed\.model` is not"):
        Library.open(settings=load({"embed.url": "bedrock:"}).settings)


def test_nobody_is_asked_before_it_is_needed(tmp_path: Path) -> None:
    """A library without credentials opens, and searches by words."""
    with aws(), Library.open(tmp_path / "library", settings=load(GIVEN).settings) as library:
        assert library.search("crane", options=SearchOptions(mode="keyword")).notes == ()
