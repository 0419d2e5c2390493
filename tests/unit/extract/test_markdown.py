"""Markdown becomes what a person reads; its structure becomes elements."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.parser_inline import ParserInline

from trivium.core.errors import FileEmpty
from trivium.core.types import Extraction
from trivium.extract.markdown import MOST_BRACKETS, read_markdown
from trivium.ports import Blob


def extract(source: str, name: str = "folder/note.md") -> Extraction:
    return read_markdown.extract(Blob(name, source.encode()))


def pieces(result: Extraction) -> list[tuple[str, str]]:
    return [(e.kind, result.text[e.start : e.end]) for e in result.elements]


DOCUMENT = """\
# Spells

Intro *text*
on two lines.

## Fire ball ##

> A *bright* streak.

- one
- two
  - nested

  more of two

3. three
4. four

| Level | Damage |
|-------|--------|
| 3     | **8d6** |
| 4     | [9d6](x) |

```python
# not a heading
x = 1
```

#### Deep

End.
"""


def test_structure() -> None:
    result = extract(DOCUMENT)
    assert pieces(result) == [
        ("heading", "Spells"),
        ("paragraph", "Intro text on two lines."),
        ("heading", "Fire ball"),
        ("quote", "A bright streak."),
        ("list_item", "one"),
        ("list_item", "two"),
        ("list_item", "nested"),
        ("list_item", "more of two"),
        ("list_item", "3. three"),
        ("list_item", "4. four"),
        ("table", "Level | Damage\n3 | 8d6\n4 | 9d6"),
        ("code", "# not a heading\nx = 1"),
        ("heading", "Deep"),
        ("paragraph", "End."),
    ]
    assert [e.level for e in result.elements if e.kind == "heading"] == [1, 2, 4]
    assert result.elements[-1].headings == ("Spells", "Fire ball", "Deep")
    assert result.elements[2].headings == ("Spells",)
    assert [e.paragraph for e in result.elements if e.paragraph] == list(range(1, 12))
    table = next(e for e in result.elements if e.kind == "table")
    assert table.header == "Level | Damage"
    assert (result.title, result.media_type) == ("Spells", "text/markdown")


def test_blocks_are_joined_by_blank_lines_and_items_by_newlines() -> None:
    source = "# T\n\npara\n\n- a\n- b\n  - c\n\nafter\n\n1. x\n2. y"
    assert extract(source).text == "T\n\npara\n\na\nb\nc\n\nafter\n\n1. x\n2. y"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**bold** _it_ ~~gone~~ `a*b`", "bold it gone a*b"),
        ("[link *text*](http://x 'y') and <http://z.org>", "link text and http://z.org"),
        ("![alt **text**](a.png) after", "alt text after"),
        ("a<br>b <span class='x'>c</span> &amp; d \\* e", "a\nb c & d * e"),
        ("soft\nbreak  \nhard", "soft break\nhard"),
        ("<div>\n<p>One</p><!-- no\n\nno -->\n</div>", "One\n\nno -->"),
        ("<p>a &lt; b</p><script>no()</script>", "a < b"),
        ("a\n\n---\n\nb", "a\n\nb"),
        ("Title\n=====\n\ntext", "Title\n\ntext"),
    ],
)
def test_markup_goes(source: str, text: str) -> None:
    assert extract(source).text == text


def test_headings_in_quotes_and_lists_do_not_structure_the_document() -> None:
    result = extract("# A\n\n> # B\n\n- # C\n\ntext")
    assert result.elements[-1].headings == ("A",)
    assert [kind for kind, _ in pieces(result)] == ["heading", "quote", "list_item", "paragraph"]


def test_a_rule_below_a_paragraph_makes_no_heading_of_it() -> None:
    """As on a receipt. A title may be broken into two lines."""
    receipt = extract("Mouse\n$59.99\nCable\n$44.98\n-----\n\nTOTAL $104.97\n=====\n\nThanks.")
    assert pieces(receipt) == [
        ("paragraph", "Mouse $59.99 Cable $44.98"),
        ("heading", "TOTAL $104.97"),
        ("paragraph", "Thanks."),
    ]
    assert receipt.title == "note"
    long = extract("The bells of\nAschenfurt\n==========\n\nThey rang.")
    assert long.title == "The bells of Aschenfurt"


def test_a_higher_heading_closes_the_lower_ones() -> None:
    result = extract("# A\n\n### B\n\n## C\n\ntext")
    assert result.elements[-1].headings == ("A", "C")


def test_front_matter() -> None:
    result = extract(
        "---\ntitle: My Paper\nauthor: Jane Doe and John Roe\ndate: 2021-03-04\n"
        "tags: [a, b, 3]\nlang: de-AT\ndraft: true\nweight: 1.5\nempty:\n"
        "nested: {deep: {er: 1}, list: [x, {y: z}]}\n---\n# Heading\n\nText."
    )
    assert result.title == "My Paper"
    assert result.language == "de"
    assert result.metadata == {
        "title": "My Paper",
        "authors": ("Jane Doe", "John Roe"),
        "date": "2021-03-04",
        "year": 2021,
        "tags": ("a", "b", "3"),
        "lang": "de-AT",
        "draft": True,
        "weight": 1.5,
        "nested.deep.er": 1,
        "nested.list": ("x",),
    }
    assert result.text == "Heading\n\nText."


@pytest.mark.parametrize(
    ("field", "authors"),
    [
        ("authors: [A B, C D]", ("A B", "C D")),
        ("author: 'Doe, Jane; Roe, John'", ("Doe, Jane", "Roe, John")),
        ("author:\n  - name: A B\n    affiliation: X\n  - name: C D", ("A B", "C D")),
        ("author: {name: A B}", ("A B",)),
    ],
)
def test_authors(field: str, authors: tuple[str, ...]) -> None:
    assert extract(f"---\n{field}\n---\ntext").metadata["authors"] == authors


@pytest.mark.parametrize(
    "block",
    [
        "title: [unclosed",
        "title: a: b: c",
        "date: 2021-99-99",
        "x: !!python/object/apply:os.system [ls]",
        "x: " + "[" * 5000,
        "x: *unknown",
    ],
)
def test_bad_front_matter_is_text(block: str) -> None:
    result = extract(f"---\n{block}\n---\n\n# Body\n\nwords")
    assert pieces(result)[0] == ("paragraph", block)
    assert result.metadata == {}
    assert result.title == "Body"


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
@pytest.mark.parametrize(
    "field",
    [
        lambda n: f"a{n}: &a{n} {{k1: *a{n - 1}, k2: *a{n - 1}, k3: *a{n - 1}}}",
        lambda n: f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}, *a{n - 1}]}}",
        lambda n: f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]",
        lambda n: f"a{n}: &a{n} {{k: *a{n}}}",
    ],
)
def test_front_matter_that_multiplies_itself_stays_small(field: Callable[[int], str]) -> None:
    lines = ["a0: &a0 {x: 1, y: {}}", *(field(n) for n in range(1, 30))]
    result = extract("---\n" + "\n".join(lines) + "\n---\ntext")
    assert len(result.metadata) <= 200


def test_quotes_of_quotes_of_quotes_are_read() -> None:
    assert "deep words" in extract("> " * 30 + "deep words").text


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert extract("---\n\ntext\n\n---\n\nmore").text == "text\n\nmore"


def test_title_falls_back_to_the_name() -> None:
    assert extract("## Only second\n\ntext").title == "note"


def test_a_file_of_front_matter_only_can_still_be_found() -> None:
    result = extract("---\ntitle: Stub\ntags: x\n---\n")
    assert (result.title, result.text) == ("Stub", "title: Stub\ntags: x")


@pytest.mark.parametrize("source", ["<!-- nothing -->", "![](a.png)", "***", "[x]: http://y"])
def test_nothing_visible_is_empty(source: str) -> None:
    with pytest.raises(FileEmpty):
        extract(source)


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
@pytest.mark.parametrize("mark", [">", "> ", "[", "![", "[a](", "*a **a ", "<", "`", "- ", "#"])
def test_hostile_nesting_neither_crashes_nor_hangs(mark: str) -> None:
    extract("start\n\n" + mark * 10_000 + "\n\nend")


LINES = st.one_of(
    st.sampled_from(["# A", "## B *c*", "para", "", "---", "a: b", "```", "    code"]),
    st.sampled_from(["- item", "  - sub", "1. x", "> q", "| a | b |", "|---|---|", "| 1 | |"]),
    st.sampled_from(["<b>html</b>", "<!-- c -->", "[l](u)", ""]),
)
PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20)


@given(st.lists(LINES | PRINTABLE, max_size=25))
def test_elements_are_in_order_apart_and_not_blank(lines: list[str]) -> None:
    result = extract("x\n\n" + "\n".join(lines))
    end = 0
    for element in result.elements:
        assert result.text[end : element.start].strip() == ""
        assert result.text[element.start : element.end].strip()
        assert element.start >= end
        end = element.end
    assert end == len(result.text)
    numbers = [e.paragraph for e in result.elements if e.kind != "heading"]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("marks", ["[", "![", "[a](b", "[[a]"])
def test_a_paragraph_of_brackets_is_plain_text(marks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser would look for the end of each bracket through all the others."""
    most = 0
    parse = ParserInline.parse

    def seen(self: ParserInline, src: str, *rest: Any) -> Any:
        nonlocal most
        most = max(most, src.count("["))
        return parse(self, src, *rest)

    monkeypatch.setattr(ParserInline, "parse", seen)
    read = extract(f"Before [a link](b).\n\n{marks * 20_000}\nlast\n\nAfter [a link](b).\n")
    assert read.text.startswith("Before a link.\n\n[" if marks[0] == "[" else "Before a link.\n\n!")
    assert read.text.endswith(" last\n\nAfter a link.")
    assert most <= MOST_BRACKETS
