from dataclasses import replace

import pytest

from trivium.core.results import SignalPart
from trivium.core.types import Document, Metadata, Signal
from trivium.search.match import (
    MINILM,
    OF_OTHERS,
    OTHER,
    Fit,
    Signs,
    behind,
    explained,
    falling,
    match_score,
)
from trivium.search.separation import Passages, usual_likeness
from trivium.text.query import parse


def document(title: str, metadata: Metadata) -> Document:
    return Document(
        1, "u", title, "c", "", "all", "text/plain", "en", "h", 1, 1, "f", 1, "", "", metadata
    )


@pytest.mark.parametrize(
    ("query", "title", "metadata", "score"),
    [
        ("anything", "Lore", {}, 0.50),
        ("drowned crown", "The Crown", {}, 0.65),
        ("drowned crown", "The Drowned Crown", {}, 0.95),
        ("smith 2023", "Other", {"year": 2023, "authors": ("Jo Smith",)}, 0.75),
        ("smith 2023", "Other", {"year": 2023, "authors": ("Smith, Jo",)}, 0.75),
        ("jones 2023", "Other", {"year": 2023, "authors": ("Jones Smith",)}, 0.65),
        ("drowned crown 2023 smith", "Drowned crown 2023 smith", {"year": 2023}, 1.0),
    ],
)
def test_words_only(query: str, title: str, metadata: Metadata, score: float) -> None:
    parts = {Signal.KEYWORD: SignalPart(1, 9.0, 0.3, 0.03)}
    assert match_score(parse(query), document(title, metadata), parts) == pytest.approx(score)


def test_similarity_where_there_is_one() -> None:
    parts = {Signal.VECTOR: SignalPart(1, 0.62, 0.5, 0.05)}
    assert match_score(parse("x"), document("x", {}), parts) == 0.62
    parts = {Signal.VECTOR: SignalPart(1, -0.2, 0.5, 0.05)}
    assert match_score(parse("x"), document("x", {}), parts) == 0.0


def test_the_probability_is_a_logistic_function_of_the_signs() -> None:
    fit = Fit(offset=-2.0, share=2.0, behind=-1.0, similarity=4.0)
    assert fit.probability(Signs(1.0, 0.0, 0.0)) == pytest.approx(0.5)
    assert fit.probability(Signs(0.0, 0.0, 0.25)) == pytest.approx(1 / (1 + 2.718281828))


def test_being_behind_says_little_about_a_passage_with_evidence_of_its_own() -> None:
    """Where many passages answer a query, the tenth is nearly as likely relevant as the first."""

    def lost(share: float, similarity: float) -> float:
        first, tenth = (Signs(share, behind, similarity) for behind in (0.0, 0.5))
        return 1 - MINILM.probability(tenth) / MINILM.probability(first)

    assert lost(0.7, 0.6) < 0.05
    assert lost(0.1, 0.1) > 0.5


def test_each_sign_speaks_for_or_against() -> None:
    for fits in (MINILM, OTHER):
        usual = fits.probability(Signs(0.5, 0.5, 0.5))
        assert fits.probability(Signs(0.9, 0.5, 0.5)) > usual
        assert fits.probability(Signs(0.5, 0.9, 0.5)) < usual
    assert MINILM.probability(Signs(0.5, 0.5, 0.9)) > MINILM.probability(Signs(0.5, 0.5, 0.5))
    judged = MINILM.probability(Signs(0.5, 0.5, 0.5, 0.9))
    assert judged > MINILM.probability(Signs(0.5, 0.5, 0.5, 0.2))


def in_library(length: float = 0.0, alike: float = 0.0, share: float = 0.8) -> Signs:
    return Signs(share, 0.0, 0.6 * share, passages=Passages(length, alike))


def test_the_same_evidence_says_less_among_short_passages_and_among_those_that_are_alike() -> None:
    usual, short, long = in_library(), in_library(length=-1.0), in_library(length=0.5)
    assert MINILM.probability(short) < MINILM.probability(usual) < MINILM.probability(long)
    assert OTHER.probability(short) == OTHER.probability(long)
    alike, apart = in_library(alike=0.05), in_library(alike=-0.2)
    assert MINILM.probability(alike) < MINILM.probability(usual) < MINILM.probability(apart)
    assert OTHER.probability(alike) == OTHER.probability(apart)


def test_little_evidence_means_the_same_in_every_library() -> None:
    """So that one floor serves all."""
    short, long = in_library(-1.0, 0.05, share=0.3), in_library(0.5, -0.2, share=0.3)
    assert MINILM.probability(short) == MINILM.probability(long) < 0.15


def test_the_very_words_asked_for_match_well_in_any_library() -> None:
    same = Signs(1.0, 0.0, 1.0, passages=Passages(-1.0, 0.05))
    assert MINILM.probability(same) > 0.3


# The least and the most that a library can have.
@pytest.mark.parametrize("length", [-1.0, 0.5])
@pytest.mark.parametrize("alike", [usual_likeness(0.0), usual_likeness(1.0)])
@pytest.mark.parametrize("judged", [None, 0.5])
def test_more_evidence_never_lowers_the_match(
    length: float, alike: float, judged: float | None
) -> None:
    tenths, passages = [at / 10 for at in range(11)], Passages(length, alike)
    for fixed in tenths:
        by_share = [Signs(one, 0.1, fixed, judged, passages) for one in tenths]
        by_similarity = [Signs(fixed, 0.1, one, judged, passages) for one in tenths]
        for signs in (by_share, by_similarity):
            matches = [MINILM.probability(one) for one in signs]
            assert matches == sorted(matches)
            assert len(set(matches)) == len(matches)


def test_similarities_of_another_model_mean_nothing() -> None:
    assert OTHER.probability(Signs(0.5, 0.5, 0.9)) == OTHER.probability(Signs(0.5, 0.5, 0.1))


def test_a_list_never_rises() -> None:
    assert falling([0.6, 0.7, 0.2, 0.3]) == [0.6, 0.6, 0.2, 0.2]


def test_how_far_behind() -> None:
    assert behind([0.8, 0.6, 0.2]) == pytest.approx([0.0, 0.25, 0.75])
    # Reciprocal ranks say nothing about how far: the rank stands for it.
    assert behind([0.1, 0.09, 0.08, 0.07], by_ranks=True) == pytest.approx(
        [0, 0.19, 0.301, 0.38], abs=0.001
    )
    assert behind([]) == []


def test_another_year_is_no_good_match_whatever_else_speaks_for_it() -> None:
    said = "It doesn't say 2022, but another year."
    signs = Signs(0.9, 0.0, 0.8, known=0.91, reason="alone", of_others=said)
    assert MINILM.probability(replace(signs, of_others="")) > 0.9
    assert MINILM.probability(signs) == OF_OTHERS
    assert explained(signs) == said
