"""Measures of a library's passages: updated as it grows, stored beside it, shown by `doctor`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from trivium import Library
from trivium.cli.main import cli
from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER, Caller, Right
from trivium.core.types import OWNER
from trivium.library.model import GROWN, stored_separation
from trivium.models.weights import NAME
from trivium.operations.searching import Filters, SearchOptions
from trivium.search.separation import LEAST
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder, sample

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
        assert stored_separation(library.backend, model) is None
        library.add(notes(tmp_path / "more", 20, LEAST))
        first = stored_separation(library.backend, model)
        assert first is not None
        assert first.passages == LEAST + 20
        assert "This library:" in str(library.search("quarry beyond the forge").analyses)
        library.add(notes(tmp_path / "little", 300, 10))
        assert stored_separation(library.backend, model) == first
        assert first.length == -1.0  # notes of 70 characters
        assert first.alike is not None
        assert 0.8 < first.alike < 1.0  # one pattern, other words
        old = asdict(first) | {"grasp": first.value, "alike": None}
        del old["value"]
        library.backend.models.keep_separation(json.dumps(old))  # as an earlier Trivium kept it
        library.add(notes(tmp_path / "one", 350, 1))
        renewed = stored_separation(library.backend, model)
        assert renewed is not None
        assert renewed.alike is not None
        assert (renewed.length, renewed.passages) == (-1.0, LEAST + 31)
        library.add(notes(tmp_path / "much", 400, int(GROWN * renewed.passages) - LEAST))
        again = stored_separation(library.backend, model)
        assert again is not None
        assert again.passages > GROWN * renewed.passages
        assert stored_separation(library.backend, "another model") is None
    told = CliRunner().invoke(cli, ["doctor", "--library", str(place), "--json"])
    facts = json.loads(told.stdout)["library"]
    assert f"at {again.passages:,} passages" in facts["separation"]
    with Library.open(place) as library:
        library.remove([document.id for document in library.documents.all()][LEAST // 2 :])
        library.add(notes(tmp_path / "last", 900, 1))
        assert stored_separation(library.backend, model) is None, "it is a small library again"
    assert facts["alike"].startswith(f"{again.alike:.3f} to the nearest passage")


def test_what_not_everybody_may_see_is_not_looked_at(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with Library.open(place) as library:
        library.add(notes(tmp_path / "hidden", 0, LEAST + 5), audience="board")
        assert stored_separation(library.backend, library._model.embedder.fingerprint) is None


def test_what_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library") as library:
        for text in (
            "", "{", "[]", '{"grasp": 3}', '{"grasp": "x", "model": "m", "passages": 1}',
            '{"grasp": 0.1, "model": "m", "passages": 1, "length": "x"}',
            '{"grasp": 0.1, "model": "m", "passages": 1, "length": 0.1, "alike": 7}',
        ):  # fmt: skip
            library.backend.models.keep_separation(text)
            assert stored_separation(library.backend, "m") is None


class NamedToy(ToyEmbedder):
    """Counts as the model whose cosines were fitted."""

    fingerprint = f"{NAME}-0123456789ab-v1-toy"


def told(
    library: Library, caller: Caller, query: str, where: str = "", **options: Any
) -> list[Any]:
    found = library.search(
        query,
        options=SearchOptions(**options),
        filters=Filters(where=where),
        within=caller.within(),
    )
    return [found.analyses, [(one.score, one.match, one.found.document.uri) for one in found]]


def test_other_collections_change_nothing_for_a_caller_limited_to_some(tmp_path: Path) -> None:
    """Public documents in another collection moved weights, scores and matches."""
    rules = [
        sample(f"r{n}.md", f"The {_PLACES[n % 7]} number {n} of rule {n * 31}.", collection="rules")
        for n in range(LEAST + 5)
    ]
    vault = [
        sample(f"v{n}.md", f"Silver {n} " * (n % 30 + 3), collection="vault") for n in range(400)
    ]
    caller = Caller("t", "", frozenset(), frozenset({"rules"}), frozenset({Right.SEARCH}))
    model, found = NamedToy(), []
    for name, documents in (("alone", rules), ("beside", [*vault, *rules])):
        with Library(open_embedded(tmp_path / name), model, Settings()) as library:
            with library.backend.writer.writing():
                library.backend.writer.put(documents, model.fingerprint)
            library._model.renew_separation()
            answers = [
                told(library, caller, query, **options)
                for query in ("harbour rule 31", "quarry", "forge number")
                for options in ({}, {"where": "language:en"}, {"by": "document"}, {"rerank": True})
            ]
            owner = told(library, LOCAL_OWNER, "harbour rule 31", where="collection:rules")
            found.append((answers, owner))
    assert found[0][0] == found[1][0]
    assert "This library:" in str(found[0][0]), "it was measured"
    assert found[0][1] != found[1][1], "the owner sees both"


def test_a_library_that_shrinks_is_small_again(tmp_path: Path) -> None:
    """Its matches went on as in a large one until something was added."""
    files = tmp_path / "files"
    files.mkdir()
    for n in range(LEAST + 5):
        (files / f"{n}.md").write_text(f"The {_PLACES[n % 7]} number {n} of rule {n * 31}.")
    with Library(open_embedded(tmp_path / "library"), NamedToy(), Settings()) as library:
        library.add(files)
        fingerprint = library.embedder.fingerprint
        assert stored_separation(library.backend, fingerprint) is not None
        library.remove([document.id for document in library.documents.all()[:10]])
        assert stored_separation(library.backend, fingerprint) is None


class Narrow:
    """The built-in model with cosines in a narrower band: .55 c + .45."""

    fingerprint, dimensions, max_tokens = "narrow-0123456789ab-v1", 385, 256

    def __init__(self, model: Any) -> None:
        self._model = model

    def _narrowed(self, vectors: Any) -> Any:
        rest = np.full((*vectors.shape[:-1], 1), 0.45**0.5, np.float32)
        return np.concatenate([vectors * np.float32(0.55**0.5), rest], axis=-1)

    def embed_documents(self, texts: Any) -> Any:
        return self._narrowed(self._model.embed_documents(texts))

    def embed_query(self, text: str) -> Any:
        return self._narrowed(self._model.embed_query(text))

    def count_tokens(self, texts: Any) -> Any:
        return self._model.count_tokens(texts)


def test_a_model_that_nobody_measured_is_placed_by_its_anchors(tmp_path: Path) -> None:
    """So a match means the same, with cosines in another band; with fewer passages words decide."""
    queries = ("quarry beyond the forge", "a place for bread", "submarine telegraph cables")
    with Library.open(tmp_path / "built-in") as known:
        known.add(notes(tmp_path / "notes", 0, LEAST + 5))
        model = Narrow(known._model.embedder)
        with Library(open_embedded(tmp_path / "narrow"), model, Settings()) as library:  # type: ignore[arg-type]
            library.add(notes(tmp_path / "some", 0, 20))
            assert library._model.scale(OWNER) is None
            library.add(tmp_path / "notes")
            scale = library._model.scale(OWNER)
            assert scale is not None
            assert scale.slope == pytest.approx(1 / 0.55, abs=0.03)
            assert scale.offset == pytest.approx(-0.45 / 0.55, abs=0.03)
            for query in queries:
                mine, theirs = (one.search(query)[0].match for one in (library, known))
                assert mine == pytest.approx(theirs, abs=0.1), query
