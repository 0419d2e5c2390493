"""Words that deny, by language: "not", "never", "kein", "ne … pas". Pure."""

from __future__ import annotations

import re
from functools import cache

_WORDS = {
    "en": r"not|no|never|neither|nor|none|nobody|nothing|without|cannot|forbidden|prohibited|banned"
    r"|impossible",
    "de": r"nicht|kein\w*|nie|niemals|niemand|nichts|verboten|untersagt",
    "fr": r"ne|n[’'](?=\w)|pas|jamais|aucune?|rien|sans|interdite?s?",
    "es": r"no|nunca|jamás|ningun[oa]?|ningún|nadie|nada|sin|prohibid[oa]s?",
    "it": r"non|mai|nessun[oa]?|niente|nulla|senza|vietat[oaie]",
    "pt": r"não|nunca|nenhuma?|ninguém|nada|sem|proibid[oa]s?",
    "nl": r"niet|geen|nooit|niemand|niets|zonder|verboden",
    "sv": r"inte|ej|aldrig|ingen|inget|inga|utan|förbjud\w+",
    "da": r"ikke|aldrig|ingen|intet|uden|forbudt",
    "no": r"ikke|aldri|ingen|intet|uten|forbudt",
    "ru": r"не|нет|никогда|никто|ничего|без|запрещ\w+",
}
# "Like never before", "not only": these deny nothing.
_NO_DENIAL = re.compile(
    r"(?i)\b(?:(?:like|as) never before|not (?:only|just|least)|no (?:doubt|matter|less than)"
    r"|without (?:a )?doubt|nothing but|nicht (?:nur|zuletzt)|pas seulement|no solo|non solo)\b"
)


# What a rule allows; with a denial, what it forbids.
ALLOWS = re.compile(
    r"(?i)\b(?:allow(?:s|ed)?|permit(?:s|ted)?|welcome|may|can|erlaubt|gestattet|zulässig|willkommen"
    r"|dürfen|darf|permise?s?|autorisée?s?|permitid[oa]s?|consentit[oaie])\b"
)


@cache
def negation(language: str = "") -> re.Pattern[str]:
    """A word that denies, in a language or in English; in German too if no other is known."""
    own = _WORDS.get(language if language not in ("", "en") else "de", "")
    return re.compile(rf"\b(?:{_WORDS['en']}{'|' if own else ''}{own})\b|\w*n[’']t\b", re.I)


def denies(text: str, language: str = "") -> bool:
    return bool(negation(language).search(_NO_DENIAL.sub(" ", text)))
