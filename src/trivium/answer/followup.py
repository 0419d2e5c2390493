"""Makes a follow-up stand alone by rules: "how much does it weigh?", "and in 2021?", "the second
one". The words of each language are the lexicon's; the order of words is English. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.core.answers import Turn
from trivium.text.lexicon import questions
from trivium.text.lexicon.grammar import ORDINALS, VERB
from trivium.text.normalise import words
from trivium.text.stems import stop_words

TURNS = 4  # a follow-up refers to something said just now
LONGEST_ITEM = 6  # words of an item that "the second one" may mean
_PREPOSITION = rf"(?:{questions.PLACES})"
_GOES_ON = re.compile(
    rf"^[¿\s]*(?:(?:{questions.AND})\s+)?(?:{questions.ABOUT}|{questions.AND})\b[,:]?\s*", re.I
)
_IT = re.compile(
    rf"(?:-(?:t-)?)?\b(?:it|this|that one|this one|them|they|these|those|{questions.PRONOUNS})\b"
    r"(?!\s*(?:true|possible|raining)\b)",
    re.I,
)
_ITS = re.compile(r"\b(?:its|their)\b", re.I)
_PERSON = re.compile(r"\b(?:he|she|him|they|them|er)\b", re.I)
_PERSONS = re.compile(r"\b(?:his|hers|her)\b", re.I)
_THERE = re.compile(r"\bthere\b(?!\s+(?:is|are|was|were)\b)(?<!is there)(?<!are there)", re.I)
_ONE = re.compile(rf"\bthe (?P<which>{'|'.join(ORDINALS)}|last) (?:one|of them|item|point)\b", re.I)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_NAMED = re.compile(
    rf"(?<=\s)(?:(?:{questions.ARTICLES}|project|Project) )?[A-ZÄÖÜ][\w’'-]*"
    r"(?: (?:of |the )?[A-ZÄÖÜ0-9][\w’'-]*)*"
)
_NOUN = re.compile(
    rf"(?i)\b(?:{questions.ARTICLES})\s+(?:(?!{VERB[2:-2]}|{_PREPOSITION})\b[\w’'-]+\s*){{1,4}}"
)
_OF = re.compile(
    r"\b(?:of|von|for)\s+((?:(?:a|an|the|das|der|die)\s+)?[\w’'-]+(?:\s(?!(?:in|at|on|for|from|by|with|does|do|did|is|are|was|were|has|have|cost)\b)[\w’'-]+){0,3})\s*\??$",
    re.I,
)
_WHAT_OF = re.compile(r"^(?:and\s+)?(?:what|which|how|was|wie)\b", re.I)
_ONLY = re.compile(rf"^(?:{questions.ALONE})\W*$", re.I)
_ASKED = re.compile(
    rf"^[¿\s]*(?:{questions.ALONE}|what|was|welche\w*|que|qué|che|vad|hvad)\b", re.I
)
_MEASURED = re.compile(  # of "What were Space Systems' net sales in 2011"
    r"(?:[’']s|s[’']) (?P<what>(?:(?!(?:in|at|for|of|from|on)\b)[\w-]+ ?)+)"
)
_PASSIVE = re.compile(
    r"^(?:and )?(?:where|when|why|how)\b.*\b(?:was|were|is|are|did|has|have)\b", re.I
)
_ROW = re.compile(r"(?P<row>[^:.\n]{1,90}), [^,:.\n]{1,60}: ")
_WHO = re.compile(r"^(?:and\s+)?(?:who|whom|wer)\b", re.I)


def stand_alone(question: str, history: Sequence[Turn]) -> str:
    """The question with names in place of words that refer to earlier turns; unchanged if nothing
    does."""
    standing, answer, listing = "", "", ""
    for turn in history[-TURNS:]:
        standing = _resolved(turn.question, standing, answer, listing)
        answer = turn.answer
        listing = answer if _item(answer, "second") else listing
    return _resolved(question, standing, answer, listing)


def _resolved(question: str, before: str, answer: str, listing: str) -> str:
    """`listing`: the last answer that lists several things."""
    question = question.strip()
    if not before:
        return question
    numbered = _ONE.search(question)
    if numbered:
        which = numbered["which"].lower()
        item = _item(answer, which) or _item(listing, which)
        if item:
            question = question[: numbered.start()] + item + question[numbered.end() :]
            if not _GOES_ON.match(question):
                return _tidy(question)
    begun = _GOES_ON.match(question)
    rest = question[begun.end() :].rstrip(" ?") if begun else question
    if begun and rest and not re.search(VERB, rest, re.I) and not _ASKED.match(rest):
        return _tidy(_in_its_place(rest, before))
    if _ONLY.match(rest) and _ASKED.match(before):  # "When?"
        return _tidy(_ASKED.sub(rest.rstrip(" ?").lower(), before, count=1))
    topic = _row(answer, before) or _topic(before)
    person = _who(answer, before) if _WHO.match(before) else topic
    text = rest if begun else question
    replaced = (
        _PERSONS.sub(f"{person}'s", _PERSON.sub(person, text))
        if person and not _IT.search(text)
        else text
    )
    if topic:
        replaced = _IT.sub(f" {topic}", _ITS.sub(f"{topic}'s", replaced))
        replaced = _THERE.sub(f"in {topic}", replaced)
    if replaced != text:
        return _tidy(replaced)
    content = [w for w in words(text) if w not in stop_words("en")]
    if len(content) < 2 and topic and not set(words(topic)) <= set(words(text)):
        return f"{text.rstrip(' ?')} of {topic}?" if content else f"{before.rstrip(' ?')}, {text}"
    return text


def _in_its_place(rest: str, before: str) -> str:
    """The previous question, with `in 2021` or `a greatsword` in place of its counterpart."""
    match = re.match(rf"({_PREPOSITION})\s", rest, re.I)
    year = _YEAR.search(rest)
    if year and _YEAR.search(before):
        return _YEAR.sub(year[0], before, count=1)
    if match:
        pattern = rf"\b{match[1]}\s+(?:(?!{_PREPOSITION}\b|{VERB[2:-2]})[\w’'.-]+\s*)+"
        like = list(re.finditer(pattern, before, re.I))
        same = [m for m in like if bool(re.search(r"\d", m[0])) == bool(re.search(r"\d", rest))]
        if same or like:
            spot = (same or like)[-1]
            return f"{before[: spot.start()]}{rest} {before[spot.end() :]}"
        return f"{before.rstrip(' ?')} {rest}?"
    owned = _MEASURED.search(before.rstrip(" ?"))
    if owned and re.match(r"(?:the|its|their) [a-z]", rest):  # and the operating profit
        measure = rest.partition(" ")[2]
        return f"{before[: owned.start('what')]}{measure} {before[owned.end('what') :]}"
    topic = _topic(before)
    if topic and topic in before:
        return before.replace(topic, rest, 1)
    return f"{before.rstrip(' ?')}, {rest}?"


def _topic(question: str) -> str:
    """What a question is about: "fireball" of "what is the range of fireball?"."""
    plain = question.rstrip(" ?")
    of = _OF.search(plain)
    if of and _WHAT_OF.match(question):
        return of[1].strip()
    nouns = [m[0].strip() for m in _NOUN.finditer(plain)]
    if nouns and _PASSIVE.match(plain) and plain.endswith(nouns[-1]) and nouns[-1].count(" ") > 1:
        nouns[-1] = nouns[-1].rsplit(" ", 1)[0]  # where was the crown found: the last is a verb
    if of and nouns:  # where is the harbour of Port Amble
        return f"{nouns[-1] if of[1] not in nouns[-1] else nouns[0]} of {of[1]}"
    named = [m[0].strip() for m in _NAMED.finditer(plain)]
    if named:
        return named[-1].removesuffix("’s").removesuffix("'s")
    if nouns:
        return nouns[-1]
    content = [w for w in words(plain) if w not in stop_words("en")]
    return content[-1] if content else ""


def _row(answer: str, question: str) -> str:
    """The row of a table that the answer to a question was about, if the question didn't name it:
    `Pump housing` of "Pump housing, Lead time: 11 weeks, the highest of 3"."""
    match = _ROW.match(answer)
    named = match["row"].strip() if match else ""
    question_words = set(words(question))
    # One part may be the group of rows: "Martial weapons, Longsword".
    return "" if any(set(words(part)) <= question_words for part in named.split(", ")) else named


def _who(answer: str, question: str) -> str:
    """A person that the answer names and the question doesn't."""
    question_words = set(words(question))
    for match in re.finditer(r"(?<=\s)[A-ZÄÖÜ][\w’'-]+(?: [A-ZÄÖÜ][\w’'-]+)*", answer):
        if not set(words(match[0])) <= question_words:
            return match[0]
    return _topic(question)


def _item(answer: str, which: str) -> str:
    """The second of the things that an answer lists."""
    body = answer.partition(": ")[2] or answer
    items = [item.strip(" .") for item in re.split(r";|\n", body) if item.strip(" .")]
    if len(items) < 2:
        items = [item.strip(" .") for item in re.split(r",| and ", body) if item.strip(" .")]
    at = -1 if which == "last" else ORDINALS.index(which)
    if len(items) < 2 or at >= len(items):
        return ""
    short = re.split(r"[,:(.]|\s[-–]\s", re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s*", "", items[at]))[0]
    return " ".join(short.split()[:LONGEST_ITEM])


def _tidy(text: str) -> str:
    text = " ".join(text.split()).replace(" ?", "?")
    text = text[:1].upper() + text[1:]
    return text if text.endswith("?") else f"{text}?"
