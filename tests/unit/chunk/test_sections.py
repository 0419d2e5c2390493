"""Papers are cut along their sections, whole paragraphs together, references left out."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.chunk.laws import only_headings

from trivium.chunk.bibliography import find_bibliography
from trivium.chunk.sections import SectionsChunker, section_kind
from trivium.core.errors import BadSetting
from trivium.core.types import Chunk, Element, Extraction, Place
from trivium.extract.markdown import read_markdown
from trivium.ports import Blob
from trivium.text import boundaries
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "
ENTRIES = "\n\n".join(
    f"[{n}] Smith, J. A. ({2000 + n}). A study of foxes. Journal of Foxes, 12(3), {n}-{n + 9}."
    for n in range(1, 6)
)
PAPER = f"""# On Foxes

Jane Smith, University of Oxford

## Abstract

We study foxes.

## 1 Introduction

{SENTENCE}

## 2 Related Work

{SENTENCE}

## 3 FoxNet

{SENTENCE}

### 3.1 Results of a pilot

{SENTENCE}

## 4 Results

{SENTENCE}

## 5 What it means

{SENTENCE}

## 6 Conclusions and Future Work

{SENTENCE}

## Acknowledgements

We thank the dogs.

## References

{ENTRIES}

## Appendix A

{SENTENCE}
"""


def markdown(source: str) -> Extraction:
    return read_markdown.extract(Blob("paper.md", source.encode()))


def check(extraction: Extraction, chunks: tuple[Chunk, ...], ceiling: int) -> None:
    """What holds for every chunking: exact slices in order, nothing doubled, and between them
    nothing but white space and references."""
    text = extraction.text
    left_out = find_bibliography(extraction)
    covered = 0
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert chunk.tokens == TOKENS.count(chunk.text) <= ceiling
        assert chunk.start >= covered
        assert chunk.section in ("summary", "methods", "findings", "content")
        assert not any(a < chunk.end and chunk.start < b for a, b in left_out)
        covered = chunk.end
    edges = [0, *(edge for chunk in chunks for edge in (chunk.start, chunk.end)), len(text)]
    for start, end in list(pairwise(edges))[::2]:
        missing = "".join(
            text[at] for at in range(start, end) if not any(a <= at < b for a, b in left_out)
        )
        assert missing.strip() == ""


WORDS = st.sampled_from(
    ["fox", "jumps.", "Dr.", "over", "naïve", "日本語。", "x" * 30, "(2021).", "A"]
)
LINE = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
ENTRY = st.integers(1, 99).map("[{0}] Fox, A. B. (2001). On dogs. Proc. Dogs, pp. {0}-120.".format)
TITLES = ("# Title", "## Abstract", "## 2. Methods", "# Results", "## FoxNet", "### Data")
HEADING = st.sampled_from([*TITLES, "## Appendix", "## References", "# Literatur"])
BLOCK = st.one_of(HEADING, LINE, LINE, ENTRY, LINE.map("- {}".format))


@settings(deadline=None)
@given(
    st.lists(BLOCK, min_size=1, max_size=30),
    st.sampled_from([2000, 64, 16]),
)
def test_any_paper(blocks: list[str], ceiling: int) -> None:
    extraction = markdown("Start of it.\n\n" + "\n\n".join(blocks))
    chunks = SectionsChunker(TOKENS, ceiling, most=1000).chunk(extraction)
    check(extraction, chunks, ceiling)
    # A paragraph is cut only when it alone is above the ceiling.
    for element in extraction.elements:
        inside = [c for c in chunks if c.start < element.end and element.start < c.end]
        content = extraction.text[element.start : element.end]
        if len(inside) > 1 and not boundaries.paragraphs(content):
            assert TOKENS.count(content) > ceiling - 2  # the count includes the gap after it
    # No chunk crosses a heading of the top levels, unless only headings stand before it.
    for element in extraction.elements:
        if element.kind == "heading" and element.level <= 2:
            for chunk in chunks:
                if chunk.start < element.start < chunk.end:
                    assert only_headings(extraction, chunk.start, element.start)


@settings(deadline=None)
@given(
    st.text(st.characters() | st.sampled_from(" \n.[]1(2020)"), max_size=400),
    st.lists(st.integers(0, 400), max_size=8),
    st.sampled_from([16, 2000]),
)
def test_any_text_with_any_elements(text: str, cuts: list[int], ceiling: int) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    elements = tuple(
        Element("heading" if n % 3 == 0 else "paragraph", a, b, level=1 + n % 2)
        for n, (a, b) in enumerate(pairwise(edges))
    )
    for given_elements in (elements, ()):
        extraction = Extraction(text, given_elements, "", "text/plain")
        left_out = find_bibliography(extraction)
        everything = sum(len(text[a:b].strip()) for a, b in left_out) == len(text.strip())
        if not everything:
            check(extraction, SectionsChunker(TOKENS, ceiling).chunk(extraction), ceiling)


def test_kinds_of_sections() -> None:
    chunks = SectionsChunker(TOKENS).chunk(markdown(PAPER))
    assert [(chunk.section, chunk.headings[-1]) for chunk in chunks] == [
        ("summary", "On Foxes"),
        ("summary", "Abstract"),
        ("methods", "1 Introduction"),
        ("methods", "2 Related Work"),
        ("methods", "3 FoxNet"),  # goes on with what the section before it was about
        ("findings", "4 Results"),
        ("findings", "5 What it means"),
        ("findings", "6 Conclusions and Future Work"),
        ("content", "Acknowledgements"),  # nothing recognisable follows
        ("content", "Appendix A"),
    ]
    assert all(chunk.headings[0] == "On Foxes" for chunk in chunks)
    assert not any("Journal of Foxes" in chunk.text for chunk in chunks)


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Abstract", "summary"),
        ("A B S T R A C T", "summary"),
        ("Executive Summary", "summary"),
        ("Zusammenfassung", "summary"),
        ("3. Methods", "methods"),
        ("II. MATERIALS AND METHODS", "methods"),
        ("2 R ELATED W ORK", "methods"),
        ("1 I NTRODUCTION", "methods"),
        ("I INTRODUCTION", "methods"),
        ("B. Experimental Setup", "methods"),
        ("Einleitung", "methods"),
        ("4.2 Methodik", "methods"),
        ("Results and Discussion", "findings"),
        ("5 LM Experiment", "findings"),
        ("VI. Conclusion", "findings"),
        ("Ergebnisse", "findings"),
        ("Our Network", ""),
        ("Resultant forces", ""),
        ("A Very Long Heading That Talks About Methods of Fishing", ""),
    ],
)
def test_headings(heading: str, kind: str) -> None:
    assert section_kind(heading) == kind


def test_the_title_announces_nothing() -> None:
    chunks = SectionsChunker(TOKENS).chunk(markdown(f"# Results of War\n\n## Part\n\n{SENTENCE}"))
    assert [chunk.section for chunk in chunks] == ["content"]
    # Even when the title that the file gives is another one.
    source = f"---\ntitle: War\n---\n# Results of War\n\n{SENTENCE}\n\n## Part\n\n{SENTENCE}"
    chunks = SectionsChunker(TOKENS).chunk(markdown(source))
    assert [chunk.section for chunk in chunks] == ["content", "content"]


def test_a_book_with_an_introduction_is_not_all_methods() -> None:
    source = f"# Rules\n\n## Introduction\n\n{SENTENCE}\n\n## Combat\n\n{SENTENCE}\n\n## Magic\n\nx"
    chunks = SectionsChunker(TOKENS).chunk(markdown(source))
    assert [chunk.section for chunk in chunks] == ["methods", "content", "content"]


def test_a_summary_at_the_end_is_a_finding() -> None:
    source = f"## Methods\n\n{SENTENCE}\n\n## Summary\n\n{SENTENCE}"
    chunks = SectionsChunker(TOKENS).chunk(markdown(source))
    assert [chunk.section for chunk in chunks] == ["methods", "findings"]


def test_paragraphs_stay_whole_up_to_the_ceiling() -> None:
    paragraph = (SENTENCE * 14).strip()  # about 200 tokens
    chunks = SectionsChunker(TOKENS, 500).chunk(markdown("\n\n".join([paragraph] * 7)))
    assert [chunk.text.count("\n\n") for chunk in chunks] == [1, 1, 1, 0]
    assert all(chunk.text.endswith("bank.") for chunk in chunks)


def test_a_paragraph_above_the_ceiling_is_cut_at_sentences() -> None:
    chunks = SectionsChunker(TOKENS, 100).chunk(markdown(SENTENCE * 40))
    assert len(chunks) > 4
    assert all(chunk.text.startswith("The") and chunk.text.endswith("bank.") for chunk in chunks)
    assert all(before.end <= after.start for before, after in pairwise(chunks))


def test_more_chunks_than_allowed_are_counted_and_said() -> None:
    extraction = markdown("\n\n".join(f"## Part {n}\n\n{SENTENCE}" for n in range(12)))
    chunker = SectionsChunker(TOKENS, most=10)
    chunks = chunker.chunk(extraction)
    assert [chunk.index for chunk in chunks] == list(range(10))
    assert chunker.note(extraction, chunks) == ("You can search only the first 10 of 12 passages.")
    exact = SectionsChunker(TOKENS, most=12)
    assert exact.note(extraction, exact.chunk(extraction)) == ""


def test_abstract_mode_keeps_the_summary_only() -> None:
    chunks = SectionsChunker(TOKENS, mode="abstract").chunk(markdown(PAPER))
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["On Foxes", "Abstract"]
    assert [chunk.index for chunk in chunks] == [0, 1]


def test_abstract_mode_without_a_summary_keeps_the_title() -> None:
    chunks = SectionsChunker(TOKENS, mode="abstract").chunk(markdown("## A\n\nx\n\n## B\n\ny"))
    assert [(chunk.text, chunk.section) for chunk in chunks] == [("A", "summary")]
    untitled = Extraction("no title\n\nnor summary", (), "Elsewhere", "text/plain")
    chunks = SectionsChunker(TOKENS, mode="abstract").chunk(untitled)
    assert [chunk.text for chunk in chunks] == ["no title"]


def test_paragraphs_are_counted_on_each_page() -> None:
    lines = [f"{n} {SENTENCE.strip()}" for n in range(5)]
    text = "\n\n".join(lines)
    elements = []
    for number, line in enumerate(lines):
        start = text.index(line)
        place = Place(pages=(1 if number < 2 else 2,))
        elements.append(
            Element("paragraph", start, start + len(line), paragraph=number + 1, place=place)
        )
    paper = Extraction(text, tuple(elements), "T", "application/pdf")
    chunks = SectionsChunker(TOKENS, TOKENS.count(lines[0]) + 3).chunk(paper)
    assert [(c.pages, c.paragraph) for c in chunks if c.text[0].isdigit()] == [
        ((1,), 1), ((1,), 2), ((2,), 1), ((2,), 2), ((2,), 3),
    ]  # fmt: skip


def test_a_long_paragraph_starts_in_a_chunk_of_its_own() -> None:
    long = SENTENCE * 40
    paper = markdown(f"# T\n\n## Results\n\nA short one.\n\n{long}\n\nThe end.")
    ceiling = TOKENS.count(SENTENCE) * 10
    chunks = SectionsChunker(TOKENS, ceiling).chunk(paper)
    assert chunks[0].text.endswith("A short one.")
    assert chunks[1].text.startswith(SENTENCE.strip())


def test_a_ceiling_above_what_the_model_reads_is_said() -> None:
    paper = markdown(f"# T\n\n## Results\n\n{SENTENCE * 40}")
    ceiling = TOKENS.count(SENTENCE) * 10
    chunker = SectionsChunker(TOKENS, ceiling, wanted=2000)
    assert chunker.note(paper, chunker.chunk(paper)) == (
        f"Passages have at most {ceiling} tokens, not 2,000: the embedding model reads no more."
    )
    short = markdown("# T\n\nx")
    assert chunker.note(short, chunker.chunk(short)) == ""
    assert SectionsChunker(TOKENS, ceiling).note(paper, chunker.chunk(paper)) == ""


@pytest.mark.parametrize(
    ("section", "label"),
    [("summary", "Abstract"), ("methods", "Methods"), ("findings", "Results"),
     ("content", "Content"), ("", "")],
)  # fmt: skip
def test_what_people_call_a_section(section: str, label: str) -> None:
    assert Chunk(0, 0, 1, "x", section=section).section_label == label


def test_pages_and_paragraph_are_those_of_the_document() -> None:
    text = f"Abstract\n\n{SENTENCE.strip()}\n\nResults\n\n{SENTENCE.strip()}"
    at = text.index("Results")
    elements = (
        Element("heading", 0, 8, level=1),
        Element("paragraph", 10, at - 2, ("Abstract",), paragraph=1, place=Place(pages=(1, 2))),
        Element("heading", at, at + 7, level=1, place=Place(pages=(2,))),
        Element("paragraph", at + 9, len(text), ("Results",), paragraph=2, place=Place(pages=(3,))),
    )
    chunks = SectionsChunker(TOKENS).chunk(Extraction(text, elements, "T", "application/pdf"))
    assert [(c.pages, c.paragraph, c.headings) for c in chunks] == [
        ((1, 2), 1, ("T", "Abstract")),
        ((2, 3), 1, ("T", "Results")),
    ]


def test_a_document_of_references_only_is_kept() -> None:
    chunks = SectionsChunker(TOKENS).chunk(markdown(f"# References\n\n{ENTRIES}"))
    assert len(chunks) == 1


def test_fingerprint_and_settings() -> None:
    assert SectionsChunker(TOKENS, 500, 7, "abstract").fingerprint == (
        "SectionsChunker/5 ceiling=500 most=7 mode=abstract tokens=cl100k_base"
    )
    with pytest.raises(BadSetting):
        SectionsChunker(TOKENS, 500, 0)
    with pytest.raises(BadSetting):
        SectionsChunker(TOKENS, 5)
