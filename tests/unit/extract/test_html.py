"""HTML becomes what a person came for; menus, footers and hidden parts stay out."""

import pytest
from tests.unit.extract.making import check_offsets, pieces

from trivium.core.errors import FileEmpty, ReadError
from trivium.core.types import Extraction
from trivium.extract.html import read_html
from trivium.ports import Blob


def extract(source: str | bytes, name: str = "page") -> Extraction:
    blob = Blob(name, source.encode() if isinstance(source, str) else source)
    assert read_html.accepts(blob)
    result = read_html.extract(blob)
    check_offsets(result)
    return result


PAGE = """<!DOCTYPE html><html lang="en-GB"><head><title>Boats | Site</title>
<meta name="author" content="Ann Lee"><meta property="article:published_time" content="2020-05-06">
<script>var x = "never";</script></head><body>
<nav><a href="/">Home</a></nav><header>Site</header>
<h1>Boats</h1><p>A <b>boat</b> on
the <a href="x">river</a>.<br>Second line.</p>
<ul><li>oar<ul><li>blade</li></ul></li></ul><ol start="3"><li>third</li></ol>
<blockquote><p>Row on.</p></blockquote>
<table><caption>Fleet</caption><tr><th>Name</th><th>Oars</th></tr><tr><td>Kiel</td><td>4</td></tr></table>
<pre>a = 1
  b</pre><div style="display: none">hidden</div>
<footer>© nobody</footer></body></html>"""


def test_structure_and_metadata() -> None:
    result = extract(PAGE)
    assert pieces(result) == [
        ("paragraph", "Site"),
        ("heading", "Boats"),
        ("paragraph", "A boat on the river.\nSecond line."),
        ("list_item", "oar"),
        ("list_item", "blade"),
        ("list_item", "3. third"),
        ("quote", "Row on."),
        ("paragraph", "Fleet"),
        ("table", "Name | Oars\nKiel | 4"),
        ("code", "a = 1\n  b"),
    ]
    assert (result.title, result.language) == ("Boats | Site", "en")
    assert result.metadata == {"authors": ("Ann Lee",), "date": "2020-05-06", "year": 2020}


def test_the_main_part_is_enough_when_it_holds_the_text() -> None:
    prose = "A long and useful sentence about rivers. " * 10
    page = f"<html><body><p>Advert</p><main><p>{prose}</p></main><p>More</p></body></html>"
    assert extract(page).text == prose.strip()
    thin = f"<html><body><p>{prose * 5}</p><main><p>Short.</p></main></body></html>"
    assert "Short." in extract(thin).text
    assert prose.strip() in extract(thin).text


def test_lists_of_nothing_but_links_are_menus() -> None:
    menu = "<ul>" + "<li><a href=x>Sprache</a></li>" * 20 + "</ul>"
    few = "<ul>" + "<li><a href=x>See also</a></li>" * 3 + "</ul>"
    result = extract(f"<html><body><p>Text</p>{menu}{few}</body></html>")
    assert result.text == "Text\n\nSee also\nSee also\nSee also"


@pytest.mark.parametrize(
    "source",
    [
        '<html><meta charset="iso-8859-1"><p>Über'.encode("cp1252"),
        "<html><p>Über".encode("utf-16"),
        "<html><p>Über".encode(),
        '<?xml version="1.0" encoding="utf-8"?><html><p>Über</p></html>'.encode(),
    ],
)
def test_charsets(source: bytes) -> None:
    assert extract(source).text == "Über"


def test_layout_tables_are_read_as_text() -> None:
    result = extract("<html><table><tr><td><h2>Left</h2><p>a</p></td><td>b</td></tr></table>")
    assert pieces(result) == [("heading", "Left"), ("paragraph", "a"), ("paragraph", "b")]


def test_what_is_not_html() -> None:
    assert not read_html.accepts(Blob("x.txt", b"plain <b>text</b>"))
    assert read_html.accepts(Blob("x.html", b"<p>fragment"))
    assert not read_html.accepts(Blob("x.html", b"%PDF-1.4"))
    with pytest.raises(FileEmpty):
        extract("<html><script>x</script></html>")


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_hostile_nesting_ends_soon() -> None:
    for source in ("<div>" * 1_000_000, "<b>" * 300_000, "<" * 1_000_000, "<p a=b " * 100_000):
        try:
            extract(f"<html>start{source}end")
        except ReadError:
            continue


def test_depth_that_real_pages_have() -> None:
    assert extract("<html>" + "<div>" * 140 + "deep").text == "deep"


def test_a_cell_over_several_rows_names_each_of_them() -> None:
    page = (
        "<table><tr><th rowspan=2>Region</th><th rowspan=2>Store</th><th colspan=2>2025</th></tr>"
        "<tr><th>Q1</th><th>Q2</th></tr><tr><td rowspan=2>North</td><td>Oslo</td><td>4</td><td>5"
        "</td></tr><tr><td>Bergen</td><td>6</td><td>7</td></tr></table>"
    )
    result = read_html.extract(Blob("a.html", page.encode()))
    assert "North | Oslo | 4 | 5\nNorth | Bergen | 6 | 7" in result.text
    (table,) = (e for e in result.elements if e.kind == "table")
    assert table.header == "Region | Store | 2025 Q1 | 2025 Q2"


def test_a_table_with_an_even_grid_is_data_however_long_its_cells() -> None:
    cells = "".join(
        f"<tr><td>19{n}</td><td>Film {n}</td><td>{'plot ' * 300}</td></tr>" for n in (1, 2)
    )
    page = f"<table><tr><td>Year</td><td>Title</td><td>Plot</td></tr>{cells}</table>"
    (table,) = read_html.extract(Blob("a.html", page.encode())).elements
    assert (table.kind, table.header) == ("table", "Year | Title | Plot")


_TEXT = "Our stores sell tools, timber and paint to people who build and repair houses. " * 3
_BREAK = "<hr style='page-break-after:always'/>"


def _report(pages: list[str], style: str = "font-size:10pt") -> Extraction:
    printed = (
        f"<p><a href='#toc'>Table of Contents</a></p>{page}<p>Hill plc | Report | {n}</p>"
        for n, page in enumerate(pages, 21)
    )
    return extract(f"<html><body><div style='{style}'>{_BREAK.join(printed)}</div></body></html>")


def test_a_report_saved_as_html_has_headings_by_their_look_and_no_page_numbers() -> None:
    bold, slanted = "<p style='font-weight:700'>{}</p>", "<p style='font-style:italic'>{}</p>"
    result = _report(
        [
            bold.format("PART I") + bold.format("Item 1. Business") + f"<p>{_TEXT}</p>",
            bold.format("Our Stores") + slanted.format("In towns") + "<p>A long lease goes on,</p>",
            f"<p>for years. {_TEXT}</p>" + slanted.format("Elsewhere") + f"<p>{_TEXT}</p>",
            bold.format("PART I (continued)") + f"<p>{_TEXT}</p>",
            bold.format("Item 2. Properties.") + f"<p><b>Leases.</b> {_TEXT}</p>",
        ]
    )
    headings = [(e.level, result.text[e.start : e.end], len(e.headings)) for e in result.elements
                if e.kind == "heading"]  # fmt: skip
    assert headings == [
        (1, "PART I", 0),
        (2, "Item 1. Business", 1),
        (3, "Our Stores", 2),
        (4, "In towns", 3),
        (4, "Elsewhere", 3),
        (2, "Item 2. Properties.", 1),
    ]
    assert "A long lease goes on, for years." in result.text
    assert "Table of Contents" not in result.text
    assert "Hill plc" not in result.text


@pytest.mark.parametrize(
    "division",
    [
        "<table><tr><td><b>Item {n}.</b></td><td><b>Stores of {n}</b></td></tr></table>",
        "<table><tr><td></td></tr><tr><td><b>Item {n}. Stores of {n}</b></td></tr></table>",
        "<p>Item {n}. Stores of {n}</p>",
        "<a name='i{n}'></a><p>Item {n}<br/>Stores of {n}</p>",
        "<p style='color:#006ebf'>Item {n} Stores of {n}</p>",
    ],
)
def test_a_division_is_a_heading_however_it_is_set(division: str) -> None:
    """Within a table, without a look of its own, named by a link in the contents, in colour."""
    links = "".join(f"<p><a href='#i{n}'>Stores of {n}</a></p>" for n in range(1, 5))
    pages = [division.replace("{n}", str(n)) + f"<p>{_TEXT}</p>" for n in range(1, 5)]
    result = _report([links, *pages])
    assert [(e.kind, e.level, result.text[e.start : e.end]) for e in result.elements
            if e.kind == "heading"] == [
        ("heading", 1, f"Item {n}. Stores of {n}" if "Item {n}." in division or "<td>" in division
         else f"Item {n} Stores of {n}") for n in range(1, 5)
    ]  # fmt: skip


def test_a_sentence_that_begins_with_a_division_is_no_heading() -> None:
    """Nor is a list of divisions that leads nowhere."""
    listed = "".join(f"<p>Item {n}. Stores of {n}</p>" for n in range(1, 5))
    said = f"<p>Item 3 of this report lists our stores</p><p>{_TEXT}</p>"
    assert not [e for e in _report([said, f"<p>{_TEXT}</p>", listed]).elements[:-1]
                if e.kind == "heading"]  # fmt: skip


def test_a_mark_beside_its_note_and_a_block_shown_inline_are_one_paragraph() -> None:
    flex = "<div style='display:flex'><span>(1)</span><div style='display:inline'>Net.</div></div>"
    result = extract(f"<html><body><p>{_TEXT}</p>{flex}<p>(2)</p><p>Gross.</p></body></html>")
    assert [text for _, text in pieces(result)][1:] == ["(1) Net.", "(2) Gross."]


@pytest.mark.parametrize(
    ("notes", "path"),
    [
        ("Notes to consolidated financial statements", 1),
        ("Signatures", 0),
        ("Consolidated balance sheet", 0),
    ],
)
def test_what_stands_behind_the_last_item_is_not_below_it(notes: str, path: int) -> None:
    items = [f"<p><b>Item {n}. {title}</b></p><p>{_TEXT}</p>"
             for n, title in ((1, "Wood"), (2, "Paint"), (3, "Summary"))]  # fmt: skip
    behind = f"<p><b>{notes}</b></p><p>{_TEXT}</p><p><b>Note 1. Debt</b></p><p>{_TEXT}</p>"
    result = _report([*items, behind])
    *_, closing, note = (e for e in result.elements if e.kind == "heading")
    assert (closing.headings, closing.level) == ((), 1)
    assert len(note.headings) == path


def test_a_long_risk_in_bold_is_a_heading_and_two_bold_sentences_are_none() -> None:
    risk = "Sales of many of our boats, or " + "the belief of others in the trade that " * 5
    risk += "they may come, may make each boat cheaper."
    notice = f"{risk} {risk}"
    result = _report([f"<p><b>{text}</b></p><p>{_TEXT}</p>" for text in (risk, notice)]
                     + [f"<p>{_TEXT * 9}</p>"])  # fmt: skip
    assert [text for kind, text in pieces(result) if kind == "heading"] == [risk]


def test_a_statement_above_its_table_is_a_heading_however_it_is_set() -> None:
    """Comcast's balance sheet was below the report of its auditors."""
    rows = (
        "<tr><td>Cash</td><td>11</td><td>12</td></tr><tr><td>Debt</td><td>21</td><td>22</td></tr>"
    )
    name = "Consolidated Balance Sheets"
    sheet = f"<p><b>Harbour</b></p><p>{name}</p><table>{rows}</table>"
    result = _report([f"<p>{_TEXT}</p>", sheet, f"<p>{name}</p><p>{_TEXT}</p>"])
    assert [text for kind, text in pieces(result) if kind == "heading"].count(name) == 1


def test_headings_that_say_that_they_go_on_are_dropped_behind_a_bracket() -> None:
    """Travelers' notes were cut by "Notes (Unaudited), Continued" on each page."""
    notes = "NOTES TO STATEMENTS (Unaudited)"
    pages = [f"<p><b>{text}</b></p><p>{_TEXT}</p>" for text in (notes, f"{notes}, Continued")]
    headings = [text for kind, text in pieces(_report(pages)) if kind == "heading"]
    assert headings == [notes]


def test_a_division_and_its_title_in_two_paragraphs_are_one_heading() -> None:
    titled = list(enumerate(("Wood", "Paint", "Tools"), 1))
    pages = [f"<p><b>Item {n}.</b></p><p><b>{title}</b></p><p>{_TEXT}</p>" for n, title in titled]
    headings = [text for kind, text in pieces(_report(pages)) if kind == "heading"]
    assert headings == [f"Item {n}. {title}" for n, title in titled]


def test_a_table_goes_on_over_a_page_under_its_names() -> None:
    named = "<tr><td></td><td>2024</td><td>2023</td></tr>"
    rows = [f"<tr><td>Store {n}</td><td>{n}00</td><td>{n}50</td></tr>" for n in range(4)]
    part = "<tr><td>ABROAD</td><td></td><td></td></tr>"
    first, second = f"{named}{rows[0]}{rows[1]}", f"{part}{rows[2]}{rows[3]}"
    result = _report([f"<table>{first}</table>", f"<table>{second}</table>", f"<p>{_TEXT}</p>"])
    (table,) = (e for e in result.elements if e.kind == "table")
    assert table.header == "– | 2024 | 2023"
    assert "Store 1 | 100 | 150\nABROAD\nStore 2" in result.text


def test_the_name_of_a_tables_first_part_is_no_name_of_a_column() -> None:
    row = "<tr><td>{}</td><td>{}</td><td>{}</td></tr>"
    parts = [
        row.format(f"Year ended May 31, {n}", *names) + row.format("Sales", n, n)
        for n, names in ((2024, ("North", "South")), (2023, ("", "")))
    ]
    (table,) = extract(f"<table>{''.join(parts)}</table>", "a.html").elements
    assert table.header == "– | North | South"


def test_bold_covers_and_signatures_are_no_headings() -> None:
    cover = "".join(f"<p><b>{line}</b></p>" for line in ("HILL PLC", "1 High Road", "Leeds", "UK"))
    pages = [cover, f"<p>{_TEXT}</p><p><b>By: Ann Lee</b></p><p>Chair</p>", f"<p>{_TEXT}</p>"]
    assert not [e for e in _report(pages).elements if e.kind == "heading"]


def test_a_page_with_headings_of_its_own_gets_no_others() -> None:
    result = extract(f"<h1>Boats</h1><p><b>Kiel</b></p><p>{_TEXT}</p>", "a.html")
    assert [e.kind for e in result.elements] == ["heading", "paragraph", "paragraph"]


STATEMENT = """<table>
<tr><td colspan=3></td><td colspan=3></td><td colspan=9>Year ended May 31,</td></tr>
<tr><td colspan=3>(in millions)</td><td colspan=3></td><td colspan=3>2023</td><td colspan=3></td>
<td colspan=3>2022</td></tr>
<tr><td colspan=3>Sales</td><td colspan=3></td><td>$</td><td>35,415</td><td></td><td colspan=3></td>
<td>$</td><td>32,597</td><td></td></tr>
<tr><td colspan=3>Loss</td><td colspan=3></td><td colspan=2>(28</td><td>)</td><td colspan=3></td>
<td colspan=2>4.5</td><td>%</td></tr></table>"""


def test_figures_of_a_statement_have_their_signs_and_their_names() -> None:
    result = extract(f"<html><body>{STATEMENT}</body></html>")
    (table,) = result.elements
    assert result.text.splitlines()[-2:] == ["Sales | $35,415 | $32,597", "Loss | (28) | 4.5%"]
    assert table.header == "(in millions) | Year ended May 31, 2023 | Year ended May 31, 2022"


def test_signs_in_a_column_of_their_own_count_with_the_figures() -> None:
    rows = "<tr><td>A</td><td>€</td><td>5</td></tr><tr><td>B</td><td></td><td>7</td></tr>"
    result = extract(f"<table><tr><td></td><td colspan=2>Price</td></tr>{rows}</table>", "a.html")
    assert result.text == "– | Price\nA | €5\nB | 7"


def test_captions_inside_a_table_stand_above_it() -> None:
    page = (
        "<table><tr><td colspan=3>HILL PLC</td></tr><tr><td></td><td>2023</td><td>2022</td></tr>"
        "<tr><td>Sales</td><td>5</td><td>4</td></tr></table>"
    )
    result = extract(page, "a.html")
    assert pieces(result)[0] == ("paragraph", "HILL PLC")
    assert result.elements[1].header == "– | 2023 | 2022"


def test_bullets_and_notes_in_cells_go_with_their_text() -> None:
    cell = "<table><tr><td>{}</td><td>{}</td></tr></table>"
    page = cell.format("●", "rising prices;") + cell.format("(1)", "Without taxes.")
    page += "<p><span>•</span><span style='padding-left:9pt'>old ships</span></p>"
    assert pieces(extract(page, "a.html")) == [
        ("list_item", "rising prices;"),
        ("paragraph", "(1) Without taxes."),
        ("list_item", "old ships"),
    ]


def test_a_table_of_contents_that_leads_into_its_page_is_left_out() -> None:
    rows = "".join(f"<tr><td><a href='#p{n}'>Part {n}</a></td><td>{n}</td></tr>" for n in range(9))
    assert extract(f"<p>Text</p><table>{rows}</table>", "a.html").text == "Text"
    assert "Part 3" in extract(f"<table>{rows.replace('#', 'x')}</table>", "a.html").text


def test_a_report_has_the_name_on_its_cover_not_the_one_of_its_program() -> None:
    page = (
        "<html><head><title>hill-20231231</title></head><body><p>FORM 10-K</p><p>For the fiscal"
        " year ended May 31, 2023</p><p>Hill plc</p><p>(Exact name of registrant as specified in"
        f" its charter)</p><p>{_TEXT}</p></body></html>"
    )
    assert extract(page).title == "Hill plc, FORM 10-K, May 31, 2023"


def test_a_division_in_bold_that_opens_its_paragraph_is_a_heading() -> None:
    notes = "".join(f"<p><b>Note {n}. Debt {n}.</b> {_TEXT}</p>" for n in (1, 2, 3))
    result = extract(f"<html><body>{notes}<p><b>Leases.</b> {_TEXT}</p></body></html>")
    assert [piece for piece in pieces(result) if piece[0] == "heading"] == [
        ("heading", "Note 1. Debt 1."),
        ("heading", "Note 2. Debt 2."),
        ("heading", "Note 3. Debt 3."),
    ]
    assert f"Leases. {_TEXT.strip()}" in result.text


def test_a_report_with_inline_xbrl_says_what_it_is() -> None:
    tag = "<ix:nonNumeric name='dei:{}'>{}</ix:nonNumeric>"
    facts = tag.format("EntityRegistrantName", "Hill plc") + tag.format("DocumentType", "10-Q")
    page = f"<html><head><title>hill-20230630</title></head><body><p>{facts}</p><p>{_TEXT}</p>"
    assert extract(page).title == "Hill plc, Form 10-Q"


def test_names_over_three_rows_end_before_the_figures() -> None:
    cell, row = "<td colspan={}>{}</td>", "<tr>{}</tr>"
    rows = (
        row.format(cell.format(1, "") + cell.format(2, "Six months ended"))
        + row.format("<td></td><td>July 1,</td><td>July 2,</td>")
        + row.format("<td>(in millions)</td><td>2023</td><td>2022</td>")
        + row.format("<td></td>" + cell.format(2, "(unaudited)"))
        + row.format("<td>Sales</td><td>$(3)</td><td>$(4)</td>")
    )
    (table,) = extract(f"<table>{rows}</table>", "a.html").elements
    ends = "Six months ended July 1, 2023 | Six months ended July 2, 2022"
    assert table.header == f"(in millions) | {ends}"


def test_a_raised_number_is_no_part_of_the_word_or_number_before_it() -> None:
    """ "$1.662/3" of American Express, "gallons1" of Intel."""
    raised = "<span style='position:relative;top:-2.8pt'>{}</span>"
    text = f"Shares of $1.66{raised.format('2/3')}, gallons<sup>1</sup>, 4<sup>th</sup>"
    cells = f"<tr><td>{text}</td><td>x</td></tr><tr><td>40 m<sup>2</sup></td><td>y</td></tr>"
    result = extract(f"<html><body><p>{text}</p><table>{cells}</table></body></html>")
    assert result.text.count("$1.66 2/3, gallons 1, 4th") == 2
    assert "40 m2" in result.text


def test_a_heading_on_two_lines_is_one_and_a_companys_name_is_none() -> None:
    bold = "<p><b>{}</b></p>"
    lines = ("HILL HARBOUR COMPANY", "Discussion and Analysis of the Year", "Financial Review")
    page = "".join(
        bold.format(name) + f"<p>{_TEXT}</p>"
        for name in (
            "</b></p><p><b>".join(("REPORT ON CONTROL", "OVER FINANCIAL REPORTING")),
            "</b></p><p><b>".join(lines),
        )
    )
    result = extract(f"<html><body><div style='font-size:10pt'>{page}</div></body></html>")
    assert [text for kind, text in pieces(result) if kind == "heading"] == [
        "REPORT ON CONTROL OVER FINANCIAL REPORTING",
        *lines[1:],
    ]


def test_items_in_a_row_without_text_are_a_list_of_them() -> None:
    names = [
        f"<p><b>Item {n}. {name}</b></p>" for n, name in enumerate(("Sea", "Sky", "Sun", "Fog"))
    ]
    page = f"<p><b>Part I</b></p>{''.join(names)}<p>{_TEXT}</p>{names[0]}<p>{_TEXT}</p>"
    result = extract(f"<html><body><div style='font-size:10pt'>{page}</div></body></html>")
    headings = [text for kind, text in pieces(result) if kind == "heading"]
    assert headings == ["Part I", "Item 0. Sea"]


def test_half_a_name_in_brackets_over_two_columns_is_no_unit() -> None:
    """Verizon's columns were called "Increase/", without "(Decrease)"."""
    cell, row = "<td colspan={}>{}</td>", "<tr>{}</tr>"
    rows = (
        row.format("<td></td><td></td>" + cell.format(2, "Increase/"))
        + row.format("<td>(in millions)</td><td>2023</td>" + cell.format(2, "(Decrease)"))
        + row.format("<td>Sales</td><td>30</td><td>4</td><td>(1)%</td>")
    )
    (table,) = extract(f"<table>{rows}</table>", "a.html").elements
    assert table.header.endswith("2023 | Increase/ (Decrease) | Increase/ (Decrease)")


def test_labels_beside_their_figures_are_no_names_of_columns() -> None:
    """GameStop's stores were under "Alabama | 47 | Louisiana | 53", and AMC's cash flows under
    "(In millions) Cash flows from operating activities:"."""
    row = "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
    states = row.format("Ohio", 47, "Iowa", 53) + row.format("Utah", 31, "Texas", 8)
    first = "<tr><td>(In millions)</td><td colspan=2>Six months</td></tr>"
    part = "<tr><td>Sales:</td><td colspan=2>(unaudited)</td></tr>"
    flows = f"{first}{part}<tr><td>Loss</td><td>$(3.1)</td><td>$(4.2)</td></tr>"
    page = f"<table>{states}</table><p>{_TEXT}</p><table>{flows}</table>"
    headers = [e.header for e in extract(f"<body>{page}", "a.html").elements if e.kind == "table"]
    assert headers == ["", "(In millions) | Six months | Six months"]


def test_a_page_of_hardly_anything_but_menus_is_read_with_them() -> None:
    items = "".join(f"<li>Harbour {n} lies east of <a href='/'>it</a></li>" for n in range(9))
    menu = f"<ul><li>My section <ul role='menu'>{items}</ul></li></ul>"
    assert "Harbour 8 lies east of it" in extract(f"<html><body>{menu}</body></html>").text
    text = "<p>The harbour master wrote down which boats came in, and when they left again.</p>"
    assert "lies east" not in extract(f"<html><body>{menu}{text}</body></html>").text


def test_a_page_of_nothing_but_menus_is_read_and_pictures_in_cells_have_their_words() -> None:
    links = "".join(f"<li><a href='/{n}'>Harbour {n}</a></li>" for n in range(3))
    assert "Harbour 2" in extract(f"<html><body><nav><ul>{links}</ul></nav></body></html>").text
    cells = "<tr><td>Duck</td><td><img alt='A small duck'></td></tr><tr><td>Owl</td><td>x</td></tr>"
    assert "Duck | A small duck" in extract(f"<body><table>{cells}</table>", "a.html").text


def test_a_link_of_the_contents_may_lead_to_the_companys_name_above_a_heading() -> None:
    """All notes of Abbott's 10-Q were below its statement of cash flows."""
    names = [f"Notes on {what}" for what in ("wood", "paint", "tools", "timber")]
    links = "".join(f"<p><a href='#i{n}'>{name}</a></p>" for n, name in enumerate(names))
    pages = [
        f"<a name='i{n}'></a><p>Harbour and daughters</p><p>{name}</p><p>{_TEXT}</p>"
        for n, name in enumerate(names)
    ]
    assert [text for kind, text in pieces(_report([links, *pages])) if kind == "heading"] == names


def test_a_lettered_line_in_bold_is_a_heading_and_cells_beside_one_another_are_none() -> None:
    row = "<tr><td><b>{}</b></td><td><b>{}</b></td></tr>"
    cells = f"<table>{row.format('', '')}{row.format('Boat', 'Berth')}</table>"
    line = "<p><b>(b) Contract balances</b></p>"
    over = "<p><b>May 26, 2024</b></p><p><b>(dollars in millions)</b></p><p><b>Exhibit No.</b></p>"
    result = _report([f"{cells}<p>{_TEXT}</p>{line}<p>{_TEXT}</p>{over}<p>{_TEXT}</p>"])
    assert [text for kind, text in pieces(result) if kind == "heading"] == ["(b) Contract balances"]


def test_a_heading_whose_first_line_ends_within_a_phrase_goes_on() -> None:
    lines = "<p><b>Item 2. DISCUSSION AND ANALYSIS OF</b></p><p><b>CONDITION AND RESULTS</b></p>"
    result = _report([f"{lines}<p>{_TEXT}</p>"])
    heading = "Item 2. DISCUSSION AND ANALYSIS OF CONDITION AND RESULTS"
    assert [text for kind, text in pieces(result) if kind == "heading"] == [heading]


def _row(*cells: str, over: int = 1) -> str:
    return "<tr>" + "".join(f"<td colspan={over}>{cell}</td>" for cell in cells) + "</tr>"


def test_a_title_inside_a_table_stands_above_its_names() -> None:
    """Mastercard's and GE's statements had no header."""
    data = _row("Cash", "11", "15") + _row("Debt", "21", "22")
    named = _row("BALANCE SHEET", "", "") + _row("(in thousands)", "2024", "2023") + data
    (title, table) = extract(f"<body><table>{named}</table>").elements
    assert (title.kind, table.header) == ("paragraph", "(in thousands) | 2024 | 2023")
    parts = _row("Revenue:", "", "") + _row("Higher", "dues", "15") + data
    (table,) = extract(f"<body><table>{parts}</table>").elements
    assert table.kind == "table"


def test_a_long_name_over_figures_is_one() -> None:
    """Every 10-K's table of repurchases was without a header."""
    long = "Approximate Value of Shares that May Yet Be Purchased under the Plans or Programs " * 2
    rows = [_row("Period", "Bought", long), _row("May", "11", "15"), _row("June", "21", "22")]
    (table,) = extract(f"<body><table>{''.join(rows)}</table>").elements
    assert table.header == f"Period | Bought | {long.strip()}"


def test_items_with_their_marks_are_a_list_below_a_line_over_all_of_them() -> None:
    rows = "<tr><td colspan=2>We depend on:</td></tr>"
    rows += "".join(f"<tr><td>({n})</td><td>what ship {n} pays;</td></tr>" for n in (1, 2, 3))
    assert pieces(extract(f"<body><table>{rows}</table>")) == [
        ("paragraph", "We depend on:"),
        *(("paragraph", f"({n}) what ship {n} pays;") for n in (1, 2, 3)),
    ]
