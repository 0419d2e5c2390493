"""Measures of a library's passages: updated as it grows, stored beside it, shown by `doctor`."""

import json
from dataclasses import asdict
from pathlib import Path

from click.testing import CliRunner

from trivium import Library
from trivium.cli.main import cli
from trivium.library.grasp import GROWN, kept
from trivium.search.grasp import LEAST

_PLACES = ("harbour", "tower", "orchard", "quarry", "library", "bakery", "forge")


def notes(folder: Path, first: int, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(first, first + count):
        place, other = _PLACES[n % 7], _PLACES[n // 7 % 7]
        text = f"Note {n}. The {place} number {n} lies beyond the {other} of house {n * 31}."
        (folder / f"note-{n}.txt").write_text(text, encoding="utf-8")
    return folder


def test_it_is_measured_once_there_is_enough_and_again_when_that_has_grown(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with Library.open(place) as library:
        model = library._model.embedder.fingerprint
        library.add(notes(tmp_path / "few", 0, 20))
        assert kept(library.backend, model) is None
        library.add(notes(tmp_path / "more", 20, LEAST))
        first = kept(library.backend, model)
        assert first is not None
        assert first.passages == LEAST + 20
        assert "This library:" in str(library.search("quarry beyond the forge").analyses)
        library.add(notes(tmp_path / "little", 300, 10))
        assert kept(library.backend, model) == first
        assert first.length == -1.0  # notes of 70 characters
        assert first.alike is not None
        assert 0.8 < first.alike < 1.0  # one pattern, other words
        old = asdict(first) | {"alike": None}
        library.backend.models.keep_grasp(json.dumps(old))  # as an earlier Trivium kept it
        library.add(notes(tmp_path / "one", 350, 1))
        renewed = kept(library.backend, model)
        assert renewed is not None
        assert renewed.alike is not None
        assert (renewed.length, renewed.passages) == (-1.0, LEAST + 31)
        library.add(notes(tmp_path / "much", 400, int(GROWN * renewed.passages) - LEAST))
        again = kept(library.backend, model)
        assert again is not None
        assert again.passages > GROWN * renewed.passages
        assert kept(library.backend, "another model") is None
    told = CliRunner().invoke(cli, ["doctor", "--library", str(place), "--json"])
    facts = json.loads(told.stdout)["library"]
    assert f"at {again.passages:,} passages" in facts["grasp"]
    assert facts["alike"].startswith(f"{again.alike:.3f} to the nearest passage")


def test_what_not_everybody_may_see_is_not_looked_at(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with Library.open(place) as library:
        library.add(notes(tmp_path / "hidden", 0, LEAST + 5), audience="board")
        assert kept(library.backend, library._model.embedder.fingerprint) is None


def test_what_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library") as library:
        for text in (
            "", "{", "[]", '{"grasp": 3}', '{"grasp": "x", "model": "m", "passages": 1}',
            '{"grasp": 0.1, "model": "m", "passages": 1, "length": "x"}',
            '{"grasp": 0.1, "model": "m", "passages": 1, "length": 0.1, "alike": 7}',
        ):  # fmt: skip
            library.backend.models.keep_grasp(text)
            assert kept(library.backend, "m") is None
