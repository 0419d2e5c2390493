"""What a library can keep: repaired where a document says it, refused where a person does."""

import json
from math import isfinite
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trivium.core.errors import BadFilter, BadValue
from trivium.core.types import AllOf, Box, Compare, Element, Enclosed, Extraction, Labels, Place
from trivium.extract.cleaning import DROPPED, cleaned
from trivium.library.asking import where
from trivium.operations.searching import Filters
from trivium.store.where import as_number
from trivium.text.filters import parse_filter
from trivium.text.values import (
    LARGEST,
    LONGEST_TEXT,
    check_labels,
    check_metadata,
    clean_metadata,
    clean_text,
    is_clean,
)

BOX = Box(1, 0, 0, 1, 1)
NAN, INFINITE = float("nan"), float("1e400")
texts = some.text(some.characters() | some.sampled_from("\x00\ud83d\ude00\ud800\U0001f600"))
nested: Any = some.recursive(
    some.none() | some.integers() | some.floats() | texts | some.just(10**400) | some.just(NAN),
    lambda inner: some.lists(inner) | some.dictionaries(texts, inner),
    max_leaves=8,
)


@given(texts)
def test_any_text_becomes_one_that_stores_can_keep(text: str) -> None:
    clean = clean_text(text)
    assert "\x00" not in clean.encode().decode()
    assert clean_text(clean) == clean
    assert (clean == text) == is_clean(text)


def test_halves_of_a_pair_are_joined() -> None:
    assert clean_text("a\ud83d\ude00b") == "a\U0001f600b"
    assert clean_text("a\ude00\ud83db\x00c") == "a\ufffd\ufffdbc"


@given(some.dictionaries(texts, nested))
def test_a_document_is_repaired_a_person_refused(metadata: dict[str, object]) -> None:
    kept, _ = clean_metadata(metadata)
    assert json.dumps(kept, allow_nan=False, ensure_ascii=False).encode()
    assert clean_metadata(kept) == (kept, ())
    check_metadata(kept)  # what is kept would also be let in
    for value in kept.values():
        for one in value if isinstance(value, tuple) else (value,):
            number = as_number(one)
            assert number is None or isfinite(number)
    try:
        kept = check_metadata(metadata)
    except BadValue as error:
        refused = str(error)
        assert refused.encode()
        return
    assert json.dumps(kept, allow_nan=False, ensure_ascii=False).encode()


def test_a_field_that_lost_something_is_named() -> None:
    digits = int("9" * 400)
    kept, lost = clean_metadata(
        {
            "a": "\ud83d\ude00", "b": NAN, "c": digits, "d": (1, INFINITE), "e": {"deep": 1},
            "f": "x" * (LONGEST_TEXT + 1), "g": 10**5000, "h": [NAN], "i": LARGEST,
        }
    )  # fmt: skip
    assert kept["a"] == "\U0001f600"
    assert kept["c"] == "9" * 400
    assert kept["d"] == (1,)
    assert kept["f"] == "x" * LONGEST_TEXT
    assert kept["i"] == LARGEST
    assert set(kept) == {"a", "c", "d", "f", "i"}
    assert lost == ("b", "d", "e", "f", "g", "h")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NAN, "nan"),
        (-INFINITE, "-inf"),
        (10**400, "64 bits"),
        ("\ud800", "isn't text"),
        ("a\x00b", "isn't text"),
        ("x" * (LONGEST_TEXT + 1), "64,001 characters"),
        ({"a": 1}, "dict"),
        ([[1]], "list"),
        ([1] * 5001, "5,001 values"),
        (None, "NoneType"),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused_by_name(value: object, said: str) -> None:
    with pytest.raises(BadValue, match=r"`metadata\.year`") as caught:
        check_metadata({"year": value})
    assert said in str(caught.value)


def test_labels_are_checked_too() -> None:
    for labels in (Labels("a\ud800"), Labels(category="\x00"), Labels(audience="\udfff")):
        with pytest.raises(BadValue):
            check_labels(labels)
    assert check_labels(Labels(metadata={"tags": ["a", 1]})).metadata == {"tags": ("a", 1)}  # type: ignore[dict-item]


@pytest.mark.parametrize("value", [NAN, INFINITE, 10**400, "\ud800", "\x00"])
def test_filters_refuse_what_no_document_holds(value: Any) -> None:
    for call in (
        lambda: where(Filters(metadata={"year": value})),
        lambda: where(Filters(where=AllOf((Compare("year", "ge", value),)))),
    ):
        with pytest.raises(BadFilter, match="year"):
            call()
    with pytest.raises(BadFilter):
        where(Filters(where=Compare("ye\ud800ar", "eq", 1)))
    with pytest.raises(BadValue):
        where(Filters(audiences=["\ud800"]))


def test_numbers_in_a_filter_that_nothing_can_hold_are_refused() -> None:
    for digits in ("9" * 400, "9" * 5000, "1e400"):
        with pytest.raises(BadFilter, match="too large"):
            parse_filter(f"year>={digits}")
    assert parse_filter("year>=nan") == Compare("year", "ge", "nan")
    assert parse_filter(f"year>={'9' * 20}") == Compare("year", "ge", 1e20)


def test_an_extraction_is_cleaned_and_its_offsets_stay_exact() -> None:
    text = "Head\x00ing\n\n\ud83d\ude00 smile\ud800 and \x00\x00 end"
    spans = [text.index("Head"), text.index("\n"), text.index("\ud83d"), len(text)]
    elements = (
        Element("heading", spans[0], spans[1], level=1),
        Element(
            "paragraph", spans[2], spans[3], ("He\x00ad",), header="\ud800",
            place=Place((1,), (Box(1, 0, 0, NAN, 1), BOX), "s\x00", None, ("\ud800",)),
        ),
        Element("paragraph", text.index("\x00\x00"), text.index("\x00\x00") + 2),
    )  # fmt: skip
    found = cleaned(
        Extraction(
            text, elements, "T\x00itle", "text/plain", metadata={"n": NAN, "k\ud800": "v"},
            enclosed=(Enclosed("a\ud800.txt", b"1"), Enclosed("\x00", b"2")),
        )
    )  # fmt: skip
    heading, paragraph = found.elements  # the one of nothing but NUL is gone
    assert found.text[heading.start : heading.end] == "Heading"
    assert found.text[paragraph.start : paragraph.end] == "\U0001f600 smile\ufffd and  end"
    assert (paragraph.headings, paragraph.header) == (("Head",), "\ufffd")
    assert paragraph.place == Place((1,), (BOX,), "s", None, ("\ufffd",))
    assert (found.title, found.metadata) == ("Title", {"k\ufffd": "v", DROPPED: ("n",)})
    assert [one.name for one in found.enclosed] == ["a\ufffd.txt", "file"]


def test_a_clean_extraction_keeps_its_elements() -> None:
    fine = Extraction("words", (Element("paragraph", 0, 5),), "T", "text/plain")
    assert cleaned(fine) == fine
    assert cleaned(fine).elements is fine.elements
