"""Tuning on answers made up so that the truth is known."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace

import pytest

from trivium.config import Settings
from trivium.core.errors import BadSetting, DatasetInvalid
from trivium.core.types import Hit, Signal
from trivium.evaluate.replay import Replay
from trivium.evaluate.tune import FEWEST, Tuned, as_toml, tune
from trivium.search.correct import Corrected
from trivium.search.decide import Heard
from trivium.text.query import parse

QUERIES, DOCUMENTS = 60, 40
PLAIN = Settings(fusion_adaptive=False, analysis_strength=0.0)


def heard(good: dict[Signal, float], chance: random.Random) -> Heard:
    """Document d0 is the right one; a signal of goodness g puts it first in g of all cases."""
    lists = {}
    for signal in Signal:
        order = [f"d{n}" for n in range(DOCUMENTS)]
        chance.shuffle(order)
        if chance.random() < good[signal]:
            order.remove("d0")
            order.insert(0, "d0")
        lists[signal] = [Hit(int(d[1:]), 1.0 - rank / 50) for rank, d in enumerate(order)]
    query = parse("crown")
    documents = {n: f"d{n}" for n in range(DOCUMENTS)}
    return Heard(query, Corrected(query), lists, documents)


def replay_of(good: dict[Signal, float], queries: int = QUERIES, seed: int = 1) -> Replay:
    chance = random.Random(seed)
    return Replay([heard(good, chance) for _ in range(queries)], [{"d0": 1}] * queries)


def fit(good: dict[Signal, float], start: Settings = PLAIN) -> Tuned:
    return tune(replay_of(good), start, named=("toy", False))


def test_useless_signals_lose_their_weight() -> None:
    found = fit({Signal.VECTOR: 0.0, Signal.KEYWORD: 0.95, Signal.TRIGRAM: 0.0})
    assert found.worth_it
    assert found.verdict.startswith("The gain is real: on held-out queries ndcg@10 changes by +0.")
    assert found.settings.fusion_keyword >= 0.6
    assert found.settings.fusion_vector <= 0.4
    assert found.fitted >= found.before + found.held_out.gain - 0.02
    assert found.held_out.interval.low > 0
    assert set(found.changed) >= {"fusion.vector", "fusion.keyword"}
    assert len(found.folds) == 5


def test_on_noise_no_gain_is_real() -> None:
    found = fit(dict.fromkeys(Signal, 0.0))
    assert not found.worth_it
    assert "not significant" in found.verdict
    assert "Keep your settings" in found.verdict
    # On the queries that it was fitted to there always is one; those held out know better.
    assert found.fitted > found.before
    assert found.held_out.gain < found.fitted - found.before - 0.005


def test_what_cannot_be_bettered_stays() -> None:
    found = fit(dict.fromkeys(Signal, 1.0))
    assert found.changed == {}
    assert found.settings == PLAIN
    assert found.verdict.startswith("No setting does better")
    assert found.held_out.p == 1.0


def test_the_same_seed_gives_the_same_fit() -> None:
    good = {Signal.VECTOR: 0.6, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.1}
    replay = replay_of(good, 20)
    assert tune(replay, PLAIN) == tune(replay, PLAIN)


def test_a_threshold_hides_wrong_hits_by_meaning() -> None:
    """Only the best three of forty are above .92: the rest adds noise to what words find."""
    replay = replay_of({Signal.VECTOR: 0.5, Signal.KEYWORD: 0.5, Signal.TRIGRAM: 0.0})
    all_of_it = replay.pages(replace(PLAIN, fusion_keyword=0.0, fusion_trigram=0.0))
    best = replay.pages(
        replace(PLAIN, fusion_keyword=0.0, fusion_trigram=0.0, search_threshold=0.95)
    )
    assert {len(page) for page in all_of_it} == {10}
    assert {len(page) for page in best} == {3}  # 1, .98, .96
    assert [page[:3] for page in all_of_it] == best


def test_reranked_pages_follow_the_reranker_as_far_as_the_shares_say() -> None:
    asked: list[list[int]] = []

    def judge(query: str, chunks: object) -> dict[int, float]:
        assert query == "crown"
        ids = list(chunks)  # type: ignore[call-overload]
        asked.append(ids)
        return {chunk: float(chunk == 0) for chunk in ids}

    chance = random.Random(2)
    lists = [heard(dict.fromkeys(Signal, 0.0), chance) for _ in range(20)]
    replay = Replay(lists, [{"d0": 1}] * 20, judge=judge)
    only = replace(PLAIN, rerank_share=1.0, rerank_hybrid=0.0, rerank_position=0.0)
    pages = replay.pages(only, rerank=True)
    judged = [page for page, ids in zip(pages, asked, strict=True) if 0 in ids]
    assert judged  # right ones among the thirty that the reranker saw are first
    assert all(page[0] == "d0" for page in judged)
    count = len(asked)
    replay.pages(replace(only, rerank_share=0.5, rerank_hybrid=0.5), rerank=True)
    assert len(asked) == count  # what was said once is not asked again
    found = tune(replay, replace(PLAIN), rerank=True)
    assert found.settings.rerank_share + found.settings.rerank_hybrid + (
        found.settings.rerank_position
    ) == pytest.approx(1.0)
    assert found.fitted > found.before


def test_what_is_written_loads_again() -> None:
    found = fit({Signal.VECTOR: 0.0, Signal.KEYWORD: 0.95, Signal.TRIGRAM: 0.0})
    text = as_toml(found)
    assert text.startswith("# Fitted by `trivium tune` to 60 queries of toy.\n# The gain is real")
    loaded = tomllib.loads(text)
    assert loaded["fusion"]["keyword"] == found.settings.fusion_keyword
    assert loaded["fusion"]["adaptive"] is False
    assert "rerank" not in loaded
    assert "synthetic" in as_toml(replace(found, synthetic=True))
    assert tomllib.loads(as_toml(replace(found, rerank=True)))["rerank"]["share"] == 0.5


def test_too_few_queries_and_settings_that_make_no_sense() -> None:
    good = dict.fromkeys(Signal, 0.5)
    with pytest.raises(DatasetInvalid, match="9 judged queries are too few"):
        tune(replay_of(good, FEWEST - 1), PLAIN)
    assert tune(replay_of(good, FEWEST), PLAIN).queries == FEWEST
    with pytest.raises(BadSetting):
        replay_of(good).pages(replace(PLAIN, fusion_k=0.0))


def test_a_query_that_could_not_be_asked_finds_nothing() -> None:
    replay = Replay([None], [{"d0": 1}])
    assert replay.values(PLAIN, "ndcg@10") == [0.0]
