"""The figures of the match: by hand on small lists, and a fit to lists whose law is known."""

import random
from math import exp

import numpy as np
import pytest
from bench.calibration import Listed, auroc, calibration_error, fit, judge, matches, pages, picture
from bench.heard import Columns

from trivium.search.match import Fit, Signs
from trivium.search.separation import Passages


def test_the_error_of_calibration() -> None:
    # Two tenths, half of all in each: .15 against 0, .95 against 1.
    assert calibration_error([0.1, 0.2, 0.9, 1.0], [False] * 2 + [True] * 2) == pytest.approx(0.1)
    assert calibration_error([0.1, 0.15], [False, True]) == pytest.approx(0.375)


def test_how_often_one_is_above_the_other() -> None:
    assert auroc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)
    assert np.isnan(auroc([], [0.5]))


def test_a_page_holds_each_document_once_in_the_fused_order() -> None:
    columns = Columns(
        {
            "starts": np.array([0, 4]),
            "source": np.array([""]),
            "fused": np.array([0.2, 0.8, 0.4, np.nan]),
            "late": np.array([0.1, 0.2, 0.3, 0.4]),
            "share": np.array([0.5, 1.0, 0.7, 0.1]),
            "cosine": np.array([0.3, 0.6, 0.4, 0.2]),
            "relevant": np.array([1.0, 0.0, 0.0, 1.0]),
            "document": np.array([7.0, 8.0, 8.0, 9.0]),
            "usual": np.full(4, -0.5),
            "alike": np.full(4, 0.08),
        }
    )
    (page,) = pages(columns, reranked=False)
    assert page.relevant == (False, True)
    assert [signs.share for signs in page.signs] == [1.0, 0.5]
    assert [signs.behind for signs in page.signs] == pytest.approx([0.0, 0.75])
    assert {signs.passages for signs in page.signs} == {Passages(-0.5, 0.08)}
    (judged,) = pages(columns, reranked=True)
    assert [signs.judged for signs in judged.signs] == pytest.approx([0.2, 0.1])


def lists(law: Fit, seed: int, count: int = 400) -> list[Listed]:
    chance = random.Random(seed)
    made = []
    for at in range(count):
        foreign = at % 2 == 1
        top = 0.2 if foreign else 1.0
        drawn = [
            Signs(chance.random() * top, rank / 10, chance.random() * top) for rank in range(10)
        ]
        signs = tuple(sorted(drawn, key=law.probability, reverse=True))
        relevant = tuple(not foreign and chance.random() < law.probability(one) for one in signs)
        made.append(Listed(foreign, signs, relevant))
    return made


def test_the_fit_finds_the_law_and_is_calibrated_on_another_set() -> None:
    law = Fit(offset=-3.0, share=3.0, behind=-2.0, similarity=3.0)
    sets = [lists(law, seed) for seed in (1, 2)]
    found = fit(sets, "meaning")
    assert found.share > 1.5
    assert found.similarity > 1.5
    assert found.behind < -1
    one = judge("other", lists(law, 3), lambda page: matches(found, page), floor=0.1)
    assert one.error < 0.1
    assert one.foreign > 0.9
    assert one.missed < 0.1
    assert picture([one]).startswith("<svg")


def test_matches_fall_with_the_rank() -> None:
    law = Fit(offset=0.0, share=1.0, behind=0.0)
    page = Listed(False, (Signs(0.0, 0.0), Signs(1.0, 0.5)), (True, False))
    assert matches(law, page) == [0.5, 0.5]
    assert matches(Fit(0.0, -1.0, 0.0), page) == pytest.approx([0.5, 1 / (1 + exp(1))])
