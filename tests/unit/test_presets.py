"""Each preset has the numbers of the system that it reproduces."""

import pytest

from trivium.config import Settings, load
from trivium.config.presets import PRESETS
from trivium.core.errors import BadSetting
from trivium.core.types import OWNER, Granularity, Signal
from trivium.library.asking import request_for
from trivium.operations.searching import SearchOptions
from trivium.search.fuse import Fusion
from trivium.search.request import SearchRequest
from trivium.search.rerank import Shares

V, K, T = Signal


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("TRIVIUM_CONFIG", f"{tmp_path}/none.toml")


def settings(preset: str, **more: str) -> Settings:
    return load({"preset": preset, **more}).settings


def request(preset: str) -> SearchRequest:
    return request_for(settings(preset), "all-MiniLM-L6-v2", ("fog",), OWNER, SearchOptions())


@pytest.mark.parametrize("preset", PRESETS)
def test_all_of_them_add_reciprocal_ranks_with_fixed_weights(preset: str) -> None:
    found = request(preset)
    assert found.fusion is Fusion.RANKS
    assert found.evidence is None
    assert not found.correct
    assert found.analysis == (1.0 if preset == "papers" else 0.0)


def test_rulebook_has_three_equal_signals_and_small_pools() -> None:
    found = request("rulebook")
    assert found.signal_weights() == {V: 1.0, K: 1.0, T: 1.0}
    assert found.k == 10
    assert found.depth == 20


def test_codex_has_no_spelling_and_gives_five() -> None:
    found = request("codex")
    assert found.signal_weights() == {V: 1.0, K: 1.0}
    assert (found.k, found.limit) == (60, 5)
    assert found.rerank is not None
    assert (found.pool, found.by) == (20, Granularity.DOCUMENT)
    assert found.rerank.shares == Shares(1.0, 0.0, 0.0)  # the reranker's order alone


def test_papers_are_found_by_document() -> None:
    found = request("papers")
    assert found.signal_weights() == {V: 0.5, K: 0.5}
    assert (found.k, found.by) == (60, Granularity.DOCUMENT)
    assert found.of_documents
    assert (found.match, found.floor) == (None, 0.0)  # the rule, without a floor
    s = settings("papers")
    assert (s.chunk_strategy, s.chunk_ceiling, s.chunk_most) == ("sections", 2000, 100)


def test_team_has_grabdys_weights_and_chunks() -> None:
    found = request("team")
    assert found.signal_weights() == {V: 0.5, K: 0.3, T: 0.2}
    assert (found.k, found.limit) == (60, 10)
    s = settings("team", **{"search.rerank": "on"})
    asked = request_for(s, "all-MiniLM-L6-v2", ("fog",), OWNER, SearchOptions()).rerank
    assert asked is not None
    assert (asked.shares, asked.seconds) == (Shares(0.5, 0.3, 0.2), 2.0)
    assert (s.chunk_strategy, s.chunk_size, s.chunk_overlap, s.chunk_minimum) == (
        "grouped", 400, 80, 40,
    )  # fmt: skip


def test_palace_has_a_threshold() -> None:
    found = request("palace")
    assert found.signal_weights() == {V: 1.0, K: 1.0}
    assert (found.k, found.limit, found.threshold) == (60, 8, 0.3)
    s = settings("palace")
    assert (s.ask_rerank, s.ask_expand, s.ask_hyde) == (False, False, False)


def test_what_is_set_beside_a_preset_wins_and_says_where_it_comes_from() -> None:
    effective = load({"preset": "team", "fusion.k": "20"})
    assert effective.settings.fusion_k == 20
    assert effective.origins["fusion.k"] == "command line"
    assert effective.origins["fusion.method"] == "preset, command line"
    assert effective.origins["search.limit"] == "default"


def test_a_preset_stands_above_what_was_set_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_FUSION_K", "33")
    assert load().settings.fusion_k == 33
    assert load({"preset": "team"}).settings.fusion_k == 60
    monkeypatch.setenv("TRIVIUM_PRESET", "codex")
    assert load().settings.fusion_k == 33
    assert load().settings.search_limit == 5


def test_two_presets_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_PRESET", "papers")
    found = load({"preset": "rulebook"})
    assert found.settings.search_by == "passage"
    assert found.origins["search.by"] == "default"
    assert load({"preset": ""}).settings.search_by == "passage"


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(BadSetting, match="`tome`"):
        load({"preset": "tome"})
