"""Words that hold sentences together: function words, determiners, verbs and prepositions that
every text has. Pure."""

from __future__ import annotations

import re

from trivium.text.stems import stop_words

# The lists that search uses have hundreds more ("round", "works", "system"), which may be all that
# tells one row of a table from another.
_FUNCTION = {
    "en": "a an the this that these those i me my we us our you your he him his she her it its"
    " they them their one is are was were be been being am do does did done doing has have"
    " had having can could may might must shall should will would of in on at by for with"
    " about against between into through during before after above below to from up down out"
    " off over under again then once here there all any both each few more most other some"
    " such no nor not only own same so than too very and but if or because as until while"
    " just also yet s t re ve ll d m",
    "de": "der die das den dem des ein eine einer eines einem einen und oder aber nicht kein"
    " keine keinen keinem keiner keines ich du er sie es wir ihr mein dein sein unser euer"
    " ist sind war waren bin bist wird werden wurde wurden hat haben hatte hatten kann konnen"
    " konnte darf muss mussen"
    " soll sollen sollte sollten will wollen durfen darfst durfte durften konnten musste"
    " mussten mochte mochten in im an am auf aus bei beim mit nach von vom vor zu zum zur"
    " uber unter fur gegen ohne um durch bis als wie wenn dass weil so auch nur noch schon"
    " sehr mehr hier dort da ab auf ein weg her hin zuruck man sich mich mir uns euch ihm ihn"
    " ihnen ihre ihrem ihren ihrer meine meinem meinen meiner unsere unserem unseren unserer",
}
_KNOWN = {code: frozenset(listed.split()) for code, listed in _FUNCTION.items()}
DETERMINERS = frozenset(
    ("the", "a", "an", "der", "die", "das", "den", "dem", "ein", "eine", "einen")
)
TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "herr", "herrn", "frau"))  # of people
_OF_PHRASES = (
    "to of in on for from by with at into about her his its their my our your this that these"
    " those es ihn sie von zu fur mit auf is are was were ist sind war waren"
)
NOT_AFTER_KIND = DETERMINERS | frozenset(_OF_PHRASES.split())  # the noun of "what law did"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
ORDINALS = tuple(_ORDINALS.split())
ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)}|last|\d+(?:st|nd|rd|th))\b", re.I)
VERB = (
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would|costs?"
    r"|weighs?|ist|sind|war|hat|haben|kann|kostet|wiegt|est|sont|coûte|pèse|es|son|cuesta|pesa|è"
    r"|sono|costa|custa|kost|weegt|är|kostar|väger|er|koster|vejer)\b"
)
CLAUSE = re.compile(  # where one begins
    r"[,;:]\s|\s(?=(?:with|and|but|which|who|where|while|because|since|und|aber|mit)\s)"
)
SEVERAL = re.compile(r"[,;:/]\s|\s(?:and|or|und|oder|sowie|et|ou|y|e|o|en|of|och|og|&)\s", re.I)
WHO_DID = re.compile(  # "who poisoned the ferryman"; of more words, only the verb
    r"(?i)(?:and |und )?(?:who|wer)\s+(?P<verb>\w+)\s+(?:the |an? |der |die |das |den |dem )?"
    r"(?:(?P<what>\w+)\??$)?"
)
WHO_DOES = re.compile(r"(?i)(?:and )?who\s+(?:(?:is|are|was|were|has|had)\s+)?(?P<verb>\w{3,})\b")
# That somebody asks or doesn't know is no answer: "we still don't know who poisoned him".
UNKNOWN = re.compile(
    r"(?i)(?:(?:\bnot|n't|\bnever|\bnobody|\bno one)\b[^.;:!?]{0,20}"
    r"\b(?:know|knows|knew|sure|clear|certain|remember|remembers|say|said)"
    r"|\b(?:wonder\w*|unclear|unknown|uncertain|unsure|asks?|asked|(?:find|figure) out)),?\s"
    r"(?:\w+ )?(?:who|whom|what|when|where|why|how|which)\b"
    r"|(?:\b(?:wei(?:ß|ss)|wissen|wusste[nt]?) (?:\w+ ){0,3}?(?:nicht|nie)"
    r"|\b(?:niemand|keiner) (?:wei(?:ß|ss)|wusste)|\bunklar|\bfrag(?:t|te|en|ten) (?:sich)?),?\s+"
    r"(?:wer|wen|wem|was|wann|wo|warum|wie|welche[rs]?)\b"
)
CLOCK = re.compile(  # with a dot: "arriving 9.47"
    r"(?i)\b(?:at|until|till|by|from|before|after|arriv\w+|leav\w+|depart\w+|um|ab|bis|gegen)"
    r" (?:[01]?\d|2[0-3])\.[0-5]\d\b(?![.,]?\d|\s?%)"
)
PAST = re.compile(r"(?i)\b(?:was|were|did|had|war|waren|wurden?|hatten?)\b")
MOVED = re.compile(
    r"(?i)\b(?:moved|postponed|delayed|rescheduled|put off|brought forward|verschoben|verlegt)\b"
)
WHICH_NAMES = re.compile(r"(?i)\b(?:which|what) names\b|\bwelche Namen\b")
DENIED = re.compile(r"\b(?:no|without|kein\w*|ohne)\s+([\w-]+)", re.I)
PLACE = re.compile(
    r"\b(?:in|at|on|near|beside|behind|below|beneath|under|above|between|off|from|inside|outside|to"
    r"|bei|im|am|an|auf|neben|hinter|unter|über|nach|aus)"
    r"\s(?:the\s|a\s|an\s|der\s|dem\s|den\s|die\s)?([\w’'-]+)"
)
_GERMAN_FORM = re.compile(  # gegründet, Gründung and Gründer have one root
    r"(?:ge(?=\w{4}))?(\w{4,}?)(?:ungen|ung|erin|er|eten|ete|et|ten|te|t|en|e|n|s)?"
)
_DOER = re.compile(r"(\w{5,}?)(?:ors?|ers?|ed|ing|s|e)?")  # conducts and conductor
_DERIVED = 2  # letters that make another word of a name: Colombia, Colombian


def is_form(word: str, other: str, language: str) -> bool:
    """Whether two folded words are forms of one that stemmers don't know: of the same root in
    German, where a compound also says its last part (`abfing`, `fing`); or a name and its
    adjective."""
    short, long = sorted((word, other), key=len)
    if len(short) > 5 and long.startswith(short) and len(long) - len(short) <= _DERIVED:
        return True
    form = _GERMAN_FORM if language == "de" else _DOER
    roots = [match[1] for match in map(form.fullmatch, (word, other)) if match]
    if len(roots) == 2 and roots[0] == roots[1]:
        return True
    return language == "de" and len(short) > 3 and long.endswith(short)


def function_words(language: str) -> frozenset[str]:
    code = language or "en"
    return _KNOWN[code] if code in _KNOWN else stop_words(code)
