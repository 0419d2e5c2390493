"""The words of each language that mean a number, a scale, a unit, money, a month or a weekday.

From the Unicode CLDR (`cldr.json`, written by `python -m bench.lexicon`), with the symbols and the
number words that it lacks. Words are folded. Pure but for reading its own data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from trivium.text.normalise import fold

DEFAULT = "en"

# Symbols of units: the same in every language, and with their case (`mW` and `MW`).
_SYMBOLS = {
    "m": "length-meter", "km": "length-kilometer", "cm": "length-centimeter",
    "mm": "length-millimeter", "µm": "length-micrometer", "μm": "length-micrometer",
    "nm": "length-nanometer", "ft": "length-foot", "ft.": "length-foot", "yd": "length-yard",
    "mi": "length-mile", "g": "mass-gram", "kg": "mass-kilogram", "mg": "mass-milligram",
    "µg": "mass-microgram", "μg": "mass-microgram", "t": "mass-tonne", "oz": "mass-ounce",
    "oz.": "mass-ounce", "lb": "mass-pound", "lbs": "mass-pound", "lb.": "mass-pound",
    "lbs.": "mass-pound", "s": "duration-second", "sec": "duration-second",
    "min": "duration-minute", "min.": "duration-minute", "h": "duration-hour",
    "hr": "duration-hour", "hrs": "duration-hour", "Std.": "duration-hour",
    "ms": "duration-millisecond", "µs": "duration-microsecond", "ns": "duration-nanosecond",
    "m²": "area-square-meter", "m2": "area-square-meter", "km²": "area-square-kilometer",
    "km2": "area-square-kilometer", "ha": "area-hectare", "l": "volume-liter", "L": "volume-liter",
    "ml": "volume-milliliter", "mL": "volume-milliliter", "m³": "volume-cubic-meter",
    "m3": "volume-cubic-meter", "B": "digital-byte", "kB": "digital-kilobyte",
    "KB": "digital-kilobyte", "MB": "digital-megabyte", "GB": "digital-gigabyte",
    "TB": "digital-terabyte", "W": "power-watt", "kW": "power-kilowatt", "MW": "power-megawatt",
    "GW": "power-gigawatt", "J": "energy-joule", "kJ": "energy-kilojoule",
    "kWh": "energy-kilowatt-hour", "kcal": "energy-kilocalorie", "Hz": "frequency-hertz",
    "kHz": "frequency-kilohertz", "MHz": "frequency-megahertz", "GHz": "frequency-gigahertz",
    "V": "electric-volt", "A": "electric-ampere", "°C": "temperature-celsius",
    "°F": "temperature-fahrenheit", "K": "temperature-kelvin", "°": "angle-degree",
    "bar": "pressure-bar", "Pa": "pressure-pascal", "km/h": "speed-kilometer-per-hour",
    "kph": "speed-kilometer-per-hour", "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour", "%": "concentr-percent", "％": "concentr-percent",
    "‰": "concentr-permille",
}  # fmt: skip
_PERCENT = frozenset(("percent", "pct", "prozent", "procent", "prosent"))
_PER_CENT = frozenset(
    ("per cent", "pour cent", "por ciento", "por cento", "per cento", "v. h.", "v.h.")
)
POINTS = frozenset(
    fold(name)
    for name in (
        "percentage point", "percentage points", "percent points", "pp", "ppt", "ppts", "pps",
        "Prozentpunkt", "Prozentpunkte", "Prozentpunkten", "points de pourcentage",
        "point de pourcentage", "puntos porcentuales", "punto porcentual", "punti percentuali",
        "pontos percentuais", "procentpunt", "procentpunten", "procentenheter", "procentpoint",
    )
)  # fmt: skip
BASIS_POINTS = frozenset(("basis point", "basis points", "bp", "bps", "basispunkt", "basispunkte"))
_SCALES = {
    "thousand": 1e3, "thousands": 1e3, "k": 1e3, "tsd": 1e3, "lakh": 1e5, "million": 1e6,
    "millions": 1e6, "mn": 1e6, "mln": 1e6, "mio": 1e6, "mill": 1e6, "crore": 1e7, "bn": 1e9,
    "bln": 1e9, "mrd": 1e9, "mld": 1e9, "milliard": 1e9, "milliarden": 1e9, "billion": 1e9,
    "billions": 1e9, "tn": 1e12, "trn": 1e12, "trillion": 1e12, "trillions": 1e12,
    "hundred": 1e2, "dozen": 12.0, "hundert": 1e2, "dutzend": 12.0,
}  # fmt: skip
MONEY = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR",
    "eur": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP", "sterling": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY",
    "chf": "CHF", "franken": "CHF", "₹": "INR", "inr": "INR", "rs": "INR", "rupees": "INR",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "cad": "CAD", "c$": "CAD",
    "aud": "AUD", "a$": "AUD", "cent": "cent", "cents": "cent",
}  # fmt: skip
_COUNTED = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
    " fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
    "fr": "zéro - deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
    " seize - - - vingt",
    "es": "cero - dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciséis diecisiete dieciocho diecinueve veinte",
    "it": "zero - due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
    " quattordici quindici sedici diciassette diciotto diciannove venti",
    "pt": "zero - dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
    " dezesseis dezessete dezoito dezenove vinte",
    "nl": "nul - twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien"
    " zestien zeventien achttien negentien twintig",
    "sv": "noll - två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton"
    " sjutton arton nitton tjugo",
}
_TENS = {
    "en": "thirty forty fifty sixty seventy eighty ninety",
    "de": "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """What is measured, and how many of its first unit this one is. `dimension`: "length", "time",
    "percent", "points", or the code of a currency."""

    name: str
    dimension: str
    factor: float = 1.0


@dataclass(frozen=True)
class Lexicon:
    """The words of one language."""

    decimal: str  # the mark before decimals
    months: Mapping[str, int]
    days: Mapping[str, int]
    scales: Mapping[str, float]
    units: Mapping[str, Unit]  # folded names
    numbers: Mapping[str, int]


@cache
def _data() -> Any:
    return json.loads(files(__package__).joinpath("cldr.json").read_text("utf-8"))


@cache
def symbols() -> Mapping[str, Unit]:
    measures = _data()["measures"]
    return MappingProxyType({sign: Unit(name, *measures[name]) for sign, name in _SYMBOLS.items()})


@cache
def lexicon(language: str) -> Lexicon:
    """Of a language, with English below it; only English for one that isn't known."""
    data = _data()
    languages = data["languages"]
    english, own = languages[DEFAULT], languages.get(language or DEFAULT, {})
    units = {}
    for name, unit in {**english["units"], **own.get("units", {})}.items():
        units[name] = Unit(unit, *data["measures"][unit])
        if language == "de":  # nach drei Tagen, sechs Monaten
            units.setdefault(f"{name}n", units[name])
        if "meter" in name or "liter" in name:  # British spelling
            british = name.replace("meter", "metre").replace("liter", "litre")
            units.setdefault(british, units[name])
    percent = Unit("concentr-percent", "percent")
    units |= dict.fromkeys((*_PERCENT, *_PER_CENT), percent)
    units |= dict.fromkeys(POINTS, Unit("points", "points"))
    units |= dict.fromkeys(BASIS_POINTS, Unit("points", "points", 0.01))
    for name, code in {**english["money"], **own.get("money", {}), **MONEY}.items():
        units[name] = money(code)
    numbers = dict(_numbers(DEFAULT))
    numbers.update(_numbers(language))
    return Lexicon(
        own.get("decimal", "."),
        MappingProxyType({**english["months"], **own.get("months", {})}),
        MappingProxyType({**english["days"], **own.get("days", {})}),
        MappingProxyType({**_SCALES, **english["scales"], **own.get("scales", {})}),
        MappingProxyType(units),
        MappingProxyType(numbers),
    )


def money(code: str) -> Unit:
    return Unit("USD", "USD", 0.01) if code == "cent" else Unit(code, code)


def is_money(unit: Unit) -> bool:
    return len(unit.dimension) == 3 and unit.dimension.isupper()


def languages() -> tuple[str, ...]:
    """That have a table of words."""
    return tuple(_data()["languages"])


def _numbers(language: str) -> list[tuple[str, int]]:
    counted = [(fold(word), at) for at, word in enumerate(_COUNTED.get(language, "").split())]
    ones = [(word, number) for word, number in counted if 0 < number < 10]
    for at, word in enumerate(_TENS.get(language, "").split()):
        ten = fold(word)
        counted.append((ten, 30 + 10 * at))
    for ten, tens in [pair for pair in counted if pair[1] >= 20]:
        for unit_word, number in ones:
            if language == "en":
                counted.append((f"{ten}-{unit_word}", tens + number))
            elif language == "de":
                counted.append(
                    (
                        f"{unit_word.removesuffix('s') if number == 1 else unit_word}und{ten}",
                        tens + number,
                    )
                )
    return [(word, number) for word, number in counted if word != "-"]
