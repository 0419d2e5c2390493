"""Numbers, dates and codes of a query, and where a text has them."""

import pytest

from trivium.core.types import Figure, Term
from trivium.text.figures import date_words, is_in
from trivium.text.normalise import words
from trivium.text.query import parse


def only(query: str) -> Figure:
    (figure,) = parse(query).figures
    return figure


def has(text: str, query: str, language: str = "") -> bool:
    return is_in(only(query), text, f" {' '.join(words(text))} ", language)


DAY = ((2026, 7, 7),)


@pytest.mark.parametrize(
    "typed",
    [
        "7 July 2026",
        "July 7, 2026",
        "7th of July, 2026",
        "2026-07-07",
        "07/07/2026",
        "7.7.2026",
        "7. 7. 2026",
        "7.7.26",
        "7. Juli 2026",
        "7 de julio de 2026",
        "7 juillet 2026",
        "7-Jul-2026",
        "2026/07/07",
    ],
)
def test_a_day_is_one_thing_however_it_is_typed(typed: str) -> None:
    assert only(typed).days == DAY
    query = parse(f"invoice ({typed}), paid")
    assert query.figures[0].days == DAY
    assert [p.text for c in query.clauses for p in c if isinstance(p, Term)] == ["invoice", "paid"]


@pytest.mark.parametrize("typed", ["5 May", "may 5", "baker on 5 may", "5. Mai", "5 May oven"])
def test_a_short_month_needs_no_year(typed: str) -> None:
    assert only(typed).days == ((0, 5, 5),)
    assert has("Tue 5 May: Ruth, oven", typed, "de")
    assert not has("Dentist, 18 May 2026, room 5", typed, "de")


@pytest.mark.parametrize("typed", ["set 5", "out 2", "section 5 may not", "may 5 people come"])
def test_other_short_words_are_no_months(typed: str) -> None:
    assert parse(typed).figures == ()


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Due on 7 July 2026.", True),
        ("(July 7th, 2026)", True),
        ("counted,2026-07-07", True),
        ("scan 20260707.pdf", True),
        ("am 07.07.2026", True),
        ("18 July 2026, 7 saddles", False),
        ("17 July 2026", False),
        ("7 July 2025", False),
        ("7 August 2026", False),
    ],
)
def test_a_text_has_the_very_day_or_not(text: str, there: bool) -> None:
    assert has(text, "7 July 2026") is there


def test_a_day_in_figures_is_read_as_its_marks_say() -> None:
    assert only("07/08/2026").days == ((2026, 8, 7), (2026, 7, 8))  # nobody can tell
    assert only("13/08/2026").days == only("08/13/2026").days == ((2026, 8, 13),)
    assert only("7.8.2026").days == ((2026, 8, 7),)
    assert has("on 08/07/2026", "7 August 2026")
    assert not has("am 8.7.2026", "7 August 2026")
    assert has("am 7. August 2026", "7 August 2026", "de")
    assert has("el 7 de agosto de 2026", "7 August 2026", "es")


@pytest.mark.parametrize(
    "typed", ["1/2000 of all", "32.13.2026", "0.7.2026", "2026-13-01", "2.2.0", "10.0.0.1"]
)
def test_what_no_calendar_has_is_no_date(typed: str) -> None:
    assert not any(figure.days for figure in parse(typed).figures)


@pytest.mark.parametrize(
    ("typed", "text", "there"),
    [
        ("3918", "Total £3,918.00", True),
        ("3,918", "3918 euros", True),
        ("3918.00", "CHF 3'918.–", True),
        ("£3,918.00", "3.918,00 €", True),
        ("3918", "3 918 kr", True),
        ("3,918.50", "3918.50", True),
        ("3,918.50", "3,918.00", False),
        ("3918", "13,918.00", False),
        ("3918", "3,918,000", False),
        ("3918", "39180", False),
        ("3918", "BL3918", False),
        ("1990", "in the 1990s", True),
        ("1990", "Smith 1990a", True),
        ("0.355", "p = 0.355", True),
        ("0.355", "355", False),
        ("12.50", "12,50 EUR", True),
        ("1250000", "1,250,000 people", True),
    ],
)
def test_a_number_is_one_thing_however_it_is_written(typed: str, text: str, there: bool) -> None:
    assert has(text, typed) is there


@pytest.mark.parametrize(
    ("typed", "text", "there"),
    [
        ("BL-20419", "Invoice BL-20419", True),
        ("BL20419", "Invoice BL-20419", True),
        ("bl-20419", "no. BL 20419", True),
        ("BL-20419", "Invoice BL-20417", False),
        ("PS-77121-B", "PS-77121-B.", True),
        ("88-441-907", "policy 88-441-907", True),
        ("88-441-907", "88 or 441 or 907", False),
        ("10.5555/ccv.2008.0413", "doi 10.5555/ccv.2008.0413", True),
    ],
)
def test_a_code_is_there_or_not(typed: str, text: str, there: bool) -> None:
    assert only(typed).is_code
    assert has(text, typed) is there


@pytest.mark.parametrize(
    "typed",
    [
        "covid-19",
        "GPT-4",
        "B12",
        "1970s",
        "1970er-Jahren",
        "1914-1918",
        "973-1048",
        "mp3",
        "24/7",
        "2019/20",
    ],
)
def test_words_with_digits_are_words(typed: str) -> None:
    assert not parse(typed).figures


def test_signs_and_quotes_mean_the_words_as_typed() -> None:
    assert not parse('"7 July 2026"').figures
    assert not parse("+3918 -2,000").figures
    both = parse("3918 OR 3919")
    assert len(both.clauses) == 1
    assert [figure.digits for figure in both.figures] == ["3918", "3919"]


def test_a_document_of_a_day_is_known_by_it() -> None:
    assert date_words("de", 2026, 7, 7)[:2] == ["20260707", "202607"]
    assert {"7", "july", "juli", "2026"} <= {*date_words("de", 2026, 7, 7)}
    assert "7" not in date_words("", 2026, 7, 18)
    assert date_words("", 2026, 0, 0) == ["2026"]
    assert "0" not in date_words("", 2026, 7, 0)
