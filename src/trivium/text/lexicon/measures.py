"""Words that measure, compare and count: what "how heavy" asks for, what tables call it, what is
more and what is less. Pure."""

from __future__ import annotations

import re


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is measured, as tables name it, if the question uses a verb for it.
MEASURES = {
    word: name
    for name, forms in (
        ("weight", "weigh weighs weighed"),
        ("price", "paid pay charge charges"),
        ("cost", "costs spend spent"),
        ("gewicht", "wiegt"),
        ("preis", "kostet kosten gekostet"),
    )
    for word in forms.split()
}
HOW = {  # after "how" and "at what" only: a heavy crossbow isn't a weight
    "heavy": "weight", "fast": "speed", "slow": "speed", "expensive": "price", "dear": "price",
    "tall": "height", "old": "age", "far": "distance", "schwer": "gewicht", "teuer": "preis",
    "schnell": "geschwindigkeit", "alt": "alter", "hoch": "hohe",
    "temperature": "temperature", "speed": "speed", "age": "age", "height": "height",
    "depth": "depth", "distance": "distance", "price": "price", "weight": "weight",
}  # fmt: skip
# What an answer to "how old" must measure.
DIMENSIONS = {
    "heavy": "mass", "schwer": "mass", "old": "time months", "alt": "time months", "tall": "length",
    "far": "length", "long": "time months length", "lang": "time months length",
    "lange": "time months", "expensive": "money", "dear": "money", "teuer": "money",
    "temperature": "celsius fahrenheit kelvin angle", "age": "time months", "height": "length",
    "depth": "length",
    "distance": "length", "price": "money", "weight": "mass",
}  # fmt: skip
# Other words for the same thing, whatever the embedding model knows: names that tables use, and
# what makes somebody the new chair, or whether something is allowed; by their stems.
SAME = {
    "cost": ("price",), "price": ("cost",), "kosten": ("preis",),
    "preis": ("kost", "kostet", "gekostet", "kosten"),
    "pound": ("lb", "lbs"), "pounds": ("lb", "lbs"), "ounce": ("oz",), "feet": ("ft", "footag"),
    "foot": ("ft",), "kilogram": ("kg",), "kilograms": ("kg",), "kilometre": ("km",),
    "allowed": ("permit", "forbidden", "prohibit", "ban"), "permitted": ("allow", "forbidden"),
    "erlaubt": ("gestatt", "verbot", "untersagt"), "gestattet": ("erlaubt", "verbot"),
    "due": ("payabl",), "fallig": ("zahlbar",),
    "hours": ("h",), "minutes": ("min",), "euros": ("eur",), "dollars": ("usd",),
    "appointed": ("new", "elect", "becom", "became", "succeed", "hire", "replac", "promot"),
    "ernannt": ("neu", "gewahlt", "wahlt", "wahlen", "wahlten", "nachfolg", "ubernimmt"),
}  # fmt: skip
APPOINTED = {"new": "appointed"} | dict.fromkeys(("neu", "neue", "neuer", "neuen"), "ernannt")
FEES = re.compile(  # says that a bare figure, or one of pounds, is money
    r"(?i)\b(?:fees?|price[sd]?|charge[sd]?|fares?|rent|costs?|gebühr\w*|preis\w*|beitrag|beiträge)\b"
)
COSTS = _listed("cost price kosten preis")
NUMBERS = _listed("number nummer numero")  # an answer to "what is the number of" has digits
HOW_MUCH = re.compile(
    r"\bhow much (?:is|are|was|were|for|do|does|did)\b|\bwie viel (?:kostet|kosten)\b", re.I
)
SPENT = re.compile(
    r"\bhow much\b.*\b(?:spen[dt]|pay|paid)\b|\bwie ?viel\b.*\b(?:ausgegeben|bezahlt|gezahlt)\b",
    re.I,
)
SUMMED = _listed(
    "amount total sum value spent paid betrag summe bezahlt ausgegeben montant importe importo"
    " valor bedrag belopp"
)
BILLS = _listed("bill receipt invoice total sum rechnung quittung summe gesamtbetrag")
TOTAL = re.compile(  # of a receipt or an invoice, at the beginning of its line
    r"(?i)\W*(?:grand total|total|amount due|(?:balance )?due|to pay|zu zahlen|summe|gesamt"
    r"|gesamtbetrag|gesamtsumme|rechnungsbetrag|zahlbetrag|endbetrag)\b"
)
MEASURED = re.compile(
    r"(?i)\b(?:how|wie) (\w+)"
    r"|^(?:at |to |from )?what (temperature|speed|age|height|depth|distance|price|weight)\b"
)
PRICE = re.compile(r"(?<![\d.,-])\d[\d., ]*[.,]\d\d(?![\d.,]*[\d%])(?! ?(?:[^\W\d_]|%))")  # 35.00
HOW_MANY = re.compile(r"\bhow many\b|\bwie ?viele\b", re.I)
COUNTED = re.compile(
    r"(?i)\b(?:how many|wie viele|combien d[e’']|cuántos|cuántas|quanti|quante|quantos|quantas"
    r"|hoeveel|hur många|hvor mange)\s*([\w-]+(?: [\w-]+)?)"
)
# Words that go with most measures and say little by themselves.
VAGUE = _listed(
    "time score value values figure figures rate total per take takes need needs study paper report"
    " document article text chapter page section table note notes according deal deals make makes"
    " give gives use used cover covers require requires required work works live lives"
    " go goes come comes get gets still now currently already jetzt derzeit aktuell"
    " kommt kommen gehort gehoren mal"
)
QUALIFYING = _listed(  # how a thing is, which its answer needn't say: the new boat
    "new old current main whole full neu neue neuer neues neuen alte alter altes alten"
)
SUMS = _listed("total totals sum average avg mean gesamt summe durchschnitt")
NONE = _listed("none no 0 nil keine nein")  # in a cell
ADJECTIVES = {
    "heavier": "heavy", "lighter": "heavy", "dearer": "expensive", "cheaper": "expensive",
    "faster": "fast", "slower": "fast", "older": "old", "younger": "old", "longer": "long",
    "shorter": "long", "larger": "large", "bigger": "large", "smaller": "large", "taller": "tall",
    "higher": "high", "lower": "high", "wider": "wide", "deeper": "deep", "stronger": "strong",
    "farther": "far", "further": "far", "expensive": "expensive",
}  # fmt: skip
LESS = re.compile(r"\b(?:less|fewer|lighter|cheaper|slower|younger|shorter|smaller|lower)\b", re.I)
ADDS = re.compile(  # says that a number is the sum or difference of others
    r"(?i)\b(?:together|totals?|sum|combined|altogether|in all|difference|more|less|fewer|so|than"
    r"|zusammen|insgesamt|Summe|Differenz|Unterschied|mehr|weniger|also)\b"
)
CHANGED = re.compile(  # by how much something changed
    r"(?i)\b(?:increas|decreas|declin|dropp|grew|grow|rose|rise|fell|fall|up|down|chang)\w*"
    r"(?:\s(?:by|of|approximately|about|an?|additional))*\s[$€£]?\d[\d.,]*(?:\s?%|\s\w+illion)?"
    r"|\bchang(?:e|ed)\b|\bgr[oe]w(?:th|n)?\b"
)
