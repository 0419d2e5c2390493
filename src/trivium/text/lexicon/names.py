"""Names in a text: capitalised words that no rule of spelling explains. Pure."""

from __future__ import annotations

import re
from functools import cache

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon.words import lexicon
from trivium.text.normalise import fold
from trivium.text.stems import stop_words

_NAME = re.compile(
    r"[A-ZÀ-ÖØ-ÞА-Я][\w’'.-]*(?:\s+(?:(?:von|van|de|der|di|da|al|bin)\s+)?[A-ZÀ-ÖØ-ÞА-Я][\w’'-]*)*"
)
_PLACED = re.compile(
    r"\b(?:in|at|from|near|to|into|of|via|beside|bei|im|nach|aus|à|en|dans|desde|da|em|te|naar|i|på)"
    r"\s+(?:the\s+|der\s+|la\s+|le\s+)?$",
    re.I,
)
_ROLE = re.compile(
    r"(?:the|an?|each|every|our|my|your|their|der|die|das|ein|eine|jeder?|le|la|les|l[’']|une?|el"
    r"|los|las|il|lo|gli|uno|una|os?|as?|um|uma|de|het|een|en|ett|den|det)\s*"
    r"(?P<noun>[^\W\d_][\w-]*)(?:\s+(?P<next>[^\W\d_][\w-]*))?",
    re.I,
)
_FIRST = re.compile(  # but no request: "Call the manager"
    r"(?P<noun>[^\W\d_]+)(?!\s+(?:the|an?|your|our|my|all|der|die|das|den|ein|einen|eine)\b)\b"
)
_BY = re.compile(
    r"\b(?:by|von|vom|durch|par|por|da|dal|door|av|af)\s+"
    r"(?:the\s|an?\s|de[mnr]\s|eine[mr]\s|le\s|la\s|el\s)?"
    r"(?P<noun>[^\W\d_][\w-]*)",
    re.I,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|I[’'](?:ll|m|ve|d)|(?i:we|we[’'](?:ll|re|ve)|my|ich|wir|je|j[’']|nous|yo|nosotros|io|noi"
    r"|eu|nós|ik|wij|jag|vi|jeg))\b"
)
PHONE = re.compile(  # no date
    r"(?<![\d./:-])(?!\d\d?[./-]\d\d?[./-]\d{2})(?:\+|\(0|0)\d[\d ()/.-]{4,}\d"
    r"|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b"
)
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_NO_FAX = (PHONE, re.compile(r"\bfax", re.I))
_FAX = (PHONE, re.compile(r"^(?!.*\bfax)", re.I))
_MAIL = (EMAIL, re.compile(r"$^"))
_CONTACTS = {  # by the words that ask for them: what one looks like, and lines of another kind
    "phone": _NO_FAX, "telephone": _NO_FAX, "mobile": _NO_FAX, "telefon": _NO_FAX,
    "telefonnummer": _NO_FAX, "handynummer": _NO_FAX, "fax": _FAX, "faxnummer": _FAX,
    "email": _MAIL, "mail": _MAIL, "mailadresse": _MAIL, "emailadresse": _MAIL,
}  # fmt: skip


# What has a name, in German: "Projekt Leuchtturm", "Kita Sonnenhof", "Frau Krüger".
_KINDS = frozenset(
    ("projekt", "stadt", "dorf", "gemeinde", "insel", "burg", "schloss", "hotel", "gasthof",
     "restaurant", "kita", "schule", "verein", "firma", "haus", "villa", "schiff", "team",
     "frau", "herr", "herrn")
)  # fmt: skip


@cache
def _no_names(language: str) -> frozenset[str]:
    calendar = lexicon(language)
    days = {*calendar.days, *(f"{day}s" for day in calendar.days)}
    return frozenset({*calendar.months, *days, *stop_words(language or "en")})


def names(text: str, language: str = "", *, placed: bool = True) -> list[str]:
    """Names of one word or several. The first word of a sentence counts if another capitalised one
    follows, or if it is used as a name elsewhere in the text. `placed`: also names of places, as
    "in Hest" has one."""
    named, plain = [], _no_names(language)
    for match in _NAME.finditer(text):
        parts = [
            part
            for part in match[0].split()
            if fold(part.strip(".,’'")) not in plain and not is_first_person(part)
        ]
        if not parts:
            continue
        first = match[0].split()[0] == parts[0]  # and no "In", "Take" or "The" before it
        first &= not match.start() or text[: match.start()].rstrip()[-1:] in '.!?:"“„('
        alone = len(parts) == 1
        if first and alone and language != "de" and text.count(parts[0]) < 2:
            continue
        if not placed and _PLACED.search(text[: match.start()]):
            continue
        if language == "de" and all(in_dictionary(fold(part), "de") for part in parts):
            # Every noun has a capital.
            kinds = [at for at, part in enumerate(parts[:-1]) if fold(part) in _KINDS]
            if not kinds:
                continue
            parts = parts[kinds[-1] :][:2]
        named.append(" ".join(parts))
    return named


def subject(text: str) -> str:
    """The noun that a sentence begins with: `captain` of "The captain opens the gate", `Divers` of
    "Divers raised the crown"."""
    match = _ROLE.match(text.strip()) or _FIRST.match(text.strip())
    return match["noun"] if match else ""


def agent(text: str) -> str:
    """Who did it, in a sentence that puts the doer last: `captain` of "opened by the captain"."""
    match = _BY.search(text)
    return match["noun"] if match else ""


def is_first_person(text: str) -> bool:
    """Whether the speaker says what they themselves do."""
    return bool(_FIRST_PERSON.search(text))


def contact(word: str, text: str) -> str | None:
    """The number or address that a word asks for (`phone`), empty if the text has none; None if the
    word asks for nothing of the kind. A line that says it is of another kind has none."""
    if word not in _CONTACTS:
        return None
    pattern, other = _CONTACTS[word]
    match = pattern.search(text)
    return match[0] if match and not other.search(text) else ""
