"""Texts in the tables of many languages, long and short, and bytes that are no text."""

from __future__ import annotations

import pytest

from trivium.core.errors import FormatUnknown
from trivium.extract.charsets import decode_text, encoding_of, named, utf16_without_mark
from trivium.extract.detect import read
from trivium.ports import Blob

RUSSIAN = "Все люди рождаются свободными и равными в своём достоинстве и правах."
SENTENCES = [
    (RUSSIAN, ("koi8_r", "cp1251", "iso8859_5", "cp866")),
    ("Всеки човек има право на почивка и отдих.", ("cp1251",)),
    ("Усі люди народжуються вільними і рівними у своїй гідності.", ("cp1251", "koi8_u")),
    ("すべての人間は、生まれながらにして自由である。", ("cp932", "euc_jp", "iso2022_jp")),
    ("人人生而自由，在尊严和权利上一律平等。", ("gbk", "gb18030")),
    ("人人生而自由，在尊嚴和權利上一律平等。", ("big5",)),
    ("모든 인간은 태어날 때부터 자유로우며 동등하다.", ("cp949",)),
    ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι.", ("cp1253", "iso8859_7")),
    ("Każdy człowiek ma prawo do życia, wolności i bezpieczeństwa.", ("cp1250", "iso8859_2")),
    ("Každý má právo na život, svobodu a osobní bezpečnost.", ("cp1250", "iso8859_2")),
    ("Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.", ("cp1254",)),
    ("Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis.", ("cp1257",)),
    ("כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם.", ("cp1255",)),
    ("يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.", ("cp1256",)),
    ("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน", ("cp874",)),
    ("Alle Menschen sind frei und gleich an Würde geboren: schön, groß.", ("cp1252",)),
    ("Tous les êtres humains naissent libres et égaux en dignité.", ("cp1252",)),
]
WIDE = ("utf-16-le", "utf-16-be")


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, one) for text, names in SENTENCES for one in (*names, *WIDE)]
)
def test_a_sentence_in_any_table_is_read(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, мир!", "koi8_r"),
        ("請求書の件", "cp932"),
        ("会议记录", "gbk"),
        ("會議記錄", "big5"),
        ("Grüße", "cp1252"),
        ("François", "cp1252"),
        ("Preis: 5 €", "cp1252"),
        ("Žluťoučký kůň", "cp1250"),
        ("Meeting notes", "utf-16-le"),
        ("会议记录", "utf-16-be"),
    ],
)
def test_a_few_words_are_read_too(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


def test_utf8_is_never_taken_for_anything_else() -> None:
    for text, _ in SENTENCES:
        assert encoding_of(text.encode()) == "utf-8-sig"


def test_one_foreign_line_in_a_long_english_file_decides() -> None:
    plain = b"The quick brown fox jumps over the lazy dog.\n" * 2000
    data = plain + RUSSIAN.encode("koi8_r") + b"\n" + plain
    assert RUSSIAN in decode_text(data)


def test_a_table_in_shift_jis_keeps_its_cells() -> None:
    rows = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"
    assert "佐藤太郎 | 30 | 東京" in read(Blob("people.csv", rows.encode("cp932"))).text


def test_a_page_in_utf16_without_mark_is_read_as_html() -> None:
    page = "<html><body><h1>Überschrift</h1><p>Ein Satz über Straßen.</p></body></html>"
    found = read(Blob("page.html", page.encode("utf-16-le")))
    assert found.media_type == "text/html"
    assert found.text == "Überschrift\n\nEin Satz über Straßen."


@pytest.mark.parametrize(
    "data",
    [
        b"abc\x00def\x00",
        bytes(range(256)) * 8,
        b"\x01\x00\x02\x00\x03\x00\x04\x00" * 40,
        b"RIFF\x24\x08\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00",
    ],
)
def test_binary_is_no_utf16(data: bytes) -> None:
    assert utf16_without_mark(data) == ""
    with pytest.raises(FormatUnknown):
        read(Blob("file", data))


@pytest.mark.parametrize(
    ("said", "read_as"),
    [("ISO-8859-1", "cp1252"), ("gb2312", "gb18030"), ("Shift_JIS", "cp932"), ("utf-8", "utf-8")],
)
def test_a_named_table_is_read_as_browsers_do(said: str, read_as: str) -> None:
    assert named(said) == read_as


def test_a_text_of_a_mainframe_is_read() -> None:
    text = "The harbour was open on every day of the year but two.\nThe mole was not.\n" * 3
    for table in ("cp500", "cp037"):
        assert read(Blob("tides.txt", text.encode(table))).text == text.rstrip()
    assert encoding_of(b"a@b.org, c@d.org, @e, @f, @g, @h and caf\xe9 " * 4) != "cp500"


def test_a_stray_nul_costs_no_other_entry() -> None:
    entries = "\n".join(
        f"@article{{k{n}, title = {{Tides of {n}}}, keywords = {{har\x07bour{tag}}}}}"
        for n, tag in enumerate(("", "\x00s", ""))
    )
    found = read(Blob("refs.bib", entries.encode()))
    assert len(found.enclosed) == 3
    note = "The tide turns at six, and the ferry waits for nobody. " * 3
    assert read(Blob("note.txt", f"\0{note}".encode())).text == note.strip()
