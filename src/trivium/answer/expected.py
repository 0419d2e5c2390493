"""Whether a sentence holds the kind of answer that a question asks for: an amount, a day, a person,
a place, a reason.

Knows nothing of whether it speaks of what was asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answer.candidates import Candidate
from trivium.answer.question import Question, Term, bag
from trivium.text.lexicon import grammar
from trivium.text.lexicon.dates import Span, recurring, relative, span, times, until
from trivium.text.lexicon.grammar import DETERMINERS, function_words
from trivium.text.lexicon.measures import CHANGED, COSTS, DIMENSIONS, FEES, HOW, NUMBERS, PRICE
from trivium.text.lexicon.names import agent, contact, is_first_person, names, subject
from trivium.text.lexicon.quantities import figures, money, quantities
from trivium.text.lexicon.questions import Asks, begins_with_pronoun, gives_reason
from trivium.text.normalise import fold, words
from trivium.text.stems import stem

_CODE = re.compile(  # figures that count nothing: § 3, no. 12, MV-77120-4, 7b, 8841 2207
    r"(?i)(?:§§?|\bno\.|\bnr\.|#)\s?[\w-]*\d[\w-]*|\b[a-z]+-\d[\w-]*|\b[a-z]{1,2}\d+\b"
    r"|(?<![$€£\d.,])\d+[a-f]\b|\b\d+-\d{3,}\b|\b\d{4,}(?: \d{3,})+\b"
    # 14 Quarry Lane, Hauptstraße 14
    r"|\b\d{1,4} (?-i:[A-Z][\w’'-]+ ){1,3}(?-i:Lane|Street|Road|Avenue|Drive|Close|Square|St|Rd)\b"
    r"|(?:straße|strasse|str\.|gasse|weg|allee|platz)\s\d{1,4}\b"
)
_EVENTS = (Asks.WHEN, Asks.WHERE, Asks.WHO)
_FACTS = (*_EVENTS, Asks.WHY, Asks.AMOUNT, Asks.NAME)


def answers(question: Question, candidate: Candidate) -> tuple[float, str]:
    """How well a sentence contains what was asked for, 0 to 1, and the figure or date that does."""
    text, language = candidate.text, candidate.passage.language
    match question.asks:
        case Asks.AMOUNT:
            return _amount(question, candidate)
        case Asks.WHEN:
            moment = _when(question, text, language)
            return (1.0, moment) if moment else (0.0, "")
        case Asks.WHERE:
            places = grammar.PLACE.findall(text)
            question_words = set(words(question.text))
            return (
                (1.0, "")
                if any(fold(place) not in question_words for place in places)
                else (0.5, "")
            )
        case Asks.WHY:
            return (1.0, "") if gives_reason(text, language) else (0.7, "")
        case Asks.WHO:
            return _names_someone(question, candidate), ""
        case Asks.OTHER:
            wanted = [contact(term.word, text) for term in question.terms]
            numbered = any(term.generic and term.word in NUMBERS for term in question.terms)
            lacks = "" in wanted or (numbered and not figures(text, language))
            return (0.0, "") if lacks else (1.0, next(filter(None, wanted), ""))
        case Asks.LIST:
            if grammar.WHICH_NAMES.search(question.text) and not _new_names(
                question, text, language
            ):
                return 0.0, ""
            several = (
                grammar.SEVERAL.search(text) or candidate.sentence.after or figures(text, language)
            )
            return (1.0 if several else 0.7), ""
        case Asks.NAME:
            return (1.0 if _new_names(question, text, language) else 0.0), ""
    return 1.0, ""


def _when(question: Question, text: str, language: str) -> str:
    """The days and times of a text that the question doesn't have."""
    if question.spans:
        return until(text, language)
    moments = [*times(text, language), *recurring(text), *grammar.CLOCK.findall(text)]
    if not grammar.PAST.search(question.text):
        moments += relative(text)
    dates = [moment for moment in moments if moment not in question.text]
    ordinal = grammar.ORDINAL.search(text) if "day" in question.text.lower() else None
    if ordinal and not dates:
        dates.append(ordinal[0])
    return " ".join(dates)


def has_none(question: Question, text: str) -> bool:
    """Whether a text says that there is none of what was asked about, or that nobody knows: "no
    rehearsal on Monday" doesn't say when there is one."""
    if question.asks in _FACTS and grammar.UNKNOWN.search(text):
        return True
    if question.asks not in _EVENTS or grammar.DENIED.search(question.text):
        return False
    denied = [bag(word, question.language) for word in grammar.DENIED.findall(text)]
    return any(word.says(term) for word in denied for term in question.terms)


def _new_names(question: Question, text: str, language: str, *, placed: bool = True) -> list[str]:
    """Names of a text that the question doesn't have."""
    question_words = set(words(question.text))
    return [n for n in names(text, language, placed=placed) if not set(words(n)) <= question_words]


def _names_someone(question: Question, candidate: Candidate) -> float:
    """Whether a sentence says who: by name, by role ("The captain"), or as its speaker. What the
    question names itself, such as its poison, is nobody new."""
    text, language = candidate.text, candidate.passage.language
    speaker = candidate.passage.speaker(text)
    if speaker is not None and is_first_person(text):
        known_already = set(words(speaker.author)) <= set(words(question.text))
        return 0.0 if known_already and not _new_names(question, text, language) else 1.0
    if _is_about_another(question, text, language):
        return 0.0
    if _new_names(question, text, language, placed=False):
        return 1.0
    if begins_with_pronoun(text):
        named = _new_names(question, candidate.sentence.before, language, placed=False)
        return 0.9 if named else 0.0
    role = agent(text) or subject(text)
    in_question = bag(question.text, question.language)
    is_new = bool(role) and not any(
        in_question.says(Term(word, 1.0)) or word in function_words(language)
        for word in words(role)
    )
    return 0.9 if is_new else 0.0


def _is_about_another(question: Question, text: str, language: str) -> bool:
    """Whether a sentence uses the verb of a who-question as a noun ("the poison takes six hours"),
    or says it of somebody else: "poisoned the ferryman" isn't who poisoned the inspector."""
    match = grammar.WHO_DID.match(question.text.strip())
    if match is None:
        return False
    text_words, empty = words(text), function_words(language)
    (verb,) = stem([fold(match["verb"])], language or "en")
    places = [
        at for at, stemmed in enumerate(stem(text_words, language or "en")) if stemmed == verb
    ]
    if places and all(at and text_words[at - 1] in DETERMINERS for at in places):
        return True
    if not match["what"] or bag(text, language).says(Term(fold(match["what"]), 1.0)):
        return False
    return any(
        text_words[at + 1] in DETERMINERS and text_words[at + 2] not in empty
        for at in places
        if at + 2 < len(text_words)
    )


def _amount(question: Question, candidate: Candidate) -> tuple[float, str]:
    """A year or another date is no amount, nor is by how much something changed, unless that was
    asked; and what is counted has no unit."""
    text, language = candidate.text, candidate.passage.language
    if question.spans:
        end = until(text, language)
        return (1.0, end) if end or _measures_time(text, language) else (0.0, "")
    asked_figures = {term.word for term in question.terms if term.figure}
    near = _counted(text, question.counted, language) if question.counted else ""
    if near and near not in asked_figures:
        return 1.0, near
    changed = CHANGED.search(text)
    if changed and not CHANGED.search(question.text):
        text = text[: changed.start()]
    if question.counted and bag(text, language).says(Term(question.counted[0], 1.0)):
        return 0.0, ""  # it speaks of them and doesn't count them
    lasts = lasting_days(question, text, language)
    if lasts is not None:
        return 1.0, lasts.text
    dates = {figure for moment in times(text, language) for figure in figures(moment, language)}
    plain = _CODE.sub(" ", text)
    amounts = [figure for figure in figures(plain, language) if figure not in asked_figures | dates]
    if not amounts or not _measures_as_asked(question, text, language):
        return 0.0, ""
    if question.focus and not question.counted and _is_multiple(text, question.focus, language):
        return 0.0, ""
    costs = [term for term in question.terms if term.word in COSTS and not term.generic]
    if costs and not is_priced(plain, language) and not bag(text, language).says(costs[0]):
        return 0.0, ""
    return (0.85 if question.counted else 1.0), amounts[0]


def lasting_days(question: Question, text: str, language: str) -> Span | None:
    """The days from first to last in a text, for a question how long something lasts."""
    if question.asks is not Asks.AMOUNT or question.measured not in ("long", "lang", "lange"):
        return None
    if grammar.MOVED.search(text):  # from one day to another
        return None
    return span(text, language)


def is_computed(question: Question, candidate: Candidate) -> bool:
    """Whether the answer follows from the sentence's days, and isn't in its words."""
    lasts = lasting_days(question, candidate.text, candidate.passage.language)
    return lasts is not None and candidate.value == lasts.text


def _is_multiple(text: str, term: Term, language: str) -> bool:
    """Whether a text speaks only of several of what was asked for: a deposit of "three rents". Who
    asks what the rooms cost speaks of several, too."""
    clauses = [words(part) for part in re.split(r"[.;:](?=\s)", text)]
    places = [
        (clause, at)
        for clause in clauses
        for at, word in enumerate(clause)
        if bag(word, language).says(term)
    ]
    return bool(places) and all(
        at and figures(clause[at - 1], language) and not _is_the_same(clause[at], term)
        for clause, at in places
    )


def _is_the_same(word: str, term: Term) -> bool:
    """Whether a word is the question's own, in the plural."""
    return word == term.word and word.endswith(("s", "n"))


def is_priced(text: str, language: str) -> bool:
    """Whether a text has an amount of money, one that is written as such (35.00), or a fee."""
    return (
        money(text, language)
        or bool(PRICE.search(text))
        or bool(FEES.search(text) and figures(text, language))
    )


def _measures_time(text: str, language: str) -> bool:
    kinds = {
        quantity.unit.dimension
        for quantity in quantities(text, language)
        if quantity.unit is not None
    }
    return bool(kinds & {"time", "months"})


def _measures_as_asked(question: Question, text: str, language: str) -> bool:
    """Whether a text has what "how old" or "how heavy" asks for: years, or a weight."""
    wanted = DIMENSIONS.get(question.measured)
    if wanted is None or any(_own(question, text, language)):
        return True
    if wanted == "money":
        return is_priced(text, language)
    kinds = {
        quantity.unit.dimension
        for quantity in quantities(text, language)
        if quantity.unit is not None
    }
    return not kinds.isdisjoint(wanted.split())


def _own(question: Question, text: str, language: str) -> list[Term]:
    """Terms that name the measure itself: "weight" for "how heavy"."""
    in_text = bag(text, language)
    return [
        term
        for term in question.terms
        if term.word == HOW.get(question.measured) and in_text.says(term)
    ]


def _counted(text: str, counted: Sequence[str], language: str) -> str:
    """The figure shortly before what is counted, or right after it."""
    text_words = words(text)
    for run in (tuple(counted), tuple(counted[:1])):
        for at in range(len(text_words) - len(run) + 1):
            if all(_same_noun(a, b) for a, b in zip(text_words[at:], run, strict=False)):
                near = figures(" ".join(text_words[max(0, at - 3) : at]), language)
                behind = figures(" ".join(text_words[at + len(run) : at + len(run) + 1]), language)
                if near or behind:
                    return near[-1] if near else behind[0]
    unit = next((quantity.unit for quantity in quantities(f"2 {counted[0]}", language)), None)
    like = [
        quantity.figure for quantity in quantities(text, language) if unit and quantity.unit == unit
    ]
    if like:  # how many kilograms: 23 kg
        return like[0]
    head, _, tail = text.rpartition(":")  # "Eggs this week: seven."
    alone = figures(tail, language) if len(words(tail)) == 1 else []
    return alone[0] if alone and bag(head, language).says(Term(counted[0], 1.0)) else ""


def _same_noun(word: str, other: str) -> bool:
    return word.rstrip("s") == other.rstrip("s")
