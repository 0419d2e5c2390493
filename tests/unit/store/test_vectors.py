"""The vector index against a brute-force scan of the same float16 rows."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from trivium.store.embedded import generation as generations
from trivium.store.embedded.codes import floats
from trivium.store.embedded.generation import EXACT_ROWS
from trivium.store.embedded.vectors import VectorIndex

WIDE = 64
MANY = 3 * EXACT_ROWS


@lru_cache(16)
def clustered(count: int, width: int = WIDE, seed: int = 0) -> NDArray[np.float32]:
    """Unit vectors around 100 centres with a common drift, as a model's are."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((100, width)) + 0.5
    rows = centres[random.integers(0, 100, count)] + 0.7 * random.standard_normal((count, width))
    unit: NDArray[np.float32] = rows.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    unit.flags.writeable = False  # all tests share it
    return unit


def brute(
    rows: NDArray[np.float32], query: NDArray[np.float32], k: int, allowed: NDArray[np.bool_]
) -> list[int]:
    return best(as_stored(rows), query, k, allowed)


def as_stored(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows.astype(np.float16).astype(np.float32)


def best(
    stored: NDArray[np.float32], query: NDArray[np.float32], k: int, allowed: NDArray[np.bool_]
) -> list[int]:
    order = np.lexsort((np.arange(len(stored)), -np.vecdot(stored, query)))
    ranked: list[int] = order[allowed[order]][:k].tolist()
    return ranked


def ids_of(count: int, start: int = 0) -> NDArray[np.int64]:
    return np.arange(start, start + count, dtype=np.int64) * 3 + 10


def filled(folder: Path, rows: NDArray[np.float32], batch: int = 5_000) -> VectorIndex:
    index = VectorIndex.open(folder, rows.shape[1], writable=True)
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        index.append(ids_of(len(part), start), part)
    return index


def recall(index: VectorIndex, rows: NDArray[np.float32], allowed: NDArray[np.bool_]) -> float:
    found, stored = 0, as_stored(rows)
    for query in clustered(20, rows.shape[1], seed=5):
        ids, _ = index.search(query, 10, None if allowed.all() else allowed)
        found += len(set(ids) & set(ids_of(len(rows))[best(stored, query, 10, allowed)]))
    return found / 200


def masks(rows: NDArray[np.float32]) -> dict[str, NDArray[np.bool_]]:
    random = np.random.default_rng(3)
    away = rows @ clustered(20, rows.shape[1], seed=5).mean(axis=0)  # from the queries
    shares = {f"{share:.1%}": random.random(len(rows)) < share for share in (0.9, 0.5, 0.1, 0.001)}
    return shares | {"far from the queries": away < np.quantile(away, 0.4)}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[VectorIndex, NDArray[np.float32]]:
    rows = clustered(MANY)
    return filled(tmp_path_factory.mktemp("large"), rows), rows


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    for writable in (False, True, False):
        index = VectorIndex.open(tmp_path / "new", 8, writable=writable)
        ids, scores = index.search(np.ones(8, np.float32), 5, None)
        assert (index.count, len(ids), len(scores)) == (0, 0, 0)


def test_a_small_index_is_searched_exactly_and_without_faiss(tmp_path: Path) -> None:
    rows = clustered(300)
    index = filled(tmp_path, rows)
    allowed = np.arange(300) % 3 > 0
    for query in clustered(5, seed=1):
        ids, scores = index.search(query, 10, allowed)
        assert list(ids) == list(ids_of(300)[brute(rows, query, 10, allowed)])
        assert scores[0] == pytest.approx(float(rows[(ids[0] - 10) // 3] @ query), abs=1e-3)
    check = "import sys, trivium.store.embedded.vectors; sys.exit('faiss' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_more_results_than_rows_and_no_rows_allowed(tmp_path: Path) -> None:
    index = filled(tmp_path, clustered(7))
    query = clustered(1, seed=1)[0]
    assert len(index.search(query, 100, None)[0]) == 7
    assert len(index.search(query, 100, np.zeros(7, bool))[0]) == 0
    assert len(index.search(query, 0, None)[0]) == 0


def test_positions_past_the_end_of_the_mask_are_not_found(tmp_path: Path) -> None:
    index = filled(tmp_path, clustered(50))
    ids, _ = index.search(clustered(1, seed=1)[0], 50, np.ones(20, bool))
    assert set(ids) == set(ids_of(20))
    ids, _ = index.search(clustered(1, seed=1)[0], 80, np.ones(80, bool))
    assert set(ids) == set(ids_of(50))


def test_equal_rows_come_in_order_of_their_ids(tmp_path: Path) -> None:
    rows = clustered(MANY).copy()
    rows[[7, 900, 5_001, MANY - 1]] = rows[3]
    index = filled(tmp_path, rows)
    ids, scores = index.search(rows[3], 5, None)
    assert list(ids) == list(ids_of(MANY)[[3, 7, 900, 5_001, MANY - 1]])
    assert len(set(scores)) == 1


def test_a_filter_that_is_used_again_finds_the_same(tmp_path: Path) -> None:
    rows = clustered(MANY).copy()
    rows[[7, 900, 5_001, MANY - 1]] = rows[3]
    index = filled(tmp_path, rows)
    allowed = np.zeros(MANY, bool)
    allowed[[3, 7, 900, *range(11, MANY, 9)]] = True
    for k in (1, 2, 3, 20):
        answers = [index.search(rows[3], k, allowed) for _ in range(3)]
        assert {len(ids) for ids, _ in answers} == {k}
        assert all(list(ids[:3]) == list(ids_of(MANY)[[3, 7, 900]])[:k] for ids, _ in answers)
        assert len({scores.tobytes() for _, scores in answers}) == 1


def test_recall_holds_without_a_filter(
    large: tuple[VectorIndex, NDArray[np.float32]],
) -> None:
    assert recall(*large, np.ones(MANY, bool)) >= 0.98


@pytest.mark.parametrize("name", ["90.0%", "50.0%", "10.0%", "0.1%", "far from the queries"])
def test_recall_holds_under_any_filter(
    large: tuple[VectorIndex, NDArray[np.float32]], name: str
) -> None:
    index, rows = large
    allowed = masks(rows)[name]
    assert recall(index, rows, allowed) >= (0.98 if allowed.sum() > EXACT_ROWS else 1)


def test_large_k_and_few_allowed_rows_come_from_the_mask_alone(
    large: tuple[VectorIndex, NDArray[np.float32]],
) -> None:
    index, rows = large
    allowed = masks(rows)["50.0%"]
    ids, scores = index.search(rows[0], MANY, allowed)
    assert set(ids) == set(ids_of(MANY)[allowed])
    assert list(scores) == sorted(scores, reverse=True)


def test_recall_holds_for_a_model_whose_cosines_are_all_high(tmp_path: Path) -> None:
    common = 3 * clustered(1, seed=8)
    rows = clustered(MANY) + common
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = filled(tmp_path, rows)
    queries = clustered(10, seed=5) + common
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for query in queries:
        ids, _ = index.search(query, 10, None)
        assert len(set(ids) & set(ids_of(MANY)[brute(rows, query, 10, rows[:, 0] < 2)])) >= 9


@pytest.mark.parametrize("width", [5, 30, 33])
def test_any_number_of_dimensions(tmp_path: Path, width: int) -> None:
    rows = clustered(EXACT_ROWS + 500, width)
    index = filled(tmp_path, rows)
    index.close()
    index = VectorIndex.open(tmp_path, width, writable=False)
    assert recall(index, rows, np.ones(len(rows), bool)) >= (0.98 if width > 5 else 0.5)


def counted_codes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows are encoded, call by call, from now on."""
    encoded: list[int] = []
    add = generations.Codes.add

    def counted(self: generations.Codes, rows: NDArray[np.float16]) -> None:
        encoded.append(len(rows))
        add(self, rows)

    monkeypatch.setattr(generations.Codes, "add", counted)
    return encoded


def test_reopening_reads_the_codes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clustered(MANY + 5)
    first = filled(tmp_path, rows)
    first.close()
    encoded = counted_codes(monkeypatch)
    again = VectorIndex.open(tmp_path, WIDE, writable=True)
    assert sum(encoded) == (MANY + 5) % generations.BLOCK
    assert list(again.ids) == list(ids_of(MANY + 5))
    assert recall(again, rows, np.ones(len(rows), bool)) >= 0.98


def test_a_reader_sees_appended_rows_after_refresh(tmp_path: Path) -> None:
    rows = clustered(MANY)
    writer = filled(tmp_path, rows[:10])
    reader = VectorIndex.open(tmp_path, WIDE, writable=False)
    for end in (1_000, EXACT_ROWS, EXACT_ROWS + 1, MANY):  # from exact to codes on the way
        start = writer.count
        writer.append(ids_of(end - start, start), rows[start:end])
        assert reader.count == start
        reader.refresh()
        assert reader.count == end
        assert reader.search(rows[end - 1], 1, None)[0][0] == ids_of(end)[-1]


def test_a_rebuild_leaves_readers_whole(tmp_path: Path) -> None:
    rows = clustered(MANY)
    writer = filled(tmp_path, rows)
    reader = VectorIndex.open(tmp_path, WIDE, writable=False)
    held = reader.generation  # as a search holds it

    def batches() -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        yield ids_of(60), rows[:60]
        reader.refresh()
        assert reader.count == MANY  # all of the old, while the new are not all there
        yield ids_of(40, 60), rows[60:100]

    writer.rebuild(batches())
    assert writer.count == 100
    assert reader.search(rows[MANY - 1], 1, None)[0][0] == ids_of(MANY)[-1]  # the old rows, still
    reader.refresh()
    assert list(reader.ids) == list(ids_of(100))
    assert held.search(rows[MANY - 1], 1, None)[0][0] == ids_of(MANY)[-1]
    writer.append(ids_of(5, 100), rows[100:105])
    reader.refresh()
    assert reader.count == 105
    writer.rebuild([])
    reader.refresh()
    assert (writer.count, reader.count) == (0, 0)
    assert len(list(tmp_path.glob("*-*"))) == 1


def test_a_rebuild_that_died_leaves_nothing_behind(tmp_path: Path) -> None:
    rows = clustered(60)
    writer = filled(tmp_path, rows)

    def dying() -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        yield ids_of(10), rows[:10]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writer.rebuild(dying())
    assert list(VectorIndex.open(tmp_path, WIDE, writable=True).ids) == list(ids_of(60))
    assert len(list(tmp_path.glob("*-*"))) == 1


def test_a_reader_that_starts_writing_takes_up_the_generation_of_now(tmp_path: Path) -> None:
    rows = clustered(60)
    writer = filled(tmp_path, rows[:20])
    reader = VectorIndex.open(tmp_path, WIDE, writable=False)
    writer.rebuild([(ids_of(40, 500), rows[20:])])
    writer.close()
    reader.start_writing()
    assert list(reader.ids) == list(ids_of(40, 500))
    assert reader.search(rows[20], 1, None)[0][0] == ids_of(1, 500)[0]
    reader.append(ids_of(1, 900), rows[:1])
    assert reader.search(rows[0], 1, None)[0][0] == ids_of(1, 900)[0]


def test_rows_cut_in_the_middle_are_taken_off(tmp_path: Path) -> None:
    rows = clustered(MANY)
    filled(tmp_path, rows).close()
    generation = next(tmp_path.glob("*-*"))
    with (generation / "rows.f16").open("ab") as file:
        file.write(b"x" * (WIDE * 2 + 11))  # a whole row and a piece, no id
    with (generation / "ids.i64").open("ab") as file:
        file.write(b"y" * 5)
    with next(generation.glob("codes-*")).open("ab") as file:
        file.write(b"z" * 1_000)
    assert VectorIndex.open(tmp_path, WIDE, writable=False).count == MANY
    index = VectorIndex.open(tmp_path, WIDE, writable=True)
    assert index.count == MANY
    more = clustered(6_000, seed=2)
    index.append(ids_of(6_000, MANY), more)
    index.close()
    index = VectorIndex.open(tmp_path, WIDE, writable=False)
    assert index.search(more[-1], 1, None)[0][0] == ids_of(MANY + 6_000)[-1]
    assert recall(index, np.concatenate([rows, more]), np.ones(MANY + 6_000, bool)) >= 0.98


def test_codes_of_other_levels_are_not_mixed(tmp_path: Path) -> None:
    rows = clustered(MANY + 6_000)
    writer = filled(tmp_path, rows[: EXACT_ROWS + 100])
    generation = next(tmp_path.glob("*-*"))
    for path in [generation / "levels.npy", *generation.glob("codes-*")]:
        path.unlink()  # as if that writer had been killed before it saved them
    reader = VectorIndex.open(tmp_path, WIDE, writable=False)  # makes levels of its own
    writer.append(ids_of(MANY - writer.count, writer.count), rows[writer.count : MANY])
    writer.close()
    np.save(generation / "levels.npy", np.load(generation / "levels.npy") + 1e-3)
    saved = next(generation.glob("codes-*")).stat().st_size
    reader.start_writing()
    reader.append(ids_of(6_000, MANY), rows[MANY:])
    reader.close()
    assert next(generation.glob("codes-*")).stat().st_size == saved
    assert VectorIndex.open(tmp_path, WIDE, writable=False).count == len(rows)


def test_an_append_that_failed_half_way_is_written_over(tmp_path: Path) -> None:
    rows = clustered(30)
    index = filled(tmp_path, rows[:10])
    generation = next(tmp_path.glob("*-*"))
    with (generation / "rows.f16").open("ab") as file:
        file.write(rows[10:].astype(np.float16).tobytes())
    with (generation / "ids.i64").open("ab") as file:  # the disk was full here
        file.write(ids_of(5, 10).tobytes())
    index.append(ids_of(1, 20), rows[20:21])
    assert list(index.ids) == [*ids_of(10), *ids_of(1, 20)]
    assert index.search(rows[20], 1, None)[0][0] == ids_of(1, 20)[0]


def test_zeros_after_a_power_cut_and_lost_rows_are_taken_off(tmp_path: Path) -> None:
    filled(tmp_path, clustered(100)).close()
    generation = next(tmp_path.glob("*-*"))
    with (generation / "ids.i64").open("ab") as file:
        file.write(b"\0" * 80)
    with (generation / "rows.f16").open("ab") as file:
        file.write(b"\0" * 10 * WIDE * 2)
    assert VectorIndex.open(tmp_path, WIDE, writable=True).count == 100
    with (generation / "rows.f16").open("r+b") as file:
        file.truncate(60 * WIDE * 2 - 1)
    assert list(VectorIndex.open(tmp_path, WIDE, writable=True).ids) == list(ids_of(59))


def test_another_number_of_dimensions_starts_afresh(tmp_path: Path) -> None:
    filled(tmp_path, clustered(20)).close()
    assert VectorIndex.open(tmp_path, 8, writable=False).count == 0
    index = filled(tmp_path, clustered(5, 8))
    assert index.count == 5
    assert len(list(tmp_path.glob("*-*"))) == 1


def test_lost_files_are_begun_anew(tmp_path: Path) -> None:
    filled(tmp_path, clustered(20)).close()
    (next(tmp_path.glob("*-*")) / "rows.f16").unlink()
    assert VectorIndex.open(tmp_path, WIDE, writable=False).count == 0
    assert filled(tmp_path, clustered(30)).count == 30


def test_ids_that_do_not_increase_are_refused(tmp_path: Path) -> None:
    rows = clustered(3)
    index = filled(tmp_path, rows)
    for ids in ([16, 17, 18], [20, 20, 21], [20, 21]):
        with pytest.raises(ValueError, match="ids"):
            index.append(np.array(ids, np.int64), rows)
    assert index.count == 3
    index.append(np.empty(0, np.int64), rows[:0])
    assert index.count == 3


def test_threads_search_while_rows_are_added(tmp_path: Path) -> None:
    rows = clustered(MANY)
    index = filled(tmp_path, rows[:5_000])
    done, wrong = threading.Event(), []

    def search() -> None:
        while not done.is_set():
            ids, _ = index.search(rows[42], 3, None)
            if ids[0] != ids_of(43)[-1]:
                wrong.append(ids)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(5_000, MANY, 500):
        part = rows[start : start + 500]
        index.append(ids_of(len(part), start), part)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert index.count == MANY


WRITER = """
import sys, numpy as np
from pathlib import Path
from trivium.store.embedded.vectors import VectorIndex
index = VectorIndex.open(Path(sys.argv[1]), 16, writable=True)
while True:
    start = int(index.ids[-1]) + 1 if index.count else 1
    ids = np.arange(start, start + 300)
    rows = np.cos(np.outer(ids, np.arange(1, 17))).astype(np.float32)
    index.append(ids, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    print(index.count, flush=True)
"""


def test_a_writer_killed_at_any_instant_leaves_a_whole_prefix(tmp_path: Path) -> None:
    reader = VectorIndex.open(tmp_path, 16, writable=False)
    for rounds in (1, 7, 12, 5):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = [int(writer.stdout.readline()) for _ in range(rounds)]
            writer.kill()
        reader.refresh()
        index = VectorIndex.open(tmp_path, 16, writable=True)
        assert index.count >= said[-1]
        assert list(index.ids) == list(range(1, index.count + 1))
        rows = np.cos(np.outer(index.ids, np.arange(1, 17))).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        for held in (index, reader):
            for place in (0, held.count // 2, held.count - 1):
                scores = held.search(rows[place], 1, None)[1]
                assert scores[0] == pytest.approx(1, abs=2e-3)
        index.close()


def test_every_finite_half_is_widened_exactly() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 2)
    assert np.array_equal(floats(finite).view(np.int32), finite.astype(np.float32).view(np.int32))
