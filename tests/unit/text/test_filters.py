from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.errors import BadFilter
from trivium.core.types import AllOf, AnyOf, Compare, Condition, Exists, Not
from trivium.text.filters import fields_of, parse_filter

YEAR = Compare("year", "ge", 2020)
PDF = Compare("type", "eq", "pdf")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", AllOf()),
        ("  ", AllOf()),
        ("year>=2020", YEAR),
        ("year >= 2020", YEAR),
        ("year>=2020 type:pdf", AllOf((YEAR, PDF))),
        ("year>=2020 AND type:pdf", AllOf((YEAR, PDF))),
        ("type=pdf", PDF),
        ("type:pdf,docx", AnyOf((PDF, Compare("type", "eq", "docx")))),
        ("-type:pdf", Not(PDF)),
        ("NOT type:pdf", Not(PDF)),
        ("type!=pdf", Not(PDF)),
        ("type:pdf OR year>=2020", AnyOf((PDF, YEAR))),
        ("type:pdf year>=2020 OR isbn:*", AnyOf((AllOf((PDF, YEAR)), Exists("isbn")))),
        ("type:pdf (year>=2020 OR isbn:*)", AllOf((PDF, AnyOf((YEAR, Exists("isbn")))))),
        ("-(type:pdf OR isbn:*)", Not(AnyOf((PDF, Exists("isbn"))))),
        ('author:"Le Guin"', Compare("author", "eq", "Le Guin")),
        ('code:"*"', Compare("code", "eq", "*")),
        ("source:#12", Compare("source", "eq", "#12")),
        ("source:/notes/a.md", Compare("source", "eq", "/notes/a.md")),
        ("score<1.5", Compare("score", "lt", 1.5)),
        ('score<"1.5"', Compare("score", "lt", "1.5")),
        ("year:2020", Compare("year", "eq", "2020")),
        ("year:2019..2021", AllOf((Compare("year", "ge", 2019), Compare("year", "le", 2021)))),
        ("year:2019..", AllOf((Compare("year", "ge", 2019),))),
        ("metadata.type:x", Compare("metadata.type", "eq", "x")),
        ("added>2024-05-01", Compare("added", "gt", "2024-05-01\uffff")),
        ("added>=2024-05", Compare("added", "ge", "2024-05")),
    ],
)
def test_what_a_filter_means(text: str, meant: Condition) -> None:
    assert parse_filter(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "year", "year>=", ">=2020", "(year:1", "year:1)", "()", "OR year:1", "year:1 OR",
        "AND year:1", "year:1 AND", "NOT", "year>1,2", 'author:"Le', "a:1 OR OR b:2", "(" * 99,
        "-" * 99 + "a:1", "year==3",
    ],
)  # fmt: skip
def test_what_is_no_filter_says_so(text: str) -> None:
    with pytest.raises(BadFilter) as error:
        parse_filter(text)
    assert error.value.fix


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("year>>3", "year>3"),
        ("year=>3", "year>3"),
        ("year:>=3", "year>=3"),
        ("year<>3", "year<3"),
        ("name>>b", "name>b"),
    ],
)
def test_two_operators_name_the_one_that_was_meant(text: str, meant: str) -> None:
    with pytest.raises(BadFilter) as error:
        parse_filter(text)
    assert f"`{meant}`" in error.value.fix
    assert parse_filter(meant)


def test_a_value_may_begin_like_an_operator() -> None:
    assert parse_filter("id:<a@b.org>") == Compare("id", "eq", "<a@b.org>")
    assert parse_filter('year:">3"') == Compare("year", "eq", ">3")


@given(st.text(alphabet='ab:(),"<>=!-. ORNT*#1', max_size=40))
def test_any_text_is_a_filter_or_a_bad_one(text: str) -> None:
    with suppress(BadFilter):
        fields_of(parse_filter(text))


def test_the_fields_that_a_filter_looks_at() -> None:
    assert fields_of(parse_filter("a:1 (b>2 OR -c:*)")) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("written", "day"),
    [("5 March 2024", "2024-03-05"), ("5. März 2024", "2024-03-05"), ("mars 2024", "2024-03")],
)
def test_dates_as_people_write_them(written: str, day: str) -> None:
    assert parse_filter(f'added>="{written}"') == Compare("added", "ge", day)
