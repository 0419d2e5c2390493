"""`trivium ask`: output for people and for programs, and a conversation in a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.program import Program, call
from tests.endpoint import ScriptedEndpoint
from tests.library.chat import Chat

QUESTION = ("ask", "what", "does", "a", "battle", "axe", "split?")
WRITTEN = "A battle axe splits shields [1]. The axe was forged by dragons [1]."


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    chat = Chat()
    chat.answer = WRITTEN
    with ScriptedEndpoint(chat) as server:
        monkeypatch.setenv("TRIVIUM_GENERATE_URL", server.url)
        monkeypatch.setenv("TRIVIUM_GENERATE_MODEL", "writer")
        yield chat


def test_an_answer_and_its_citations_for_a_person(trivium: Program, model: Chat) -> None:
    told = trivium(*QUESTION)
    assert told.code == 0, told.err
    text, _, below = told.out.partition("\n\n")
    assert text == WRITTEN
    assert re.fullmatch(r"\[1\] Weapons  .*  ¶\d+  /.*weapons\.md\n", below)
    assert "Not supported: “The axe was forged by dragons.”" in told.err


def test_for_a_program(trivium: Program, model: Chat) -> None:
    told = trivium(*QUESTION, "--json").json
    assert set(told) == {
        "question", "asked", "kind", "text", "citations", "passages", "statements", "steps",
        "usage", "notes", "complete", "model", "conversation", "timings_ms", "took_ms",
    }  # fmt: skip
    assert (told["kind"], told["text"], told["model"]) == ("written", WRITTEN, "writer")
    assert told["usage"] == {"prompt": 50, "answer": 7}
    (cited,) = told["citations"]
    assert cited["title"] == "Weapons"
    assert [one["supported"] for one in told["statements"]] == [True, False]


def test_events_as_lines(trivium: Program, model: Chat) -> None:
    lines = [json.loads(line) for line in trivium(*QUESTION, "--json-lines").out.splitlines()]
    assert {line["event"] for line in lines} == {"step", "token", "citation", "usage", "done"}
    assert lines[-1]["answer"]["text"] == WRITTEN
    assert "".join(line["text"] for line in lines if line["event"] == "token") == WRITTEN


def test_without_a_model_and_without_an_answer(trivium: Program) -> None:
    told = trivium(*QUESTION)
    assert told.out.partition("\n")[0].endswith("It splits shields. [1]")
    assert "generate.url" in told.err
    told = trivium("ask", "which", "quasars", "orbit", "Andromeda", "--json")
    assert (told.code, told.json["kind"], told.json["citations"]) == (0, "refused", [])
    assert told.json["notes"] == []  # nothing was quoted
    told = trivium("ask", "which", "quasars", "orbit", "Andromeda")
    assert "trivium search 'which quasars orbit Andromeda'" in told.err


def test_audiences_hold(trivium: Program) -> None:
    question = ("ask", "is", "the", "crown", "cursed", "by", "the", "sea", "--json")
    assert "hears the sea" in trivium(*question).json["text"]
    told = trivium(*question, "--audience", "player").out
    assert "hears the sea" not in told
    assert "Secrets" not in told


def test_conversations(documents: Path, tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    assert call("add", documents, *place).code == 0
    assert "No saved conversations" in call("conversations", *place).out
    for _ in range(2):
        assert call(*QUESTION, "--conversation", "axes", *place).code == 0
    listed = call("conversations", "--json", *place).json["conversations"]
    assert [(one["name"], one["turns"]) for one in listed] == [("axes", 2)]
    assert "axes" in call("conversations", *place).out
    assert call("conversations", "axes", *place).out.count("? what does a battle axe split?") == 2
    assert len(call("conversations", "axes", "--json", *place).json["turns"]) == 2
    nobody = call("conversations", "axes", "--audience", "player", "--json", *place)
    assert (nobody.code, nobody.error["code"]) == (2, "conversation.not_found")
    assert call("conversations", "--forget", *place).code == 2
    assert call("conversations", "axes", "--forget", *place).out == "2 turns deleted.\n"
    assert call("conversations", "axes", "--forget", "--json", *place).code == 2


def test_no_question_and_no_terminal(trivium: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    told = trivium("ask", "--json")
    assert (told.code, told.error["code"]) == (2, "usage")


def test_a_talk_in_a_terminal(library: Path, model: Chat) -> None:
    model.rewrite = "What does a battle axe split?"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "trivium.cli.main", "--library", str(library), "ask"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as program:
        os.close(theirs)
        os.write(ours, b"what does a battle axe split?\nand what else does it split?\n\n")
        seen = b""
        while True:
            try:
                some = os.read(ours, 1000)
            except OSError:  # how a terminal ends on Linux
                break
            if not some:
                break
            seen += some
    os.close(ours)
    assert program.returncode == 0
    text = seen.decode().replace("\r\n", "\n")
    assert text.count(WRITTEN) == 2
    assert "Rewrote the question: What does a battle axe split?" in text


def test_a_question_to_an_empty_library_says_that_it_is_empty(tmp_path: Path) -> None:
    library = ("--library", tmp_path / "library")
    assert call(*library, "token", "create").code == 0
    told = call(*library, "ask", "who", "sank", "the", "ledger?").err
    assert "The library is empty; `trivium add PATH` adds documents." in told
    assert "Try other words" not in told
