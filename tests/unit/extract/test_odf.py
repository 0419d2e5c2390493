"""OpenDocument texts, sheets and presentations keep their structure."""

import pytest
from tests.unit.extract.making import check_offsets, pieces, zipped

from trivium.core.errors import FileLocked, FileTooLarge
from trivium.core.types import Extraction, Kind
from trivium.extract.odf import read_odf
from trivium.ports import Blob

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in (
        ("o", "office"),
        ("t", "text"),
        ("tb", "table"),
        ("d", "drawing"),
        ("p", "presentation"),
        ("m", "meta"),
        ("s", "style"),
    )
)
META = f"""<o:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><o:meta>
<dc:title>Ferry</dc:title><m:initial-creator>Ann</m:initial-creator>
<m:creation-date>2020-01-02T03:04:05.6</m:creation-date></o:meta></o:document-meta>"""


def extract(kind: str, body: str, **parts: str) -> Extraction:
    files: dict[str, str | bytes] = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<o:document-content {SPACES}><o:body><o:{kind}>{body}</o:{kind}></o:body>"
        "</o:document-content>",
        "meta.xml": META,
    }
    blob = Blob("x.bin", zipped({**files, **parts}))
    assert read_odf.accepts(blob)
    result = read_odf.extract(blob)
    check_offsets(result)
    return result


def test_text() -> None:
    result = extract(
        "text",
        '<t:h t:outline-level="2">Boats</t:h><t:p>a<t:s t:c="2"/>b<t:tab/>c<t:note>'
        "<t:note-citation>1</t:note-citation><t:note-body><t:p>Note.</t:p></t:note-body></t:note></t:p>"
        "<t:list><t:list-item><t:p>one</t:p></t:list-item></t:list>"
        "<t:p>first<t:soft-page-break/>second</t:p>"
        "<tb:table><tb:table-row><tb:table-cell><t:p>A</t:p></tb:table-cell>"
        "<tb:table-cell><t:p>B</t:p></tb:table-cell></tb:table-row>"
        "<tb:table-row><tb:table-cell><t:p>1</t:p></tb:table-cell></tb:table-row></tb:table>"
        "<t:tracked-changes><t:p>gone</t:p></t:tracked-changes>",
    )
    assert pieces(result) == [
        ("heading", "Boats"),
        ("paragraph", "a  b\tc[1]"),
        ("paragraph", "[1] Note."),
        ("list_item", "one"),
        ("paragraph", "firstsecond"),
        ("table", "A | B\n1"),
    ]
    assert [e.place.pages for e in result.elements][3:] == [(1,), (1, 2), (2,)]
    assert (result.title, result.metadata["authors"], result.metadata["year"]) == (
        "Ferry",
        ("Ann",),
        2020,
    )


def test_sheets_count_repeated_rows() -> None:
    cell = "<tb:table-cell><t:p>{}</t:p></tb:table-cell>".format
    result = extract(
        "spreadsheet",
        '<tb:table tb:name="S"><tb:table-row>' + cell("Year") + cell("Ducks") + "</tb:table-row>"
        '<tb:table-row tb:number-rows-repeated="2">' + cell("1") + cell("2") + "</tb:table-row>"
        '<tb:table-row tb:number-rows-repeated="1000000"><tb:table-cell/></tb:table-row>'
        '<tb:table-row><tb:table-cell tb:number-columns-repeated="1"/>'
        + cell("3")
        + "</tb:table-row>"
        "</tb:table>",
    )
    assert [(result.text[e.start : e.end], e.place.rows) for e in result.elements] == [
        ("Year | Ducks", (1, 1)),
        ("1 | 2", (2, 2)),
        ("1 | 2", (3, 3)),
        ("– | 3", (1000004, 1000004)),
    ]
    assert result.kind == Kind.TABLE


def test_slides() -> None:
    box = "<d:text-box><t:p>{}</t:p></d:text-box>".format
    result = extract(
        "presentation",
        f'<d:page><d:frame>{box("text")}</d:frame><d:frame p:class="title">{box("Plan")}</d:frame>'
        f"<p:notes><d:frame>{box('Say.')}</d:frame></p:notes></d:page>",
    )
    assert pieces(result) == [
        ("heading", "Plan"),
        ("paragraph", "text"),
        ("paragraph", "Notes: Say."),
    ]
    assert result.elements[1].place.pages == (1,)


def test_locked_and_hostile_files() -> None:
    locked = {"META-INF/manifest.xml": "<m><encryption-data/></m>"}
    with pytest.raises(FileLocked, match="password"):
        extract("text", "<t:p>x</t:p>", **locked)
    cell = '<tb:table-cell tb:number-columns-repeated="99999999"><t:p>x</t:p></tb:table-cell>'
    with pytest.raises(FileTooLarge, match="columns"):
        extract("spreadsheet", f"<tb:table><tb:table-row>{cell}</tb:table-row></tb:table>")


def test_a_paragraph_in_the_style_of_titles_is_a_heading() -> None:
    style = '<s:style s:name="P1" s:parent-style-name="Title"/>'
    body = '<t:p t:style-name="P1">Ferries</t:p><t:p>They sail at noon.</t:p>'
    content = (
        f"<o:document-content {SPACES}><o:automatic-styles>{style}</o:automatic-styles>"
        f"<o:body><o:text>{body}</o:text></o:body></o:document-content>"
    )
    result = extract("text", "", **{"content.xml": content})
    assert pieces(result) == [("heading", "Ferries"), ("paragraph", "They sail at noon.")]


def test_a_table_in_a_cell_is_the_cells_words_and_no_more_rows() -> None:
    """Every inner row stood below again, as in the text_document_03 of docling's tests."""
    inner = (
        "<tb:table><tb:table-row><tb:table-cell><t:p>a</t:p></tb:table-cell>"
        "<tb:table-cell><t:p>b</t:p></tb:table-cell></tb:table-row></tb:table>"
    )
    cell = "<tb:table-cell>{}</tb:table-cell>".format
    rows = "<tb:table-header-rows><tb:table-row>{}</tb:table-row></tb:table-header-rows>".format(
        cell("<t:p>Left</t:p>") + cell("<t:p>Right</t:p>")
    )
    row = f"<tb:table-row>{cell('<t:p>1</t:p>')}{cell(inner)}</tb:table-row>"
    result = extract("text", f"<tb:table>{rows}{row}</tb:table>")
    assert pieces(result) == [("table", "Left | Right\n1 | a b")]
