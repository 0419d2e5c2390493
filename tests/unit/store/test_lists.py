"""Vectors in lists, as libraries of a million have them, with the threshold lowered."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.store.test_vectors import (
    WRITER,
    brute,
    clustered,
    counted_codes,
    filled,
    ids_of,
    recall,
)

from trivium.core.errors import IndexDamaged
from trivium.store.embedded import generation as generations
from trivium.store.embedded import lists
from trivium.store.embedded.generation import EXACT_ROWS
from trivium.store.embedded.vectors import VectorIndex

WIDE, MANY, LISTED = 64, 20_000, 12_000


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generations, "LISTED_ROWS", LISTED)
        patch.setattr(generations, "EXACT_LISTED", EXACT_ROWS)
        patch.setattr(lists, "LEAST_SEEN", 60)  # else most of 20,000 rows would be looked at
        yield


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> VectorIndex:
    """Most rows in lists, the last hundred not."""
    index = filled(tmp_path_factory.mktemp("listed"), clustered(MANY), batch=MANY - 100)
    assert index.generation._start == (MANY - 100) // 32 * 32
    return index


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory, small: None) -> VectorIndex:
    """The same rows in no list."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generations, "LISTED_ROWS", 10 * MANY)
        index = filled(tmp_path_factory.mktemp("flat"), clustered(MANY))
    assert index.generation._lists is None
    return index


def passing(kind: str, share: float, query: NDArray[np.float32]) -> NDArray[np.bool_]:
    """A part of the rows: any, those around one row, or those farthest from the query."""
    rows = clustered(MANY)
    if kind == "any":
        return np.asarray(np.random.default_rng(int(share * 1e6)).random(MANY) < share)
    near = rows @ (rows[77] if kind == "cluster" else -query)
    return np.asarray(near >= np.quantile(near, 1 - share))


@pytest.mark.parametrize("kind", ["any", "cluster", "far"])
@pytest.mark.parametrize("share", [1.0, 0.6, 0.3])
def test_recall_holds_under_any_filter(listed: VectorIndex, kind: str, share: float) -> None:
    middle = clustered(20, seed=5).mean(axis=0)
    allowed = passing(kind, share, middle) if share < 1 else np.ones(MANY, bool)
    assert allowed.sum() > EXACT_ROWS
    assert recall(listed, clustered(MANY), allowed) >= 0.99


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["any", "cluster", "far"]),
    share=st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.6, 0.9]),
    k=st.integers(1, 30),
)
@settings(max_examples=40, deadline=None)
def test_lists_and_a_scan_of_all_rows_agree(
    listed: VectorIndex, flat: VectorIndex, seed: int, kind: str, share: float, k: int
) -> None:
    query = clustered(1, seed=seed)[0]
    allowed = passing(kind, share, query)
    (ids, scores), (wanted, true) = (index.search(query, k, allowed) for index in (listed, flat))
    if allowed.sum() <= EXACT_ROWS:
        assert list(ids) == list(wanted)
        assert list(scores) == list(true)
    assert allowed[(ids - 10) // 3].all()
    assert list(scores) == sorted(scores, reverse=True)
    assert len(ids) == len(wanted)
    assert sum(true - scores) <= 0.02 * k  # a cosine: another row, if any, is as near


def test_a_filter_for_which_all_lists_would_be_read_is_compared_exactly(
    listed: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = clustered(1, seed=3)[0]
    allowed = passing("any", 0.4, query)
    monkeypatch.setattr(generations, "EXACT_LISTED", int(allowed.sum()))
    ids, _ = listed.search(query, 100, allowed)
    assert list((ids - 10) // 3) == brute(clustered(MANY), query, 100, allowed)


def test_few_rows_are_in_no_list(tmp_path: Path) -> None:
    filled(tmp_path, clustered(LISTED - 1)).close()
    assert not list(tmp_path.glob("*/lists*"))


def test_rows_are_put_into_lists_as_they_come(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[:LISTED])
    generation = index.generation
    first = generation._start
    assert first == LISTED // 32 * 32
    for start in range(LISTED, MANY, 250):
        index.append(ids_of(250, start), rows[start : start + 250])
        assert index.count - generation._start <= index.count // generations.UNLISTED
        assert index.search(rows[start], 1, None)[0][0] == ids_of(1, start)[0]
    assert generation._start > first
    assert recall(index, rows, np.ones(MANY, bool)) >= 0.98
    assert len(list(tmp_path.glob("*/lists*"))) == 1
    generation.check_codes()


def test_centroids_are_fitted_again_when_a_library_has_grown_fourfold(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generations, "LISTED_ROWS", 5_000)
        rows = np.concatenate([clustered(5_000), -clustered(MANY - 5_000, seed=1)])
        index = filled(tmp_path, rows)
        held = index.generation._lists
    assert held is not None
    assert held.tables.fitted == MANY
    assert len(held.tables.sizes) == pytest.approx(lists.PER_ROOT * MANY**0.5, rel=0.1)


def test_reopening_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clustered(MANY)
    filled(tmp_path, rows, batch=MANY - 320).close()
    encoded = counted_codes(monkeypatch)
    again = VectorIndex.open(tmp_path, WIDE, writable=False)
    assert sum(encoded) < 32
    assert again.generation._start > LISTED
    assert list(again.ids) == list(ids_of(MANY))
    assert recall(again, rows, np.ones(MANY, bool)) >= 0.99


def test_a_reader_takes_up_new_lists_and_a_search_keeps_its_own(tmp_path: Path) -> None:
    rows = clustered(MANY)
    writer = filled(tmp_path, rows[: LISTED - 10])
    reader = VectorIndex.open(tmp_path, WIDE, writable=False)
    for end in (LISTED, LISTED + 200, MANY):
        start = writer.count
        writer.append(ids_of(end - start, start), rows[start:end])
        assert reader.search(rows[5], 1, None)[0][0] == ids_of(6)[-1]  # as of before
        reader.refresh()
        assert reader.generation._start == writer.generation._start > 0
        for place in (0, start, end - 1):
            assert reader.search(rows[place], 1, None)[0][0] == ids_of(end)[place]


def test_a_rebuild_puts_rows_into_lists(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[:100])
    halves = ((0, MANY // 2), (MANY // 2, MANY))
    index.rebuild((ids_of(b - a, a), rows[a:b]) for a, b in halves)
    assert index.generation._start == MANY // 32 * 32
    assert recall(index, rows, np.ones(MANY, bool)) >= 0.99


def test_lists_that_were_replaced_and_half_written_ones_are_removed(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[:LISTED])
    place = index.generation.folder
    old = next(place.glob("lists-*"))
    kept = old.read_bytes()
    index.append(ids_of(MANY - LISTED, LISTED), rows[LISTED:])
    index.close()
    old.write_bytes(kept)  # as if its writer had been killed before it could remove it
    (place / "lists.new").write_bytes(kept[:1_000])
    index = VectorIndex.open(tmp_path, WIDE, writable=True)
    assert len(list(place.glob("lists*"))) == 1
    assert index.generation._start == MANY // 32 * 32
    index.close()
    with (place / "rows.f16").open("r+b") as file:
        file.truncate((LISTED + 7) * WIDE * 2)  # rows are lost, so lists are wrong
    index = VectorIndex.open(tmp_path, WIDE, writable=True)
    assert (index.count, index.generation._start) == (LISTED + 7, 0)
    assert recall(index, rows[: index.count], np.ones(index.count, bool)) >= 0.98


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, small: None) -> Path:
    """All rows in lists, and closed."""
    folder = tmp_path_factory.mktemp("saved")
    filled(folder, clustered(MANY), batch=MANY).close()
    return folder


def flip(path: Path, at: int) -> None:
    held = bytearray(path.read_bytes())
    held[at] ^= 0x55
    path.write_bytes(held)


@pytest.mark.parametrize("change", ["cut", "empty", "number", "levels", "centroids", "longer"])
def test_damaged_lists_are_noticed_when_opened(saved: Path, tmp_path: Path, change: str) -> None:
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path = next(tmp_path.glob("*/lists-*"))
    size = path.stat().st_size
    if change in ("cut", "empty", "longer"):
        held = path.read_bytes()
        path.write_bytes({"cut": held[:-500], "empty": b"", "longer": held + b"x"}[change])
    else:
        flip(path, {"number": 17, "levels": 100, "centroids": size // 100}[change])
    with pytest.raises(IndexDamaged):
        VectorIndex.open(tmp_path, WIDE, writable=False)


@pytest.mark.parametrize("what", ["codes", "positions"])
def test_a_check_finds_damaged_codes_and_positions(saved: Path, tmp_path: Path, what: str) -> None:
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path = next(tmp_path.glob("*/lists-*"))
    tables = lists.Lists(path).tables
    number = int(tables.sizes.argmax())
    codes = int(tables.capacities[number]) * WIDE // 4
    flip(path, int(tables.offsets()[number]) + (codes if what == "positions" else 0))
    with pytest.raises(IndexDamaged):
        VectorIndex.open(tmp_path, WIDE, writable=False).generation.check_codes()


def test_a_filter_is_worked_out_once_and_again_when_rows_are_added(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[:LISTED], batch=LISTED)
    allowed = np.arange(MANY) % 2 == 0
    query = rows[LISTED + 2]
    for count in (LISTED, LISTED + 40):
        for _ in range(2):
            ids, _ = index.search(query, 5, allowed)
            assert all(i % 2 == 0 for i in (ids - 10) // 3)
        assert len(index.generation._filters) == (1 if count == LISTED else 2)
        index.append(ids_of(40, count), rows[count : count + 40])
    assert index.search(query, 1, allowed)[0][0] == ids_of(LISTED + 3)[-1]
    for other in range(10):
        index.search(query, 1, np.arange(MANY) % 3 == other % 3)
    assert len(index.generation._filters) == generations.FILTERS


def test_threads_search_while_rows_are_put_into_lists(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[: LISTED - 500])
    done, wrong = threading.Event(), []

    def search() -> None:
        while not done.is_set():
            index.refresh()
            ids, _ = index.search(rows[42], 3, None)
            if ids[0] != ids_of(43)[-1]:
                wrong.append(ids)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for start in range(LISTED - 500, MANY - 500, 500):
        index.append(ids_of(500, start), rows[start : start + 500])
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert index.generation._start > LISTED


SMALL_LISTS = """
from trivium.store.embedded import generation
generation.LISTED_ROWS = generation.EXACT_ROWS = generation.EXACT_LISTED = 1_000
"""


def test_a_writer_killed_at_any_instant_leaves_lists_that_can_be_searched(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generations, "LISTED_ROWS", 1_000)
        patch.setattr(generations, "EXACT_ROWS", 1_000)
        patch.setattr(generations, "EXACT_LISTED", 1_000)
        reader = VectorIndex.open(tmp_path, 16, writable=False)
        for rounds in (5, 9, 7):
            command = [sys.executable, "-c", SMALL_LISTS + WRITER, str(tmp_path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
                assert writer.stdout is not None
                said = [int(writer.stdout.readline()) for _ in range(rounds)]
                writer.kill()
            reader.refresh()
            index = VectorIndex.open(tmp_path, 16, writable=True)
            assert index.count >= said[-1]
            assert index.generation._start > 0
            index.generation.check_codes()
            rows = np.cos(np.outer(index.ids, np.arange(1, 17))).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            for held in (index, reader):
                for place in (0, held.count // 2, held.count - 1):
                    scores = held.search(rows[place], 1, None)[1]
                    assert scores[0] == pytest.approx(1, abs=2e-3)
            index.close()


def test_an_exact_answer_needs_no_list(listed: VectorIndex) -> None:
    rows = clustered(MANY)
    allowed = np.zeros(MANY, bool)
    allowed[::7] = True
    for query in clustered(5, seed=3):
        ids, _ = listed.search(query, 10, allowed)
        assert list(ids) == list(ids_of(MANY)[brute(rows, query, 10, allowed)])
