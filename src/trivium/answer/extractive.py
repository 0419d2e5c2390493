"""An answer without a language model, in the documents' own words: the cell of a table whose row
and column the question names, the items of a list, or the sentence that fits best.

What does not say what the question is about, or holds no answer of its kind, is no answer: then
nothing is picked. Knows nothing of how passages were found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from trivium.answer.candidates import Candidate, Picked, in_place, lead_of, spoken, whereabouts
from trivium.answer.cells import TableAnswer, TableReading
from trivium.answer.confidence import Evidence, confidence, is_sure
from trivium.answer.coverage import (
    AROUND,
    LEAST_FOCUS,
    coverage_of,
    letterheads,
    says_all,
    says_more,
)
from trivium.answer.differing import disagree, other_side, speak_of_others
from trivium.answer.expected import answers, has_none, is_computed, lasting_days
from trivium.answer.likeness import Likeness, WordVectors
from trivium.answer.passages import Passage
from trivium.answer.question import Question, bag
from trivium.answer.question import read as read_question
from trivium.answer.reading import LANGUAGE, MOST_READ, InText, chances
from trivium.answer.statements import NOTHING_SAID, Before
from trivium.answer.structure import Listing, Table, listings, sentences, tables
from trivium.answer.support import Nearness, Words
from trivium.ports import Embedder, ReadingEmbedder
from trivium.text.languages import detect_language
from trivium.text.lexicon import grammar
from trivium.text.lexicon.grammar import function_words
from trivium.text.lexicon.negation import denies
from trivium.text.lexicon.quantities import differ, figures
from trivium.text.lexicon.questions import (
    VERDICTS,
    Asks,
    is_asked,
    lasting,
    refers_back,
    verdict,
)
from trivium.text.normalise import words

MOST_COMPARED = 40  # sentences by meaning, the best by words; 25 tokens each take .3 s on 2 cores
MOST_LIKE = 10  # of these, sentences whose words are compared one by one
WORDS, RANK = 0.4, 0.1  # the weight of each for the choice of the sentences to compare
LEAST_SAID = 0.6  # share of a question's terms, by weight, in a sentence and its headings
KIND, PLACE = 0.3, 0.3  # what the kind of answer and the first passage add to it, to be read
SURE_DESPITE = 0.5  # how sure a sentence must be where every match is weak
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
_VERDICT = re.compile(rf"({'|'.join(sorted(VERDICTS))}): ")


class Extractor:
    """Picks answers for one caller."""

    def __init__(self, embedder: Embedder, measure: Words, word_vectors: WordVectors) -> None:
        self._embedder = embedder
        self._measure = measure
        self._word_vectors = word_vectors

    def pick(
        self, question: str, passages: Sequence[Passage], before: Before = NOTHING_SAID
    ) -> list[Picked]:
        """Nothing if no passage has an answer. `before`: earlier answers; none of their sentences
        is repeated."""
        language = detect_language(question) or (passages[0].language if passages else "")
        parsed = read_question(question, language, self._measure.rarities)
        if not parsed.terms:
            return []
        likeness = Likeness(self._embedder, self._word_vectors)
        found_tables = _whole([(p, table) for p in passages for table in tables(p)])
        found_tables = _joined(found_tables) if parsed.sums else found_tables
        reads = [TableReading(table, parsed, passage, likeness) for passage, table in found_tables]
        likeness.learn(self._vocabulary(parsed, passages, reads))
        table_answers = _from_tables(parsed, reads)
        table_answers = [answer for answer in table_answers if not before.says(answer.text)]
        best = self._sentences(parsed, passages, likeness, before)
        lists = _from_lists(parsed, passages, likeness) if _may_list(parsed) else None
        chosen = _chosen(parsed, table_answers, best, lists)
        if chosen and not any(picked.differs for picked in chosen):
            alike = Nearness(self._embedder).alike
            chosen = other_side(parsed, chosen, best, table_answers, passages, alike) or chosen
        shortened = [(picked, _not_again(parsed, picked, before)) for picked in chosen]
        whole = [new for old, new in shortened if new is old]
        return whole or [new for _, new in shortened if new is not None]

    def pick_of_weak(
        self, question: str, passages: Sequence[Passage], before: Before
    ) -> list[Picked]:
        """The sentence that answers although every match is weak: "is smoking allowed" has one of
        two words in common with "Smoking is not permitted". It is surer than others must be; no
        table and no list counts."""
        language = detect_language(question) or (passages[0].language if passages else "")
        parsed = read_question(question, language, self._measure.rarities)
        if not parsed.terms:
            return []
        likeness = Likeness(self._embedder, self._word_vectors)
        likeness.learn(self._vocabulary(parsed, passages, []))
        best = [
            candidate
            for candidate in self._sentences(parsed, passages, likeness, before)
            if candidate.score >= SURE_DESPITE
        ]
        return _quoted(parsed, best[:1]) if best else []

    def keywords(self, question: str) -> str:
        """What a question is about, as words to search for: `longsword weight` finds the table that
        "How much does a longsword weigh?" misses."""
        parsed = read_question(question, detect_language(question), self._measure.rarities)
        return " ".join(term.word for term in parsed.terms)

    def _vocabulary(
        self, question: Question, passages: Sequence[Passage], reads: Sequence[TableReading]
    ) -> list[str]:
        soft = [term.word for term in question.terms if not term.firm]
        if not soft:
            return []
        vocabulary = list(soft)
        for reading in reads:
            vocabulary += words(" ".join((*reading.table.names, reading.table.caption)))
        for passage in passages:
            vocabulary += words(" ".join((passage.citation.title, *passage.citation.headings)))
        return vocabulary

    def _sentences(
        self, question: Question, passages: Sequence[Passage], likeness: Likeness, before: Before
    ) -> list[Candidate]:
        """The sentences that answer, the likeliest first."""
        sure_ones: list[Candidate] = []
        for candidate, evidence in self.evidence(question, passages, likeness):
            sure = confidence(evidence) * (AGAIN if before.says(candidate.text) else 1)
            # A list of something says of what: otherwise it is another list.
            named = question.asks is not Asks.LIST or evidence.focus >= LEAST_FOCUS
            if is_sure(sure, evidence) and named:
                sure_ones.append(replace(candidate, score=sure))
        return sorted(sure_ones, key=lambda candidate: -candidate.score)

    def evidence(
        self, question: Question, passages: Sequence[Passage], likeness: Likeness
    ) -> list[tuple[Candidate, Evidence]]:
        """The sentences that may answer, and what speaks for each."""
        first: dict[str, Candidate] = {}
        heads = letterheads(passages)
        for passage in passages:
            for each in sentences(passage):
                if (
                    each.text in first
                    or each.text.endswith(("?", ":"))  # it asks, or leads to what follows
                    or (is_asked(each.text) and passage.speaker(each.text) is not None)
                    or (each.text.startswith("[") and each.text.endswith("]"))  # a picture
                    or not says_more(question, each.text)
                ):
                    continue
                head = heads.get(passage.citation.document, "")
                coverage = coverage_of(question, each, passage, head, None).said
                score = WORDS * coverage + RANK / passage.number
                first[each.text] = Candidate(each, passage, coverage, score)
        best = sorted(first.values(), key=lambda candidate: -candidate.score)[:MOST_COMPARED]
        empty = function_words(question.language)
        unsure = [candidate for candidate in best[:MOST_LIKE] if not says_all(question, candidate)]
        likeness.learn(w for candidate in unsure for w in words(candidate.text) if w not in empty)
        rated: list[tuple[Candidate, Evidence]] = []
        for candidate in best:
            head = heads.get(candidate.passage.citation.document, "")
            evidence = coverage_of(question, candidate.sentence, candidate.passage, head, likeness)
            has_some = not has_none(question, candidate.text)
            kind, value = answers(question, candidate) if has_some else (0.0, "")
            rank = 1 / candidate.passage.number
            evidence = replace(evidence, near=evidence.said, kind=kind, rank=rank)
            rated.append((replace(candidate, said=evidence.said, kind=kind, value=value), evidence))
        return self._read(question, rated) or self._compared(question, _able(rated))

    def _compared(
        self, question: Question, some: list[tuple[Candidate, Evidence]]
    ) -> list[tuple[Candidate, Evidence]]:
        """With their nearness in meaning, if the model tells it."""
        texts = {at: [in_place(candidate)] for at, (candidate, _) in enumerate(some)}
        meaning = Nearness(self._embedder).nearest([question.text], texts) if some else None
        if meaning is None:
            return some
        return [
            (candidate, replace(evidence, near=max(0.0, meaning[question.text, at])))
            for at, (candidate, evidence) in enumerate(some)
        ]

    def _read(
        self, question: Question, rated: Sequence[tuple[Candidate, Evidence]]
    ) -> list[tuple[Candidate, Evidence]]:
        """Those in the likeliest stretches of text, read; none if there is no reader for the
        language. How long something lasts by its days is computed: no reader knows."""
        if not isinstance(self._embedder, ReadingEmbedder) or question.language != LANGUAGE:
            return []
        # A name or figure of the question that nothing near a sentence says rules that out.
        likely = [pair for pair in rated if pair[1].said]
        likely.sort(key=lambda pair: -_promise(pair[1]))
        texts = [
            InText(spoken(candidate), candidate.passage.text, whereabouts(candidate))
            for candidate, _ in likely
        ]
        answer_chances = chances(self._embedder, question.text, texts, MOST_READ)
        if answer_chances is None:
            return []
        computed = [pair for pair in _able(rated) if is_computed(question, pair[0])]
        reached = [
            (candidate, replace(evidence, read=chance))
            for (candidate, evidence), chance in zip(likely, answer_chances, strict=True)
            if chance is not None and not any(candidate is pair[0] for pair in computed)
        ]
        return self._compared(question, [*computed, *reached])


def _promise(evidence: Evidence) -> float:
    """What is worth reading: the share of the question's terms first."""
    return evidence.said + KIND * (evidence.kind > 0) + PLACE * evidence.rank


def _able(rated: Sequence[tuple[Candidate, Evidence]]) -> list[tuple[Candidate, Evidence]]:
    """Those that say enough of the question, and hold the kind of answer that it asks for."""
    return [pair for pair in rated if pair[0].kind and pair[1].said >= LEAST_SAID]


def _whole(found_tables: Sequence[tuple[Passage, Table]]) -> list[tuple[Passage, Table]]:
    """Tables that continue from another passage, with the units from above their beginning."""
    begun = {(p.citation.document, t.names): t.units for p, t in found_tables if any(t.units)}
    return [
        (p, replace(t, units=begun.get((p.citation.document, t.names), ()))) if p.header else (p, t)
        for p, t in found_tables
    ]


def _joined(found_tables: Sequence[tuple[Passage, Table]]) -> list[tuple[Passage, Table]]:
    """The parts of one table in several passages, as one, with every row once."""
    parts: dict[tuple[int, tuple[str, ...]], list[tuple[Passage, Table]]] = {}
    for passage, table in found_tables:
        parts.setdefault((passage.citation.document, table.names), []).append((passage, table))
    joined = []
    for some in parts.values():
        some.sort(key=lambda pair: pair[0].citation.index)
        rows = [row for _, table in some for row in table.rows]
        joined.append((some[0][0], replace(some[0][1], rows=tuple(rows))))
    return joined


def _not_again(question: Question, picked: Picked, before: Before) -> Picked | None:
    """Don't repeat what was said before: of such a sentence, only the part that answers. For a
    yes-or-no question, `Yes` alone will do."""
    verdict, body = _VERDICT.match(picked.text), picked.text
    if verdict:
        body = picked.text[verdict.end() :]
    if not before.says(body):
        return picked
    parts = [part.strip(" ,;:.") for part in grammar.CLAUSE.split(body)]
    bags = [bag(part, "") for part in parts]
    focus = (question.focus,) if question.focus else ()

    named = [term for term in question.terms if term.firm]

    def says(at: int) -> tuple[int, ...]:
        """A name first, except in the first part: whom that one names, the others may mean."""
        some = (named if at else (), focus, question.terms)
        return *(sum(map(bags[at].says, terms)) for terms in some), -at

    most = max(range(len(parts)), key=says)
    if verdict:
        return replace(picked, text=f"{verdict[1]}.")
    shorter = len(parts) > 1 and any(map(bags[most].says, question.terms))
    return replace(picked, text=parts[most]) if shorter else None


def _from_tables(question: Question, reads: Sequence[TableReading]) -> list[TableAnswer]:
    if question.asks is Asks.MOST:
        table_answers = [answer for reading in reads if (answer := reading.most())]
    elif question.asks is Asks.LIST:
        table_answers = [answer for reading in reads if (answer := reading.column())]
        table_answers = table_answers or [answer for reading in reads for answer in reading.cells()]
    elif question.asks is Asks.YES_NO:
        table_answers = []
    else:
        table_answers = [
            answer for reading in reads if question.sums and (answer := reading.column())
        ]
        table_answers = table_answers or [answer for reading in reads for answer in reading.cells()]
        if question.asks is Asks.OTHER:
            table_answers = table_answers or [
                answer for reading in reads if (answer := reading.row())
            ]
    return sorted(table_answers, key=lambda answer: (-round(answer.fit, 6), answer.passage.number))


def _may_list(question: Question) -> bool:
    return question.asks in (Asks.LIST, Asks.OTHER)


def _from_lists(
    question: Question, passages: Sequence[Passage], likeness: Likeness
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
            for term in question.terms:
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
            head = next((term for term in question.terms if not term.firm), None)
            items = [bag(item, passage.language) for item in listing.items]
            if head and not lead.says(head) and sum(item.says(head) for item in items) == 1:
                continue  # what was asked about is one of its items
            score = covered / question.whole + (HEADED if head and lead.says(head) else 0.0)
            fits = led / question.whole >= LEAST_LISTED / 2 and score >= LEAST_LISTED
            if fits and (best is None or score > best[2] + 0.02):
                best = (listing, passage, score)
    return best


def _chosen(
    question: Question,
    table_answers: Sequence[TableAnswer],
    best: Sequence[Candidate],
    listed: tuple[Listing, Passage, float] | None,
) -> list[Picked]:
    sentence = best[0] if best else None
    instead = max(LEAST_INSTEAD, sentence.said + 0.1 if sentence else 0.0)
    if listed is not None and (question.asks is Asks.LIST or listed[2] >= instead):
        listing, passage, score = listed
        column = table_answers[0] if table_answers and question.asks is Asks.LIST else None
        if column is None or score >= column.said:
            items = "; ".join(item.rstrip(" .;,") for item in listing.items)
            lead = listing.lead.rstrip(" .:")
            return [Picked(f"{lead}: {items}", passage.number, score)]
    if table_answers and (sentence is None or table_answers[0].said >= sentence.said - 0.05):
        return _cells(question, table_answers, best)
    if sentence is None:
        return []
    if question.asks is Asks.LIST and not sentence.value:
        counted = [int(figure) for figure in figures(sentence.text) if figure.isdigit()]
        more = (
            sentence.sentence.after[: counted[0]] if counted and counted[0] <= LONGEST_COUNT else ()
        )
        if more:
            text = " ".join((sentence.text, *more))
            return [Picked(text, sentence.passage.number, sentence.score)]
    return _quoted(question, best)


def _cells(
    question: Question, table_answers: Sequence[TableAnswer], best: Sequence[Candidate]
) -> list[Picked]:
    first = table_answers[0]
    picked = [Picked(first.text, first.passage.number, first.fit, value=first.value, cell=True)]
    same = [
        o for o in table_answers[1:] if o.passage is first.passage and abs(o.fit - first.fit) < 1e-6
    ]
    picked += [Picked(o.text, o.passage.number, o.fit) for o in same[:2] if o.text != first.text]
    if question.asks in (Asks.MOST, Asks.LIST):
        return picked
    others = [
        (o.passage, o.fit >= 0.97 * first.fit, o.text, o.value, o.fit) for o in table_answers[1:]
    ]
    others += [
        (o.passage, bool(o.value) and o.said >= 0.85 * first.said, o.text, o.value, o.score)
        for o in best
    ]
    for passage, fits, text, value, score in others:
        elsewhere = passage.citation.document != first.passage.citation.document
        if elsewhere and speak_of_others(first.passage, first.text, passage, text):
            continue
        figure = value if figures(value) else text
        if elsewhere and fits and differ(figure, first.value) and _same_subject(first.text, text):
            return [*picked, Picked(text, passage.number, score, True, value)]
    return picked


def _quoted(question: Question, best: Sequence[Candidate]) -> list[Picked]:
    first = best[0]
    picked = [_quote(question, first, first.text, _result(question, first))]
    for candidate in best[1:]:
        elsewhere = candidate.passage.citation.document != first.passage.citation.document
        alike = candidate.said >= 0.95 * first.said and _same_subject(first.text, candidate.text)
        if elsewhere and alike and disagree(question, first, candidate):
            return [*picked, replace(_quote(question, candidate, candidate.text), differs=True)]
    if first.value or question.asks not in (Asks.OTHER, Asks.LIST):
        return picked
    chosen = [first]
    for candidate in best[1:]:
        if len(picked) == MOST or candidate.score < NEAR * first.score:
            break
        if not any(_alike(candidate.text, other.text) for other in chosen):
            picked.append(_quote(question, candidate, candidate.text))
            chosen.append(candidate)
    return picked


def _quote(question: Question, candidate: Candidate, text: str, result: str = "") -> Picked:
    """With its speaker, and what follows from it before both; and with the sentence before it, if
    that one says what a pronoun means."""
    before = candidate.sentence.before
    may_refer = question.asks in (Asks.WHO, Asks.OTHER, Asks.LIST) and refers_back(candidate.text)
    if may_refer and 0 < len(before) <= LONGEST_BEFORE:
        text = f"{before} {text}"
    lead = lead_of(candidate.passage, candidate.text)
    parts = [part for part in (result, lead or text) if part]
    return Picked(
        text if lead else ": ".join(parts),
        candidate.passage.number,
        candidate.score,
        value=candidate.value,
        lead=": ".join(parts) if lead else "",
    )


def _result(question: Question, candidate: Candidate) -> str:
    """What follows from the sentence: a yes or a no, or how long a span of days is."""
    lasts = lasting_days(question, candidate.text, candidate.passage.language)
    if lasts is not None and lasts.text == candidate.value:
        about = f"{question.text} {candidate.text}"
        return lasting(lasts.nights, about, question.language)
    return _yes_or_no(question, candidate)


def _yes_or_no(question: Question, candidate: Candidate) -> str:
    """A yes or a no if the sentence says all that was asked."""
    if question.asks is not Asks.YES_NO or candidate.said < 0.95:
        return ""
    language = candidate.passage.language
    opposite = denies(candidate.text, language) != denies(question.text, language)
    return verdict(question.language, yes=not opposite)


def _same_subject(sentence: str, other: str) -> bool:
    """Whether two texts speak of the same thing, and not only of what the question names: they
    share a good part of the shorter one's words."""
    empty = function_words("en") | function_words("de")
    first, second = (
        {w for w in words(text) if w not in empty and not w.isdigit()} for text in (sentence, other)
    )
    return len(first & second) >= SAME_SUBJECT * max(1, min(len(first), len(second)))


def _alike(sentence: str, other: str) -> bool:
    first, second = set(words(sentence)), set(words(other))
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))
