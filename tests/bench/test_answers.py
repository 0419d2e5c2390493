"""The judged set of questions, and the sample that a slow model is asked."""

from collections import Counter

from bench.answers import KINDS, UNANSWERABLE, questions, sampled


def test_there_are_enough_questions_of_every_kind() -> None:
    every = questions()
    assert len(every) >= 150
    assert {one.kind for one in every} == set(KINDS)
    assert all(bool(one.accept) != (one.kind == UNANSWERABLE) for one in every)


def test_a_sample_has_every_kind_in_proportion_wherever_it_is_cut() -> None:
    every = questions()
    all_of = Counter(one.kind for one in every)
    for size in (20, 60, 100):
        some = Counter(one.kind for one in sampled(every, size))
        assert some.total() == size
        assert all(abs(some[kind] - all_of[kind] * size / len(every)) <= 1 for kind in KINDS)
    assert sampled(every, 20) == sampled(every, 60)[:20]
