"""Tables written as text: we detect the separator, the header and the encoding."""

import pytest
from tests.unit.extract.making import pieces

from trivium.core.errors import FileTooLarge
from trivium.core.types import Kind
from trivium.extract.detect import read
from trivium.extract.tables import find_separator, read_table
from trivium.ports import Blob


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"1,1;",2\n', ","),
    ],
)
def test_separator(text: str, separator: str) -> None:
    assert find_separator(text) == separator


def test_rows_with_header_and_number() -> None:
    result = read_table.extract(Blob("x.csv", b'name,town\n"Lee, Ann","New\nYork"\n\nBo,Ulm\n'))
    assert pieces(result) == [
        ("row", "name | town"),
        ("row", "Lee, Ann | New York"),
        ("row", "Bo | Ulm"),
    ]
    assert [(e.header, e.place.rows) for e in result.elements] == [
        ("", (1, 1)),
        ("name | town", (2, 2)),
        ("name | town", (4, 4)),
    ]
    assert (result.kind, result.title, result.metadata["rows"]) == (Kind.TABLE, "x", 3)


def test_figures_in_the_first_row_are_no_header() -> None:
    result = read_table.extract(Blob("x.csv", b"1,2\n3,4\n"))
    assert [e.header for e in result.elements] == ["", ""]


def test_encodings() -> None:
    japanese = "名前,住所\n佐藤太郎,東京\n".encode("cp932")
    assert read_table.extract(Blob("x.csv", japanese)).text == "名前 | 住所\n佐藤太郎 | 東京"
    french = "nom,âge\nHélène Prévôt,à côté\n".encode("cp1252")
    assert "Hélène Prévôt | à côté" in read_table.extract(Blob("x.csv", french)).text


def test_accepts_by_name_or_by_regular_rows() -> None:
    accepts = read_table.accepts
    assert accepts(Blob("x.tsv", b"a\tb"))
    assert accepts(Blob("nameless", b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n"))
    assert not accepts(Blob("nameless", b"Well, then, no.\nThis is prose.\nIt is, really.\n"))
    assert not accepts(Blob("x.txt", b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n"))
    assert not accepts(Blob("x.csv", b"\x89PNG\x00"))


def test_a_million_columns_are_refused_at_once() -> None:
    with pytest.raises(FileTooLarge, match="1,000,000 columns"):
        read_table.extract(Blob("x.csv", b",".join([b"x"] * 1_000_000)))


def test_a_long_header_is_cut_between_columns() -> None:
    names = [f"column{n}" for n in range(500)]
    source = ",".join(names) + "\n" + ",".join("1" * 500) + "\n"
    header = read_table.extract(Blob("x.csv", source.encode())).elements[1].header
    assert len(header) <= 1000
    assert header.endswith(tuple(names))


def test_a_table_with_tabs_may_be_called_text() -> None:
    """As databases export: studies in ISA-Tab were read as prose, quotes included (apache/tika)."""
    rows = (
        b'"Quay"\t"Depth"\t"Tide"\n"North"\t"7"\t"2.1"\n"South"\t"9"\t"2.4"\n"East"\t"5"\t"2.0"\n'
    )
    result = read(Blob("quays.txt", rows))
    assert result.kind is Kind.TABLE
    assert pieces(result)[1] == ("row", "North | 7 | 2.1")
    assert read(Blob("a.txt", b"one, two, three\n" * 5)).kind is Kind.TEXT
    assert (
        read(Blob("a.txt", b"Tide\tat noon\nA line of prose\nwith\tthree\ttabs\n")).kind
        is Kind.TEXT
    )
