"""An answer without a language model, in the documents' own words: the cell of a table whose row
and column the question names, the items of a list, or the sentence that fits best.

What does not say what the question is about, or holds no answer of its kind, is no answer: then
nothing is picked. Knows nothing of how passages were found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from pathlib import PurePosixPath

from trivium.answer.cells import Found, Read
from trivium.answer.confidence import Evidence, confidence, is_sure
from trivium.answer.likeness import Likeness, WordVectors
from trivium.answer.passages import Passage
from trivium.answer.question import VAGUE, Bag, Question, Term, bag
from trivium.answer.question import read as read_question
from trivium.answer.reading import LANGUAGE, MOST_READ, InText, chances
from trivium.answer.statements import NOTHING_SAID, Before
from trivium.answer.structure import Listing, Sentence, Table, blocks, listings, sentences, tables
from trivium.answer.support import Nearness, Words
from trivium.ports import Embedder, ReadingEmbedder
from trivium.text.disagree import Claim, are_of_a_series, claims, disagreement
from trivium.text.languages import detect_language
from trivium.text.lexicon import grammar
from trivium.text.lexicon.dates import dates, months, recurring, times, until
from trivium.text.lexicon.grammar import DETERMINERS, function_words
from trivium.text.lexicon.measures import (
    BILLS,
    CHANGED,
    COSTS,
    DIMENSIONS,
    FEES,
    HOW,
    PRICE,
    TOTAL,
)
from trivium.text.lexicon.names import agent, contact, is_first_person, names, subject
from trivium.text.lexicon.negation import denies
from trivium.text.lexicon.quantities import differ, figures, money, quantities, shared
from trivium.text.lexicon.questions import (
    VERDICTS,
    Asks,
    begins_with_pronoun,
    gives_reason,
    has_pronoun,
    is_label,
    refers_back,
    verdict,
)
from trivium.text.normalise import fold, words
from trivium.text.roles import Alike, compare_others
from trivium.text.stems import stem

MOST_COMPARED = 40  # sentences by meaning, the best by words; 25 tokens each take .3 s on 2 cores
MOST_LIKE = 10  # of these, sentences whose words are compared one by one
WORDS, RANK = 0.4, 0.1  # the weight of each for the choice of the sentences to compare
AROUND = 0.9  # weight of a term that a heading says
IN_PARAGRAPH = 0.6  # and of one that another sentence of its paragraph says
BESIDE = 0.4  # and of one that only the rest of the passage says
LEAST_SAID = 0.6  # share of a question's terms, by weight, in a sentence and its headings
FIRST = 6  # words of a sentence in which a pronoun means what another one names
LONGEST_SIGNED = 60  # characters of a line of a signature
MOST_IN_HEAD, LONGEST_OF_HEAD = 4, 80  # paragraphs above a letter's first; letters of a line
SHORT = 600  # characters of a passage that is about one thing
OTHERWISE = 0.7  # for a verb that a sentence says in another form
LEAST_LABELLED, LONGEST_LABELLED = 0.9, 12  # share of terms of a line with a label; its words
LEAST_FOCUS = 0.6  # likeness of a sentence's word to what was asked about
AGAIN = 0.9  # factor for a sentence of which a part was said before
NEAR = 0.9  # of the best sentence's score: anything lower is about something else
MOST = 2  # sentences, if the question asks for more than one sentence can hold
SAME_SUBJECT = 0.4  # share of common words in what two sources say of one thing
ALIKE = 0.7  # share of common words in two sentences: neighbouring chunks overlap
LEAST_LISTED = 0.6  # share of a question's terms that a list and the line above it must say
HEADED = 0.15  # bonus for a list whose first line names what was asked for
LEAST_INSTEAD = 0.85  # for a list, if the question doesn't ask for several things
LONGEST_BEFORE = 240  # characters of the sentence before one that begins with a pronoun
LONGEST_COUNT = 5  # "three commandments": up to this many sentences may follow
_CODE = re.compile(  # figures that count nothing: § 3, no. 12, MV-77120-4, 7b, 8841 2207
    r"(?i)(?:§§?|\bno\.|\bnr\.|#)\s?[\w-]*\d[\w-]*|\b[a-z]+-\d[\w-]*|\b[a-z]{1,2}\d+\b"
    r"|(?<![$€£\d.,])\d+[a-f]\b|\b\d+-\d{3,}\b|\b\d{4,}(?: \d{3,})+\b"
)
_EVENTS = (Asks.WHEN, Asks.WHERE, Asks.WHO)
_DIFFERS = {  # how a reason begins that is about what was asked
    Asks.AMOUNT: ("numbers", "times"),
    Asks.WHEN: ("dates", "times"),
    Asks.WHO: ("names",),
    Asks.WHERE: ("names", "numbers"),
    Asks.NAME: ("names", "numbers"),
    Asks.YES_NO: ("one says",),
    Asks.OTHER: ("",),
}
_VERDICT = re.compile(rf"({'|'.join(sorted(VERDICTS))}): ")


@dataclass(frozen=True, slots=True)
class Picked:
    text: str
    number: int  # of its passage
    score: float
    differs: bool = False  # another source says something different
    value: str = ""  # the figure, date or cell that answers
    cell: bool = False  # it is a cell of a table whose row and column the question names
    lead: str = ""  # who said it and when, of a message


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence, how much of the question it says, and how well it answers."""

    sentence: Sentence
    passage: Passage
    said: float
    score: float
    kind: float = 1.0  # how well it contains what was asked for: a date, a name, an amount
    value: str = ""  # the figure or date that answers

    @property
    def text(self) -> str:
        return self.sentence.text


class Extractor:
    """Picks answers for one caller."""

    def __init__(self, embedder: Embedder, measure: Words, kept: WordVectors) -> None:
        self._embedder = embedder
        self._measure = measure
        self._kept = kept

    def pick(
        self, question: str, passages: Sequence[Passage], before: Before = NOTHING_SAID
    ) -> list[Picked]:
        """Nothing if no passage has an answer. `before`: earlier answers; none of their sentences
        is repeated."""
        language = detect_language(question) or (passages[0].language if passages else "")
        asked = read_question(question, language, self._measure.rarities)
        if not asked.terms:
            return []
        likeness = Likeness(self._embedder, self._kept)
        found_tables = _whole([(p, table) for p in passages for table in tables(p)])
        found_tables = _joined(found_tables) if asked.sums else found_tables
        reads = [Read(table, asked, passage, likeness) for passage, table in found_tables]
        likeness.learn(self._vocabulary(asked, passages, reads))
        found = _from_tables(asked, reads)
        found = [one for one in found if not before.says(one.text)]
        best = self._sentences(asked, passages, likeness, before)
        lists = _from_lists(asked, passages, likeness) if _may_list(asked) else None
        chosen = _chosen(asked, found, best, lists)
        if chosen and not any(one.differs for one in chosen):
            alike = Nearness(self._embedder).alike
            chosen = _other_side(asked, chosen, best, found, passages, alike) or chosen
        told = [(one, _not_again(asked, one, before)) for one in chosen]
        whole = [new for old, new in told if new is old]
        return whole or [new for _, new in told if new is not None]

    def keywords(self, question: str) -> str:
        """What a question is about, as words to search for: `longsword weight` finds the table that
        "How much does a longsword weigh?" misses."""
        asked = read_question(question, detect_language(question), self._measure.rarities)
        return " ".join(term.word for term in asked.terms)

    def _vocabulary(
        self, asked: Question, passages: Sequence[Passage], reads: Sequence[Read]
    ) -> list[str]:
        soft = [term.word for term in asked.terms if not term.firm]
        if not soft:
            return []
        found = list(soft)
        for read in reads:
            found += words(" ".join((*read.table.names, read.table.caption)))
        for passage in passages:
            found += words(" ".join((passage.citation.title, *passage.citation.headings)))
        return found

    def _sentences(
        self, asked: Question, passages: Sequence[Passage], likeness: Likeness, before: Before
    ) -> list[_Candidate]:
        """The sentences that answer, the surest first."""
        found = []
        for one, evidence in self.evidence(asked, passages, likeness):
            sure = confidence(evidence) * one.kind * (AGAIN if before.says(one.text) else 1)
            # A list of something says of what: otherwise it is another list.
            named = asked.asks is not Asks.LIST or evidence.focus >= LEAST_FOCUS
            if is_sure(sure, evidence) and named:
                found.append(replace(one, score=sure))
        return sorted(found, key=lambda one: -one.score)

    def evidence(
        self, asked: Question, passages: Sequence[Passage], likeness: Likeness
    ) -> list[tuple[_Candidate, Evidence]]:
        """The sentences that may answer, and what speaks for each."""
        first: dict[str, _Candidate] = {}
        for passage in passages:
            for each in sentences(passage):
                if (
                    each.text in first
                    or each.text.endswith(("?", ":"))  # it asks, or leads to what follows
                    or (each.text.startswith("[") and each.text.endswith("]"))  # a picture
                    or not _says_more(asked, each.text)
                ):
                    continue
                said = _said(asked, each, passage, None).said
                score = WORDS * said + RANK / passage.number
                first[each.text] = _Candidate(each, passage, said, score)
        best = sorted(first.values(), key=lambda one: -one.score)[:MOST_COMPARED]
        empty = function_words(asked.language)
        unsure = [one for one in best[:MOST_LIKE] if not _says_all(asked, one)]
        likeness.learn(w for one in unsure for w in words(one.text) if w not in empty)
        # Only possible answers are compared by meaning, which takes most of the time.
        able: list[tuple[_Candidate, Evidence]] = []
        reads = isinstance(self._embedder, ReadingEmbedder) and asked.language == LANGUAGE
        for one in best:
            evidence = _said(asked, one.sentence, one.passage, likeness)
            may = evidence.said >= LEAST_SAID and not _has_none(asked, one.text)
            kind, value = _answers(asked, one) if may else (0.0, "")
            if kind:
                told = replace(one, said=evidence.said, kind=kind, value=value)
                able.append((told, replace(evidence, near=evidence.said)))
        texts = {at: [_in_place(one)] for at, (one, _) in enumerate(able)}
        meaning = Nearness(self._embedder).nearest([asked.text], texts) if able else None
        if meaning is None:
            return able
        able = [
            (one, replace(evidence, near=max(0.0, meaning[asked.text, at])))
            for at, (one, evidence) in enumerate(able)
        ]
        return self._read(asked, able) if reads else able

    def _read(
        self, asked: Question, able: Sequence[tuple[_Candidate, Evidence]]
    ) -> list[tuple[_Candidate, Evidence]]:
        """The likeliest ones, read; all of them, if they can't be. The reader knows sentences: a
        line with a label is taken as it is."""
        labelled = [pair for pair in able if _is_labelled(asked, *pair)]
        prose = [pair for pair in able if pair not in labelled]
        likely = sorted(prose, key=lambda pair: -pair[0].kind * confidence(pair[1]))[:MOST_READ]
        texts = [InText(_spoken(one), one.passage.text, _above(one.passage)) for one, _ in likely]
        read = chances(self._embedder, asked.text, texts)
        if read is None:
            return list(able)
        return labelled + [
            (one, replace(evidence, read=chance))
            for (one, evidence), chance in zip(likely, read, strict=True)
        ]


def _whole(found: Sequence[tuple[Passage, Table]]) -> list[tuple[Passage, Table]]:
    """Tables that continue from another passage, with the units from above their beginning."""
    begun = {(p.citation.document, t.names): t.units for p, t in found if any(t.units)}
    return [
        (p, replace(t, units=begun.get((p.citation.document, t.names), ()))) if p.header else (p, t)
        for p, t in found
    ]


def _joined(found: Sequence[tuple[Passage, Table]]) -> list[tuple[Passage, Table]]:
    """The parts of one table in several passages, as one, with every row once."""
    parts: dict[tuple[int, tuple[str, ...]], list[tuple[Passage, Table]]] = {}
    for passage, table in found:
        parts.setdefault((passage.citation.document, table.names), []).append((passage, table))
    joined = []
    for some in parts.values():
        some.sort(key=lambda one: one[0].citation.index)
        rows = [row for _, table in some for row in table.rows]
        joined.append((some[0][0], replace(some[0][1], rows=tuple(rows))))
    return joined


def _not_again(asked: Question, picked: Picked, before: Before) -> Picked | None:
    """Don't repeat what was said before: of such a sentence, only the part that answers. For a
    yes-or-no question, `Yes` alone will do."""
    verdict, body = _VERDICT.match(picked.text), picked.text
    if verdict:
        body = picked.text[verdict.end() :]
    if not before.says(body):
        return picked
    parts = [part.strip(" ,;:.") for part in grammar.CLAUSE.split(body)]
    bags = [bag(part, "") for part in parts]
    focus = (asked.focus,) if asked.focus else ()

    def says(at: int) -> tuple[int, int, int]:
        return sum(map(bags[at].says, focus)), sum(map(bags[at].says, asked.terms)), -at

    most = max(range(len(parts)), key=says)
    if verdict:
        return replace(picked, text=f"{verdict[1]}.")
    shorter = len(parts) > 1 and any(map(bags[most].says, asked.terms))
    return replace(picked, text=parts[most]) if shorter else None


def _spoken(one: _Candidate) -> str:
    """A message with its speaker's name, if the passage has it in front: who "I" is."""
    speaker = one.passage.speaker(one.text)
    said = f"{speaker.author}: {one.text}" if speaker else ""
    return said if said and said in one.passage.text else one.text


def _is_labelled(asked: Question, one: _Candidate, evidence: Evidence) -> bool:
    """Whether a short line begins with a label that the question names, or is an item with a figure
    for it: `Course: 1,200 metres`, `400 ml buttermilk`."""
    label, _, value = one.text.partition(": ")
    if not value and asked.asks is Asks.AMOUNT and one.text[-1] not in ".!":
        label, value = one.text, one.value
    return (
        bool(value)
        and evidence.said >= LEAST_LABELLED
        and len(words(one.text)) <= LONGEST_LABELLED
        and any(bag(label, one.passage.language).says(t) for t in asked.terms if not t.generic)
    )


def _says_all(asked: Question, one: _Candidate) -> bool:
    """Whether a sentence says every term in the same word, so that likeness isn't needed."""
    own = bag(_with_antecedent(one.sentence), one.passage.language)
    return all(own.says(term) for term in asked.terms if not term.firm)


def _says_more(asked: Question, text: str) -> bool:
    """Whether a sentence has a word that the question doesn't: a heading often repeats the
    question. To a yes-or-no question, its own words are an answer."""
    if asked.asks is Asks.YES_NO and text.endswith("."):
        return True
    return not set(words(text)) <= set(words(asked.text))


def _in_place(one: _Candidate) -> str:
    """With the heading above it: `Armor Class 15` alone doesn't say whose."""
    return f"{_above(one.passage)}: {one.text}"


def _above(passage: Passage) -> str:
    return (passage.citation.headings[-1:] or (passage.citation.title,))[0]


def _said(asked: Question, one: Sentence, passage: Passage, likeness: Likeness | None) -> Evidence:
    """What a sentence says of a question's terms: itself, or by its headings, its paragraph and in
    part the rest of its passage."""
    language = passage.language
    speaker = passage.speaker(one.text)
    said = one.paragraph if "\n" in one.paragraph else _with_antecedent(one)  # of a signature
    author = speaker.author if speaker and is_first_person(one.text) else ""
    we = _signature(passage) if author else ""
    others = [each.author for each in passage.speakers if author not in ("", each.author)]
    another = set(words(" ".join(others)))  # "I" is none of these
    own = bag(f"{speaker.author} {speaker.time}: {said} {we}" if speaker else said, language)
    near = bag(one.paragraph, language)
    place = passage.citation
    folder = PurePosixPath(place.uri).parent.name  # choir/rehearsals.md is about a choir
    above = bag("\n".join((place.title, _name(place.uri), folder, *place.headings)), language)
    rest = bag(passage.text, language)
    begins = " ".join(one.text.split()[:FIRST])
    dated = bool(times(one.text, language))
    refers = has_pronoun(begins) or one.record
    label = bag(_letterhead(passage), language)
    around = _Around(above, near, rest, label, refers, _is_short(passage), dated)
    labelled = is_label(one.text, asked.asks) or (asked.spans and bool(until(one.text, language)))
    covered = itself = gap = whole = 0.0
    focus = 1.0
    anchored = any(own.says(term) for term in asked.terms if not term.generic)
    is_contact = any(contact(term.word, one.text) for term in asked.terms)
    for term in asked.terms:
        if term.word in another and not bag(one.text, language).says(term):
            return Evidence(0.0, 0.0, 1.0, 0.0)
        weight = term.weight * (VAGUE if term is asked.category else 1)
        whole += weight
        costs = (term.word in COSTS and _priced(one.text, language)) or contact(term.word, one.text)
        if (
            costs
            or (term.word in BILLS and TOTAL.match(one.text))
            or term.word == HOW.get(asked.measured)  # its kind is looked at below
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
        if term is asked.focus and likeness is not None:
            # A heading says of what, not who does it or which; and so do other lines of a record.
            placed = (not asked.category and above.says(term)) or (one.record and near.says(term))
            focus = max(like, AROUND if placed and term.word != asked.done else 0.0)
            if like < LEAST_FOCUS and _is_told_otherwise(asked, own, language):
                covered += OTHERWISE * weight
                itself += OTHERWISE * weight
                focus = 1.0
                continue
        share = around.share(term) if term.word != asked.done else 0.0
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
        if self.above.says(term):
            return AROUND
        elsewhere = self.dated if term.figure else not self.short
        if term.firm and not self.refers and elsewhere:
            return BESIDE if self.letterhead.says(term) and not term.figure else 0.0
        if self.paragraph.says(term):
            return AROUND if self.refers else IN_PARAGRAPH
        return BESIDE if self.passage.says(term) and not term.figure else 0.0


def _is_told_otherwise(asked: Question, own: Bag, language: str) -> bool:
    """Whether a sentence says everything but the verb, in a language whose words the model can't
    compare and whose stemmer doesn't know strong verbs: `hielt` and `gehalten`."""
    others = [term for term in asked.terms if term is not asked.focus and not term.generic]
    free = any(not term.firm for term in others)
    return language not in ("", "en") and free and len(others) > 1 and all(map(own.says, others))


def _name(uri: str) -> str:
    """What a file's own name says: `dentist` of dentist.ics, `giro 2024-11` of giro_2024-11.txt."""
    return re.sub(r"[_\W]+(?!\d)|(?<!\d)[_\W]+", " ", PurePosixPath(uri).stem)


def _letterhead(passage: Passage) -> str:
    """The first lines of a document, up to its first sentence: what it is, and whom it is about."""
    if passage.citation.index:
        return ""
    first, *others = blocks(passage.citation.text)[:MOST_IN_HEAD]
    short = takewhile(lambda lines: all(map(_is_of_head, lines)), others)
    return " ".join(line for lines in (first, *short) for line in lines)


def _is_of_head(line: str) -> bool:
    return len(line) <= LONGEST_OF_HEAD and line[-1] not in ".!?" and " | " not in line


def _signature(passage: Passage) -> str:
    """Whom "we" means in a message: the lines that close it."""
    last = blocks(passage.citation.text)[-1:]
    lines = last[0] if last and len(last[0]) > 1 else ()
    return " ".join(line for line in lines if len(line) <= LONGEST_SIGNED and line[-1] not in ".!?")


def _is_short(passage: Passage) -> bool:
    """A note or a few messages, of which every sentence is about the same."""
    return len(passage.text) <= SHORT


def _with_antecedent(one: Sentence) -> str:
    """A sentence with the question it answers, and with the sentence before it if it begins with a
    pronoun: "It smells of almonds." is about what that one names."""
    before = one.before if begins_with_pronoun(one.text) else ""
    return f"{one.lead} {before} {one.text}"


def _answers(asked: Question, one: _Candidate) -> tuple[float, str]:
    """How well a sentence contains what was asked for, 0 to 1, and the figure or date that does."""
    text, language = one.text, one.passage.language
    match asked.asks:
        case Asks.AMOUNT:
            return _amount(asked, one)
        case Asks.WHEN if asked.spans:
            end = until(text, language)
            return (1.0, end) if end else (0.0, "")
        case Asks.WHEN:
            told = (*times(text, language), *recurring(text))
            dates = [said for said in told if said not in asked.text]
            ordinal = grammar.ORDINAL.search(text) if "day" in asked.text.lower() else None
            if ordinal and not dates:
                dates.append(ordinal[0])
            return (1.0, " ".join(dates)) if dates else (0.0, "")
        case Asks.WHERE:
            places = grammar.PLACE.findall(text)
            known = set(words(asked.text))
            return (1.0, "") if any(fold(place) not in known for place in places) else (0.5, "")
        case Asks.WHY:
            return (1.0, "") if gives_reason(text, language) else (0.7, "")
        case Asks.WHO:
            return _names_someone(asked, one), ""
        case Asks.OTHER:
            wanted = [contact(term.word, text) for term in asked.terms]
            return (0.0, "") if "" in wanted else (1.0, next(filter(None, wanted), ""))
        case Asks.NAME:
            return (1.0 if _new_names(asked, text, language) else 0.0), ""
    return 1.0, ""


def _has_none(asked: Question, text: str) -> bool:
    """Whether a text says that there is none of what was asked about: "no rehearsal on Monday"
    doesn't say when there is one."""
    if asked.asks not in _EVENTS or grammar.DENIED.search(asked.text):
        return False
    denied = [bag(word, asked.language) for word in grammar.DENIED.findall(text)]
    return any(word.says(term) for word in denied for term in asked.terms)


def _new_names(asked: Question, text: str, language: str, *, placed: bool = True) -> list[str]:
    """Names of a text that the question doesn't have."""
    known = set(words(asked.text))
    return [n for n in names(text, language, placed=placed) if not set(words(n)) <= known]


def _names_someone(asked: Question, one: _Candidate) -> float:
    """Whether a sentence says who: by name, by role ("The captain"), or as its speaker. What the
    question names itself, such as its poison, is nobody new."""
    text, language = one.text, one.passage.language
    speaker = one.passage.speaker(text)
    if speaker is not None and is_first_person(text):
        known_already = set(words(speaker.author)) <= set(words(asked.text))
        return 0.0 if known_already and not _new_names(asked, text, language) else 1.0
    if _is_about_another(asked, text, language):
        return 0.0
    if _new_names(asked, text, language, placed=False):
        return 1.0
    if begins_with_pronoun(text):
        named = _new_names(asked, one.sentence.before, language, placed=False)
        return 0.9 if named else 0.0
    role = agent(text) or subject(text)
    known = bag(asked.text, asked.language)
    is_new = bool(role) and not any(
        known.says(Term(word, 1.0)) or word in function_words(language) for word in words(role)
    )
    return 0.9 if is_new else 0.0


def _is_about_another(asked: Question, text: str, language: str) -> bool:
    """Whether a sentence uses the verb of a who-question as a noun ("the poison takes six hours"),
    or says it of somebody else: "poisoned the ferryman" isn't who poisoned the inspector."""
    found = grammar.WHO_DID.match(asked.text.strip())
    if found is None:
        return False
    said, empty = words(text), function_words(language)
    (verb,) = stem([fold(found["verb"])], language or "en")
    places = [at for at, one in enumerate(stem(said, language or "en")) if one == verb]
    if places and all(at and said[at - 1] in DETERMINERS for at in places):
        return True
    if not found["what"] or bag(text, language).says(Term(fold(found["what"]), 1.0)):
        return False
    return any(
        said[at + 1] in DETERMINERS and said[at + 2] not in empty
        for at in places
        if at + 2 < len(said)
    )


def _amount(asked: Question, one: _Candidate) -> tuple[float, str]:
    """A year or another date is no amount, nor is by how much something changed, unless that was
    asked; and what is counted has no unit."""
    text, language = one.text, one.passage.language
    if asked.spans:
        end = until(text, language)
        return (1.0, end) if end or _measures_time(text, language) else (0.0, "")
    known = {term.word for term in asked.terms if term.figure}
    near = _counted(text, asked.counted, language) if asked.counted else ""
    if near and near not in known:
        return 1.0, near
    changed = CHANGED.search(text)
    if changed and not CHANGED.search(asked.text):
        text = text[: changed.start()]
    if asked.counted and bag(text, language).says(Term(asked.counted[0], 1.0)):
        return 0.0, ""  # it speaks of them and doesn't count them
    dates = {figure for said in times(text, language) for figure in figures(said, language)}
    plain = _CODE.sub(" ", text)
    found = [figure for figure in figures(plain, language) if figure not in known | dates]
    if not found or not _measures_as_asked(asked, text, language):
        return 0.0, ""
    if asked.focus and not asked.counted and _is_multiple(text, asked.focus, language):
        return 0.0, ""
    costs = [term for term in asked.terms if term.word in COSTS and not term.generic]
    if costs and not _priced(plain, language) and not bag(text, language).says(costs[0]):
        return 0.0, ""
    return (0.85 if asked.counted else 1.0), found[0]


def _is_multiple(text: str, term: Term, language: str) -> bool:
    """Whether a text speaks only of several of what was asked for: a deposit of "three rents"."""
    said = words(text)
    places = [at for at, word in enumerate(said) if bag(word, language).says(term)]
    return bool(places) and all(at and figures(said[at - 1], language) for at in places)


def _priced(text: str, language: str) -> bool:
    """Whether a text has an amount of money, one that is written as such (35.00), or a fee."""
    return (
        money(text, language)
        or bool(PRICE.search(text))
        or bool(FEES.search(text) and figures(text, language))
    )


def _measures_time(text: str, language: str) -> bool:
    kinds = {one.unit.dimension for one in quantities(text, language) if one.unit is not None}
    return bool(kinds & {"time", "months"})


def _measures_as_asked(asked: Question, text: str, language: str) -> bool:
    """Whether a text has what "how old" or "how heavy" asks for: years, or a weight."""
    wanted = DIMENSIONS.get(asked.measured)
    if wanted is None or any(_own(asked, text, language)):
        return True
    if wanted == "money":
        return _priced(text, language)
    kinds = {one.unit.dimension for one in quantities(text, language) if one.unit is not None}
    return not kinds.isdisjoint(wanted.split())


def _own(asked: Question, text: str, language: str) -> list[Term]:
    """Terms that name the measure itself: "weight" for "how heavy"."""
    said = bag(text, language)
    return [term for term in asked.terms if term.word == HOW[asked.measured] and said.says(term)]


def _counted(text: str, counted: Sequence[str], language: str) -> str:
    """The figure shortly before what is counted, or right after it."""
    said = words(text)
    for run in (tuple(counted), tuple(counted[:1])):
        for at in range(len(said) - len(run) + 1):
            if all(_same_noun(a, b) for a, b in zip(said[at:], run, strict=False)):
                near = figures(" ".join(said[max(0, at - 3) : at]), language)
                behind = figures(" ".join(said[at + len(run) : at + len(run) + 1]), language)
                if near or behind:
                    return near[-1] if near else behind[0]
    unit = next((one.unit for one in quantities(f"2 {counted[0]}", language)), None)
    like = [one.figure for one in quantities(text, language) if unit and one.unit == unit]
    if like:  # how many kilograms: 23 kg
        return like[0]
    head, _, tail = text.rpartition(":")  # "Eggs this week: seven."
    alone = figures(tail, language) if len(words(tail)) == 1 else []
    return alone[0] if alone and bag(head, language).says(Term(counted[0], 1.0)) else ""


def _same_noun(one: str, other: str) -> bool:
    return one.rstrip("s") == other.rstrip("s")


def _from_tables(asked: Question, reads: Sequence[Read]) -> list[Found]:
    if asked.asks is Asks.MOST:
        found = [one for read in reads if (one := read.most())]
    elif asked.asks is Asks.LIST:
        found = [one for read in reads if (one := read.column())]
        found = found or [one for read in reads for one in read.cells()]
    elif asked.asks is Asks.YES_NO:
        found = []
    else:
        found = [one for read in reads if asked.sums and (one := read.column())]
        found = found or [one for read in reads for one in read.cells()]
    return sorted(found, key=lambda one: (-round(one.fit, 6), one.passage.number))


def _may_list(asked: Question) -> bool:
    return asked.asks in (Asks.LIST, Asks.OTHER)


def _from_lists(
    asked: Question, passages: Sequence[Passage], likeness: Likeness
) -> tuple[Listing, Passage, float] | None:
    best: tuple[Listing, Passage, float] | None = None
    for passage in passages:
        place = passage.citation
        above = bag("\n".join((place.title, *place.headings)), passage.language)
        for listing in listings(passage):
            lead = bag(listing.lead, passage.language)
            within = bag("\n".join(listing.items), passage.language)
            led = covered = 0.0
            missing = False
            for term in asked.terms:
                if lead.says(term):
                    share = 1.0
                elif above.says(term):
                    share = AROUND
                elif term.firm and not within.says(term):
                    missing = True
                    break
                else:
                    share = likeness.between(term.word, (*lead.words, *above.words))
                led += term.weight * share
                covered += term.weight * max(share, 0.6 if within.says(term) else 0.0)
            if missing:
                continue
            head = next((term for term in asked.terms if not term.firm), None)
            items = [bag(item, passage.language) for item in listing.items]
            if head and not lead.says(head) and sum(item.says(head) for item in items) == 1:
                continue  # what was asked about is one of its items
            score = covered / asked.whole + (HEADED if head and lead.says(head) else 0.0)
            fits = led / asked.whole >= LEAST_LISTED / 2 and score >= LEAST_LISTED
            if fits and (best is None or score > best[2] + 0.02):
                best = (listing, passage, score)
    return best


def _chosen(
    asked: Question,
    found: Sequence[Found],
    best: Sequence[_Candidate],
    listed: tuple[Listing, Passage, float] | None,
) -> list[Picked]:
    sentence = best[0] if best else None
    instead = max(LEAST_INSTEAD, sentence.said + 0.1 if sentence else 0.0)
    if listed is not None and (asked.asks is Asks.LIST or listed[2] >= instead):
        listing, passage, score = listed
        column = found[0] if found and asked.asks is Asks.LIST else None
        if column is None or score >= column.said:
            items = "; ".join(item.rstrip(" .;,") for item in listing.items)
            lead = listing.lead.rstrip(" .:")
            return [Picked(f"{lead}: {items}", passage.number, score)]
    if found and (sentence is None or found[0].said >= sentence.said - 0.05):
        return _cells(asked, found, best)
    if sentence is None:
        return []
    if asked.asks is Asks.LIST and not sentence.value:
        counted = [int(figure) for figure in figures(sentence.text) if figure.isdigit()]
        more = (
            sentence.sentence.after[: counted[0]] if counted and counted[0] <= LONGEST_COUNT else ()
        )
        if more:
            text = " ".join((sentence.text, *more))
            return [Picked(text, sentence.passage.number, sentence.score)]
    return _quoted(asked, best)


def _cells(asked: Question, found: Sequence[Found], best: Sequence[_Candidate]) -> list[Picked]:
    first = found[0]
    picked = [Picked(first.text, first.passage.number, first.fit, value=first.value, cell=True)]
    same = [o for o in found[1:] if o.passage is first.passage and abs(o.fit - first.fit) < 1e-6]
    picked += [Picked(o.text, o.passage.number, o.fit) for o in same[:2] if o.text != first.text]
    if asked.asks in (Asks.MOST, Asks.LIST):
        return picked
    others = [(o.passage, o.fit >= 0.97 * first.fit, o.text, o.value, o.fit) for o in found[1:]]
    others += [
        (o.passage, bool(o.value) and o.said >= 0.85 * first.said, o.text, o.value, o.score)
        for o in best
    ]
    for passage, fits, text, value, score in others:
        elsewhere = passage.citation.document != first.passage.citation.document
        if elsewhere and _speak_of_others(first.passage, first.text, passage, text):
            continue
        figure = value if figures(value) else text
        if elsewhere and fits and differ(figure, first.value) and _same_subject(first.text, text):
            return [*picked, Picked(text, passage.number, score, True, value)]
    return picked


def _quoted(asked: Question, best: Sequence[_Candidate]) -> list[Picked]:
    first = best[0]
    picked = [_quote(asked, first, _yes_or_no(asked, first))]
    for one in best[1:]:
        elsewhere = one.passage.citation.document != first.passage.citation.document
        alike = one.said >= 0.95 * first.said and _same_subject(first.text, one.text)
        if elsewhere and alike and _disagree(asked, first, one):
            return [*picked, replace(_quote(asked, one, one.text), differs=True)]
    if first.value or asked.asks not in (Asks.OTHER, Asks.LIST):
        return picked
    chosen = [first]
    for one in best[1:]:
        if len(picked) == MOST or one.score < NEAR * first.score:
            break
        if not any(_alike(one.text, other.text) for other in chosen):
            picked.append(_quote(asked, one, one.text))
            chosen.append(one)
    return picked


def _quote(asked: Question, one: _Candidate, text: str) -> Picked:
    """With its speaker; and with the sentence before it, if that one says what a pronoun means."""
    before = one.sentence.before
    what = asked.asks in (Asks.WHO, Asks.OTHER, Asks.LIST) and refers_back(one.text)
    if what and 0 < len(before) <= LONGEST_BEFORE:
        text = f"{before} {text}"
    return Picked(
        text, one.passage.number, one.score, value=one.value, lead=_lead(one.passage, one.text)
    )


def _lead(passage: Passage, text: str) -> str:
    """Who said it and when: "nora, 2024-03-04 09:21"."""
    speaker = passage.speaker(text)
    if speaker is None:
        return ""
    iso = speaker.time[10:11] == "T"
    time = speaker.time[:16].replace("T", " ") if iso else speaker.time
    return ", ".join(part for part in (speaker.author, time) if part)


def _disagree(asked: Question, one: _Candidate, other: _Candidate) -> bool:
    """Whether two sentences give different answers."""
    if _speak_of_others(one.passage, one.text, other.passage, other.text):
        return False
    if asked.asks is Asks.WHEN:
        days, others = (dates(c.text, c.passage.language) for c in (one, other))
        if days or others:  # the year of a budget is no other day
            fit = any(a.fits(b) or b.fits(a) for a, b in product(days, others))
            return bool(days and others) and not fit
    if figures(one.value) and figures(other.value):
        return differ(one.value, other.value) and not shared(one.text, other.text)
    if one.value and other.value:
        return one.value != other.value
    # Without titles: the question says already that both are about the same.
    mine, theirs = (claims(c.text, c.passage.language) for c in (one, other))
    reasons = [(a, b, why) for a in mine for b in theirs if (why := disagreement(a, b))]
    return any(
        not why.startswith("numbers") or (_measures(a) and _measures(b)) for a, b, why in reasons
    )


def _speak_of_others(one: Passage, text: str, other: Passage, others: str) -> bool:
    """Whether no rule of `trivium contradictions` would compare their values."""
    pairs = product(_claims(one, text), _claims(other, others))
    return any(compare_others(a.statement, b.statement) for a, b in pairs)


def _measures(claim: Claim) -> bool:
    """Whether its numbers have units: "section 3" and "section 4" are two things."""
    return any(one.unit is not None for one in claim.numbers)


def _is_of_that_time(asked: Question, passage: Passage) -> bool:
    """Whether a passage or its title names the months and figures of the question: a balance in
    January is none of February's."""
    place = passage.citation
    said = bag(f"{place.title} {_name(place.uri)} {passage.text}", passage.language)
    known = months(asked.language)
    return all(said.says(t) for t in asked.terms if t.figure or (t.firm and t.word in known))


def _other_side(
    asked: Question,
    chosen: Sequence[Picked],
    best: Sequence[_Candidate],
    found: Sequence[Found],
    passages: Sequence[Passage],
    alike: Alike,
) -> list[Picked]:
    """The answer and the first sentence of another document that contradicts it in what was asked,
    by the rules of `trivium contradictions`; nothing if there is none."""
    wanted = _DIFFERS.get(asked.asks, ())
    if not wanted:
        return []
    if chosen[0].cell and found:
        source = found[0].passage
        answer = [row for row in _rows(source) if _is_cell(row, found[0])]
    elif best and best[0].text in chosen[0].text:
        source = best[0].passage
        answer = _claims(source, best[0].text)
    else:
        return []
    for passage in passages:
        if not answer or passage.citation.document == source.citation.document:
            continue
        if not _is_of_that_time(asked, passage):
            continue
        certain = _are_of_a_series(source, passage)
        said = [(one.text, _claims(passage, one.text)) for one in sentences(passage)]
        said += [(row.text, [row]) for row in _rows(passage)]
        for text, theirs in said:
            told = (disagreement(a, b, alike, certain=certain) for a, b in product(answer, theirs))
            if any(why.startswith(wanted) for why in told if why):
                lead = _lead(passage, text)
                other = Picked(text, passage.number, chosen[0].score, True, lead=lead)
                return [chosen[0], other]
    return []


def _rows(passage: Passage) -> list[Claim]:
    return [claim for claim in _claims(passage, passage.citation.text) if claim.statement.row]


def _is_cell(row: Claim, found: Found) -> bool:
    """Whether a claim is the cell that was found."""
    read = words(found.text)
    return set(row.statement.row.split()) <= {*read} and found.value in row.text


def _claims(passage: Passage, text: str) -> list[Claim]:
    place = passage.citation
    section = (place.headings or ("",))[-1]
    return claims(text, passage.language, place.title, section, passage.header)


def _are_of_a_series(one: Passage, other: Passage) -> bool:
    mine, theirs = ((p.citation.title, p.citation.text) for p in (one, other))
    return are_of_a_series(mine, theirs)


def _yes_or_no(asked: Question, one: _Candidate) -> str:
    """The sentence, after a yes or a no if it says all that was asked."""
    if asked.asks is not Asks.YES_NO or one.said < 0.95:
        return one.text
    language = one.passage.language
    opposite = denies(one.text, language) != denies(asked.text, language)
    return f"{verdict(asked.language, yes=not opposite)}: {one.text}"


def _same_subject(one: str, other: str) -> bool:
    """Whether two texts speak of the same thing, and not only of what the question names: they
    share a good part of the shorter one's words."""
    empty = function_words("en") | function_words("de")
    first, second = (
        {w for w in words(text) if w not in empty and not w.isdigit()} for text in (one, other)
    )
    return len(first & second) >= SAME_SUBJECT * max(1, min(len(first), len(second)))


def _alike(one: str, other: str) -> bool:
    first, second = set(words(one)), set(words(other))
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))
