"""How much of a question a sentence says: in its own words, and by the headings, the paragraph and
the passage that it stands in.

Knows nothing of the kind of answer that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath

from trivium.answer.candidates import Candidate, name_of_file, with_antecedent
from trivium.answer.confidence import Evidence
from trivium.answer.expected import is_priced
from trivium.answer.likeness import Likeness
from trivium.answer.passages import Passage
from trivium.answer.question import VAGUE, Bag, Question, Term, bag
from trivium.answer.structure import Sentence, blocks
from trivium.text.lexicon.dates import times, until
from trivium.text.lexicon.measures import BILLS, COSTS, HOW, TOTAL
from trivium.text.lexicon.names import contact, is_first_person
from trivium.text.lexicon.questions import Asks, has_pronoun, is_label
from trivium.text.normalise import words

LEAST_FOCUS = 0.6  # likeness of a sentence's word to what was asked about
AROUND = 0.9  # weight of a term that a heading says
IN_PARAGRAPH = 0.6  # and of one that another sentence of its paragraph says
BESIDE = 0.4  # and of one that only the rest of the passage says
FIRST = 6  # words of a sentence in which a pronoun means what another one names
LONGEST_SIGNED = 60  # characters of a line of a signature
MOST_IN_HEAD, LONGEST_OF_HEAD = 4, 80  # paragraphs above a letter's first; letters of a line
SHORT = 600  # characters of a passage that is about one thing
OTHERWISE = 0.7  # for a verb that a sentence says in another form


def says_all(question: Question, candidate: Candidate) -> bool:
    """Whether a sentence says every term in the same word, so that likeness isn't needed."""
    own = bag(with_antecedent(candidate.sentence), candidate.passage.language)
    return all(own.says(term) for term in question.terms if not term.firm)


def says_more(question: Question, text: str) -> bool:
    """Whether a sentence has a word that the question doesn't: a heading often repeats the
    question. To a yes-or-no question, its own words are an answer."""
    if question.asks is Asks.YES_NO and text.endswith("."):
        return True
    return not set(words(text)) <= set(words(question.text))


def coverage_of(
    question: Question, sentence: Sentence, passage: Passage, head: str, likeness: Likeness | None
) -> Evidence:
    """What a sentence says of a question's terms: itself, or by its headings, its paragraph and in
    part the rest of its passage. `head`: how its document begins."""
    language = passage.language
    speaker = passage.speaker(sentence.text)
    statement = (
        sentence.paragraph if "\n" in sentence.paragraph else with_antecedent(sentence)
    )  # of a signature
    author = speaker.author if speaker and is_first_person(sentence.text) else ""
    we = _signature(passage) if author else ""
    others = [each.author for each in passage.speakers if author not in ("", each.author)]
    another = set(words(" ".join(others)))  # "I" is none of these
    own = bag(
        f"{speaker.author} {speaker.time}: {statement} {we}" if speaker else statement, language
    )
    near = bag(sentence.paragraph, language)
    place = passage.citation
    folder = PurePosixPath(place.uri).parent.name  # choir/rehearsals.md is about a choir
    above = bag(
        "\n".join(
            (place.title, name_of_file(place.uri), folder, *place.headings, sentence.heading)
        ),
        language,
    )
    rest = bag(passage.text, language)
    begins = " ".join(sentence.text.split()[:FIRST])
    dated = bool(times(sentence.text, language))
    refers = has_pronoun(begins) or sentence.record
    label = bag(head, language)
    around = _Around(above, near, rest, label, refers, _is_short(passage), dated)
    labelled = is_label(sentence.text, question.asks) or (
        question.spans and bool(until(sentence.text, language))
    )
    covered = itself = gap = whole = 0.0
    focus = 1.0
    anchored = any(own.says(term) for term in question.terms if not term.generic)
    is_contact = any(contact(term.word, sentence.text) for term in question.terms)
    for term in question.terms:
        if term.word in another and not bag(sentence.text, language).says(term):
            return Evidence(0.0, 0.0, 1.0, 0.0)
        weight = term.weight * (VAGUE if term is question.category else 1)
        whole += weight
        costs = (term.word in COSTS and is_priced(sentence.text, language)) or contact(
            term.word, sentence.text
        )
        if (
            costs
            or (term.word in BILLS and TOTAL.match(sentence.text))
            or term.word == HOW.get(question.measured)  # its kind is looked at below
            or term.generic
            or own.says(term)
            or (labelled and (above.says(term) or label.says(term)))
        ):
            covered += weight
            itself += weight
            continue
        like = 0.0
        if likeness is not None and not term.firm:
            like = likeness.between(term.word, own.words)
        if term is question.focus and likeness is not None:
            # A heading says of what, not who does it or which; and so do other lines of a record.
            placed = (not question.category and above.says(term)) or (
                sentence.record and near.says(term)
            )
            focus = max(like, AROUND if placed and term.word != question.done else 0.0)
            if like < LEAST_FOCUS and _is_told_otherwise(question, own, label, language):
                covered += OTHERWISE * weight
                itself += OTHERWISE * weight
                focus = 1.0
                continue
        share = around.share(term) if term.word != question.done else 0.0
        if term.firm and not share:
            return Evidence(0.0, 0.0, 1.0, 0.0)
        if is_contact and not share and like < LEAST_FOCUS:  # somebody else's number
            return Evidence(0.0, 0.0, 1.0, 0.0)
        covered += weight * max(share, like)
        lent = share if anchored and share == AROUND else 0.0  # its heading says it for it
        itself += weight * lent
        gap = max(gap, weight * (1 - lent))
    return Evidence(itself / whole, covered / whole, gap / whole, focus)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a sentence doesn't say itself: its headings, paragraph and passage do."""

    above: Bag
    paragraph: Bag
    passage: Bag
    letterhead: Bag
    refers: bool  # the sentence speaks of something that another one names
    short: bool  # the passage is about one thing
    dated: bool  # the sentence has a date or year of its own

    def share(self, term: Term) -> float:
        named = term.firm and not term.figure
        if self.above.says(term) or (named and self.letterhead.says(term)):
            return AROUND
        elsewhere = self.dated if term.figure else not self.short
        if term.firm and not self.refers and elsewhere:
            return 0.0
        if self.paragraph.says(term):
            return AROUND if self.refers else IN_PARAGRAPH
        return BESIDE if self.passage.says(term) and not term.figure else 0.0


def _is_told_otherwise(question: Question, own: Bag, head: Bag, language: str) -> bool:
    """Whether a sentence says everything but the verb, in a language whose words the model can't
    compare and whose stemmer doesn't know strong verbs: `hielt` and `gehalten`."""
    others = [term for term in question.terms if term is not question.focus and not term.generic]
    free = any(not term.firm for term in others)
    says_them = all(own.says(term) or (term.firm and head.says(term)) for term in others)
    return language not in ("", "en") and free and len(others) > 1 and says_them


def letterheads(passages: Sequence[Passage]) -> dict[int, str]:
    """By document, for those whose first passage is among these."""
    firsts = (passage for passage in passages if not passage.citation.index)
    return {passage.citation.document: _letterhead(passage) for passage in firsts}


def _letterhead(passage: Passage) -> str:
    """The first lines of a document, up to its first sentence: what it is, and whom it is about."""
    every = blocks(passage.citation.text)[:MOST_IN_HEAD]
    short = takewhile(lambda lines: all(map(_is_of_head, lines)), every)
    return " ".join(line for lines in short for line in lines)


def _is_of_head(line: str) -> bool:
    return len(line) <= LONGEST_OF_HEAD and line[-1] not in ".!?" and " | " not in line


def _signature(passage: Passage) -> str:
    """Whom "we" means in a message: the lines that close it."""
    if passage.is_chat:  # its last block is what somebody else says
        return ""
    last = blocks(passage.citation.text)[-1:]
    lines = last[0] if last and len(last[0]) > 1 else ()
    return " ".join(line for line in lines if len(line) <= LONGEST_SIGNED and line[-1] not in ".!?")


def _is_short(passage: Passage) -> bool:
    """A note or a few messages, of which every sentence is about the same."""
    return len(passage.text) <= SHORT
