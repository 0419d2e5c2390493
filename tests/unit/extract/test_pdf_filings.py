"""Faults that a person found in chunks of filings and papers, each built as small as it shows."""

from __future__ import annotations

from bench.pdf_writer import Sheet, build, width

from trivium.core.types import Extraction
from trivium.extract.pdf import PdfExtractor
from trivium.extract.pdf.compose import PagesRead, compose
from trivium.extract.pdf.marks import Page, Style, Word
from trivium.ports import Blob

PROSE = "The harbour master keeps a list of all ships that wait outside for a berth at the quay"


def read(*sheets: Sheet) -> Extraction:
    return PdfExtractor().extract(Blob("file.pdf", build(list(sheets))))


def prose(sheet: Sheet, y: float, lines: int = 6, start: str = "") -> float:
    """Lines of text from a baseline; returns the one below them."""
    for _ in range(lines):
        sheet.put(72, y, start + PROSE)
        y += 12
    return y


def rows(sheet: Sheet, y: float, *given: tuple[str, ...], ends: tuple[float, ...]) -> float:
    for label, *values in given:
        sheet.put(72, y, label)
        for value, end in zip(values, ends, strict=False):
            sheet.put_right(end, y, value)
        y += 14
    return y


def headings_of(got: Extraction) -> list[str]:
    return [got.text[e.start : e.end] for e in got.elements if e.kind == "heading"]


def header_of(got: Extraction) -> str:
    return next(element.header for element in got.elements if element.kind == "table")


def test_a_whole_sentence_in_bold_above_prose_is_a_heading() -> None:
    """Risks of one line ended chunks of Boeing's and Kraft Heinz' reports for their full stop."""
    sheet = Sheet()
    y = prose(sheet, 60)
    risk = "We agree to fixed prices which may cost us more than we are paid."
    sheet.put(72, y + 10, risk, "Times-Bold")
    y = prose(sheet, y + 30)
    sheet.put(72, y + 10, "Warning: nobody may enter the quay at night.", "Times-Bold")
    prose(sheet, y + 22)  # right below: part of the text
    assert headings_of(read(sheet)) == [risk]


def test_names_on_the_right_belong_to_the_table_below_them() -> None:
    """ "December 31" and "2019" above one column of figures were a section of Boeing's leases."""
    sheet = Sheet()
    y = prose(sheet, 60) + 10
    sheet.put_right(500, y, "December 31", "Times-Bold")
    sheet.put_right(500, y + 10, "2019", "Times-Bold")
    given = ("Operating leases:",), ("Assets in use", "$1,182"), ("Current liabilities", "252")
    rows(sheet, y + 24, *given, ends=(500,))
    got = read(sheet)
    assert headings_of(got) == []
    assert header_of(got) == "– | December 31 2019"


def test_a_name_over_columns_of_any_width_goes_to_each_of_them() -> None:
    sheet = Sheet()
    ends = (220, 290, 360, 430, 500)
    sheet.put_centred(242, 72, "2023")  # over two
    sheet.put_centred(420, 72, "2022")  # over three
    for name, end in zip(("Total", "Net", "Total", "Net", "Gross"), ends, strict=True):
        sheet.put_right(end, 86, name)
    figures = ("Cash", "$2,562", "$2,561", "$1,737", "$1,736", "$1,735")
    rows(sheet, 100, figures, ("Bonds", "1,242", "1,241", "1,420", "1,419", "1,418"), ends=ends)
    names = ["2023 Total", "2023 Net", "2022 Total", "2022 Net", "2022 Gross"]
    assert header_of(read(sheet)).split(" | ")[1:] == names


def test_the_second_part_of_a_table_is_no_section() -> None:
    """What followed in Boeing's report stood under "Liabilities"."""
    sheet = Sheet()
    y = rows(sheet, 60, ("", "2023", "2022"), ends=(400, 480))
    sheet.put(72, y, "Assets", "Times-Bold")
    given = ("Cash", "2,562", "1,737"), ("Bonds", "242", "420"), ("Sum of these", "2,804", "2,157")
    y = rows(sheet, y + 14, *given, ends=(400, 480)) + 10
    sheet.put(72, y, "Liabilities", "Times-Bold")
    rows(
        sheet,
        y + 14,
        ("Notes and other short debts", "118", "112"),
        ("Sum", "118", "112"),
        ends=(400, 480),
    )
    assert headings_of(read(sheet)) == []


def test_capitals_below_an_item_are_inside_it() -> None:
    """All notes of General Mills' 10-K of 2019 stood under "REPORT OF MANAGEMENT"."""
    cover, sheet, y = Sheet(), Sheet(), 60.0
    cover.put(72, 60, "The Harbour Board of Kobsund", size=16)
    prose(cover, 90)
    for name in ("PART II", "Item 7. Discussion", "Item 8. Statements", "REPORT OF THE MASTERS"):
        sheet.put(72, y, name, "Times-Bold")
        y = prose(sheet, y + 20) + 10
    last = read(cover, sheet).elements[-1]
    assert last.headings[-3:] == ("PART II", "Item 8. Statements", "REPORT OF THE MASTERS")


def test_company_and_statement_above_a_table_are_one_heading() -> None:
    """Coca-Cola's statements were all named "THE COCA-COLA COMPANY AND SUBSIDIARIES"."""
    sheet = Sheet()
    y = prose(sheet, 60) + 14
    sheet.put_centred(306, y, "HARBOUR COMPANY AND SUBSIDIARIES", "Times-Bold")
    sheet.put_centred(306, y + 17, "STATEMENTS OF INCOME", "Times-Bold")
    rows(sheet, y + 44, ("", "2023", "2022"), ("Dues", "40", "38"), ("Sum", "40", "38"),
         ends=(400, 480))  # fmt: skip
    assert headings_of(read(sheet)) == ["HARBOUR COMPANY AND SUBSIDIARIES STATEMENTS OF INCOME"]


def test_the_second_line_of_a_note_may_be_indented_a_little() -> None:
    sheet = Sheet()
    prose(sheet, 60)
    for at, (x, text) in enumerate(
        ((72, "1 Computed from what ships pay for a berth, less what the harbour pays to the"),
         (78, "pilots."),
         (72, "2 Computed from what ships pay for a tug, less what the harbour pays for all the"),
         (78, "coal."))
    ):  # fmt: skip
        sheet.put(x, 160 + 12 * at, text)
    assert [part[-12:] for part in read(sheet).text.split("\n\n")[1:]] == [
        " the pilots.",
        "ll the coal.",
    ]


def test_a_sentence_about_a_table_is_no_caption() -> None:
    """It wasn't joined with its second half in the next column of a paper."""
    sheet = Sheet()
    for column, x in enumerate((60, 320)):
        for line in range(40):
            text = f"The harbour master notes ship {column}{line} each"
            if (column, line) == (0, 38):
                text = "Table 3 shows that the list of the quay is"
            if (column, line) == (0, 39):
                text = "longer than the one of the mole, which was"
            if (column, line) == (1, 0):
                text = "shortened by the last storm of the winter."
            sheet.put(x, 60 + 15 * line + 10 * (column == 0 and line >= 38), text)
    assert "which was shortened by the last storm" in read(sheet).text


def test_the_number_of_a_table_is_no_item_of_a_list() -> None:
    first, second = Sheet(), Sheet()
    y = prose(first, 60)
    first.put(72, y, "The dues that all of them paid, and what was left of it, are shown in Table")
    second.put(72, 60, "3. They fell by a tenth.")
    assert "shown in Table 3. They fell" in read(first, second).text


def test_a_head_that_says_continued_says_nothing() -> None:
    sheets = []
    for at in range(6):
        sheet = Sheet()
        sheet.put_centred(306, 30, "Notes to the Statements (Continued)")
        prose(sheet, 80, 20 + at, f"Of berth {'abcdef'[at]} ")
        sheets.append(sheet)
    assert "Continued" not in read(*sheets).text


def test_a_heading_on_a_page_that_is_set_smaller_is_found() -> None:
    """Kraft Heinz' 10-K of 2022 is set smaller than the exhibits behind it, which are longer: it
    had next to no headings."""
    report = Sheet()
    for at in range(16):
        report.put(72, 120 + 11 * at, PROSE, size=9)
    report.put(72, 320, "Human Capital Management", "Times-Bold", 9)
    for at in range(4):
        report.put(72, 342 + 11 * at, PROSE, size=9)
    exhibits = []
    for _ in range(3):
        sheet = Sheet()
        prose(sheet, 60, 40)
        exhibits.append(sheet)
    assert "Human Capital Management" in headings_of(read(report, *exhibits))


def test_a_place_above_a_subheading_and_a_name_with_a_colon_are_headings() -> None:
    """Employees in Spain stood under "PAPUA NEW GUINEA"."""
    sheet = Sheet()
    y = prose(sheet, 60) + 10
    sheet.put(72, y, "SPAIN", "Times-Bold")
    sheet.put(72, y + 20, "NOTIFICATIONS", "Times-Italic")
    y = prose(sheet, y + 40) + 10
    sheet.put(72, y, "Engagement and Retention:", "Times-Bold")
    prose(sheet, y + 12)
    assert headings_of(read(sheet)) == ["SPAIN", "NOTIFICATIONS", "Engagement and Retention:"]


def test_a_heading_that_is_continued_overleaf_stands_once() -> None:
    """What followed under a subheading lost it at the end of its page."""
    first, second = Sheet(), Sheet()
    first.put(72, 60, "2. Accounting Policies", "Times-Bold")
    y = prose(first, 84) + 12
    first.put(72, y, "Concentration of Risk", "Times-Bold")
    prose(first, y + 20, 40)
    second.put(72, 60, "2. Accounting Policies (Continued) May 2017", "Times-Bold")
    second.put(72, 84, "We had three customers who owed us more than a tenth of all our dues.")
    got = read(first, second)
    assert headings_of(got) == ["2. Accounting Policies", "Concentration of Risk"]
    assert "Concentration of Risk" in got.elements[-1].headings


def test_links_to_the_contents_on_every_page_go() -> None:
    sheets = []
    for at in range(7):
        sheet = Sheet()
        y = prose(sheet, 60, 9 + 5 * (at % 3), f"Of berth {'abcdefg'[at]} ")
        sheet.put(72, y + 20, "Table of Contents", size=14 if at == 2 else 10)
        prose(sheet, y + 40, 6, f"Of quay {'abcdefg'[at]} ")
        sheets.append(sheet)
    assert read(*sheets).text.count("Table of Contents") == 1


def test_an_amount_at_a_lines_end_ends_no_sentence() -> None:
    sheet = Sheet()
    y = prose(sheet, 60) + 10
    sheet.put(72, y, "The goods that lie there rose in our last year to $1.75")
    sheet.put(72, y + 12, "Billion, of which a tenth is coal.")
    assert "to $1.75 Billion" in read(sheet).text


def test_what_follows_a_list_is_none_of_it() -> None:
    sheet = Sheet()
    prose(sheet, 60)
    sheet.put(90, 132, "\u2022")
    sheet.put(104, 132, "More was paid for coal")
    sheet.put(72, 144, "Pharmacies: no change.")
    assert "\n\n\u2022 More was paid for coal\n\nPharmacies" in read(sheet).text


def test_shares_below_money_are_a_table() -> None:
    """Every second row of Best Buy's tables has a sign behind its figure, none below a figure."""
    sheet = Sheet()
    prose(sheet, 60)
    for at in range(6):
        for end in (340, 420, 500):
            if at % 2:
                sheet.put_right(end + 7, 150 + 14 * at, f"{at}.{at} %", size=8)
            else:
                sheet.put_right(end - 24, 150 + 14 * at, "$", size=8)
                sheet.put_right(end, 150 + 14 * at, f"{at}42", size=8)
        sheet.put(72, 150 + 14 * at, f"Dues of berth {'abcdef'[at]}", size=8)
    text = read(sheet).text
    assert "Dues of berth a | $042 | $042 | $042\nDues of berth b | 1.1% | 1.1% | 1.1%" in text


def test_dates_that_stand_close_are_the_names_of_one_column_each() -> None:
    sheet = Sheet()
    sheet.put_right(504, 72, "December 31, 2022 December 25, 2021 December 26, 2020", size=7)
    ends = (380, 442, 500)
    rows(sheet, 86, ("Income", "2,368", "1,024", "361"), ("Dues", "914", "236", "327"), ends=ends)
    names = ["December 31, 2022", "December 25, 2021", "December 26, 2020"]
    assert header_of(read(sheet)).split(" | ")[1:] == names


def test_half_a_name_over_the_column_in_the_middle_is_only_its() -> None:
    sheet = Sheet()
    sheet.put_right(380, 72, "State and")
    ends = (260, 380, 500)
    for name, end in zip(("Federal", "Province", "Expires"), ends, strict=True):
        sheet.put_right(end, 86, name)
    rows(sheet, 100, ("Losses", "6,973", "348", "13"), ("Credits", "398", "209", "39"), ends=ends)
    assert header_of(read(sheet)).split(" | ")[1:] == ["Federal", "State and Province", "Expires"]


def test_an_indented_item_goes_on_with_a_capital_where_its_line_was_full() -> None:
    """ "4. … the Company or the" and "Committee may" were two paragraphs of a plan."""
    sheet = Sheet()
    y = prose(sheet, 60) + 24
    sheet.put(95, y, "4. If the harbour master cannot come, the board of the quay or the")
    sheet.put(72, y + 12, "Committee may act for him.")
    sheet.put(95, y + 36, "5. Small boats")
    sheet.put(72, y + 48, "They pay nothing at all.")
    prose(sheet, y + 72)
    text = read(sheet).text
    assert "or the Committee may act for him." in text
    assert "5. Small boats\n\nThey pay" in text


def test_a_unit_over_the_middle_column_is_no_name_of_it() -> None:
    """ "December 26, 2020 (In millions)" between 2021 and 2019 was a column of AMD's taxes."""
    sheet = Sheet()
    y = prose(sheet, 60) + 10
    for end, year in ((330, "2021"), (400, "2020"), (470, "2019")):
        sheet.put_right(end, y, year, "Times-Bold")
    sheet.put_right(420, y + 12, "(In millions)", "Times-Bold")
    given = [
        ("Ships", "3,528", "1,280", "372"),
        ("Quays", "147", "67", "38"),
        ("All", "1", "2", "3"),
    ]
    rows(sheet, y + 26, *given, ends=(330, 400, 470))
    assert header_of(read(sheet)) == "– | 2021 | 2020 | 2019"


def test_names_beside_their_figures_make_no_columns() -> None:
    """Best Buy's dates stand left of the shares they name: each date was a column of its own, and
    "Comparable Sales" stood over three of four."""
    sheet = Sheet()
    for x, text in ((268, "Revenue Mix"), (487, "Comparable Sales")):
        sheet.put_centred(x, 72, text, size=7)
    for end, text in zip((235, 345, 454, 564), ("July 29, 2023", "July 30, 2022") * 2, strict=True):
        sheet.put_right(end, 82, text, size=7)
    given = (("Phones", "45%", "43%", "2.4%", "7.6%"), ("Repairs", "55%", "57%", "5.1%", "0.4%"))
    rows(sheet, 96, *given, ends=(261, 370, 479, 589))
    assert header_of(read(sheet)).split(" | ")[1:] == [
        f"{name} {date}"
        for name in ("Revenue Mix", "Comparable Sales")
        for date in ("July 29, 2023", "July 30, 2022")
    ]


def test_a_sign_for_none_left_of_the_figures_is_in_their_column() -> None:
    sheet = Sheet()
    for end, text in ((200, "Opened"), (300, "Closed")):
        sheet.put_right(end, 72, text)
    given = (("North", "1", "-"), ("South", "4", "2"), ("West", "-", "1"))
    for at, (label, opened, closed) in enumerate(given):
        sheet.put(72, 90 + 14 * at, label)
        sheet.put_right(204 if opened == "-" else 199, 90 + 14 * at, opened)
        sheet.put_right(304 if closed == "-" else 299, 90 + 14 * at, closed)
    assert "West | - | 1" in read(sheet).text


def test_a_short_name_over_two_columns_is_not_over_six() -> None:
    """ "Earnings per Common" of PG&E's stood over its plain earnings too."""
    sheet = Sheet()
    sheet.put_centred(350, 60, "Three Months")
    sheet.put_centred(500, 60, "Six Months")
    for x in (393, 537):
        sheet.put_centred(x, 72, "Earnings per")
    for x, text in ((321, "Earnings"), (393, "Share"), (465, "Earnings"), (537, "Share")):
        sheet.put_centred(x, 84, text)
    ends = tuple(range(315, 570, 36))
    for end, year in zip(ends, ("2023", "2022") * 4, strict=True):
        sheet.put_right(end, 96, year)
    given = [(name, *(f"0.{at}{n}" for n in range(8))) for at, name in enumerate("ABC")]
    rows(sheet, 110, *given, ends=tuple(end + 4.0 for end in ends))
    header = header_of(read(sheet)).split(" | ")
    assert header[1].endswith("Months Earnings 2023")
    assert header[3].endswith("Earnings per Share 2023")


def test_names_that_stand_close_are_of_one_column_each() -> None:
    """ "Credit card Wholesale" of JPMorgan's loans was the name of both columns; the period beside
    the names left the table without any."""
    sheet = Sheet()
    sheet.put(72, 72, "Six months ended June 30,")
    sheet.put_right(320, 72, "Other")
    sheet.put(72, 84, "(in millions)")
    ends = (320, 368, 440)
    for end, name in zip(ends, ("Credit card", "Wholesale", "Total"), strict=True):
        sheet.put_right(end, 84, name)
    rows(sheet, 98, ("Sales", "130", "12,005", "87"), ("Dues", "914", "236", "3"), ends=ends)
    assert header_of(read(sheet)) == (
        "Six months ended June 30, (in millions) | Other Credit card | Wholesale | Total"
    )


def test_the_mark_of_a_note_behind_a_figure_is_no_column() -> None:
    sheet = Sheet()
    for end, name in ((250, "Interest"), (330, "Rate"), (450, "Interest"), (530, "Rate")):
        sheet.put_right(end, 72, name)
    given = (("Banks", "$342", "0.06", "708", "0.22"), ("Loans", "240", "0.17", "151", "0.14"))
    y = rows(sheet, 90, *given, ends=(250, 330, 450, 530))
    rows(sheet, y, ("Bonds", "639", "0.32", "2,097", "1.08"), ends=(250, 330, 450, 530))
    for x in (336, 536):
        sheet.put(x, 104, "(h)")
    got = read(sheet)
    assert header_of(got) == "– | Interest | Rate | Interest | Rate"
    assert "Loans | 240 | 0.17 (h) | 151 | 0.14 (h)" in got.text


def test_a_period_over_all_columns_is_the_name_of_each() -> None:
    """ "Year Ended December 31, 2020" of AES's revenue stood over the middle two of six."""
    sheet = Sheet()
    sheet.put_centred(390, 60, "Year Ended December 31, 2020")
    for end, name in zip((240, 340, 440, 540), ("North", "South", "East", "West"), strict=True):
        sheet.put_right(end, 76, name)
    given = (("Sales", "11", "12", "13", "14"), ("Dues", "21", "22", "23", "24"))
    rows(sheet, 90, *given, ends=(240, 340, 440, 540))
    period = "Year Ended December 31, 2020"
    assert header_of(read(sheet)) == f"– | {period} North | {period} South | {period} East | " + (
        f"{period} West"
    )


def test_a_name_alone_over_years_is_over_all_of_them() -> None:
    """In General Mills' reports the year in the middle was "Fiscal Year 2016"."""
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    sheet.put_centred(375, y, "Fiscal Year")
    y = rows(sheet, y + 12, ("In Millions", "2017", "2016", "2015"), ends=(310, 390, 470))
    rows(sheet, y, ("Dues", "400", "380", "30"), ("Sum", "400", "380", "30"), ends=(310, 390, 470))
    names = "In Millions | Fiscal Year 2017 | Fiscal Year 2016 | Fiscal Year 2015"
    assert header_of(read(sheet)) == names


def test_the_lines_of_a_large_title_may_differ_in_size() -> None:
    """A Redpaper's back cover had two headings for its title in 33 and 30 points."""
    text, sheet = Sheet(), Sheet()
    prose(text, 60, 20)
    sheet.put(40, 97, "Row and Column Access Control", "Times-Bold", 33)
    sheet.put(40, 135, "Support in Harbours", "Times-Bold", 30)
    prose(sheet, 200, 12)
    assert headings_of(read(text, sheet)) == ["Row and Column Access Control Support in Harbours"]


def test_a_subheading_right_under_the_end_of_a_paragraph_has_its_white_below() -> None:
    sheet = Sheet()
    y = prose(sheet, 60)
    sheet.put(72, y, "and the quay.")
    sheet.put(72, y + 12, "Steel Nuts", "Times-Italic")
    prose(sheet, y + 27)
    assert headings_of(read(sheet)) == ["Steel Nuts"]


def test_a_statement_above_a_page_of_small_rows_is_a_heading() -> None:
    """PepsiCo's: the name in the size of the text, the rows in smaller type."""
    text, sheet = Sheet(), Sheet()
    prose(text, 60, 20)
    name = "Consolidated Statement of Cash Flows"
    sheet.put(72, 40, name, "Times-Bold")
    for at, line in enumerate(("Harbour and Sons and Subsidiaries", "Years ended December 2018")):
        sheet.put(72, 53 + 13 * at, line)
    for at in range(16):
        sheet.put(72, 90 + 11 * at, f"{at} dues and fees of all of the ships at the quay", size=7.5)
        sheet.put_right(500, 90 + 11 * at, f"1,{at:03}", size=7.5)
    assert headings_of(read(text, sheet)) == [name]


SECTIONS = ("Grant of Rights", "Transfers of Rights", "Time of Payment")


def test_titles_of_a_contracts_sections_are_parted_from_their_text() -> None:
    """Only underlined, in exhibits of Corning's and PepsiCo's: all stood under the one section
    that was bold."""
    sheet = Sheet()
    y = 60.0
    for number, title in enumerate(SECTIONS, 1):
        sheet.put(72, y, f"{number}. {title} . The harbour pays what this section says of it.")
        y = prose(sheet, y + 12, 2) + 10
    assert headings_of(read(sheet)) == [f"{n}. {name}." for n, name in enumerate(SECTIONS, 1)]


def test_items_that_are_no_titles_or_do_not_count_up_stay_whole() -> None:
    sheet, y = Sheet(), 60.0
    items = ("Grant of Rights", "Hoist the blue flag", "Smith, J", "World Harbour Body")
    for number, text in zip((1, 2, 3, 7), items, strict=True):
        sheet.put(72, y, f"{number}. {text}. The harbour pays what this section says of it.")
        y = prose(sheet, y + 12, 2) + 10
    assert headings_of(read(sheet)) == []


def test_numbers_of_sections_begin_again_in_each_exhibit() -> None:
    """J&J's notes lost their headings to the page numbers of an index above them."""
    sheet, y = Sheet(), 60.0
    names = ("Exhibit 10.1", "7. Ships", "8. Quays", "Exhibit 10.2", "1. Fees", "Exhibit 10(k)")
    for name in names:
        sheet.put(72, y, name, "Times-Bold", 10 if "Ex" in name else 12 + len(name) / 10)
        y = prose(sheet, y + 24, 3) + 20
    got = read(sheet)
    assert headings_of(got) == list(names)
    levels = [e.level for e in got.elements if e.kind == "heading"]
    assert levels == [1, 2, 2, 1, 2, 1]  # though the sections are set larger than their exhibit


def test_a_bare_article_and_its_title_far_below_are_one_heading() -> None:
    sheet = Sheet()
    y = prose(sheet, 60, 3) + 20
    sheet.put_centred(300, y, "ARTICLE IV")
    sheet.put_centred(300, y + 25, "INTERESTS OF PARTICIPANTS")
    prose(sheet, y + 50)
    assert headings_of(read(sheet)) == ["ARTICLE IV INTERESTS OF PARTICIPANTS"]


def test_parts_stand_alone_in_a_table_of_contents() -> None:
    """eBay's said "Mine Safety Disclosures Part II | 28"."""
    sheet = Sheet()
    y = rows(sheet, 60, ("Item 3. Claims", "26"), ("Item 4. Mines", "28"), ends=(500,))
    sheet.put_centred(300, y, "Part II")
    rows(sheet, y + 14, ("Item 5. Market", "29"), ("Item 6. Data", "32"), ends=(500,))
    text = read(sheet).text
    assert "\nPart II\n" in text
    assert "Item 4. Mines | 28" in text


def test_the_number_of_an_annex_and_a_floating_foot_go() -> None:
    """Corning's: "A-1" below the text, and on 58 pages "© 2016 Corning …" wherever it ended."""
    sheets = []
    for page in range(12):
        sheet = Sheet()
        y = prose(sheet, 60, 5 + 3 * (page % 4), "abcdefghijkl"[page] + " ")
        if page % 6 == 5:
            sheet.put_centred(260, y + 10, f"{'AB'[page // 6]}-1")
        sheet.put_centred(306, y + 30, "(c) Harbour and Sons. All Rights Reserved.")
        sheets.append(sheet)
    text = read(*sheets).text
    assert text.count("All Rights Reserved") == 1
    assert "A-1" not in text
    assert "B-1" not in text


def test_forms_that_end_alike_keep_their_last_lines() -> None:
    sheets = []
    for page in range(12):
        sheet = Sheet()
        prose(sheet, 60, 3, "abcdefghijkl"[page] + " ")
        sheet.put(72, 300, "In witness of which I sign here")
        sheet.put(72, 330, "Director of the harbour")
        sheets.append(sheet)
    assert read(*sheets).text.count("Director of the harbour") == 12


def test_a_word_and_a_sum_go_on_overleaf() -> None:
    first, second, third = Sheet(), Sheet(), Sheet()
    y = prose(first, 60)
    first.put(72, y, "and the adjustments of the Utility and of the Purchaser Post-")
    second.put(72, 60, "Closing Statement shall bind them.")
    y = prose(second, 84)
    second.put(72, y, "for all of the years that ended in 2016, 2015 and in 2014,")
    third.put(72, 60, "$36.7 million and more were paid.")
    prose(third, 84)
    text = read(first, second, third).text
    assert "Purchaser Post-Closing Statement" in text
    assert "in 2014, $36.7 million" in text


def test_the_mark_of_a_note_is_no_part_of_its_word() -> None:
    sheet = Sheet()
    y = prose(sheet, 60)
    for x, text in ((72, "the hall of 40 m"), (145, "bears charges")):
        sheet.put(x, y, text)
        sheet.put(x + width(text, "Times-Roman", 10), y - 3, "2", size=6)
    text = read(sheet).text
    assert "charges 2" in text
    assert "40 m2" in text


def test_a_mark_above_its_figure_parts_no_table() -> None:
    """PG&E's repayments had a row "– | | | (2)" between two tables."""
    sheet, ends = Sheet(), (300, 400, 500)
    names = ("(in millions)", "2018", "2019", "2020")
    y = rows(sheet, 60, names, ("Fees", "7", "8", "9"), ends=ends)
    sheet.put(402, y - 7, "(2)", size=6)
    rows(sheet, y, ("Dues", "4", "500", "6"), ("Rent", "1", "2", "3"), ends=ends)
    lines = read(sheet).text.split("\n")
    assert lines[1:] == ["Fees | 7 | 8 | 9", "Dues | 4 | 500 (2) | 6", "Rent | 1 | 2 | 3"]


def test_letters_that_a_ligature_lost_come_back_by_the_other_words() -> None:
    """AMD's risks said "a material adverse ef ect"."""
    sheet = Sheet()
    y = prose(sheet, 60)
    for _ in range(2):
        sheet.put(72, y, "the effect is felt, they are affected, an office of each is of ice")
        y += 12
    y += 12
    sheet.put(72, y, "We are af ected and it has an ef ect on us all", "Times-Bold")
    prose(sheet, y + 24)
    got = read(sheet)
    assert headings_of(got) == ["We are affected and it has an effect on us all"]
    assert got.text.count("office of each is of ice") == 2


def test_a_label_on_three_lines_is_one_row() -> None:
    sheet, ends = Sheet(), (300, 400)
    y = rows(sheet, 60, ("Total", "11", "12"), ("Latin America", "21", "22"), ends=ends)
    sheet.put(72, y, "Asia Pacific, Australia and")
    sheet.put(80, y + 10, "New Zealand and China")
    sheet.put(80, y + 20, "Region")
    y = rows(sheet, y + 20, ("", "31", "32"), ("Europe", "41", "42"), ends=ends)
    row = "Asia Pacific, Australia and New Zealand and China Region | 31 | 32"
    assert row in read(sheet).text.split("\n")


def test_sentences_of_a_contract_are_no_headings() -> None:
    """MGM's lease stood below "Section 18.25 Guaranty . Tenant warrants and represents that"."""
    sheet = Sheet()
    y = prose(sheet, 60, 3) + 12
    for text in ("WHEREAS, THE SHIPS ASK FOR IT", "Section 18.25 Guaranty . Owners pay all of it"):
        sheet.put(72, y, text, "Times-Bold")
        y = prose(sheet, y + 20, 3) + 20
    assert headings_of(read(sheet)) == []


def test_parts_above_the_first_row_stand_below_the_names_of_the_columns() -> None:
    """Boston Properties' statements had no names: "Revenue" and "Rental" stood between."""
    sheet = Sheet()
    y = rows(sheet, prose(sheet, 60) + 20, ("", "2023", "2022"), ends=(400, 480))
    sheet.put_centred(430, y, "(in thousands, but for ships)")
    sheet.put(60, y + 14, "Revenue")
    sheet.put(66, y + 28, "Berths")
    rows(sheet, y + 42, ("Dues", "40", "38"), ("Rents", "7", "9"), ends=(400, 480))
    got = read(sheet)
    assert header_of(got) == "– | 2023 | 2022"
    assert got.text.endswith("– | 2023 | 2022\nRevenue\nBerths\nDues | 40 | 38\nRents | 7 | 9")


def test_names_stay_with_their_table_over_a_unit_and_a_gap() -> None:
    """Names of several lines were a table of their own (Kraft Heinz, Adobe's equity)."""
    ends = (260, 330, 400, 470)
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    for names in (("May 26,", "May 28,", "May 29,", "May 30,"), ("2020", "2019", "2018", "2017")):
        y = rows(sheet, y, ("", *names), ends=ends)
    sheet.put_centred(350, y, "(in millions, but for ships)")
    y += 14
    rows(sheet, y, ("Dues", "40", "38", "3", "2"), ("Rents", "7", "9", "8", "6"), ends=ends)
    assert header_of(read(sheet)) == "– | May 26, 2020 | May 28, 2019 | May 29, 2018 | May 30, 2017"
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    for names in (("Common", "Paid-in", "Other", "Own"), ("Shares", "Capital", "Income", "Shares")):
        y = rows(sheet, y, ("", *names), ends=ends)
    rows(sheet, y + 20, ("May 2020", "40", "38", "3", "2"), ("Net", "7", "9", "8", "6"), ends=ends)
    names = "– | Common Shares | Paid-in Capital | Other Income | Own Shares"
    assert header_of(read(sheet)) == names


def test_years_in_the_middle_of_the_label_column_are_labels() -> None:
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    for at, year in enumerate(("2024", "2025", "2026", "2027")):
        sheet.put_centred(200, y + 14 * at, year)
        sheet.put_right(480, y + 14 * at, f"{31 * at + 7}")
    rows(sheet, y + 56, ("Thereafter", "4,811"), ("Sum", "5,025"), ends=(480,))
    assert read(sheet).text.split("\n")[-6:] == [
        "2024 | 7", "2025 | 38", "2026 | 69", "2027 | 100", "Thereafter | 4,811", "Sum | 5,025"
    ]  # fmt: skip


def test_a_label_far_below_the_names_or_above_its_rows_parts_no_table() -> None:
    """Verizon's statements of cash flows and equity lost their names at each part."""
    sheet = Sheet()
    names = ("Years ended May 31,", "2023", "2022")
    y = rows(sheet, prose(sheet, 60) + 20, names, ends=(400, 480)) + 16
    sheet.put(72, y, "Flows of work", "Times-Bold")
    y = rows(
        sheet,
        y + 12,
        ("Net income of the harbour", "40", "38"),
        ("Ropes", "4", "3"),
        ends=(400, 480),
    )
    sheet.put(72, y + 16, "Flows of loans", "Times-Bold")
    rows(sheet, y + 30, ("Borrowed from the town", "18", "12"), ("Paid", "1", "2"), ends=(400, 480))
    got = read(sheet)
    assert headings_of(got) == []
    assert [e.header for e in got.elements if e.kind == "table"] == [" | ".join(names)]


def test_a_part_of_a_table_far_below_has_its_names() -> None:
    """3M's fixed charges stood below no years."""
    sheet = Sheet()
    y = rows(sheet, prose(sheet, 60) + 20, ("", "2023", "2022"), ends=(400, 480))
    y = rows(sheet, y, ("Cash", "40", "38"), ("Sum of all assets", "40", "38"), ends=(400, 480))
    sheet.put(72, y + 34, "FIXED CHARGES", "Times-Bold")
    rows(sheet, y + 50, ("Rents of sheds", "18", "12"), ("Gains", "1", "2"), ends=(400, 480))
    headers = [e.header for e in read(sheet).elements if e.kind == "table"]
    assert headers == ["– | 2023 | 2022"] * 2


def test_a_table_that_names_its_first_column_has_no_names_of_the_one_above() -> None:
    ends = (200, 270, 340, 410, 480)
    sheet = Sheet()
    names = ("", "2019", "2020", "2021", "2022", "2023")
    y = rows(sheet, prose(sheet, 60) + 20, names, ends=ends)
    y = rows(
        sheet, y, ("Cash", "41", "38", "3", "2", "7"), ("Sum", "40", "38", "3", "2", "7"), ends=ends
    )
    sheet.put(72, y + 34, "FIXED CHARGES", "Times-Bold")
    y = rows(sheet, y + 50, ("In crowns", "Ships"), ends=ends)
    rows(
        sheet, y, ("Rents", "1", "3", "3", "2", "7"), ("Gains", "4", "8", "3", "2", "7"), ends=ends
    )
    first, second = (e for e in read(sheet).elements if e.kind == "table")
    assert (first.header, second.header) == ("– | 2019 | 2020 | 2021 | 2022 | 2023", "")


def test_spans_of_years_are_names() -> None:
    sheet = Sheet()
    ends = (240, 320, 400, 480)
    y = rows(sheet, prose(sheet, 60) + 20, ("", "", "1-3", "3-5", "After"), ends=ends)
    y = rows(sheet, y, ("Debts", "Total", "years", "years", "5 years"), ends=ends)
    rows(sheet, y, ("Loans", "48", "11", "18", "19"), ("Rents", "7", "1", "2", "4"), ends=ends)
    assert header_of(read(sheet)) == "Debts | Total | 1-3 years | 3-5 years | After 5 years"


def test_a_sentence_that_announces_another_table_is_no_row() -> None:
    sheet = Sheet()
    y = rows(sheet, prose(sheet, 60) + 20, ("", "2023", "2022"), ends=(400, 480))
    y = rows(sheet, y, ("Dues", "40", "38"), ("Rents of sheds", "40", "38"), ends=(400, 480))
    sheet.put(72, y, "Our costs by ship were as follows:")
    y = rows(sheet, y + 14, ("", "2023", "2022"), ends=(400, 480))
    rows(sheet, y, ("Coal", "18", "12"), ("Ropes", "1", "2"), ends=(400, 480))
    assert [e.kind for e in read(sheet).elements[-3:]] == ["table", "paragraph", "table"]


def test_two_labels_between_rows_part_no_table() -> None:
    sheet = Sheet()
    y = rows(sheet, prose(sheet, 60) + 20, ("", "2023", "2022"), ends=(400, 480))
    y = rows(sheet, y, ("Dues", "40", "38"), ("Sum", "40", "38"), ends=(400, 480)) + 16
    sheet.put(60, y, "Costs", "Times-Bold")
    sheet.put(66, y + 12, "Costs of berths:")
    rows(sheet, y + 24, ("Coal", "18", "12"), ("Ropes", "1", "2"), ends=(400, 480))
    got = read(sheet)
    assert headings_of(got) == []
    assert got.text.endswith(
        "Sum | 40 | 38\nCosts\nCosts of berths:\nCoal | 18 | 12\nRopes | 1 | 2"
    )


def test_days_and_marks_of_notes_among_the_names_are_names() -> None:
    ends = (260, 330, 400, 470)
    sheet = Sheet()
    y = rows(
        sheet, prose(sheet, 60) + 20, ("", "12/28/19", "12/26/20", "1/1/22", "12/31/22"), ends=ends
    )
    rows(
        sheet,
        y,
        ("Harbour", "100", "138", "130", "99"),
        ("Others", "100", "99", "80", "60"),
        ends=ends,
    )
    assert header_of(read(sheet)) == "– | 12/28/19 | 12/26/20 | 1/1/22 | 12/31/22"
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    y = rows(
        sheet,
        y,
        ("", "Ships", "Price", "Planned", "Value"),
        ("Month", "bought", "(1)", "ships", "left (2)"),
        ends=ends,
    )
    rows(
        sheet,
        y,
        ("May 2023", "4", "138", "1", "99"),
        ("June 2023", "7", "99", "8", "60"),
        ends=ends,
    )
    assert (
        header_of(read(sheet))
        == "Month | Ships bought | Price (1) | Planned ships | Value left (2)"
    )


def test_dots_that_lead_to_a_figure_and_days_from_and_to() -> None:
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    given = ("5/1/2023 - 5/31/2023", "40", "38"), ("6/1/2023 - 6/30/2023", "7", "9")
    rows(sheet, y, *given, ("Sum of both months" + "." * 30, "47", "47"), ends=(400, 480))
    assert read(sheet).text.split("\n")[-3:] == [
        "5/1/2023 - 5/31/2023 | 40 | 38", "6/1/2023 - 6/30/2023 | 7 | 9",
        "Sum of both months | 47 | 47",
    ]  # fmt: skip


def test_the_name_of_a_column_of_exhibits_is_no_heading() -> None:
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    sheet.put(72, y, "Exhibit No. and description", "Times-Bold")
    prose(sheet, y + 24)
    assert headings_of(read(sheet)) == []


def test_a_risk_on_three_lines_is_one_heading() -> None:
    """A third line of more than 120 characters began a paragraph within the sentence."""
    risk = (
        "If the harbour master does not keep the list of ships that came in, of those that left or",
        "stayed, and of what each of them paid for its berth, the harbour may lose dues",
        f"and may be asked for them by {'the town that it is in and by ' * 3}many others.",
    )
    sheet = Sheet(across=900)
    y = prose(sheet, 60) + 20
    for at, line in enumerate(risk):
        sheet.put(72, y + 12 * at, line, "Times-Bold")
    prose(sheet, y + 60)
    assert headings_of(read(sheet)) == [" ".join(risk)]


def test_a_plain_label_at_the_top_of_a_page_begins_an_exhibit() -> None:
    """All certifications of AMD's 10-K of 2021 were below Exhibit 21, the last with a look."""
    sheets = [Sheet() for _ in range(4)]
    for sheet, number in zip(sheets, ("21", "23.1", "31.1", "31.2"), strict=True):
        sheet.put_right(540, 50, f"Exhibit {number}")
        sheet.put_centred(306, 80, f"Certificate of the harbour by {number}", "Times-Bold")
        prose(sheet, 110)
    last = read(*sheets).elements[-1]
    assert last.headings[-2:] == ("Exhibit 31.2", "Certificate of the harbour by 31.2")


def test_an_item_has_a_blank_before_its_title() -> None:
    sheet = Sheet()
    y = prose(sheet, 60) + 20
    for name in ("PART I", "Item 1.Business", "Item 2.Quays"):
        sheet.put(72, y, name, "Times-Bold")
        y = prose(sheet, y + 20) + 20
    assert headings_of(read(sheet)) == ["PART I", "Item 1. Business", "Item 2. Quays"]


def test_a_form_s_cover_holds_no_sections() -> None:
    cover, text = Sheet(), Sheet()
    cover.put_centred(306, 60, "FORM 10-K", "Times-Bold", 18)
    cover.put_centred(306, 120, "Harbour Stores, Inc.", "Times-Bold", 18)
    cover.put_centred(306, 140, "(Exact name of registrant as specified in its charter)")
    cover.put(60, 200, "Securities registered under Section 12(b): None", "Times-Bold")
    prose(cover, 220)
    y = prose(text, 60) + 20
    for name in ("PART I", "Item 1. Business", "Item 2. Quays"):
        text.put(60, y, name, "Times-Bold")
        y = prose(text, y + 20) + 20
    got = read(cover, text)
    assert got.title == "Harbour Stores, Inc., FORM 10-K"
    assert headings_of(got) == ["PART I", "Item 1. Business", "Item 2. Quays"]


def test_a_line_of_letters_that_no_font_maps_is_no_fault() -> None:
    """One such line, and McDonald's results of 2022 were read without any structure."""
    plain, bold = Style("Times", 10, bold=False, italic=False), Style("Times", 10, True, False)
    prose = [(PROSE, plain)] * 6
    lines = [*prose, ("\x07\x08\x07", plain), ("Dues of the quay", bold), *prose]
    words = [
        Word(text, 72, y - 8, 72 + 5 * len(text), y + 2, y, style)
        for (text, style), y in zip(lines, [*range(60, 156, 12), *range(172, 244, 12)], strict=True)
    ]
    page = Page(1, 612, 792, words)
    got = compose(PagesRead([page], 1), [], {}, Blob("file.pdf", b""), "application/pdf")
    assert "reading_fault" not in got.metadata
    assert "Dues of the quay" in headings_of(got)
