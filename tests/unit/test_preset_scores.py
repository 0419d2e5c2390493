"""What each preset makes of the same three lists, computed by hand from its system's own formula.

meaning    A 0.9, B 0.8, C 0.2      words    B, D, A      spelling    D, A
"""

from collections.abc import Sequence

import pytest

from trivium.config import load
from trivium.core.results import SignalPart
from trivium.core.types import OWNER, Document, Hit, MetaValue, Signal
from trivium.library.asking import request_for
from trivium.operations.searching import SearchOptions
from trivium.search.correct import Corrected
from trivium.search.decide import Heard, decide, decide_anew
from trivium.search.fuse import Fusion
from trivium.search.match import match_score
from trivium.search.request import SearchRequest
from trivium.search.rerank import blend
from trivium.text.query import parse

A, B, C, D = 1, 2, 3, 4
LISTS = {
    Signal.VECTOR: [Hit(A, 0.9), Hit(B, 0.8), Hit(C, 0.2)],
    Signal.KEYWORD: [Hit(B, 7.0), Hit(D, 5.0), Hit(A, 1.0)],
    Signal.TRIGRAM: [Hit(D, 0.5), Hit(A, 0.4)],
}


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("TRIVIUM_CONFIG", f"{tmp_path}/none.toml")


def request(preset: str, query: str = "fog", **options: object) -> SearchRequest:
    settings = load({"preset": preset}).settings
    given = SearchOptions(**options)  # type: ignore[arg-type]
    return request_for(settings, "all-MiniLM-L6-v2", (query,), OWNER, given)


def scores(preset: str, query: str = "fog", documents: Sequence[str] = "abcd") -> dict[int, float]:
    """By chunk, best first."""
    parsed = parse(query)
    heard = Heard(parsed, Corrected(parsed), LISTS, dict(zip((A, B, C, D), documents, strict=True)))
    asked = request(preset, query)
    return {one.chunk_id: one.score for one in decide_anew(asked, heard, asked.depth, 10)}


def test_rulebook_adds_one_over_ten_and_the_rank() -> None:
    assert scores("rulebook") == pytest.approx(
        {
            A: 1 / 11 + 1 / 13 + 1 / 12,  # .2512
            D: 1 / 12 + 1 / 11,  # .1742
            B: 1 / 12 + 1 / 11,  # the same: the lower id comes first
            C: 1 / 13,
        }
    )
    assert list(scores("rulebook")) == [A, B, D, C]


def test_palace_leaves_out_what_is_less_similar_than_a_threshold() -> None:
    found = scores("palace")
    assert found == pytest.approx({B: 1 / 62 + 1 / 61, A: 1 / 61 + 1 / 63, D: 1 / 62})
    assert list(found) == [B, A, D]  # C is .2 similar: below .3, before the ranks are made
    asked = load({"preset": "palace"}).settings
    assert (asked.ask_hyde, asked.ask_rerank, asked.ask_expand) == (False, False, False)
    assert asked.ask_limit == 8


def test_team_weighs_five_three_two() -> None:
    assert scores("team") == pytest.approx(
        {
            A: 0.5 / 61 + 0.3 / 63 + 0.2 / 62,
            B: 0.5 / 62 + 0.3 / 61,
            D: 0.3 / 62 + 0.2 / 61,
            C: 0.5 / 63,
        }
    )


@pytest.mark.parametrize(
    ("limit", "rerank", "fetched"), [(10, False, 20), (10, True, 30), (4, False, 8)]
)
def test_team_fetches_twice_the_limit_or_three_times(
    limit: int, rerank: bool, fetched: int
) -> None:
    assert request("team", limit=limit, rerank=rerank).depth == fetched


def test_team_blends_a_reranker_with_score_and_place() -> None:
    asked = request("team", rerank=True)
    assert asked.fusion is Fusion.RANKS
    shares = asked.rerank.shares  # type: ignore[union-attr]
    first, second = blend([0.02, 0.01], [0.0, 0.9], shares, by_ranks=True)
    assert (first.at, first.score) == (1, pytest.approx(0.5 * 0.9 + 0.3 * 0 + 0.2 * 0.5))
    assert (second.at, second.score) == (0, pytest.approx(0.5 * 0 + 0.3 * 1 + 0.2 * 1))


def test_codex_fuses_documents_and_orders_by_the_reranker_alone() -> None:
    # A and D are passages of one note: it has rank 1 by meaning and rank 2 by words.
    found = scores("codex", documents=("ad", "b", "c", "ad"))
    assert found == pytest.approx({A: 1 / 61 + 1 / 62, B: 1 / 62 + 1 / 61, C: 1 / 63})
    asked = request("codex")
    assert asked.rerank is not None
    ordered = blend([0.03, 0.02, 0.01], [0.1, 0.3, 0.9], asked.rerank.shares)
    assert [(one.at, one.score) for one in ordered] == [(2, 0.9), (1, 0.3), (0, 0.1)]
    assert (asked.limit, asked.pool, asked.depth) == (5, 20, 20)
    settings = load({"preset": "codex"}).settings
    assert (settings.ask_limit, settings.ask_by) == (5, "document")


@pytest.mark.parametrize(
    ("query", "semantic"),
    [
        ("Smith 2023", 0.35),
        ("how does AI affect trust", 0.65),
        ("machine learning", 0.50),
        ("PRISMA 2020 guidelines", 0.25),
    ],
)
def test_papers_moves_weights_with_the_query(query: str, semantic: float) -> None:
    parsed = parse(query)
    weights = decide(request("papers", query), parsed, Corrected(parsed)).weights
    assert weights == pytest.approx({Signal.VECTOR: semantic, Signal.KEYWORD: 1 - semantic})


def test_papers_adds_the_ranks_of_papers() -> None:
    found = scores("papers", "machine learning", documents=("ad", "b", "c", "ad"))
    assert found == pytest.approx({A: 0.5 / 61 + 0.5 / 62, B: 0.5 / 62 + 0.5 / 61, C: 0.5 / 63})


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("fog", 0.50),
        ("machine ethics", 0.50 + 0.30 * 1 / 2),
        ("machine learning", 0.50 + 0.30 + 0.15),
        ("Smith 2023", 0.50 + 0.15 + 0.10),
        ("Jo 2023", 0.50 + 0.15),  # a first name is no author
        ("machine learning 2023 smith", 0.50 + 0.30 * 2 / 4 + 0.15 + 0.10),
    ],
)
def test_papers_matches_words_by_rule(query: str, match: float) -> None:
    metadata: dict[str, MetaValue] = {"year": 2023, "authors": ("Jo Smith",)}
    document = Document(
        1, "a.pdf", "Machine Learning", "default", "", "all", "application/pdf", "en", "", 0, 1, "",
        1, "", "", metadata,
    )  # fmt: skip
    by_words = {Signal.KEYWORD: SignalPart(1, 3.0, 0.5, 0.5 / 61)}
    assert match_score(parse(query), document, by_words) == pytest.approx(match)
    by_meaning = {Signal.VECTOR: SignalPart(1, 0.89, 0.5, 0.5 / 61)}
    assert match_score(parse(query), document, by_meaning) == 0.89


def test_papers_says_what_it_cuts_to() -> None:
    settings = load({"preset": "papers"}).settings
    assert (settings.chunk_ceiling, settings.chunk_most) == (2000, 100)
