"""Results of the word signals for a caller who may not see everything."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from trivium.core.types import OWNER, Signal, Where
from trivium.store.embedded import words as word_files
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.vectors import VectorIndex
from trivium.store.embedded.words import WordIndex
from trivium.testing.samples import TOY, probe, sample

EVERYONE = Where(frozenset())  # sees what is for all
WORDED = (Signal.KEYWORD, Signal.TRIGRAM)
QUERIES = ("w1 w2", '"w1 w2" w7', "w3 -w4", "w9x w11", "w12w13", "+w5 w1")


def texts(count: int, longest: int) -> list[str]:
    chance = np.random.default_rng(5)
    lengths = chance.integers(1, longest, count)
    return [" ".join(f"w{n}" for n in chance.zipf(1.3, size) % 60) for size in lengths]


def test_files_tell_how_often_a_chunk_holds_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = WordIndex(tmp_path)
    written: dict[int, list[str]] = {}
    # Short chunks and long ones in two files; then a few that are merged with the second.
    for start, longest in ((0, 60), (300, 600), (330, 90)):
        rows: list[Any] = [
            SimpleNamespace(id=start + n, document=start + n, text=text, language="en")
            for n, text in enumerate(texts(30 if start else 300, longest), start=1)
        ]
        index.add(rows)
        index.commit()
        written |= {row.id: row.text.split() for row in rows}
    index.drop([(100, 50)])
    index.commit()
    view = index.view()
    assert [len(file.chunks) for file in view.files] == [300, 60]
    assert view.last_chunk() == 360
    kept = [chunk for chunk in written if not 100 <= chunk < 150]
    assert view.chunk_ids().tolist() == kept
    for opened, most in ((view, 5_000), (WordIndex(tmp_path).view(), 0)):
        monkeypatch.setattr(word_files, "_COPIED", most)
        for run in (("w1",), ("w7",), ("w50",), ("w1", "w2"), ("w1", "w1"), ("w2", "w1", "w3")):
            held = {i: _count(words, run) for i, words in written.items()}
            ids, counts = opened.of("spellings", run)
            assert dict(zip(ids, counts, strict=True)) == {i: n for i, n in held.items() if n}
            assert list(ids) == sorted(ids)
        assert opened.of("spellings", ("w1", "w2")) is opened.of("spellings", ("w1", "w2"))
        lengths = opened.lengths()
        assert {i: lengths[i] for i in written} == {i: len(w) for i, w in written.items()}


def test_files_of_another_state_of_the_database_are_damaged(tmp_path: Path) -> None:
    """As after library.db alone was replaced by an older copy."""
    store = open_embedded(tmp_path / "library")
    store.writer.put([sample("a.md", "amber"), sample("b.md", "basalt")], TOY.fingerprint)
    store.close()
    newer = open_embedded(tmp_path / "newer")
    newer.writer.put([sample(f"{n}.md", f"word{n}") for n in range(9)], TOY.fingerprint)
    newer.close()
    shutil.rmtree(tmp_path / "library" / "words")
    shutil.copytree(tmp_path / "newer" / "words", tmp_path / "library" / "words")
    store = open_embedded(tmp_path / "library")
    store.writer.put([sample("c.md", "cobalt")], TOY.fingerprint)
    for query in ("amber", "cobalt"):
        (hit,) = store.signals.search(Signal.KEYWORD, probe(query), OWNER, 9)
        assert store.documents.chunks([hit.chunk_id], OWNER)[0].chunk.text == query
    assert store.signals.search(Signal.KEYWORD, probe("word1"), OWNER, 9) == []
    store.close()


def _count(words: list[str], run: tuple[str, ...]) -> int:
    runs = zip(*(words[n:] for n in range(len(run))), strict=False)
    return Counter(runs)[run]


def test_where_nothing_is_hidden_the_scores_are_those_of_the_owner(tmp_path: Path) -> None:
    store = open_embedded(tmp_path)
    with store.writer.writing():
        store.writer.put([sample(f"{n}.md", text) for n, text in enumerate(texts(80, 90))], "model")
    for signal in WORDED:
        for query in QUERIES:
            ours = store.signals.search(signal, probe(query), EVERYONE, 100)
            theirs = store.signals.search(signal, probe(query), OWNER, 100)
            expected = {hit.chunk_id: hit.score for hit in theirs}
            assert {hit.chunk_id: hit.score for hit in ours} == pytest.approx(expected, rel=1e-5)
            assert store.signals.search(signal, probe(query), EVERYONE, 3) == ours[:3]


def test_what_is_remembered_of_words_follows_every_change(tmp_path: Path) -> None:
    """Each search after a change answers as a store that was opened just now."""
    store = open_embedded(tmp_path)
    batches = np.array_split(np.array(texts(60, 40), dtype=object), 6)
    for number, batch in enumerate(batches):
        with store.writer.writing():
            store.writer.put(
                [
                    sample(f"{number}-{n}.md", text, audience="all" if n % 3 else "dm-only")
                    for n, text in enumerate(batch)
                ],
                "model",
            )
            if number % 2:
                store.writer.remove([store.documents.all(OWNER)[number].id])
        opened = open_embedded(tmp_path)
        for signal in WORDED:
            for query in QUERIES:
                found = store.signals.search(signal, probe(query), EVERYONE, 20)
                assert found == opened.signals.search(signal, probe(query), EVERYONE, 20)
        opened.close()


def test_codes_fitted_to_hidden_vectors_find_the_same(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    centres = chance.normal(size=(40, 64))

    def vectors(count: int, noise: float, shift: Any = 0.0) -> Any:
        rows = centres[chance.integers(0, 40, count)] + noise * chance.normal(size=(count, 64))
        rows += shift
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    hidden, visible = vectors(5000, 0.2, chance.normal(size=64) * 2), vectors(5000, 0.9)
    whole = VectorIndex.open(tmp_path / "whole", 64, writable=True)
    whole.append(np.arange(1, 5001), hidden)
    whole.append(np.arange(5001, 10001), visible)
    without = VectorIndex.open(tmp_path / "without", 64, writable=True)
    without.append(np.arange(5001, 10001), visible)
    for query in vectors(50, 0.9):
        ids, scores = whole.generation.search(query, 50, np.arange(10000) >= 5000)
        alone, expected = without.generation.search(query, 50, None)
        assert ids.tolist() == alone.tolist()
        assert scores.tolist() == expected.tolist()


def test_a_language_that_only_hidden_documents_have_drops_no_word(tmp_path: Path) -> None:
    """`die` says nothing in German, and much in a library that is English for whoever asks."""
    store = open_embedded(tmp_path)
    with store.writer.writing():
        store.writer.put(
            [
                sample("rules.md", "roll a die", "roll loudly"),
                sample("geheim.md", "die Laterne", audience="dm-only", language="de"),
            ],
            TOY.fingerprint,
        )
    (hit,) = store.signals.search(Signal.KEYWORD, probe("die roll"), EVERYONE, 1)
    assert store.documents.chunks([hit.chunk_id], EVERYONE)[0].chunk.text == "roll a die"
    found = store.signals.search(Signal.KEYWORD, probe("die loudly"), EVERYONE, 9)
    assert len(found) == 2
