"""The judged set of questions, and the sample that a slow model is asked."""

from collections import Counter

from bench.answers import ABOUT, KINDS, UNANSWERABLE, questions, sampled
from bench.open_documents import pages


def test_there_are_enough_questions_of_every_kind() -> None:
    every = questions()
    open_ones = [one for one in every if one.library in ("documents", "open")]
    assert len(open_ones) >= 300
    assert sum(one.kind == UNANSWERABLE for one in open_ones) * 3.2 >= len(open_ones)
    assert {one.about for one in open_ones} == set(ABOUT)
    assert 0.25 < sum(one.held_out for one in open_ones) / len(open_ones) < 0.4
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


def test_a_page_of_a_filing_has_its_table_once_and_no_question_about_it() -> None:
    before, after = "the results were as follows in millions " * 5, "sales rose as prices did " * 9
    corpus = f"{before}\n\n- | 2012 | 2011\nnet sales | 8 | 7\n\nwhat were net sales? 8\n\n"
    (page,) = pages(corpus * 2 + after)
    assert page.count("| net sales | 8 | 7 |") == 1
    assert "| --- | --- | --- |" in page
    assert "what were" not in page
