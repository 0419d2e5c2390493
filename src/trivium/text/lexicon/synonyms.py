"""Everyday words that say the same, whatever the embedding model knows: boss and manager, earn and
salary; and verbs of several words by one: "looks after". English and German. Pure.
"""

from __future__ import annotations

import re
from functools import cache

from trivium.text.normalise import words
from trivium.text.stems import stem

# Each word of a line says every other one of it. Only words that people exchange in letters,
# minutes and contracts, and that mean nothing else there.
_SAME = {
    "en": """
        boss manager supervisor
        answer reply respond response
        begin start commence
        fix repair mend
        ill sick unwell
        holiday vacation
        bike bicycle
        flat apartment
        hire rent
        buy purchase bought
        rubbish garbage trash
        lawyer solicitor attorney
        doctor gp physician
        mum mom mother
        dad father
        granny grandma grandmother
        grandad grandpa grandfather
        dinner supper
        photo picture photograph
        film movie
        choose select pick chosen
        suggest propose
        recommend advise
        resign quit
        insured covered
        repay refund
        garage workshop
        salary wage wages
    """,
    "de": """
        chef chefin vorgesetzter vorgesetzte
        lohn gehalt
        antworten rückmeldung antwort
        urlaub ferien
        auto wagen
        rad fahrrad
        kaputt defekt
        putzen reinigen
        streichen anstreichen malern
        überweisen bezahlen zahlen
        reparieren instandsetzen
        oma großmutter
        opa großvater
        mama mutter
        papa vater
        anfangen beginnen
        sitzung versammlung
        arzt ärztin
    """,
}
# Left out for what they mean elsewhere: superior, leave, refuse.
# What a word of a question may be said by, but not the other way round.
_SAID_BY = {
    "en": {
        "earn": "salary wage wages paid", "earns": "salary wage wages paid",
        "pet": "dog cat animal", "pets": "dog cat animal",
        "salary": "paid earn", "wage": "paid earn",
        "refund": "return returned", "returned": "repaid refunded",
    },
    "de": {
        "verdient": "gehalt lohn", "verdienen": "gehalt lohn",
        "haustier": "hund katze", "haustiere": "hund katze",
    },
}  # fmt: skip
_PHRASES = tuple(
    (re.compile(rf"(?i)\b(?:{pattern})\b"), word)
    for pattern, word in (
        (r"look(?:s|ed|ing)? after|(?:tak(?:e|es|ing|en)|took) care of|in charge of"
         r"|responsible for", "responsible"),
        (r"r[ua]n(?:s|ning)? out", "expire"),
        (r"step(?:s|ped|ping)? down", "resign"),
        (r"call(?:s|ed|ing)? off", "cancel"),
        (r"hand(?:s|ed|ing)? in", "submit"),
        (r"(?:put|puts|putting) forward", "suggest"),
        (r"(?:pick|picks|picked|picking) (?:(?:\w+ ){1,3})?up", "collect"),
        (r"(?:get|gets|got|give|gives|gave|given|pay|pays|paid|send|sent)"
         r" (?:(?:(?!to\b|for\b|buy|bought)\w+ ){1,4})?back",
         "returned"),
        (r"days? off", "holiday"),
    )
)  # fmt: skip

_REPORTS = re.compile(r"(?i)\breport(?:s|ed|ing)? (?:directly )?to\b"), "boss"
# "Who reports to Ada" asks for others.
_REPORTS_TO_WHOM = re.compile(r"(?i)\breports? to(?=\W*$)"), "boss"


@cache
def same(word: str, language: str) -> frozenset[str]:
    """The stems of words that say this one; of a folded word and a language."""
    code = language if language in _SAME else "en"
    (own,) = stem([word], code)
    stems_said: set[str] = set()
    for line in _SAME[code].split("\n"):
        stems = set(_stems(line, code))
        stems_said |= stems if own in stems else set()
    stems_said |= set(_stems(_SAID_BY[code].get(word, ""), code))
    return frozenset(stems_said - {own})


def _stems(line: str, code: str) -> list[str]:
    return stem(words(line), code)


def in_a_word(text: str) -> str:
    """The verbs of a text that have several words, as one word each: "responsible" of "Ada looks
    after the bees". Empty if it has none."""
    return " ".join(word for pattern, word in (*_PHRASES, _REPORTS) if pattern.search(text))


def instead(text: str) -> str:
    """A question with such verbs replaced; what stands between their words stays."""
    for pattern, word in (*_PHRASES, _REPORTS_TO_WHOM):
        match = pattern.search(text)
        if match:
            between = match[0].split()[1:-1] if match[0].endswith(("back", "up")) else []
            text = " ".join((text[: match.start()], *between, word, text[match.end() :]))
    return text
