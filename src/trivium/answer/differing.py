"""Whether another source says otherwise, by the rules of `trivium contradictions`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from trivium.answer.candidates import Candidate, Picked, lead_of, name_of_file
from trivium.answer.cells import TableAnswer
from trivium.answer.passages import Passage
from trivium.answer.question import Question, bag
from trivium.answer.structure import sentences
from trivium.text.disagreement.claims import Claim, claims
from trivium.text.disagreement.compare import are_of_a_series, disagreement
from trivium.text.disagreement.differing import Alike, compare_others
from trivium.text.lexicon.dates import dates, months
from trivium.text.lexicon.quantities import differ, figures, shared
from trivium.text.lexicon.questions import Asks
from trivium.text.normalise import words

_DIFFERS = {  # how a reason begins that is about what was asked
    Asks.AMOUNT: ("numbers", "times"),
    Asks.WHEN: ("dates", "times"),
    Asks.WHO: ("names",),
    Asks.WHERE: ("names", "numbers"),
    Asks.NAME: ("names", "numbers"),
    Asks.YES_NO: ("one says",),
    Asks.OTHER: ("",),
}


def disagree(question: Question, candidate: Candidate, other: Candidate) -> bool:
    """Whether two sentences give different answers."""
    if speak_of_others(candidate.passage, candidate.text, other.passage, other.text):
        return False
    if question.asks is Asks.WHEN:
        days, others = (dates(c.text, c.passage.language) for c in (candidate, other))
        if days or others:  # the year of a budget is no other day
            fit = any(a.fits(b) or b.fits(a) for a, b in product(days, others))
            return bool(days and others) and not fit
    if figures(candidate.value) and figures(other.value):
        return differ(candidate.value, other.value) and not shared(candidate.text, other.text)
    if candidate.value and other.value:
        return candidate.value != other.value
    # Without titles: the question says already that both are about the same.
    mine, theirs = (claims(c.text, c.passage.language) for c in (candidate, other))
    reasons = [(a, b, why) for a in mine for b in theirs if (why := disagreement(a, b))]
    return any(
        not why.startswith("numbers") or (_measures(a) and _measures(b)) for a, b, why in reasons
    )


def speak_of_others(passage: Passage, text: str, other: Passage, others: str) -> bool:
    """Whether no rule of `trivium contradictions` would compare their values."""
    pairs = product(_claims(passage, text), _claims(other, others))
    return any(compare_others(a.statement, b.statement) for a, b in pairs)


def _measures(claim: Claim) -> bool:
    """Whether its numbers have units: "section 3" and "section 4" are two things."""
    return any(number.unit is not None for number in claim.numbers)


def _is_of_that_time(question: Question, passage: Passage) -> bool:
    """Whether a passage or its title names the months and figures of the question: a balance in
    January is none of February's."""
    place = passage.citation
    in_passage = bag(f"{place.title} {name_of_file(place.uri)} {passage.text}", passage.language)
    month_names = months(question.language)
    return all(
        in_passage.says(t) for t in question.terms if t.figure or (t.firm and t.word in month_names)
    )


def other_side(
    question: Question,
    chosen: Sequence[Picked],
    best: Sequence[Candidate],
    table_answers: Sequence[TableAnswer],
    passages: Sequence[Passage],
    alike: Alike,
) -> list[Picked]:
    """The answer and the first sentence of another document that contradicts it in what was asked,
    by the rules of `trivium contradictions`; nothing if there is none."""
    wanted = _DIFFERS.get(question.asks, ())
    if not wanted:
        return []
    if chosen[0].cell and table_answers:
        source = table_answers[0].passage
        answer = [row for row in _rows(source) if _is_cell(row, table_answers[0])]
    elif best and best[0].text in chosen[0].text:
        source = best[0].passage
        answer = _claims(source, best[0].text)
    else:
        return []
    for passage in passages:
        if not answer or passage.citation.document == source.citation.document:
            continue
        if not _is_of_that_time(question, passage):
            continue
        certain = _are_of_a_series(source, passage)
        statements = [
            (sentence.text, _claims(passage, sentence.text)) for sentence in sentences(passage)
        ]
        statements += [(row.text, [row]) for row in _rows(passage)]
        for text, theirs in statements:
            disagreements = (
                disagreement(a, b, alike, certain=certain) for a, b in product(answer, theirs)
            )
            if any(why.startswith(wanted) for why in disagreements if why):
                lead = lead_of(passage, text)
                other = Picked(text, passage.number, chosen[0].score, True, lead=lead)
                return [chosen[0], other]
    return []


def _rows(passage: Passage) -> list[Claim]:
    return [claim for claim in _claims(passage, passage.citation.text) if claim.statement.row]


def _is_cell(row: Claim, answer: TableAnswer) -> bool:
    """Whether a claim is the cell that was found."""
    answer_words = words(answer.text)
    return set(row.statement.row.split()) <= {*answer_words} and answer.value in row.text


def _claims(passage: Passage, text: str) -> list[Claim]:
    place = passage.citation
    section = (place.headings or ("",))[-1]
    return claims(text, passage.language, place.title, section, passage.header)


def _are_of_a_series(passage: Passage, other: Passage) -> bool:
    mine, theirs = ((p.citation.title, p.citation.text) for p in (passage, other))
    return are_of_a_series(mine, theirs)
