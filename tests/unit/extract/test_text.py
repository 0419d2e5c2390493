"""Plain text is read in any encoding, and paragraphs are found at blank lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.errors import FileEmpty, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.text import read_text
from trivium.ports import Blob


def extract(data: bytes, name: str = "notes.txt") -> Extraction:
    return read_text.extract(Blob(name, data))


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"],
)
def test_encodings(encoding: str) -> None:
    text = "Über den Fluß € und “zurück”"
    assert extract(text.encode(encoding)).text == text


def test_big_endian_by_its_mark() -> None:
    assert extract(b"\xfe\xff" + "Grüße".encode("utf-16-be")).text == "Grüße"
    assert extract(b"\x00\x00\xfe\xff" + "Grüße".encode("utf-32-be")).text == "Grüße"


def test_bytes_that_cp1252_leaves_undefined_are_latin_1() -> None:
    assert extract(b"caf\xe9 \x81 noir").text == "café \x81 noir"


def test_one_broken_byte_does_not_garble_the_rest() -> None:
    good = "Grüße aus Köln, schöne Tage, überall Bäume, Vögel, Häuser, Äpfel, Öl, Öfen"
    assert extract(good.encode() + b"\xc3").text == good + "\ufffd"


def test_paragraphs_are_numbered_and_exact() -> None:
    result = extract(b"\n\n  Tides\r\nstill one\r\n\r\n \r\nTwo  \n\n\nThree\n\n")
    pieces = [result.text[e.start : e.end] for e in result.elements]
    assert pieces == ["  Tides\nstill one", "Two", "Three"]
    assert [e.paragraph for e in result.elements] == [1, 2, 3]
    assert {e.kind for e in result.elements} == {"paragraph"}
    assert result.title == "Tides"
    assert result.media_type == "text/plain"


def test_a_long_first_line_is_no_title() -> None:
    assert extract(b"word " * 30, "folder/My notes.v2.txt").title == "My notes.v2"


def test_language_is_detected() -> None:
    assert extract(b"Die Katze sitzt auf dem Dach und wartet.").language == "de"


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n ", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe \x00"]
)
def test_nothing_to_read(data: bytes) -> None:
    with pytest.raises(FileEmpty):
        extract(data)


@pytest.mark.parametrize(
    "data", [b"abc\x00def", "abc\x00".encode("utf-16"), bytes(range(1, 32)) * 10]
)
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(FormatUnknown):
        extract(data)


@given(st.binary(max_size=300))
def test_any_bytes_give_text_or_a_reason(data: bytes) -> None:
    try:
        result = extract(data)
    except (FileEmpty, FormatUnknown):
        return
    covered = "".join(result.text[e.start : e.end] for e in result.elements)
    assert "".join(covered.split()) == "".join(result.text.split())
