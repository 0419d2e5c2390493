"""Lists of references are found by heading or by shape, and prose is not taken for one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.chunk.bibliography import count_entries, find_bibliography, is_bibliography_heading
from trivium.core.types import Element, Extraction
from trivium.extract.markdown import read_markdown
from trivium.extract.text import read_text
from trivium.ports import Blob

PROSE = "\n\n".join(
    f"In section {n} we follow Smith et al. (2019) and train for {n} hours, as in [3]. It works."
    for n in range(8)
)
APA = "\n\n".join(
    f"Smith, J. A., & Doe, J. ({2000 + n}). A study of foxes. Journal of Foxes, 12(3), {n}-{n + 9}."
    for n in range(1, 6)
)


def markdown(source: str) -> Extraction:
    return read_markdown.extract(Blob("paper.md", source.encode()))


def left_out(extraction: Extraction) -> list[str]:
    return [extraction.text[start:end].strip() for start, end in find_bibliography(extraction)]


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "7. References",
        "VII. REFERENCES",
        "R EFERENCES",
        "R E F E R E N C E S",
        "References:",
        "References and Notes",
        "Bibliography",
        "Selected Bibliography",
        "Works Cited",
        "Literature Cited",
        "Citations",
        "Literatur",
        "5 Literaturverzeichnis",
    ],
)
def test_headings(heading: str) -> None:
    assert is_bibliography_heading(heading)


@pytest.mark.parametrize(
    "heading",
    ["", "Reference Implementation", "Literature Review", "Preferences", "Notes", "Results"],
)
def test_other_headings(heading: str) -> None:
    assert not is_bibliography_heading(heading)


@pytest.mark.parametrize(
    "entry",
    [
        "[1] J. Smith and A. Doe. Foxes and dogs. In Proc. ACL, pages 12–34, 2021.",
        "[Smi+20] Smith, Foxes. 2020.",
        "1. Smith JA, Doe B. Foxes in the city. Nature. 2021;12(3):45-67.",
        "12. Müller, K.: Füchse und Hunde. Springer, Berlin (1999)",
        "Smith, J. A. (2021). Foxes and dogs. Oxford University Press.",
        "Jane Smith, John B. Doe, and Ann Lee. 2017. Foxes. In Advances in Foxes, pages 1–9.",
        "William M Rand. 1971. Objective criteria for the evaluation of clustering methods.",
        "van der Berg, P. & de Vries, Q. 2004. On dogs. doi:10.1234/abc.def",
        "Y LeCun, B Boser, and J Denker. 1990. Handwritten digits. arXiv preprint.",
        "Abadi et al. 2015. TensorFlow: Large-scale machine learning.",
    ],
)
def test_entries(entry: str) -> None:
    assert count_entries(entry) == 1


@pytest.mark.parametrize(
    "prose",
    [
        "We follow Smith et al. (2019), who train for 2,000 hours on the corpus of 2018.",
        "1. First, boil the water. Then add the pasta.",
        "2. In 2019 we moved to Berlin and opened a second office there.",
        "The results (2021) were published in a journal; see pp. 12-34 for the details.",
        "(3) Reuters: we obtain the original text dataset and process it as follows.",
        "Table 3: Accuracy (percentage classified correct) on the test set.",
        "Smith, who lived here, sold the house.",
        "",
    ],
)
def test_prose(prose: str) -> None:
    assert count_entries(prose) == 0


def test_a_paragraph_of_many_entries_counts_them() -> None:
    assert count_entries(APA.replace("\n\n", "\n")) == 5


def test_from_the_heading_to_the_next_one() -> None:
    listed = f"## References\n\n{APA}\n\n### Books\n\n{APA}"
    [found] = left_out(markdown(f"# T\n\n{PROSE}\n\n{listed}\n\n## A Proofs\n\nText."))
    assert found.startswith("References\n\nSmith")
    assert found.endswith("5-14.")
    assert found.count("Journal of Foxes") == 10


def test_entries_that_look_like_nothing_are_left_out_by_the_heading() -> None:
    [found] = left_out(markdown(f"# T\n\n{PROSE}\n\n## References\n\nThe Bible.\n\nFolk tales."))
    assert found == "References\n\nThe Bible.\n\nFolk tales."


def test_an_entry_taken_for_a_heading_does_not_end_the_list() -> None:
    middle = "## [9] Doe, J. Foxes. 2001."
    [found] = left_out(markdown(f"# T\n\n{PROSE}\n\n## References\n\n{APA}\n\n{middle}\n\n{APA}"))
    assert found.count("Journal of Foxes") == 10


def test_lists_of_every_chapter() -> None:
    chapter = f"# Chapter\n\n{PROSE}\n\n## References\n\n{APA}"
    assert len(left_out(markdown(f"{chapter}\n\n{chapter}"))) == 2


@pytest.mark.parametrize("separator", ["\n\n", "\n"])
def test_without_a_heading_by_the_shape_of_its_entries(separator: str) -> None:
    source = f"{PROSE}\n\n{APA.replace(chr(10) * 2, separator)}"
    extraction = read_text.extract(Blob("a.txt", source.encode()))
    assert left_out(extraction) == [APA.replace("\n\n", separator)]


def test_a_plain_line_can_be_the_heading() -> None:
    source = f"{PROSE}\n\nReferences\n\n{APA}\n\nAppendix A\n\nMore."
    extraction = read_text.extract(Blob("a.txt", source.encode()))
    assert left_out(extraction) == [f"References\n\n{APA}"]


def test_part_of_an_entry_between_two_others_goes_too() -> None:
    broken = APA.replace("\n\n", "\n\nand its translation.\n\n", 1)
    extraction = read_text.extract(Blob("a.txt", f"{PROSE}\n\n{broken}".encode()))
    assert left_out(extraction) == [broken]


def test_entries_in_the_first_half_or_too_few_stay() -> None:
    assert left_out(markdown(f"{APA}\n\n{PROSE}\n\n{PROSE}")) == []
    assert left_out(markdown(f"{PROSE}\n\n{PROSE}\n\n" + "\n\n".join(APA.split("\n\n")[:2]))) == []


def test_a_heading_over_prose_claims_no_more_than_half() -> None:
    assert left_out(markdown(f"# T\n\nStart.\n\n## References\n\n{PROSE}\n\n{PROSE}")) == []


def test_an_ambiguous_heading_needs_entries() -> None:
    assert left_out(markdown(f"# T\n\n{PROSE}\n\n## Sources\n\nThe river has two.")) == []
    assert len(left_out(markdown(f"# T\n\n{PROSE}\n\n## Sources\n\n{APA}"))) == 1


HEADINGS = ("# T", "## References", "## Appendix")


@settings(deadline=None)
@given(st.lists(st.sampled_from([*HEADINGS, "Prose it is.", *APA.split("\n\n")]), max_size=30))
def test_ranges_are_inside_apart_and_in_order(blocks: list[str]) -> None:
    extraction = markdown("Start.\n\n" + "\n\n".join(blocks))
    end_of_last = 0
    for start, end in find_bibliography(extraction):
        assert end_of_last <= start < end <= len(extraction.text)
        end_of_last = end + 1


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_hostile_texts_take_no_time() -> None:
    for text in ("A " * 50_000, "A. " * 20_000, "de " * 20_000, "1" * 50_000, "Aa, " * 20_000):
        element = Element("paragraph", 0, len(text))
        assert find_bibliography(Extraction(text, (element,), "", "text/plain")) == []
    claims = f"References\n\n{APA}\n\n" * 200 + "Prose it is.\n\n" * 20_000
    find_bibliography(Extraction(claims, (), "", "text/plain"))
