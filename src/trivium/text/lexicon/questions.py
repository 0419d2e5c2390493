"""What a question asks for, by its words: who, when, where, why, how much, a list, yes or no.

For the languages listed here; a question in another one has no kind. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import pairwise

from trivium.text.normalise import fold, words


class Asks(StrEnum):
    """What an answer must contain."""

    WHO = "who"  # a person, or a role
    WHEN = "when"  # a date, a time or a year
    WHERE = "where"  # a place
    WHY = "why"  # a reason
    AMOUNT = "amount"  # a number
    NAME = "name"  # what something is called
    YES_NO = "yes or no"
    LIST = "list"  # several things
    MOST = "most"  # which of several has the most or the least of something
    OTHER = "other"


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DAY = r"(?:year|month|day|date|time|week|century|Jahr|Monat|Tag|Datum|Uhrzeit)"
_PLURAL = (
    r"(?!(?:is|was|does|has|this|his|its|happens|means)\b)\w+(?<!s)s\b"
    r"(?! (?:is|was|does|has|did)\b)"
)
SUPERLATIVE = _listed(
    "highest lowest most least largest smallest biggest cheapest heaviest lightest fastest"
    " slowest longest shortest oldest newest latest earliest fewest dearest strongest weakest"
    " hochste hochsten niedrigste niedrigsten meisten wenigsten grosste grossten kleinste"
    " kleinsten billigste teuerste teuersten schwerste leichteste schnellste langsamste"
    " langste langsten kurzeste kurzesten alteste neueste"
)
LEAST = _listed(
    "lowest least smallest cheapest lightest slowest shortest earliest fewest niedrigste"
    " niedrigsten wenigsten kleinste kleinsten billigste leichteste langsamste kurzeste"
    " kurzesten"
)
_START = r"^[¿\s]*(?:and |but |so |und |aber |et |y |e |en |och |og )?"
# In order: the first kind whose pattern a question fits. `^` includes "and", "und" and the like.
_PATTERNS: dict[str, tuple[tuple[Asks, str], ...]] = {
    "en": (
        (Asks.NAME, r"\bwhat (?:is|was|are) the names? of\b|\bwhat (?:is|was) .{1,60} called\b"),
        (Asks.WHO, r"^(?:by |with |of |to |from |for )?(?:who|whom|whose)\b"),
        (
            Asks.WHO,
            r"^which (?:person|people|employee|author|colleague|member|firm|airline|insurer"
            r"|supplier|bank)s?\b|^which compan(?:y|ies)\b",
        ),
        (Asks.WHEN, r"^(?:since |until |by )?when\b"),
        (Asks.WHEN, rf"^(?:\w+ )?(?:which|what) {_DAY}\b"),
        (Asks.WHERE, r"^where\b|^(?:in|at) (?:which|what) (?:town|city|country|place|village)\b"),
        (
            Asks.WHY,
            r"^why\b|^how come\b|^(?:for )?what (?:(?:is|was|were|are) )?(?:the )?"
            r"(?:(?:main|primary|principal|key) )?(?:reason|purpose|cause|factor|driver)s?\b",
        ),
        (
            Asks.AMOUNT,
            r"\bhow (?:many|much|long|old|far|fast|heavy|tall|high|large|big|deep|wide|often"
            r"|expensive|thick|hot|cold|strong)\b|\bwhat (?:percentage|share|proportion) of\b"
            r"|\bwhat (?:is|was|are|were) the (?:difference|sum|total|number|amount)\b"
            r"|^what (?:is|was|were|are) .{1,70}\b(?:costs?|price|ratio|percentage|margin|fees"
            r"|salary|sales|revenues?|income|profit|expenses?|rate|per share|population)\b"
            r"|^what (?:do|does|did|will) .{1,70}\b(?:cost|earn|weigh)\b"
            r"|^(?:at |to |from )?what (?:temperature|speed|age|height|depth|distance|price)\b",
        ),
        (Asks.MOST, rf"\b(?:{'|'.join(sorted(SUPERLATIVE))})\b"),
        (
            Asks.YES_NO,
            r"^(?:is|are|was|were|do|does|did|can|could|may|must|should|has|have|had|will|would)\b",
        ),
        (
            Asks.LIST,
            r"^(?:list|name|enumerate)\b|\b(?:what|which) (?:are|were)\b"
            r"|^(?:which|what) "
            r"(?!(?:is|was|do|does|did|has|had|will|would|can|could|this|his|its)\b)"
            rf"(?:\w+ ){{0,2}}{_PLURAL}|^what (?:should|must|do) (?:i|we|you|one)\b",
        ),
    ),
    "de": (
        (Asks.NAME, r"\bwie hei(?:ß|ss)t\b"),
        (
            Asks.WHO,
            r"^(?:von |mit |an |für |bei )?"
            r"(?:wer|wem|wen|wessen|welche[rnms]? (?:firma|bank|person))\b",
        ),
        (Asks.WHEN, rf"^(?:seit |bis |ab )?wann\b|^(?:\w+ )?welche[mnrs]? {_DAY}\b"),
        (Asks.WHERE, r"^(?:wo|wohin|woher)\b|^in welche[mnrs]? (?:stadt|land|ort|dorf)\b"),
        (Asks.WHY, r"^(?:warum|wieso|weshalb|weswegen|aus welchem grund)\b"),
        (
            Asks.AMOUNT,
            r"\bwie ?(?:viele?|lange?|alt|weit|schnell|schwer|hoch|groß|gross|tief|breit|oft|teuer"
            r"|stark)\b|^was (?:kostet|kosten|(?:hat|haben) .{1,70}\bgekostet)\b"
            r"|\bwelche[rn]? (?:anteil|prozentsatz|anzahl|betrag|menge)\b",
        ),
        (Asks.MOST, rf"\b(?:{'|'.join(sorted(SUPERLATIVE))})\b"),
        (
            Asks.YES_NO,
            r"^(?:ist|sind|war|waren|hat|haben|hatte|darf|dürfen|kann|können|konnte|muss|müssen"
            r"|gibt es|soll|sollen|wird|werden|wurde|wurden)\b",
        ),
        (
            Asks.LIST,
            r"^(?:nenne|liste)\b|\bwelche (?:sind|waren)\b|^welche (?:\w+ ){0,2}\w+(?:n|s|er|e)\b"
            r" (?!ist\b|war\b|hat\b)",
        ),
        (Asks.OTHER, r"^was\b"),  # in English it asks for yes or no
    ),
    "fr": (
        (Asks.NAME, r"\bcomment s[’']appel\w+|\bquel est le nom\b"),
        (Asks.WHO, r"^(?:par |avec |de |à |pour )?qui\b"),
        (Asks.WHEN, r"^(?:depuis |jusqu[’']à )?quand\b|^(?:en |à )?quelle (?:date|année|heure)\b"),
        (Asks.WHERE, r"^(?:d[’'])?où\b|^dans quel(?:le)? (?:ville|pays|lieu)\b"),
        (Asks.WHY, r"^pourquoi\b|^pour quelle raison\b"),
        (Asks.AMOUNT, r"\bcombien\b|^quel(?:le)? (?:est|était) (?:le nombre|la part|le montant)\b"),
        (Asks.YES_NO, r"^est-ce qu|^(?:y a-t-il|est-il|est-elle|sont-ils|peut-on|faut-il)\b"),
        (Asks.LIST, r"^quel(?:le)?s (?:sont|étaient)\b|^quel(?:le)?s \w+"),
    ),
    "es": (
        (Asks.NAME, r"\bcómo se llama\w*"),
        (Asks.WHO, r"^(?:por |con |de |a |para )?qui[eé]n(?:es)?\b"),
        (Asks.WHEN, r"^(?:desde |hasta )?cu[aá]ndo\b|^en qué (?:año|fecha|mes|día)\b"),
        (Asks.WHERE, r"^(?:de |a |en )?a?d[oó]nde\b|^en qué (?:ciudad|país|lugar)\b"),
        (Asks.WHY, r"^por ?qu[eé]\b"),
        (Asks.AMOUNT, r"\bcu[aá]nt[oa]s?\b"),
        (Asks.LIST, r"^(?:cu[aá]les son|qué \w+s)\b"),
    ),
    "it": (
        (Asks.NAME, r"\bcome si chiama\w*"),
        (Asks.WHO, r"^(?:da |con |di |a |per )?chi\b"),
        (Asks.WHEN, r"^(?:da |fino a )?quando\b|^in che (?:anno|data|mese|giorno)\b"),
        (Asks.WHERE, r"^(?:di |da )?dov(?:e|['’]è)|^in quale (?:città|paese|luogo)\b"),
        (Asks.WHY, r"^perch[eé]\b"),
        (Asks.AMOUNT, r"\bquant[oaie]\b"),
        (Asks.LIST, r"^quali\b"),
    ),
    "pt": (
        (Asks.NAME, r"\bcomo se chama\w*"),
        (Asks.WHO, r"^(?:por |com |de |a |para )?quem\b"),
        (Asks.WHEN, r"^(?:desde |até )?quando\b|^em que (?:ano|data|mês|dia)\b"),
        (Asks.WHERE, r"^(?:de |para )?a?onde\b|^em que (?:cidade|país|lugar)\b"),
        (Asks.WHY, r"^por ?qu[eê]\b"),
        (Asks.AMOUNT, r"\bquant[oa]s?\b"),
        (Asks.LIST, r"^quais\b"),
    ),
    "nl": (
        (Asks.NAME, r"\bhoe heet\b"),
        (Asks.WHO, r"^(?:door |met |van |aan |voor )?wie(?:ns)?\b"),
        (Asks.WHEN, r"^(?:sinds )?wanneer\b|^in welk jaar\b|^op welke (?:dag|datum)\b"),
        (Asks.WHERE, r"^waar(?:heen|vandaan)?\b"),
        (Asks.WHY, r"^waarom\b"),
        (Asks.AMOUNT, r"\bhoe(?:veel| lang| oud| ver| snel| zwaar| hoog| groot| vaak| duur)\b"),
        (Asks.LIST, r"^welke \w+(?:en|s)\b"),
    ),
    "sv": (
        (Asks.NAME, r"\bvad heter\b"),
        (Asks.WHO, r"^(?:av |med |till |för )?(?:vem|vems)\b"),
        (Asks.WHEN, r"^(?:sedan )?när\b|^vilket (?:år|datum)\b"),
        (Asks.WHERE, r"^(?:var|vart|varifrån)\b"),
        (Asks.WHY, r"^varför\b"),
        (Asks.AMOUNT, r"\bhur (?:många|mycket|länge|lång|gammal|stor|hög|ofta|dyr|tung|snabb)\w*"),
        (Asks.LIST, r"^vilka\b"),
    ),
    "da": (
        (Asks.NAME, r"\bhvad hedder\b"),
        (Asks.WHO, r"^(?:af |med |til |for )?(?:hvem|hvis)\b"),
        (Asks.WHEN, r"^hvornår\b|^hvilket (?:år|dato)\b"),
        (Asks.WHY, r"^hvorfor\b"),
        (Asks.AMOUNT, r"\bhvor (?:mange|meget|længe|lang|gammel|stor|høj|ofte|dyr|tung|hurtig)\w*"),
        (Asks.WHERE, r"^(?:hvor|hvorfra|hvorhen)\b"),
        (Asks.LIST, r"^hvilke\b"),
    ),
    "no": (
        (Asks.NAME, r"\bhva heter\b"),
        (Asks.WHO, r"^(?:av |med |til |for )?hvem\b"),
        (Asks.WHEN, r"^når\b|^hvilket år\b"),
        (Asks.WHY, r"^hvorfor\b"),
        (Asks.AMOUNT, r"\bhvor (?:mange|mye|lenge|lang|gammel|stor|høy|ofte|dyr|tung|rask)\w*"),
        (Asks.WHERE, r"^(?:hvor|hvorfra)\b"),
        (Asks.LIST, r"^hvilke\b"),
    ),
}  # fmt: skip
# Words that ask, folded; those that begin no other sentence.
_ASKING = {
    "en": "what how why when where which who whom whose",
    "de": "wie was warum wieso weshalb wann wo woher wohin wer wen wem wessen wozu womit"
    " wodurch wieviel welche welcher welches welchen welchem",
    "fr": "comment pourquoi combien quel quelle quels quelles quand",
    "es": "cuando donde quien quienes cual cuales cuanto cuantos",
    "it": "perche quando dove quale quali quanto",
    "pt": "quando onde quem quais",
    "nl": "hoeveel wanneer waarom welke welk",
    "sv": "varfor vilken vilket vilka",
    "da": "hvornar hvorfor hvilken hvilket hvilke",
    "no": "hvorfor hvilken hvilket hvilke",
}
# Other words of a question that say how it is asked, not what about.
_FRAMING = {
    "en": "many much long names called list tell give say says said there get have has had"
    " does did do done please know mean means exactly happen happens happened",
    "de": "viel viele gibt heisst nenne bitte genau bedeutet bedeuten",
    "fr": "qui que quoi ou est ce t il elle appelle appellent y a",
    "es": "cuanta cuantas que adonde por como llama llaman hay",
    "it": "quanta quanti quante chi che cosa dov come chiama chiamano e",
    "pt": "quanto quanta quantos quantas que por porque como qual chama ha",
    "nl": "hoe veel wie wat waar heet heten",
    "sv": "hur manga mycket vem vad nar var vart heter",
    "da": "hvor mange meget hvem hvad hedder",
    "no": "hvor mange mye hvem hva nar heter",
}
# Nouns of a question that any answer of its kind fulfils; a table may have a column of that name.
_GENERIC = {
    "en": "number amount quantity count name kind type sort reason reasons purpose cause causes"
    " factor factors driver drivers main primary principal key led",
    "de": "anzahl zahl menge betrag nummer name art typ sorte grund grunde ursache zweck",
    "fr": "nombre montant quantite numero nom type sorte",
    "es": "numero cantidad importe nombre tipo",
    "it": "numero quantita importo nome tipo",
    "pt": "numero quantidade valor nome tipo",
    "nl": "aantal hoeveelheid bedrag nummer naam soort type",
    "sv": "antal mangd belopp nummer namn typ sort",
}
# How a follow-up goes on, what it calls the thing spoken of, and the words that ask alone: "Et
# quand ?". Taken together: a question of two words has no language.
AND = "and|or|but|und|oder|aber|et|mais|y|pero|e|ma|mas|en|maar|och|men|og"
ABOUT = (
    "what about|how about|was ist mit|et pour|que dire de|qué hay de|che dire di"
    "|quanto a|hoe zit het met|hur är det med|hvad med|hva med"
)
ARTICLES = (
    "the|an?|my|our|your|der|die|das|den|dem|ein|eine|einen|einem|le|la|les|une?|el|los|las|una|il"
    "|lo|gli|uno|os|uma?|de|het|een|ett|det"
)
PLACES = (  # prepositions that a follow-up may begin with: "in 2021"
    "in|at|on|for|of|from|to|by|with|during|since|after|before|under|per|im|am|bei|für|von|mit|dans"
    "|à|au|pour|en|para|nel|nella|nei|per|em|na|på|op|voor|til"
)
PRONOUNS = (
    "er|sie|es|ihn|ihm|il|elle|ils|elles|él|ella|ellos|ellas|lui|lei|esso|essa|ele|ela|eles|elas"
    "|hij|zij|han|hon|hun"
)
ALONE = (
    "when|where|why|who|how|wann|wo|warum|wer|wie|quand|où|pourquoi|qui|comment|cuándo|dónde"
    "|por qué|quién|cómo|quando|dove|perché|chi|come|onde|por quê|quem|como|wanneer|waar|waarom"
    "|hoe|när|var|varför|vem|hur|hvornår|hvor|hvorfor|hvem|hvordan|når"
)
# How long something is valid: the verb says no more than the question.
_SPANS = re.compile(
    r"(?i)^\W*(?:until|till) when\b|^\W*bis wann\b"
    r"|^\W*(?:how long|wie lange)\b.*\b(?:valid|gilt|gültig)\b"
    r"|^\W*(?:when|wann)\b.*\b(?:expires?|end|run out|ab|endet)\s*\W*$"
)
_VALID = _listed("valid validity expire expires run runs gilt gultig lauft endet last lasts")
_EVENTS = _listed("appointment meeting event termin visit")  # that a calendar's entry needn't name
_NEEDS = _listed("need needs needed brauche brauchen braucht benotigt")
_LABELS = {  # of a line that answers by itself
    Asks.WHEN: re.compile(r"(?:when|date|time|starts?|begins?|wann|datum|beginn|zeit): ", re.I),
    Asks.WHERE: re.compile(r"(?:where|location|place|venue|address|wo|ort|adresse): ", re.I),
}
# Names of columns that hold how many there are of something.
COUNTS = _listed(
    "amount quantity qty count number stock units pieces anzahl menge bestand stuck stuckzahl"
    " nombre quantite cantidad numero quantita quantidade aantal antal"
)
_REASONS = {
    "en": r"because|since|so that|due to|owing to|in order to|therefore|thus|hence|as a result"
    r"|reasons?|caused?|causes|thanks to|to (?:avoid|prevent|ensure|keep|protect|save|make)"
    r"|(?:which|that) is why",
    "de": r"weil|da|denn|damit|um|wegen|aufgrund|deshalb|daher|grund|gründe\w*|sodass",
    "fr": r"parce|car|afin|pour|à cause|grâce|en raison|puisque|pourquoi|raison",
    "es": r"porque|ya que|debido|para|a causa|gracias a|por eso|pues|razón",
    "it": r"perch[eé]|poiché|siccome|a causa|per|grazie|dovut[oa]|motivo",
    "pt": r"porque|pois|devido|para|por causa|graças|razão",
    "nl": r"omdat|want|doordat|vanwege|zodat|om|daarom|reden",
    "sv": r"eftersom|därför|för att|på grund|orsak\w*",
    "da": r"fordi|derfor|for at|på grund|årsag\w*",
    "no": r"fordi|derfor|for å|på grunn|årsak\w*",
}
_PRONOUN = re.compile(
    r"(?i)(?:it|he|she|they|this|these|that|those|its|his|her|their|the former|the latter"
    r"|er|sie|es|dieser?|diese[sm]?|sein\w*|ihr\w*|il|elle|ils|elles|cela|ce|son|sa|ses"
    r"|él|ella|ellos|ellas|esto|este|esta|su|sus|lui|lei|loro|questo|questa|suo|sua"
    r"|ele|ela|eles|elas|isto|seu|sua|hij|zij|ze|het|dit|deze|zijn|haar"
    r"|han|hon|den|det|de|hun|hans|hennes|dess)\b(?!-)",
)  # fmt: skip

_ASKED = re.compile(
    r"(?i)(?:(?:has|have|does|do|did|is|are|can|could|will) (?:anyone|anybody|somebody|someone)\b"
    r"|(?:who|where|when|which|what|why|how)"
    r"(?:[’']s| (?:is|are|was|were|do|does|did|has|have|can|will))\b"
    r"|(?:hat|kann|weiß|könnte|ist) jemand\b|(?:wo|wann|warum|wieso|woher|wohin)\b)"
)
_DEMONSTRATIVE = re.compile(r"\b(?:these|this|those|such|diese[rsmn]?|solche[rsmn]?)\s\w", re.I)
_PERSONAL = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|its|their|er|sie|es|ihm|ihn|ihr|ihnen|il|elle|ils|elles|lui"
    r"|él|ella|ellos|ellas|lei|loro|ele|ela|eles|elas|hij|zij|hem|hen|han|hon|hun|hans|dem)\b",
    re.I,
)


# Yes, no, two sources that differ, and the second of them, as answers say them.
_SAYINGS = {
    "en": ("Yes", "No", "Sources differ:", "Another source says:"),
    "de": ("Ja", "Nein", "Die Quellen widersprechen sich:", "Eine andere Quelle sagt:"),
    "fr": ("Oui", "Non", "Les sources divergent :", "Une autre source dit :"),
    "es": ("Sí", "No", "Las fuentes difieren:", "Otra fuente dice:"),
    "it": ("Sì", "No", "Le fonti divergono:", "Un'altra fonte dice:"),
    "pt": ("Sim", "Não", "As fontes divergem:", "Outra fonte diz:"),
    "nl": ("Ja", "Nee", "De bronnen verschillen:", "Een andere bron zegt:"),
    "sv": ("Ja", "Nej", "Källorna skiljer sig åt:", "En annan källa säger:"),
    "da": ("Ja", "Nej", "Kilderne er uenige:", "En anden kilde siger:"),
    "no": ("Ja", "Nei", "Kildene er uenige:", "En annen kilde sier:"),
}
_LENGTHS = {
    "en": (("night", "nights"), ("day", "days")),
    "de": (("Nacht", "Nächte"), ("Tag", "Tage")),
}
VERDICTS = frozenset(word for yes, no, *_ in _SAYINGS.values() for word in (yes, no))


def verdict(language: str, *, yes: bool) -> str:
    """In the language of the question; in English if its words aren't known."""
    return _SAYINGS.get(language, _SAYINGS["en"])[0 if yes else 1]


def differing(language: str) -> tuple[str, str]:
    """What leads to two sources that differ, and to the second of them."""
    _, _, both, other = _SAYINGS.get(language, _SAYINGS["en"])
    return both, other


_LODGING = re.compile(
    r"(?i)\b(?:hotel|inn|rooms?|nights?|overnight|stay(?:s|ed|ing)?|booked|booking|reserved|zimmer|nacht|nächte"
    r"|übernacht\w*|pension|unterkunft|gebucht|ferienwohnung)\b"
)


def lasting(nights: int, about: str, language: str) -> str:
    """How long a span of days is: in nights, if it is `about` a stay, otherwise in days."""
    stays = bool(_LODGING.search(about))
    count = nights if stays else nights + 1
    one, several = _LENGTHS.get(language, _LENGTHS["en"])[0 if stays else 1]
    return f"{count} {one if count == 1 else several}"


# Folded. Not the English ones (how long, how high): what is fitted to English questions has them.
_MEASURED = _listed(
    "viel viele lange lang alt weit schnell schwer hoch gross tief breit oft teuer stark"
)


@cache
def _kinds(language: str) -> tuple[tuple[Asks, re.Pattern[str]], ...]:
    return tuple(
        (kind, re.compile(pattern.replace("^", _START), re.I))
        for kind, pattern in _PATTERNS[language]
    )


def asks(text: str, language: str) -> Asks:
    """`language`: of the question; English if nobody could tell."""
    code = language or "en"
    for pattern_language in dict.fromkeys((code, "en", "de")):
        for kind, pattern in _kinds(pattern_language) if pattern_language in _PATTERNS else ():
            if pattern.search(text.strip()):
                return kind
    return Asks.OTHER


@cache
def framing(language: str) -> frozenset[str]:
    """Folded. A short question may be taken for another language, so English ones count too."""
    own = language if language in _FRAMING and language != "en" else "de"
    return frozenset(" ".join(t[code] for t in (_ASKING, _FRAMING) for code in (own, "en")).split())


def asking() -> frozenset[str]:
    """Words that a question begins with, of every language."""
    return frozenset(" ".join(_ASKING.values()).split())


def measuring(typed: Sequence[str]) -> set[str]:
    """Words that only ask for a measure: `hoch` of "Wie hoch ist die Kaution?"."""
    return {word for how, word in pairwise(typed) if how == "wie" and word in _MEASURED}


@cache
def generic(language: str) -> frozenset[str]:
    own = _GENERIC.get(language, "") if language not in ("", "en") else ""
    return frozenset(f"{own} {_GENERIC['en']}".split())


@cache
def _reason(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_REASONS[language]})\b", re.I)


def gives_reason(text: str, language: str) -> bool:
    """True for a language whose reasons aren't known."""
    code = language or "en"
    return code not in _REASONS or bool(_reason(code).search(text))


def begins_with_pronoun(text: str) -> bool:
    """Whether a sentence is about what the one before it names: "It smells of almonds."."""
    return bool(_PRONOUN.match(text))


def refers_back(text: str) -> bool:
    """Whether the sentence before says what this one is about: "These devices …"."""
    return begins_with_pronoun(text) or bool(_DEMONSTRATIVE.search(text))


def is_asked(text: str) -> bool:
    """Whether a sentence is a question, also without its sign, as people write in chats."""
    return text.endswith("?") or bool(_ASKED.match(text))


def has_pronoun(text: str) -> bool:
    """Whether a sentence speaks of something that another one names."""
    return bool(_PERSONAL.search(text))


def spans(text: str) -> bool:
    """Whether a question asks how long something is valid."""
    return bool(_SPANS.search(text))


def implied(text: str, kind: Asks) -> frozenset[str]:
    """Words of a question that an answer of its kind needn't say."""
    if spans(text):
        return _VALID
    if kind is Asks.AMOUNT:  # a list of ingredients, of tools
        return _NEEDS
    return _EVENTS if kind in (Asks.WHEN, Asks.WHERE) else frozenset()


def is_label(text: str, kind: Asks) -> bool:
    """Whether a line says by its label that it is of this kind: "When: 4 May"."""
    return kind in _LABELS and bool(_LABELS[kind].match(text))


def wants_least(text: str) -> bool:
    return not LEAST.isdisjoint(words(fold(text)))
