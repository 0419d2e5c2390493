"""The blend of a reranker's judgment with the fused order, and what happens when it fails."""

from collections.abc import Sequence
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import open_memory

from trivium.core.errors import BadSetting, ModelUnavailable
from trivium.core.types import OWNER, StoredChunk
from trivium.search.rerank import Shares, blend, judge
from trivium.testing.samples import TOY, sample

SHARES = Shares()
PATIENCE = 120.0  # seconds: for a machine that is busy with other things


@pytest.fixture
def passages() -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample("a.md", "Amber.", "Bell.", "Copper.")], TOY.fingerprint)
    return store.documents.chunks([1, 2, 3], OWNER)


class Scripted:
    """A reranker that does as a test says."""

    fingerprint = "scripted"

    def __init__(self, *scores: float, error: Exception | None = None) -> None:
        self._scores = scores
        self._error = error

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        if self._error:
            raise self._error
        return self._scores


class Stuck:
    fingerprint = "stuck"

    def __init__(self) -> None:
        self.released = Event()

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        self.released.wait(PATIENCE)
        return [1.0] * len(passages)


def test_half_judgment_three_tenths_fused_score_two_tenths_position() -> None:
    found = {one.at: one for one in blend([0.8, 0.6, 0.4, 0.1], [0.2, 0.4, 1.0, 0.0], SHARES)}
    assert found[0].score == pytest.approx(0.5 * 0.2 + 0.3 * 1 + 0.2 * 1)
    assert found[1].score == pytest.approx(0.5 * 0.4 + 0.3 * 0.75 + 0.2 * 0.75)
    assert found[2].score == pytest.approx(0.5 * 1.0 + 0.3 * 0.5 + 0.2 * 0.5)
    assert found[3].score == pytest.approx(0.5 * 0.0 + 0.3 * 0.125 + 0.2 * 0.25)
    assert list(found) == [2, 0, 1, 3]
    assert [one.part.before for one in found.values()] == [3, 1, 2, 4]


def test_the_last_candidate_moves_no_other() -> None:
    few = blend([0.8, 0.79], [0.4, 0.5], SHARES)
    many = blend([0.8, 0.79, 0.1], [0.4, 0.5, 0.0], SHARES)
    assert [one.part.hybrid for one in few] == [one.part.hybrid for one in many[:2]]


def test_where_ranks_were_fused_they_are_scaled() -> None:
    given = ([0.9, 0.8, 0.4, 0.1], [0.2, 0.4, 1.0, 0.0], SHARES)
    found = {one.at: one for one in blend(*given, by_ranks=True)}
    assert found[0].score == pytest.approx(0.5 * 0.2 + 0.3 * 1 + 0.2 * 1)
    assert found[1].score == pytest.approx(0.5 * 0.4 + 0.3 * 0.875 + 0.2 * 0.75)
    assert found[2].score == pytest.approx(0.5 * 1.0 + 0.3 * 0.375 + 0.2 * 0.5)
    assert found[3].score == pytest.approx(0.5 * 0.0 + 0.3 * 0 + 0.2 * 0.25)
    assert list(found) == [2, 1, 0, 3]
    assert [one.part.before for one in found.values()] == [3, 2, 1, 4]


def test_nothing_blends_to_nothing() -> None:
    assert blend([], [], SHARES) == []


def test_a_reranker_with_a_span_counts_how_far_below_the_best_a_passage_is() -> None:
    fused, judged = [0.8, 0.6, 0.4], [0.3, 0.7, 0.6]
    parts = {one.at: one.part for one in blend(fused, judged, SHARES, span=0.2)}
    assert [parts[at].rerank for at in range(3)] == pytest.approx([0, 0.5, 0.25])
    assert [parts[at].judged for at in range(3)] == judged, "as the reranker said it"


def test_where_the_reranker_sees_no_difference_the_fused_order_stays() -> None:
    fused = [0.5, 0.5, 0.5]
    assert [one.at for one in blend(fused, [0.7, 0.7, 0.7], SHARES)] == [0, 1, 2]
    alone = Shares(rerank=1, hybrid=0, position=0)
    assert [one.at for one in blend(fused, [0.7, 0.7, 0.7], alone)] == [0, 1, 2]


SCORED = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30)


@given(SCORED)
def test_parts_add_up_to_a_score_between_0_and_1(scored: list[tuple[float, float]]) -> None:
    scored.sort(key=lambda pair: -pair[0])
    fused = [score for score, _ in scored]
    found = blend(fused, [judged for _, judged in scored], SHARES)
    assert sorted(one.at for one in found) == list(range(len(scored)))
    for one in found:
        assert one.score == one.part.rerank + one.part.hybrid + one.part.position
        assert -1e-9 <= one.score <= 1 + 1e-9
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.parametrize(
    "shares", [Shares(0.5, 0.5, 0.5), Shares(1.5, -0.5, 0), Shares(float("nan"), 0.5, 0.5)]
)
def test_shares_must_be_shares(shares: Shares) -> None:
    with pytest.raises(BadSetting, match=r"rerank\.share"):
        shares.check()


def test_shares_that_add_up_are_taken() -> None:
    Shares(0.7, 0.3, 0).check()


# --- asking a reranker ---------------------------------------------------------------------------


def test_a_sound_answer_is_taken(passages: list[StoredChunk]) -> None:
    found = judge(Scripted(0.1, 1, 0), "bell", passages, PATIENCE)
    assert found.scores == (0.1, 1.0, 0.0)
    assert found.note == ""


def test_nothing_to_judge_needs_no_reranker() -> None:
    assert judge(Scripted(error=RuntimeError()), "bell", []).scores == ()


@pytest.mark.parametrize(
    ("reranker", "reason"),
    [
        (Scripted(0.1, 0.2), "returned 2 scores for 3 passages"),
        (Scripted(0.1, 0.2, float("nan")), "n't between 0 and 1"),
        (Scripted(0.1, 0.2, 7.0), "n't between 0 and 1"),
        (Scripted(error=ModelUnavailable("It is down.")), "It is down."),
        (Scripted(error=RuntimeError("a bug")), "RuntimeError: a bug"),
    ],
)
def test_nonsense_and_failure_are_said_and_not_raised(
    passages: list[StoredChunk], reranker: Scripted, reason: str
) -> None:
    found = judge(reranker, "bell", passages, PATIENCE)
    assert found.scores is None
    assert found.note.startswith("Not reranked. ")
    assert reason in found.note


def test_a_slow_reranker_is_not_waited_for(passages: list[StoredChunk]) -> None:
    slow = Stuck()
    found = judge(slow, "bell", passages, seconds=0.01)
    slow.released.set()
    assert found.scores is None
    assert found.note == "Not reranked. The reranker took more than 0.01 s."
