"""Leaving long lists out changes neither which chunks are best nor their scores."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.store import ranking
from trivium.store.ranking import (
    K1,
    B,
    Fitting,
    Holders,
    KnownBy,
    QueryWord,
    Saturation,
    best,
    beyond_text,
    kept_length,
    saturation,
)

CHUNKS = 3_000


@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 10, 50]),
    st.sampled_from([0.004, 0.3, 1.0]),
    st.booleans(),
)
def test_it_is_what_adding_everything_gives(
    seed: int, k: int, passing: float, leave_out: bool
) -> None:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, 900, CHUNKS).astype(np.int32)
    fits = chance.random(CHUNKS) < passing
    parts = [_part(chance) for _ in range(chance.integers(1, 7))]
    average = float(lengths.mean())

    with patch.object(ranking, "_MUCH", -CHUNKS * 9 if leave_out else CHUNKS * 9):
        found = best(parts, Fitting(fits), Saturation(lengths, average), k)

    scores = np.zeros(CHUNKS)
    for part in sorted(parts, key=lambda part: -part.most):
        gained = np.zeros(CHUNKS)
        for held in part.holders:
            counted = saturation(held.counts, kept_length(lengths[held.ids]), average)
            gained[held.ids] = np.maximum(gained[held.ids], part.weight * held.factor * counted)
        scores += gained
    scores[~fits] = 0
    order = np.lexsort((np.arange(CHUNKS), -scores))[:k]
    wanted = {int(i): scores[i] for i in order if scores[i] > 0}
    assert {hit.chunk_id: hit.score for hit in found} == pytest.approx(wanted)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def _part(chance: np.random.Generator) -> QueryWord:
    holders = []
    for factor in chance.uniform(0.1, 1, chance.integers(1, 4)):
        share = chance.choice([0.002, 0.05, 0.9])
        ids = np.flatnonzero(chance.random(CHUNKS) < share).astype(np.int32)
        counts = chance.integers(1, 9, len(ids)).astype(np.uint16)
        holders.append(Holders(float(factor), ids, counts))
    return QueryWord(float(chance.uniform(0.05, 9)), holders)


@given(
    st.integers(0, 10_000), st.sampled_from([1, 50]), st.sampled_from([0.05, 0.8]), st.booleans()
)
def test_what_the_text_gives_anyway_can_be_left_out(
    seed: int, k: int, passing: float, leave_out: bool
) -> None:
    """To the last bit: documents that are known by a word, with all their passages or only with
    those that get more by it."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, 900, CHUNKS).astype(np.int32)
    counted = Saturation(lengths, float(lengths.mean()))
    every, more = [], []
    for part in [_part(chance) for _ in range(chance.integers(1, 5))]:
        known = [_known(chance) for _ in part.holders]
        lists = list(zip(part.holders, known, strict=True))
        beyond = [beyond_text(by, held, counted) for held, by in lists]
        for (held, by), rest in zip(lists, beyond, strict=True):
            assert np.isin(by.ids, [*held.ids, *rest.ids]).all()
            assert not np.isin(rest.ids[rest.counts < 0.1], held.ids).any()
        every.append(QueryWord(part.weight, part.holders, _weighted(part, known)))
        more.append(QueryWord(part.weight, part.holders, _weighted(part, beyond)))
    fits = Fitting(chance.random(CHUNKS) < passing)
    much = -CHUNKS * 9 if leave_out else CHUNKS * 9
    with patch.multiple(ranking, _MUCH=much, _LARGE=CHUNKS if leave_out else CHUNKS + 1):
        assert best(more, fits, counted, k) == best(every, fits, counted, k)


def _known(chance: np.random.Generator) -> KnownBy:
    ids = np.flatnonzero(chance.random(CHUNKS) < chance.choice([0.3, 0.9])).astype(np.int32)
    return KnownBy(ids, chance.choice([0.001, 0.9, 1.0, 2.2], len(ids)))


def _weighted(part: QueryWord, known: list[KnownBy]) -> list[KnownBy]:
    lists = zip(part.holders, known, strict=True)
    return [KnownBy(by.ids, by.counts * held.factor) for held, by in lists]


def test_ids_of_later_changes_are_left_out() -> None:
    later = Holders(1.0, np.array([1, 5], dtype=np.int32), np.array([1, 1], dtype=np.uint16))
    lengths = np.full(6, 10, dtype=np.int32)
    fits = Fitting(np.ones(3, dtype=bool))
    found = best([QueryWord(1.0, [later])], fits, Saturation(lengths, 10.0), 10)
    assert [hit.chunk_id for hit in found] == [1]
    assert found[0].score == pytest.approx((K1 + 1) / (1 + K1 * (1 - B + B)))
