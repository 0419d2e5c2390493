"""A presentation becomes slides with titles, lists, tables, figures of charts, and notes."""

import pytest
from tests.unit.extract.making import check_offsets, pieces, zipped

from trivium.core.errors import FileDamaged
from trivium.extract.pptx import read_pptx
from trivium.ports import Blob

R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATION = '<Relationship Id="{}" Type="http://x/{}" Target="{}"/>'.format


def shape(role: str, *lines: str) -> str:
    placeholder = f'<ph type="{role}"/>' if role else ""
    paragraphs = "".join(f"<p><r><t>{line}</t></r></p>" for line in lines)
    return f"<sp><nvSpPr><nvPr>{placeholder}</nvPr></nvSpPr><txBody>{paragraphs}</txBody></sp>"


def slide(*shapes: str) -> str:
    return f"<sld {R}><cSld><spTree>{''.join(shapes)}</spTree></cSld></sld>"


TABLE = (
    "<graphicFrame><tbl><tr><tc><p><r><t>A</t></r></p></tc><tc><p><r><t>B</t></r></p></tc></tr>"
    "<tr><tc><p><r><t>1</t></r></p></tc><tc><p><r><t>2</t></r></p></tc></tr></tbl></graphicFrame>"
)
CHART = (
    "<c><chart><ser><tx><v>Ducks</v></tx>"
    '<cat><pt idx="0"><v>2019</v></pt><pt idx="1"><v>2020</v></pt></cat>'
    '<val><pt idx="0"><v>5</v></pt><pt idx="1"><v>6</v></pt></val></ser></chart></c>'
)
FILES: dict[str, str | bytes] = {
    # The second slide's file is shown first.
    "ppt/presentation.xml": f'<p {R}><sldIdLst><sldId id="1" r:id="b"/><sldId id="2" r:id="a"/>'
    "</sldIdLst></p>",
    "ppt/_rels/presentation.xml.rels": "<R>"
    + RELATION("a", "slide", "slides/slide1.xml")
    + RELATION("b", "slide", "slides/slide2.xml")
    + "</R>",
    "ppt/slides/slide2.xml": slide(
        shape("body", "one", "two"), shape("title", "Plan"), shape("sldNum", "1"), TABLE
    ),
    "ppt/slides/slide1.xml": slide(
        "<grpSp>" + shape("", "grouped") + "</grpSp>",
        '<graphicFrame><chart r:id="c"/></graphicFrame>',
    ),
    "ppt/slides/_rels/slide1.xml.rels": "<R>"
    + RELATION("c", "chart", "../charts/chart1.xml")
    + RELATION("n", "notesSlide", "/ppt/notes1.xml")
    + "</R>",
    "ppt/charts/chart1.xml": CHART,
    "ppt/notes1.xml": slide(shape("body", "Say hello."), shape("sldNum", "2")),
}


def test_slides_in_the_order_they_are_shown() -> None:
    blob = Blob("deck.bin", zipped(FILES))
    assert read_pptx.accepts(blob)
    result = read_pptx.extract(blob)
    check_offsets(result)
    assert pieces(result) == [
        ("heading", "Plan"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("table", "A | B\n1 | 2"),
        ("heading", "Slide 2"),
        ("paragraph", "grouped"),
        ("table", "– | Ducks\n2019 | 5\n2020 | 6"),
        ("paragraph", "Notes: Say hello."),
    ]
    assert [e.place.pages for e in result.elements] == [(1,)] * 4 + [(2,)] * 4
    assert (result.title, result.metadata["pages"]) == ("Plan", 2)


def test_without_slides_it_is_damaged() -> None:
    with pytest.raises(FileDamaged, match="without slides"):
        read_pptx.extract(Blob("x.pptx", zipped({"ppt/presentation.xml": "<p/>"})))
