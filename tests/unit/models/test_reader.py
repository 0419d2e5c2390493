"""The reader that comes with the built-in model: what it finds, and what it is made of."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from trivium.models import weights
from trivium.models.local import LocalEmbedder
from trivium.models.reader import DIFFERENCES, changed

PASSAGE = (
    "Harbour: The crane was painted green in spring. Old Wilhelmina Drost repaired the sluice"
    " after the flood of 1962. The ferry leaves every hour and takes twelve minutes."
)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return LocalEmbedder(None, tmp_path_factory.mktemp("cache"), threads=2)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who repaired the sluice?", "Wilhelmina Drost"),
        ("How long does the ferry take?", "twelve minutes"),
        ("What colour is the crane?", "green"),
    ],
)
def test_the_answer_is_where_it_is(embedder: LocalEmbedder, question: str, answer: str) -> None:
    (found,) = embedder.read(question, [PASSAGE])
    start = PASSAGE.index(answer)
    whole = found.within(0, len(PASSAGE))
    before = PASSAGE.rfind(". ", 0, start) + 1
    assert found.within(before, PASSAGE.index(".", start) + 1) > 0.6 * whole > 0.1


def test_a_passage_without_the_answer_is_less_sure(embedder: LocalEmbedder) -> None:
    question = "Who repaired the sluice?"
    without = PASSAGE.replace("Old Wilhelmina Drost repaired the sluice after", "Nobody forgot")
    told, other = embedder.read(question, [PASSAGE, without])
    assert told.within(0, len(PASSAGE)) > 3 * other.within(0, len(without))


def test_readings_do_not_depend_on_company(embedder: LocalEmbedder) -> None:
    long = " ".join([PASSAGE] * 4)
    alone = LocalEmbedder(None, embedder._cache, threads=1).read("Who?", [PASSAGE])[0]
    beside = embedder.read("Who?", [long, PASSAGE, ""])[1]
    assert beside.begins == pytest.approx(alone.begins, abs=0.02)


def test_another_model_has_no_reader(embedder: LocalEmbedder, tmp_path: Path) -> None:
    installed, folder = weights.locate_builtin(tmp_path), tmp_path / "model"
    shutil.copytree(installed, folder)
    told = load_file(folder / weights.WEIGHTS)
    told["embeddings.LayerNorm.bias"] = told["embeddings.LayerNorm.bias"] + 1
    save_file(told, folder / weights.WEIGHTS)
    assert LocalEmbedder(folder, tmp_path).read("Who?", [PASSAGE]) == ()


def test_differences_are_added_to_matrices_and_replace_the_rest() -> None:
    base = {"x.weight": np.eye(3, dtype=np.float32), "x.bias": np.zeros(3, np.float32)}
    own = {
        "x.a": np.array([[1, 2, 0]], np.float32),
        "x.a.scale": np.array([0.5], np.float32),
        "x.b": np.array([[0], [4], [0]], np.float32),
        "x.b.scale": np.array([1, 0.25, 1], np.float32),
        "x.bias": np.ones(3, np.float32),
        "reader.bias": np.ones(2, np.float32),
    }
    found = changed(base, own)
    assert found["x.weight"].tolist() == [[1, 0, 0], [1, 3, 0], [0, 0, 1]]
    assert found["x.bias"].tolist() == [1, 1, 1]
    assert set(found) == {"x.weight", "x.bias", "reader.bias"}


def test_the_differences_stay_small() -> None:
    assert DIFFERENCES.stat().st_size < 800_000
