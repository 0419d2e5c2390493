"""Receipts, addresses and forms keep their lines; prose is put together; only a heading is one."""

from __future__ import annotations

from bench.pdf_writer import Sheet, build

from trivium.core.types import Extraction
from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob

PROSE = "The harbour master keeps a list of all ships that wait outside for a berth at the quay"


def read(*sheets: Sheet) -> Extraction:
    return PdfExtractor().extract(Blob("file.pdf", build(list(sheets))))


def lines_of(*texts: str, left: float = 72, top: float = 60) -> Sheet:
    sheet = Sheet()
    for at, text in enumerate(texts):
        sheet.put(left, top + 12 * at, text)
    return sheet


def headings_of(got: Extraction) -> list[str]:
    return [got.text[e.start : e.end] for e in got.elements if e.kind == "heading"]


def test_a_receipt_keeps_its_lines() -> None:
    """They were one sentence, so no answer could quote the line with the total."""
    lines = (
        "Quay Street 19", "Kobsund 4420", "==========================", "Till 4, 12/03/2025 16:02",
        "Oat milk 1 l, 2 pieces", "$4.60", "Lamp oil", "$12.00", "Discount $-1.20",
        "Total to pay $15.40", "Card ending in 0417",
    )  # fmt: skip
    got = read(lines_of(*lines))
    assert headings_of(got) == []
    assert [line for line in got.text.split("\n") if line] == list(lines)


def test_an_address_in_a_letter_keeps_its_lines_and_the_letter_is_prose() -> None:
    sheet = lines_of("Ms Ada Lund", "19 Quay Street, third floor", "4420 Kobsund")
    for at in range(8):
        sheet.put(72, 140 + 12 * at, f"{PROSE} on day {at}")
    parts = read(sheet).text.split("\n\n")
    assert parts[0] == "Ms Ada Lund\n19 Quay Street, third floor\n4420 Kobsund"
    assert len(parts) == 2
    assert "\n" not in parts[1]


def test_a_sentence_without_its_end_goes_on_overleaf_with_a_year() -> None:
    """Verizon's 10-K of 2020 parted "December 31," and "2020 and 2019. The"."""
    first = lines_of(
        *[f"{PROSE} met {at} men" for at in range(40)], "and it was as of December 31,"
    )
    second = lines_of("2020 and 2019. The total was reduced by what had been paid before")
    assert "December 31, 2020 and 2019." in read(first, second).text


def test_a_sentence_that_is_only_large_is_no_heading() -> None:
    """As in a scan, whose sizes differ from line to line."""
    sheet = lines_of(*[PROSE] * 6)
    sheet.put(72, 160, "The crane repeats every movement that it was once shown by", size=13)
    sheet.put(72, 175, "its master or his mate.", size=10)
    sheet.put(72, 210, "One drive stores all of the songs and holds many more notes!", size=13)
    sheet.put(72, 240, "Cranes and Their Masters", size=13)
    for at in range(6):
        sheet.put(72, 262 + 12 * at, PROSE)
    assert headings_of(read(sheet)) == ["Cranes and Their Masters"]


def test_a_risk_in_bold_over_two_full_lines_is_a_heading() -> None:
    """Lockheed Martin's 10-K of 2015 sets 20 words on a line."""
    sheet = lines_of(*[f"{PROSE} and so it is"] * 8)
    risk = (
        "If we do not see to it that the ships of our fleet and those that we hire or buy or sell",
        "do as they are told by us and by law, what we earn could be harmed.",
    )
    for at, text in enumerate(risk):
        sheet.put(72, 170 + 12 * at, text, "Times-Bold")
    for at in range(6):
        sheet.put(72, 206 + 12 * at, f"{PROSE} and so it is")
    assert headings_of(read(sheet)) == [" ".join(risk)]
