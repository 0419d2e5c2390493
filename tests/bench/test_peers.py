"""The parts that measure every system: rows, truth, recall, and one peer that runs here."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.environments import OURS, PeerFailed, interpreter, pins, systems, work
from bench.generated import generated_corpus, generated_vectors
from bench.harness import REPOSITORY
from bench.lines import NAMES
from bench.peers import Asked, fts5_faiss
from bench.peers import trivium as ours
from bench.rows import PASSING, Counted, Rows, make_rows, shard
from bench.timing import throughput
from bench.truth import nearest, recall

ROWS = 600


@pytest.fixture(scope="module")
def blocks() -> list[Rows]:
    return list(make_rows(generated_corpus(), generated_vectors(200), ROWS))


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    texts = generated_corpus().queries(20)
    return [Asked(t, v) for t, v in zip(texts, generated_vectors(20, seed=1), strict=True)]


@pytest.fixture(scope="module")
def engine(
    blocks: list[Rows], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[fts5_faiss.Engine]:
    folder = tmp_path_factory.mktemp("peer")
    built = fts5_faiss.build(folder, Counted(iter(blocks)))
    assert built["hybrid"].bytes > 0
    engine = fts5_faiss.Engine(folder)
    yield engine
    engine.close()


def test_truth_is_what_a_plain_scan_finds(blocks: list[Rows], asked: list[Asked]) -> None:
    vectors = np.concatenate([rows.vectors for rows in blocks])
    passing = np.array([s < PASSING for rows in blocks for s in rows.shards])
    truth = nearest(blocks, np.stack([one.vector for one in asked]), 10)
    for number, one in enumerate(asked):
        scores = vectors @ one.vector
        assert truth["plain"][number] == np.argsort(-scores, kind="stable")[:10].tolist()
        assert truth["filtered"][number][0] == int(np.argmax(np.where(passing, scores, -9)))


def test_recall_counts_what_exists() -> None:
    assert recall([[1, 2], [3]], [[1, 9], [3]], 2) == pytest.approx(2 / 3, abs=1e-4)


def test_a_peer_finds_near_rows_and_words(
    engine: fts5_faiss.Engine, blocks: list[Rows], asked: list[Asked]
) -> None:
    truth = nearest(blocks, np.stack([one.vector for one in asked]), 10)
    assert recall([engine.near(one, 10) for one in asked], truth["plain"], 10) > 0.9
    texts = [text for rows in blocks for text in rows.texts]
    for found in (engine.hybrid(one, 10) for one in asked):
        assert len(found) == 10
        assert all(texts[one.row] == one.text for one in found)
    assert engine.words(Asked(texts[7], asked[0].vector), 1) == [7]


def test_we_are_measured_as_they_are(
    tmp_path: Path, blocks: list[Rows], asked: list[Asked]
) -> None:
    ours.build(tmp_path, Counted(iter(blocks)))
    engine = ours.Engine(tmp_path, asked)
    try:
        truth = nearest(blocks, np.stack([one.vector for one in asked]), 10)
        assert recall([engine.near(one, 10) for one in asked], truth["plain"], 10) > 0.9
        filtered = [engine.near(replace(one, filtered=True), 10) for one in asked]
        assert recall(filtered, truth["filtered"], 10) > 0.9
    finally:
        engine.close()


def test_a_peer_keeps_the_filter(engine: fts5_faiss.Engine, asked: list[Asked]) -> None:
    for one in asked:
        found = engine.hybrid(replace(one, filtered=True), 10)
        assert found
        assert all(shard(result.row // 100) < PASSING for result in found)


def test_clients_share_an_engine(engine: fts5_faiss.Engine, asked: list[Asked]) -> None:
    done = throughput(lambda one: engine.hybrid(one, 10), asked, clients=4, seconds=1)
    assert done.calls >= 4


def test_every_peer_is_pinned_named_and_has_its_module() -> None:
    assert systems() == [OURS, *pins()]
    for system, wanted in pins().items():
        assert (REPOSITORY / "bench" / "peers" / f"{system}.py").exists()
        assert system in NAMES
        assert all("==" in one for one in wanted if not one.startswith("--"))


def test_a_worker_that_fails_is_a_reason(tmp_path: Path) -> None:
    python, nowhere = interpreter(OURS, tmp_path), str(tmp_path)
    with pytest.raises(PeerFailed, match=r"No module named 'bench\.peers\.unknown'"):
        work(python, "unknown", "search", 600, "--folder", nowhere, "--prepared", nowhere)
