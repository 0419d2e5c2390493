"""Chunks cover the text in order, within their size, along the lines of its structure."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.chunk.laws import check_cover, only_headings

from trivium.chunk.recursive import RecursiveChunker
from trivium.core.errors import BadSetting
from trivium.core.types import Chunk, Element, Extraction, Place
from trivium.extract.markdown import read_markdown
from trivium.extract.text import read_text
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


class WordTokens:
    """One token a word and two around: as models count that add marks of their own."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split()) + 2


def markdown(source: str, name: str = "file.md") -> Extraction:
    return read_markdown.extract(Blob(name, source.encode()))


def plain(text: str) -> Extraction:
    return read_text.extract(Blob("file.txt", text.encode()))


def check(extraction: Extraction, chunks: tuple[Chunk, ...], size: int, overlap: int) -> None:
    check_cover(extraction, chunks, TOKENS, size, overlap)
    for element in extraction.elements:
        if element.kind != "heading" or element.level > 2:
            continue
        for chunk in chunks:
            if chunk.start < element.start < chunk.end:  # then only headings stand before it
                assert only_headings(extraction, chunk.start, element.start)


WORDS = st.sampled_from(
    ["fox", "jumps.", "Dr.", "over", "naïve", "日本語。", "x" * 30, "3.14", "A"]
)
LINE = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
BLOCK = st.one_of(
    st.sampled_from(
        ["# One", "## Two", "### Three", "#### Four", "---", "| a | b |\n|-|-|\n| c | d |"]
    ),
    LINE,
    LINE.map("- {}".format),
    LINE.map("> {}".format),
    LINE.map("```\n{}\n```".format),
)


@settings(deadline=None)
@given(
    st.lists(BLOCK, min_size=1, max_size=25).map("\n\n".join),
    st.sampled_from([(400, 80, 40), (64, 16, 8), (32, 0, 16), (16, 8, 0)]),
)
def test_markdown_like_documents(source: str, sizes: tuple[int, int, int]) -> None:
    extraction = markdown("start\n\n" + source)
    chunks = RecursiveChunker(TOKENS, *sizes).chunk(extraction)
    check(extraction, chunks, sizes[0], sizes[1])
    assert chunks == RecursiveChunker(TOKENS, *sizes).chunk(extraction)


@settings(deadline=None)
@given(
    st.text(st.characters() | st.sampled_from(" \n.\r\t\u200d\u0301👩🏽"), max_size=400),
    st.sampled_from([(16, 8, 8), (24, 0, 0), (400, 80, 40)]),
)
def test_any_unicode(text: str, sizes: tuple[int, int, int]) -> None:
    extraction = Extraction(text, (), "any", "text/plain")
    check(extraction, RecursiveChunker(TOKENS, *sizes).chunk(extraction), sizes[0], sizes[1])


@settings(deadline=None)
@given(st.text("ab \n#.", max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_any_elements(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    elements = tuple(
        Element("heading" if n % 3 == 0 else "paragraph", a, b, level=3 if n % 3 == 0 else 0)
        for n, (a, b) in enumerate(pairwise(edges))
    )
    extraction = Extraction(text, elements, "", "text/plain")
    check(extraction, RecursiveChunker(TOKENS, 16, 8, 8).chunk(extraction), 16, 8)


def test_small_paragraphs_are_merged_and_none_is_cut() -> None:
    paragraph = SENTENCE * 3
    chunks = RecursiveChunker(TOKENS).chunk(plain("\n\n".join([paragraph] * 30)))
    assert all(300 <= chunk.tokens <= 400 for chunk in chunks[:-1])
    assert all(chunk.text.endswith("bank.") for chunk in chunks)


def test_overlap_is_whole_sentences_of_the_chunk_before() -> None:
    text = " ".join(f"Sentence number {n} says one more thing." for n in range(200))
    chunks = RecursiveChunker(TOKENS).chunk(plain(text))
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        shared = text[after.start : before.end]
        assert shared.startswith("Sentence")
        assert shared.endswith("thing.")
        assert 60 <= TOKENS.count(shared) <= 80


def test_overlap_of_one_long_sentence_is_words() -> None:
    text = " ".join(f"word{n}" for n in range(2000))
    chunks = RecursiveChunker(TOKENS).chunk(plain(text))
    for before, after in pairwise(chunks):
        assert 70 <= TOKENS.count(text[after.start : before.end]) <= 80
        assert text[after.start - 1] == " "


def test_neither_chunk_nor_overlap_crosses_a_top_heading() -> None:
    extraction = markdown(f"# A\n\n{SENTENCE * 2}\n\n## B\n\nshort\n\n## C\n\n{SENTENCE * 2}")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["A", "B", "C"]
    assert chunks[1].text == "B\n\nshort"
    assert [chunk.headings for chunk in chunks] == [("A",), ("A", "B"), ("A", "C")]


def test_a_heading_goes_with_what_follows_it() -> None:
    body = SENTENCE * 20
    extraction = markdown(f"# A\n\n## B\n\n{body}\n\n### C\n\n{body}\n\n### D\n\n{body}")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    assert chunks[0].text.startswith("A\n\nB\n\nThe quick")
    assert chunks[0].headings == ("A", "B")
    for heading in ("C", "D"):
        assert not any(chunk.text.endswith(f"\n\n{heading}") for chunk in chunks)
        assert any(chunk.text.startswith(f"{heading}\n\nThe quick") for chunk in chunks)
    at_c = next(chunk for chunk in chunks if chunk.text.startswith("C\n\n"))
    assert at_c.headings == ("A", "B", "C")


def test_the_beginning_of_a_section_goes_with_the_rest_of_it() -> None:
    body = SENTENCE * 20
    extraction = markdown(f"# A\n\n{body}\n\n### B\n\nTo the owners.\n\n#### C\n\n{body}")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    assert [chunk.text[:20] for chunk in chunks] == [
        "A\n\nThe quick brown f",
        "B\n\nTo the owners.\n\nC",
    ]


def test_overlap_ends_at_a_heading() -> None:
    body = SENTENCE * 20
    chunks = RecursiveChunker(TOKENS).chunk(markdown(f"# A\n\n{body}\n\n### B\n\n{body}\n\n{body}"))
    at_b = [chunk for chunk in chunks if chunk.headings[-1] == "B"]
    assert at_b[0].text.startswith("B\n\n")
    assert at_b[1].start < at_b[0].end  # below one heading, chunks overlap


def test_headings_without_text_go_with_the_text_that_follows() -> None:
    """368 of 6,038 chunks of filings were a bare heading (`PART I`, `Item 1. Business`)."""
    chunks = RecursiveChunker(TOKENS).chunk(markdown("# A\n\n## B\n\n## C\n\ntext\n\n# D"))
    assert [chunk.text for chunk in chunks] == ["A\n\nB\n\nC\n\ntext", "D"]
    assert [chunk.headings for chunk in chunks] == [("A", "C"), ("A", "D")]


def test_a_line_that_announces_a_table_goes_with_it() -> None:
    rows = "\n".join(f"| item {n} | costs {n} gold pieces |" for n in range(40))
    text = f"{'word ' * 310}\n\nPrices are as follows:\n\n| Name | Price |\n|--|--|\n{rows}"
    chunks = RecursiveChunker(TOKENS).chunk(markdown(text))
    assert not any(chunk.text.endswith("as follows:") for chunk in chunks)
    assert any("as follows:\n\nName | Price" in chunk.text for chunk in chunks)


def test_the_last_sentence_of_a_long_paragraph_goes_with_the_table_that_it_announces() -> None:
    rows = "\n".join(f"| item {n} | costs {n} gold pieces |" for n in range(40))
    prose = "The harbour keeps a list of what everything costs by the piece. " * 20
    text = f"{prose}Prices are as follows:\n\n| Name | Price |\n|--|--|\n{rows}"
    chunks = RecursiveChunker(TOKENS).chunk(markdown(text))
    assert chunks[0].text.endswith("by the piece.")
    assert "Prices are as follows:\n\nName | Price" in chunks[1].text
    # Over a paragraph it is a sentence as any other.
    chunks = RecursiveChunker(TOKENS).chunk(markdown(f"{prose}So:\n\n{'word ' * 300}"))
    assert chunks[0].text.endswith("So:")


def test_no_chunk_ends_within_the_names_of_a_table() -> None:
    """Names over three rows: two of them ended a passage of Lowe's 10-Q."""
    names = "– | Three Months Ended |  | Six Months Ended\n– | May 4, 2023 |  | May 4, 2023\n"
    names += "(In millions) | Ships | Cost | Ships | Cost\n"
    header = "(In millions) | Three Months Ended May 4, 2023 Ships | Three Months Ended May 4, 2023"
    header += " Cost | Six Months Ended May 4, 2023 Ships | Six Months Ended May 4, 2023 Cost"
    table = names + "Open market purchases of the harbour | 5.5 | $1,182 | 11.6 | $2,450\n" * 9
    for words in range(100, 160):
        text = f"{'word ' * words}\n\n{table}"
        start = text.index("–")
        elements = (
            Element("paragraph", 0, start - 2),
            Element("table", start, len(text), header=header),
        )
        extraction = Extraction(text, elements, "", "text/plain")
        for chunk in RecursiveChunker(TOKENS, 200, 0).chunk(extraction):
            assert "Open market" in chunk.text or "(In millions)" not in text[start : chunk.end]
            assert not chunk.text.endswith(("May 4, 2023", "Six Months Ended", "Cost"))


@pytest.mark.parametrize(
    ("above", "goes"),
    [
        ("Harbour, Inc.\nStatement of income\n(in thousands)", True),
        ("Harbour, Inc.\nStatement of income.", False),
        ("(1) Not audited", False),
    ],
)
def test_the_lines_of_a_tables_title_go_with_it(above: str, goes: bool) -> None:
    text = f"{'word ' * 180}.\n\n{above}\n\n" + f"Dues of {'all ' * 20}ships | 40\n" * 9
    start, table = text.index(above), text.index("Dues of")
    elements = (
        Element("paragraph", 0, start - 2),
        Element("paragraph", start, table - 2),
        Element("table", table, len(text)),
    )
    chunks = RecursiveChunker(TOKENS, 200, 0).chunk(Extraction(text, elements, "", "text/plain"))
    assert any(f"{above}\n\nDues of" in chunk.text for chunk in chunks) is goes


def test_a_sentence_that_leads_on_to_a_table_goes_with_it() -> None:
    rows = "\n".join(f"| item {n} | costs {n} gold pieces |" for n in range(40))
    for sentence in ("The following table shows all prices.", "Die folgenden Preise gelten."):
        text = f"{'word ' * 310}\n\n{sentence}\n\n| Name | Price |\n|--|--|\n{rows}"
        chunks = RecursiveChunker(TOKENS).chunk(markdown(text))
        assert any(f"{sentence}\n\nName | Price" in chunk.text for chunk in chunks)
        # Over a paragraph it is a sentence as any other.
        chunks = RecursiveChunker(TOKENS).chunk(markdown(f"{'word ' * 310}\n\n{sentence}\n\nEnd."))
        assert len(chunks) == 1


def test_title_comes_first_and_once() -> None:
    chunker = RecursiveChunker(TOKENS)
    assert chunker.chunk(markdown("# T\n\nx"))[0].headings == ("T",)
    assert chunker.chunk(markdown("---\ntitle: T\n---\n# H\n\nx"))[0].headings == ("T", "H")
    assert chunker.chunk(markdown("x", "Goblin.md"))[0].headings == ("Goblin",)
    assert chunker.chunk(Extraction("x", (), "", "text/plain"))[0].headings == ()


def test_tables_repeat_their_header_and_keep_their_rows() -> None:
    rows = "\n".join(f"| item {n} | costs {n} gold pieces. And more |" for n in range(100))
    extraction = markdown(f"# Shop\n\nIntro.\n\n| Name | Price |\n|--|--|\n{rows}\n\nOutro.")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    assert len(chunks) > 3
    assert chunks[0].header == ""
    assert "Name | Price\nitem 0" in chunks[0].text
    for chunk in chunks[1:]:
        assert chunk.header == "Name | Price"
        assert chunk.text.startswith("item ")
        assert chunk.embedded_text.startswith("Shop\nName | Price\nitem")


def test_no_chunk_ends_with_the_names_of_a_table() -> None:
    """Its rows fitted a chunk of their own, but not one with their names: 4 of 40 chunks of filings
    were the end of the text before and a bare header."""
    names = "| Harbour | Year ended December 31, 2016 | Year ended December 31, 2015 |"
    rows = "\n".join(f"| Berth {at} | {at * 31} | {at * 17} |" for at in range(24))
    extraction = markdown(f"# Dues\n\n{SENTENCE * 12}\n\n{names}\n|-|-|-|\n{rows}\n")
    chunks = RecursiveChunker(TOKENS, 300, 60, 20).chunk(extraction)
    assert len(chunks) > 1
    for chunk in chunks:
        assert not chunk.text.endswith("December 31, 2015")


def test_what_is_repeated_of_a_table_is_whole_rows() -> None:
    row = "| " + " | ".join(f"cell number {at}" for at in range(20)) + " |"
    table = "\n".join([row, "|-" * 20 + "|", *[row] * 8])
    chunks = RecursiveChunker(TOKENS, 300, 60, 20).chunk(markdown(table))
    assert len(chunks) > 1
    assert all(chunk.text.startswith("cell number 0 |") for chunk in chunks)


def test_a_header_that_is_not_in_the_text_is_always_given() -> None:
    table = Element("table", 0, 7, header="h1 | h2")
    chunks = RecursiveChunker(TOKENS).chunk(Extraction("a\nb\nc\nd", (table,), "", "text/csv"))
    assert chunks[0].header == "h1 | h2"


def test_pages_and_paragraph() -> None:
    text = f"{SENTENCE}\n\n{SENTENCE}"
    elements = (
        Element("paragraph", 0, len(SENTENCE), place=Place(pages=(3,)), paragraph=7),
        Element("paragraph", len(SENTENCE) + 2, len(text), place=Place(pages=(4,)), paragraph=8),
    )
    [chunk] = RecursiveChunker(TOKENS).chunk(Extraction(text, elements, "", "text/plain"))
    assert (chunk.pages, chunk.paragraph) == ((3, 4), 7)


def test_no_chunk_below_the_minimum_within_a_section() -> None:
    long = SENTENCE * 28  # just under 400 tokens
    extraction = markdown(f"# A\n\n{long}\n\nTiny.\n\n{long}\n\nTiny again.\n\n{long}\n\nEnd.")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    check(extraction, chunks, 400, 80)
    assert min(chunk.tokens for chunk in chunks) >= 40


def test_a_small_end_joins_the_chunk_before_it() -> None:
    paragraph = SENTENCE * 11  # two of them leave less room beside the overlap than the end needs
    chunks = RecursiveChunker(TOKENS).chunk(plain("\n\n".join([paragraph] * 4 + [SENTENCE * 2])))
    assert len(chunks) == 2
    assert chunks[1].start < chunks[0].end


def test_a_heading_takes_part_of_a_paragraph_that_does_not_fit_beside_it() -> None:
    heading = "A heading of rather more words than a good one would have"
    [first, second] = RecursiveChunker(TOKENS).chunk(markdown(f"# {heading}\n\n{SENTENCE * 28}"))
    assert first.text.startswith(f"{heading}\n\nThe quick")
    assert first.tokens > 350
    assert second.text.startswith("The quick")


def test_an_overlap_is_neither_a_tiny_sentence_nor_half_of_a_long_one() -> None:
    text = " ".join("Long " + " ".join(["words go on"] * 40) + ". Yes." for _ in range(20))
    chunks = RecursiveChunker(TOKENS).chunk(plain(text))
    for before, after in pairwise(chunks):
        assert after.start >= before.end
        assert after.text.startswith(("Long", "Yes"))


def test_a_label_goes_with_the_rows_below_it() -> None:
    rows = "".join(f"| Item {n} sold in the shops of the north | {n * 1000} |\n" for n in range(40))
    table = f"| Things | Sum |\n|---|---|\n{rows}"
    drafts = RecursiveChunker(TOKENS).chunk(
        markdown(table.replace("| Item 2", "| Towns |\n| Item 2"))
    )
    assert len(drafts) > 1
    assert not any(chunk.text.endswith("Towns") for chunk in drafts)


def test_what_is_repeated_of_a_table_does_not_begin_behind_a_label() -> None:
    """Rows of a table of Procter's stood in two chunks, in the second without their label."""
    rows = "– | Gains\n– | 2023 | 2022\nHedges of investments abroad in all towns of the north\n"
    rows += "Exchange contracts of the shops | 285 | 300\n\n"
    before, after = f"{SENTENCE * 8}\n\n", f"{SENTENCE}\n\n{SENTENCE * 14}"
    sentences = Element("paragraph", 0, len(before) - 2)
    table = Element("table", len(before), len(before + rows) - 2, header="– | Gains 2023")
    extraction = Extraction(before + rows + after, (sentences, table), "", "text/html")
    for overlap in range(30, 80):
        for chunk in RecursiveChunker(TOKENS, 260, overlap, 20).chunk(extraction):
            assert not chunk.text.startswith("Exchange"), overlap


def test_a_sentence_that_is_too_long_is_cut_between_its_clauses() -> None:
    clause = "any debt that a person owes to another on the day of the sale and has not paid; "
    chunks = RecursiveChunker(TOKENS).chunk(plain("Debt means " + clause * 40))
    assert len(chunks) > 1
    assert all(chunk.text.startswith(("Debt", "any debt")) for chunk in chunks)
    assert all(chunk.text.endswith("paid;") for chunk in chunks)


def test_names_over_columns_are_not_left_behind_their_table() -> None:
    rows = "".join(f"| Item {n} sold in the shops of the north | {n * 1000} |\n" for n in range(24))
    names = "All sums\n\nin millions, except those per share and per shop\n\n"
    text = f"# A\n\n{SENTENCE}\n\n# B\n\n{names}"
    chunks = RecursiveChunker(TOKENS).chunk(markdown(f"{text}| Things | Sum |\n|---|---|\n{rows}"))
    assert "Item 3 sold" in chunks[1].text


def test_a_line_without_a_stop_goes_with_the_paragraph_below() -> None:
    body = SENTENCE * 12
    chunks = RecursiveChunker(TOKENS).chunk(plain(f"{body}\n\n{body}\n\nOther things\n\n{body}"))
    assert len(chunks) > 1
    assert not any(chunk.text.endswith("Other things") for chunk in chunks)


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_the_number_and_name_of_a_paragraph_go_with_its_parts() -> None:
    """A chunk of a contract ended in "20. Venue and Governing Law."."""
    for size in range(100, 200, 5):
        text = f"{SENTENCE * 6}\n\n20. Venue and Governing Law.\n\n(a) {SENTENCE * 6}"
        for chunk in RecursiveChunker(TOKENS, size, 0, 0).chunk(markdown(text)):
            assert not chunk.text.endswith("Law."), size


def test_one_endless_word() -> None:
    word = "e\u0301👩\u200d👩\u200d👧abcdefg" * 20_000
    extraction = Extraction(word, (Element("paragraph", 0, len(word)),), "", "text/plain")
    chunks = RecursiveChunker(TOKENS).chunk(extraction)
    check(extraction, chunks, 400, 80)
    assert not any(chunk.text.startswith(("\u0301", "\u200d")) for chunk in chunks)


def test_a_tokenizer_that_adds_marks_of_its_own() -> None:
    extraction = plain("\n\n".join([SENTENCE * 2] * 20))
    chunks = RecursiveChunker(WordTokens(), 64, 16, 8).chunk(extraction)
    assert all(chunk.tokens <= 64 for chunk in chunks)
    assert chunks[-1].end == len(extraction.text)
    assert all(after.start <= before.end + 2 for before, after in pairwise(chunks))


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_time_is_linear_in_length() -> None:
    text = "\n\n".join([SENTENCE * 5] * 3000)  # 1 MB; 5 MB took 2.3 s when this was written
    extraction = plain(text)
    RecursiveChunker(TOKENS).chunk(extraction)


def test_fingerprint_names_everything_that_decides() -> None:
    assert RecursiveChunker(TOKENS, 300, 60, 30).fingerprint == (
        "RecursiveChunker/6 size=300 overlap=60 minimum=30 tokens=cl100k_base"
    )


@pytest.mark.parametrize("sizes", [(15, 0, 0), (400, 201, 40), (400, -1, 40), (64, 16, 40)])
def test_impossible_sizes_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(BadSetting):
        RecursiveChunker(TOKENS, *sizes)


class NotedTokens(WordTokens):
    def __init__(self) -> None:
        self.counted: list[str] = []

    def count(self, text: str) -> int:
        self.counted.append(text)
        return super().count(text)


def test_a_text_with_too_many_words_is_cut_without_being_counted() -> None:
    tokens, text = NotedTokens(), SENTENCE * 20
    chunks = RecursiveChunker(tokens, 40, 8, 4).chunk(plain(text))
    assert len(chunks) > 1
    assert all(len(one.split()) <= 40 for one in tokens.counted)


@pytest.mark.parametrize("size", [100, 120, 140, 160, 180])
def test_no_chunk_ends_in_the_names_over_a_table(size: int) -> None:
    """The names of twelve columns without a row stood at the end of Johnson & Johnson's chunks."""
    names = " | ".join(f"Restructuring cost {at}" for at in range(8))
    rows = "\n".join(
        "| " + " | ".join(f"{at * 7},{row}" for at in range(8)) + " |" for row in range(20)
    )
    rule = "|".join(["---"] * 8)
    source = f"{SENTENCE * 5}\n\n| {names} |\n|{rule}|\n{rows}\n"
    for chunk in RecursiveChunker(TOKENS, size, 0, 20).chunk(markdown(source)):
        assert not chunk.text.endswith("Restructuring cost 7")
