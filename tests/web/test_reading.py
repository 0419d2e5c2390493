"""A text as something to read: blocks, tables, marks, and how far it is shown."""

from __future__ import annotations

from dataclasses import replace

from tests.reference import open_memory

from trivium.core.types import OWNER, Chunk, StoredChunk
from trivium.testing.samples import TOY, sample
from trivium.web.found import pieces
from trivium.web.reading import REACH, ShownText, TextBlock, read

TEXT = """Weapons

Every weapon began as a tool.
The sling never changed.

Name | Harm
Sling | 4
Battle axe | 9

After the table."""


def stored(text: str, *ranges: tuple[int, int], header: str = "") -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample("a.md", "x")], TOY.fingerprint)
    document = replace(store.documents.all(OWNER)[0], language="en")
    return [
        StoredChunk(
            at + 1,
            document,
            Chunk(at, start, end, text[start:end], headings=("Weapons",), header=header),
        )
        for at, (start, end) in enumerate(ranges)
    ]


def said(block: TextBlock) -> list[str]:
    lines = ["".join(text for text, _ in line) for line in block.lines]
    return lines + [
        " / ".join("".join(text for text, _ in cell) for cell in row) for row in block.rows
    ]


def blocks(reading: ShownText) -> list[tuple[int | None, str, list[str]]]:
    return [(s.index, b.kind, said(b)) for s in reading.sections for b in s.blocks]


def test_headings_paragraphs_and_tables_are_told_apart() -> None:
    whole = stored(TEXT, (0, len(TEXT)))
    assert blocks(read(TEXT, whole, None, ())) == [
        (None, "heading", ["Weapons"]),
        (None, "paragraph", ["Every weapon began as a tool.", "The sling never changed."]),
        (None, "table", ["Name / Harm", "Sling / 4", "Battle axe / 9"]),
        (None, "paragraph", ["After the table."]),
    ]


def test_the_passage_is_kept_apart_and_its_table_has_its_header() -> None:
    row = TEXT.index("Battle axe")
    passages = stored(TEXT, (0, row), (row, row + 14), (row + 14, len(TEXT)), header="Name | Harm")
    found = read(TEXT, passages, 1, ("battleaxe",))
    section = next(s for s in found.sections if s.index == 1)
    (table,) = section.blocks
    assert table.head == ["Name", "Harm"]
    assert said(table) == ["Battle axe / 9"]
    assert table.rows[0][0] == [("Battle", True), (" ", False), ("axe", True)]
    assert (found.earlier, found.later) == (None, None), "all of it is here"


def test_a_long_text_is_shown_around_the_passage() -> None:
    text = "\n\n".join(f"Paragraph {n} {'word ' * 80}".strip() for n in range(200))
    size = len(text) // 100
    passages = stored(text, *((n * size, (n + 1) * size) for n in range(100)))
    found = read(text, passages, 50, ())
    shown = sum(len(line) for s in found.sections for b in s.blocks for line in said(b))
    assert shown < 2 * REACH + 4 * size
    assert found.earlier is not None
    assert found.later is not None
    assert found.earlier < 50 < found.later
    first = read(text, passages, None, ())
    assert (first.earlier, first.later is None) == (None, False)


def test_nothing_of_the_text_is_lost() -> None:
    passages = stored(TEXT, (0, 40), (30, 90), (85, len(TEXT)))
    for index in (None, 0, 1, 2):
        told = "".join(
            "".join(said(b)) for s in read(TEXT, passages, index, ()).sections for b in s.blocks
        )
        wanted = TEXT.replace(" | ", " / ")
        letters = [c for c in wanted if c.isalnum()]
        assert [c for c in told if c.isalnum()] == letters


def test_pieces_cover_a_text_whatever_is_marked() -> None:
    cut = pieces("a bird in the hand", [(2, 6), (4, 8), (14, 18)])
    assert "".join(text for text, _ in cut) == "a bird in the hand"
    assert [text for text, marked in cut if marked] == ["bird", "hand"]
