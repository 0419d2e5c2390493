"""Writes src/trivium/text/lexicon/cldr.json: months, weekdays, scales, units and money by language,
from the Unicode CLDR as Babel ships it (`pip install babel==2.17.0`, which Trivium doesn't need to
run: of its 30 MB this file takes what is used).

    python -m bench.lexicon
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

from trivium.text.normalise import fold
from trivium.text.stems import SNOWBALL

WRITTEN = Path(__file__).parents[1] / "src/trivium/text/lexicon/cldr.json"
# What a unit measures, and how many of the first one it is.
UNITS = {
    "length-meter": ("length", 1), "length-kilometer": ("length", 1e3),
    "length-centimeter": ("length", 1e-2), "length-millimeter": ("length", 1e-3),
    "length-micrometer": ("length", 1e-6), "length-nanometer": ("length", 1e-9),
    "length-inch": ("length", 0.0254), "length-foot": ("length", 0.3048),
    "length-yard": ("length", 0.9144), "length-mile": ("length", 1609.344),
    "length-light-year": ("length", 9.4607e15), "mass-gram": ("mass", 1),
    "mass-kilogram": ("mass", 1e3), "mass-milligram": ("mass", 1e-3),
    "mass-microgram": ("mass", 1e-6), "mass-tonne": ("mass", 1e6), "mass-ounce": ("mass", 28.3495),
    "mass-pound": ("mass", 453.592), "mass-ton": ("mass", 907185.0),
    "duration-second": ("time", 1), "duration-minute": ("time", 60),
    "duration-hour": ("time", 3600), "duration-day": ("time", 86400),
    "duration-week": ("time", 604800), "duration-millisecond": ("time", 1e-3),
    "duration-microsecond": ("time", 1e-6), "duration-nanosecond": ("time", 1e-9),
    "duration-month": ("months", 1), "duration-year": ("months", 12),
    "duration-decade": ("months", 120), "duration-century": ("months", 1200),
    "area-square-meter": ("area", 1), "area-square-kilometer": ("area", 1e6),
    "area-hectare": ("area", 1e4), "area-acre": ("area", 4046.86),
    "area-square-foot": ("area", 0.092903), "area-square-mile": ("area", 2589988.0),
    "volume-liter": ("volume", 1), "volume-milliliter": ("volume", 1e-3),
    "volume-cubic-meter": ("volume", 1e3), "volume-gallon": ("volume", 3.78541),
    "volume-pint": ("volume", 0.473176), "volume-barrel": ("volume", 158.987),
    "digital-byte": ("data", 1), "digital-kilobyte": ("data", 1e3),
    "digital-megabyte": ("data", 1e6), "digital-gigabyte": ("data", 1e9),
    "digital-terabyte": ("data", 1e12), "power-watt": ("power", 1),
    "power-kilowatt": ("power", 1e3),
    "power-megawatt": ("power", 1e6), "power-gigawatt": ("power", 1e9),
    "energy-joule": ("energy", 1), "energy-kilojoule": ("energy", 1e3),
    "energy-kilowatt-hour": ("energy", 3.6e6), "energy-kilocalorie": ("energy", 4184),
    "frequency-hertz": ("frequency", 1), "frequency-kilohertz": ("frequency", 1e3),
    "frequency-megahertz": ("frequency", 1e6), "frequency-gigahertz": ("frequency", 1e9),
    "electric-volt": ("voltage", 1), "electric-ampere": ("current", 1),
    "temperature-celsius": ("celsius", 1), "temperature-fahrenheit": ("fahrenheit", 1),
    "temperature-kelvin": ("kelvin", 1), "angle-degree": ("angle", 1),
    "pressure-bar": ("pressure", 1e5), "pressure-pascal": ("pressure", 1),
    "speed-kilometer-per-hour": ("speed", 1 / 3.6), "speed-meter-per-second": ("speed", 1),
    "speed-mile-per-hour": ("speed", 0.44704), "speed-knot": ("speed", 0.514444),
    "concentr-percent": ("percent", 1), "concentr-permille": ("percent", 0.1),
}  # fmt: skip
MONEY = ("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CAD", "AUD")
_SHORTEST = 2  # letters of a name in words; symbols are the program's own, not a language's


def main() -> None:
    from babel import Locale  # type: ignore[import-not-found, unused-ignore]

    told: dict[str, Any] = {"measures": UNITS, "languages": {}}
    for code in sorted(SNOWBALL):
        try:
            told["languages"][code] = _language(Locale.parse("nb" if code == "no" else code))
        except Exception as reason:  # yiddish lacks some tables
            print(f"{code}: {type(reason).__name__} {reason}")
    WRITTEN.write_text(json.dumps(told, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
    print(f"{WRITTEN.name}: {WRITTEN.stat().st_size:,} bytes, {len(told['languages'])} languages")


def _language(locale: Any) -> dict[str, Any]:
    months = _calendar(locale.months)
    _drop_ambiguous(months, locale.months)
    symbols = locale.number_symbols.get("latn", locale.number_symbols)
    return {
        "decimal": symbols["decimal"],
        "months": months,
        "days": {name: number + 1 for name, number in _calendar(locale.days).items()},
        "scales": _scales(locale._data["compact_decimal_formats"]),
        "units": _units(locale._data["unit_patterns"]),
        "money": _money(locale._data),
    }


def _calendar(names: Any) -> dict[str, int]:
    """Names in full, abbreviated, and by their first three letters."""
    found: dict[str, int] = {}
    for context, width in product(("format", "stand-alone"), ("wide", "abbreviated")):
        for number, name in names[context][width].items():
            plain = fold(name).strip(" .")
            for known in (plain, plain[:3]):
                if len(known) == len(plain[:3]) >= 3 or known == plain:
                    found.setdefault(known, number)
    return {name: n for name, n in found.items() if len(name) > 2 and not name[0].isdigit()}


def _scales(formats: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    for width in ("long", "short"):
        for by_power in formats.get(width, {}).values():
            for power, pattern in by_power.items():
                text = getattr(pattern, "pattern", str(pattern))
                zeros = re.search(r"0+", text)
                word = fold(re.sub(r"[0\s\u00a0'.¤\u200f]", "", text))
                if zeros and len(word) >= _SHORTEST and word.isalpha():
                    found.setdefault(word, float(int(power) // 10 ** (len(zeros[0]) - 1)))
    return found


def _units(patterns: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for unit in UNITS:
        for number, pattern in patterns.get(unit, {}).get("long", {}).items():
            if number == "per":
                continue
            for form in pattern.values() if hasattr(pattern, "values") else (pattern,):
                word = fold(str(form).replace("{0}", "").strip())
                if len(word) >= _SHORTEST:
                    found.setdefault(word, unit)
    return found


def _money(data: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for code in MONEY:
        names = [*data["currency_names_plural"].get(code, {}).values()]
        for name in (*names, data["currency_names"].get(code, "")):
            if name:
                found.setdefault(fold(name), code)
    return found


def _drop_ambiguous(months: dict[str, int], names: Any) -> None:
    """The first three letters of two months, as Juni and Juli in some languages."""
    wide = {fold(name): number for number, name in names["format"]["wide"].items()}
    for short in [name for name in months if len(name) == 3]:
        if len({number for name, number in wide.items() if name.startswith(short)}) > 1:
            del months[short]


if __name__ == "__main__":
    main()
