"""How much a cross-encoder decides, and what becomes of its scores."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import pytest
from tests.reference import open_memory

from trivium.core.results import RerankPart, Results
from trivium.core.types import OWNER, StoredChunk
from trivium.search.deep import STRETCH, best_stretches, scaled, share_of
from trivium.search.request import Rerank, SearchRequest
from trivium.search.rerank import Reranked, Shares, blend, deepen, judge
from trivium.search.run import Searcher
from trivium.testing.samples import TOY, sample

PROSE = "The lantern at the harbour burns all night, and the keeper sleeps by day. "
CODE = "def keep(self, lamp_id): return self._lamps[lamp_id].turn(on=True, [x for x in (1, 2)])\n"


def passages(text: str, language: str, count: int = 10) -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample("a.md", *(f"{text} {n}" for n in range(count)))], TOY.fingerprint)
    found = store.documents.chunks(list(range(1, count + 1)), OWNER)
    return [replace(one, document=replace(one.document, language=language)) for one in found]


def test_short_english_prose_is_left_to_it_more_than_long() -> None:
    short, long = (share_of(passages(PROSE * times, "en")) for times in (1, 30))
    assert short == pytest.approx(0.8)
    assert long == pytest.approx(0.15)
    assert long < share_of(passages(PROSE * 8, "en")) < short


def test_other_languages_and_code_are_not() -> None:
    assert share_of(passages(PROSE, "de")) == 0
    assert share_of(passages(CODE, "en")) == 0
    mixed = passages(PROSE, "en", 5) + passages(PROSE, "de", 5)
    assert 0 < share_of(mixed) < share_of(passages(PROSE, "en"))
    assert share_of(passages(PROSE, "")) > 0.5, "a text too short to tell its language"
    assert share_of([]) == 0


def test_of_a_long_passage_the_stretch_with_the_query_is_read() -> None:
    text = PROSE * 30 + "A storm tore the copper roof off the tower in March. " + PROSE * 30
    (long,) = passages(text, "en", 1)
    (short,) = passages(PROSE, "en", 1)
    stretch, same = best_stretches([long, short], "copper roofs?")
    assert "copper roof" in stretch.chunk.text
    assert len(stretch.chunk.text) <= STRETCH + len("… " + " …")
    assert (stretch.id, same) == (long.id, short)
    (opening,) = best_stretches([long], "zeppelin")
    assert opening.chunk.text.startswith(PROSE), "its beginning, if it has none of the words"


def test_scores_are_scaled_by_their_odds() -> None:
    assert scaled([0.9999, 0.5, 0.0001], 4) == pytest.approx([1, 0.5, 0, 0])
    assert scaled([0.3], 2) == [0, 0]
    assert scaled([1.0, 0.0], 2) == [1, 0]


def ordered() -> list[Reranked]:
    return blend([0.9, 0.8, 0.7], [0.5, 0.5, 0.5], Shares())


def test_a_deep_score_is_the_sum_of_its_parts() -> None:
    found = deepen(ordered(), [0.01, 0.99], 0.5)
    assert [one.at for one in found] == [1, 0, 2]
    assert [one.part.read for one in found] == [0.99, 0.01, None], "the third was not read"
    for one in found:
        p = one.part
        assert one.score == pytest.approx(p.rerank + p.hybrid + p.position + p.deep)
    assert isinstance(found[0].part, RerankPart)
    assert found[0].part.deep == 0.5


def test_without_a_share_the_order_stays() -> None:
    found = deepen(ordered(), [0.01, 0.99, 0.5], 0.0)
    assert [one.at for one in found] == [0, 1, 2]


class OneAfterTheOther:
    """A reranker that is done with two passages when the time is up."""

    fingerprint = "slow"

    def scores(self, query: str, passages: list[StoredChunk]) -> list[float]:
        raise AssertionError

    def scores_until(self, query: str, passages: list[StoredChunk], deadline: float) -> list[float]:
        assert deadline > monotonic()
        return [0.4, 0.6]


def test_what_is_done_at_the_deadline_counts() -> None:
    asked = passages(PROSE, "en", 3)
    assert judge(OneAfterTheOther(), "lantern", asked, 30, partly=True).scores == (0.4, 0.6)
    whole = judge(OneAfterTheOther(), "lantern", asked, 30)
    assert whole.scores is None
    assert "took more than" in whole.note


def searched(deep: OneAfterTheOther | None, *texts: str) -> Results:
    store = open_memory()
    store.writer.put([sample("a.md", *texts)], TOY.fingerprint)
    request = SearchRequest(("lantern",), OWNER, rerank=Rerank(seconds=30, deep=True))
    return Searcher(store, TOY, deep=deep).search(request)


def test_a_search_is_deepened_and_says_how_far_it_got() -> None:
    found = searched(OneAfterTheOther(), *(f"{PROSE} {n}" for n in range(4)))
    assert "read 2 of 4 results" in str(found.notes)
    assert sum(one.rerank is not None and one.rerank.read is not None for one in found) == 2
    for one in found:
        assert one.rerank is not None
        assert one.score == pytest.approx(one.rerank.total)


def test_without_a_cross_encoder_a_note_says_how_to_get_one() -> None:
    found = searched(None, PROSE, PROSE * 2)
    assert "Not reranked" in str(found.notes), "there is no other reranker here either"


def test_code_is_not_read() -> None:
    found = searched(OneAfterTheOther(), CODE + "lantern", CODE * 2 + "lantern")
    assert "English prose" in str(found.notes)
