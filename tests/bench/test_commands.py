"""Every command that the documents name for a figure runs, in its quick form."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.page import BROWSERS
from tests import postgres
from tests.bench.commands import QUICK, write_data
from tests.bench.results import results

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("bench")
    data = write_data(place / "data")
    (place / "results").mkdir()  # for bench.report, whether or not bench.compare ran before it
    (place / "results" / "results.json").write_text(json.dumps(results()), encoding="utf-8")
    return {"DATA": data, "PLACE": place / "place", "RESULTS": place / "results"}


@pytest.fixture(scope="module")
def runner() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.runner"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


# What the command shows where it measured something.
SHOWN = {
    "bench.answers": "| contradicted | 5",
    "bench.answer_limits": "a part of its sentence",
    "bench.confidence": "questions with an answer",
    "bench.written": "without an answer:",
    "bench.chat": "group, author and day",
    "bench.quote": "papers",
    "bench.contradictions": "precision",
    "bench.stranger": "with an answer: 2 right, 0 wrong, 0 refused of 2",
    "bench.fields": "chat: no documents",
    "bench.known_items": "4 documents",
    "bench.sync_histories": "| all | 5 | 0 |",
    "bench.search": "300",
    "bench.vectors": "farthest 40 %",
    "bench.options": "two queries, AND",
    "bench.serving": "database, 2 clients, 1 worker",
    "bench.scaling": "served, 2 workers",
    "bench.page": "from the last key",
    "bench.dropped": "| notes | 2 |",
    "bench.compare": "",  # into a folder: bench.report reads it
    "bench.report": "Trivium",
    "bench.rerank": "reranked",
    "bench.rerank #time": "reranked, again",
    "bench.quality": "| mean |",
    "bench.calibration": "meaning, held out",
    "bench.chunking": "recursive 400/80",
    "bench.contextual": "texts extractive",
    "bench.extraction": "pages per second",
    "bench.adding unchanged": "again_per_second",
    "bench.adding stages": "reading_processes",
    "bench.adding stages #costless": "reading_processes",
    "bench.adding edited": "embedded_again",
    "bench.adding many": "share_of_model",
    "bench.large": "graph_seconds",
    "bench.large #nodes": "graph_seconds",
    "bench.postgres": "three legs",
    "bench.postgres #quality": "scifact",
    "bench.team": "| by hand, 1 % |",
    "bench.team #upkeep": "failed: none",
    "bench.citus": "Citus",  # where none is named, it says so
    "bench.citus #speed": "Citus",
    "bench.citus #watch": "Citus",
    "bench.scale": "words and spelling, one query",
    "bench.quick": "hybrid / FTS5 + faiss",
    "bench.embedding": "from text to vectors, cpu",
    "bench.damage": "| derived |",
    "bench.attack": "ready, finds, adds",
    "bench.recordings": "word_error_rate",
}


@pytest.mark.parametrize("name", QUICK)
def test_it_runs(
    name: str, folders: dict[str, Path], runner: subprocess.Popen[str], tmp_path: Path
) -> None:
    if name in ("bench.page", "bench.dropped") and not any(map(shutil.which, BROWSERS)):
        assert not os.environ.get("CI"), "there is no Chromium"
        pytest.skip("there is no Chromium")
    if name == "bench.recordings" and not shutil.which("espeak-ng"):
        assert not os.environ.get("CI"), "there is no espeak-ng"
        pytest.skip("espeak-ng, which speaks for the measurement, isn't installed")
    options = []
    for option in QUICK[name]:
        word, _, rest = option.partition("/")
        options.append(str(folders[word] / rest) if word in folders else option)
    options = [postgres.address() if option == "SERVER" else option for option in options]
    module, *subcommand = name.partition("#")[0].split()  # "#": another form
    printed, complaints = tmp_path / "printed", tmp_path / "complaints"
    asked = {"module": module, "options": [*subcommand, *options]}
    asked |= {"printed": str(printed), "complaints": str(complaints)}
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdin.write(f"{json.dumps(asked)}\n")
    runner.stdin.flush()
    assert runner.stdout.readline() == "0\n", complaints.read_text()
    assert SHOWN[name] in printed.read_text()
