"""Quantities are compared by what they mean: value, scale, sign and unit."""

from math import isfinite

import pytest

from trivium.text.lexicon.dates import dates
from trivium.text.lexicon.dates import unmatched as strange_dates
from trivium.text.lexicon.quantities import figures, money, quantities, unmatched
from trivium.text.lexicon.words import languages, lexicon


def read(text: str, language: str = "en") -> list[tuple[float, str]]:
    return [
        (one.value, one.unit.dimension if one.unit else "") for one in quantities(text, language)
    ]


@pytest.mark.parametrize(
    ("text", "language", "value", "unit"),
    [
        ("3.5 %", "en", 3.5, "percent"),
        ("3,5 Prozent", "de", 3.5, "percent"),
        ("1.75 million", "en", 1_750_000, ""),
        ("1,75 Mio. Euro", "de", 1_750_000, "EUR"),
        ("1.234,56 €", "de", 1234.56, "EUR"),
        ("1,234.56", "en", 1234.56, ""),
        ("1 234 567", "fr", 1_234_567, ""),
        ("1’234’567", "de", 1_234_567, ""),
        ("1.234", "de", 1234, ""),
        ("1.234", "en", 1.234, ""),
        ("12,34,567", "en", 1_234_567, ""),
        ("-5 %", "en", -5, "percent"),
        ("−0.25", "en", -0.25, ""),
        ("US$5bn", "en", 5e9, "USD"),
        ("£12.5m", "en", 12.5e6, "GBP"),
        ("EUR 7,5", "de", 7.5, "EUR"),
        ("25 basis points", "en", 25, "points"),
        ("2 percentage points", "en", 2, "points"),
        ("six hours", "en", 6, "time"),
        ("sechs Stunden", "de", 6, "time"),
        ("six heures", "fr", 6, "time"),
        ("2 milliards", "fr", 2e9, ""),
        ("2 Billionen", "de", 2e12, ""),
        ("2 billion", "en", 2e9, ""),
        ("30 km/h", "en", 30, "speed"),
        ("a 35-hour week", "en", 35, "time"),
    ],
)
def test_value_and_unit(text: str, language: str, value: float, unit: str) -> None:
    assert read(text, language) == [(pytest.approx(value), unit)]


@pytest.mark.parametrize(
    ("said", "source", "language"),
    [
        ("35 %", "3.5 %", ""),  # the point that used to be dropped
        ("175 million", "1.75 million", ""),
        ("1750 lamps", "1.75 lamps", "en"),
        ("3.5 percentage points", "3.5 %", "en"),
        ("5 €", "$5", "en"),
        ("5 million", "5 billion", "en"),
        ("-5 %", "up 5 %", "en"),
        ("a profit of 5 million", "-5 million", "en"),
        ("6 hours", "6 days", "en"),
        ("six hours", "four hours", "en"),
        ("35 % of the patients", "35 patients", "en"),
        ("1,250", "1,254", ""),
        ("4 %", "3.5 %", "en"),
        ("17,606 million", "17.6 billion", "en"),  # more exact than its source
        ("version 2.3.1", "version 2.31", "en"),
        ("$17,606 billion", "17,606 (in millions)", "en"),
    ],
)
def test_what_differs(said: str, source: str, language: str) -> None:
    assert unmatched(said, language, [(source, language)])


@pytest.mark.parametrize(
    ("said", "source", "language"),
    [
        ("3,5 %", "3.5 percent", ""),
        ("$17.6 billion", "Capital expenditure 17,606 (in millions)", "en"),
        ("$17,606 million", "(dollars in millions) 17,606", "en"),
        ("1.5 km", "1500 m", "en"),
        ("90 minutes", "1.5 hours", "en"),
        ("about 1.8 million", "1,750,000", "en"),
        ("-5 %", "It fell by 5 %.", "en"),
        ("a loss of 12", "(12)", "en"),
        ("6.03 %", "6.026786 %", "en"),
        ("between 3 and 5 %", "3 % to 5 %", "en"),
        ("12 cranes", "twelve cranes", "en"),
        ("1,000", "1 000", ""),
        ("35", "share in %: 35", "en"),
    ],
)
def test_what_is_the_same(said: str, source: str, language: str) -> None:
    assert unmatched(said, language, [(source, language)]) == []


def test_an_answer_in_german_agrees_with_an_english_source() -> None:
    source = ("It cost 1,234.5 euros, or 3.25 % of sales.", "en")
    assert unmatched("Es kostete 1.234,5 Euro, 3,25 Prozent.", "de", [source]) == []
    assert unmatched("Es kostete 12.345 Euro.", "de", [source])


@pytest.mark.parametrize("text", ["9" * 400, "1e400", "1,,2", "3.", "٣٫٥ ٪", "½", "5²", "\ud800 5"])
def test_strange_figures_are_read_without_an_error(text: str) -> None:
    for one in quantities(text, "en"):
        assert one.same(one)


def test_figures_are_written_one_way() -> None:
    assert figures("1,000 of 3.5 and twelve", "en") == ["1000", "3.5", "12"]


def test_money_is_told_by_its_unit() -> None:
    assert money("It costs 5 euros.", "en")
    assert not money("It weighs 5 kilograms.", "en")


def test_dates_in_several_languages() -> None:
    for text, language in (
        ("on 5 March 2024", "en"), ("March 5, 2024", "en"), ("am 5. März 2024", "de"),
        ("le 5 mars 2024", "fr"), ("el 5 de marzo de 2024", "es"), ("5.3.2024", "de"),
        ("2024-03-05", "en"),
    ):  # fmt: skip
        (date,) = dates(text, language)
        assert (date.year, date.month, date.day) == (2024, 3, 5), text
    assert strange_dates("on 6 March 2024", "en", [("2024-03-05", "en")]) == ["6 March 2024"]
    assert strange_dates("in March 2024", "en", [("am 5. März 2024", "de")]) == []
    assert dates("It may rain.", "en") == []


def test_every_stemmed_language_has_its_months() -> None:
    for language in languages():
        assert set(lexicon(language).months.values()) == set(range(1, 13)), language


def test_two_numbers_that_run_together_are_no_number() -> None:
    """A table of a paper read as one line; every question that met it failed."""
    for text in ("42.33,83.05", "1,5.2,7", "scores 42.33,83.05 and 7"):
        assert all(isfinite(one.value) for one in quantities(text) if one.readings)
    assert [one.value for one in quantities("1,234.5")] == [1234.5]


@pytest.mark.parametrize(
    ("text", "language", "readings"),
    [
        ("on 7/8/2026", "en", ((2026, 8, 7), (2026, 7, 8))),  # nobody can tell
        ("on 7/20/2026", "en", ((2026, 7, 20),)),
        ("am 1. 3. 84", "de", ((1984, 3, 1),)),
        ("1.3.2024-31.3.2024", "de", ((2024, 3, 1),)),
        ("in January, 2006", "en", ((2006, 1, 0),)),
        ("7-Jul-2026", "en", ((2026, 7, 7),)),
        ("since 2026-07", "en", ((2026, 7, 0),)),
        ("in 3/2025", "en", ((2025, 3, 0),)),
        ("45 March 2024", "en", ((2024, 3, 0),)),
        ("file 1190/01 of 2010/11, 20.20.2004, 5.0.2195", "de", ()),
        ("may 5 people come?", "en", ()),
    ],
)
def test_a_date_is_read_as_it_is_typed(
    text: str, language: str, readings: tuple[tuple[int, int, int], ...]
) -> None:
    assert next((one.readings for one in dates(text, language)), ()) == readings


def test_a_date_that_may_be_two_fits_both() -> None:
    assert strange_dates("on 7 August 2026", "en", [("due 8/7/2026", "en")]) == []
    assert strange_dates("on 9 August 2026", "en", [("due 8/7/2026", "en")]) == ["9 August 2026"]
