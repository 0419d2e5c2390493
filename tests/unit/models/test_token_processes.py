"""Other processes tokenise as this one does."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from trivium.models import weights
from trivium.models.layout import TOKENIZER
from trivium.models.token_processes import PIECE, TokenProcesses
from trivium.models.tokenising import Tokeniser, WordTokens

PROMPT = "passage: "


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weights.locate_builtin(tmp_path_factory.mktemp("cache")) / TOKENIZER


@pytest.fixture(scope="module")
def here(file: Path) -> Tokeniser:
    return Tokeniser(file, WordTokens(file), 32)


@pytest.fixture
def processes(file: Path, here: Tokeniser) -> Iterator[TokenProcesses]:
    with closing(TokenProcesses(file, here, lower=False, count=2)) as found:
        yield found


def texts(count: int) -> list[str]:
    chance = random.Random(5)
    words = ["lantern", "Ýrsa", "東京", "\ud83d", "don't", "\n", "[MASK]", ""]
    return [PROMPT + " ".join(chance.choices(words, k=chance.randint(0, 60))) for _ in range(count)]


def same(here: Tokeniser, processes: TokenProcesses, given: list[str]) -> bool:
    rows = list(processes.encode_all(given, PROMPT))
    expected = here.encode_all(given, PROMPT)
    return [row.tolist() for row in rows] == [row.tolist() for row in expected]


def test_the_same_tokens_in_the_same_order(here: Tokeniser, processes: TokenProcesses) -> None:
    assert same(here, processes, texts(3 * PIECE + 1))
    assert same(here, processes, texts(1))
    assert list(processes.encode_all([])) == []


def test_a_process_that_died_costs_no_text(here: Tokeniser, processes: TokenProcesses) -> None:
    assert same(here, processes, texts(4 * PIECE))
    for process in processes._started:
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(2):
        assert same(here, processes, texts(4 * PIECE))


def test_processes_that_cannot_start_are_not_tried_forever(
    here: Tokeniser, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = tmp_path / TOKENIZER
    with closing(TokenProcesses(missing, here, lower=False, count=2)) as processes:
        for _ in range(3):
            assert same(here, processes, texts(4 * PIECE))
        assert 1 <= len(processes._started) == len(caplog.records) <= 2


def test_they_end_when_nobody_needs_them(file: Path, here: Tokeniser) -> None:
    processes = TokenProcesses(file, here, lower=False, count=2)
    list(processes.encode_all(texts(PIECE)))
    started = list(processes._started)
    assert started
    del processes
    assert [process.wait(240) for process in started] == [0] * len(started)
