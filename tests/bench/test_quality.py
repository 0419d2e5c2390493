"""The table of quality has the figures that `trivium eval` shows."""

from pathlib import Path

import pytest
from bench.quality import SIGNALS, measured
from tests.bench.commands import write_data

from trivium.config import load
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.run import evaluate


def test_every_document_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.library.jobs.MOST_OUTCOMES", 3)  # that a report lists
    data = write_data(tmp_path / "data") / "retrieval" / "xquad_en"
    settings = load({"cache": str(tmp_path / "cache")}).settings
    lines = (data / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    assert evaluate(data, settings, only=["keyword"]).documents == len(lines) > 3


def test_the_figures_are_those_of_an_evaluation(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    settings = load({"cache": str(tmp_path / "cache"), "rerank.seconds": "240"}).settings
    found = measured("xquad_en", data, settings)
    shown = evaluate(data / "retrieval" / "xquad_en", settings)
    assert (found.documents, found.queries) == (shown.documents, len(shown.queries))
    for way in (*SIGNALS, "hybrid", "reranked"):
        assert found.means[way] == pytest.approx(shown.runs[way].means[MAIN], abs=1e-4)
    assert found.means["by documents"] == found.means["hybrid"]  # one passage each
    best = max(found.means[signal] for signal in SIGNALS)
    assert found.beside_best("hybrid") == found.means["hybrid"] - best
