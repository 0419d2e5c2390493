"""Names of columns: of two rows, never a row of data, and never one column off."""

import pytest
from tests.unit.extract.making import pieces

from trivium.core.types import Extraction
from trivium.extract.composer import Composer
from trivium.extract.detect import read
from trivium.extract.headers import names_of
from trivium.extract.html import read_html
from trivium.extract.tables import read_table
from trivium.ports import Blob


def csv(*rows: str) -> Extraction:
    return read(Blob("a.csv", "\n".join(rows).encode()), extractors=[read_table])


def html(table: str) -> Extraction:
    page = f"<html><body><p>Fares of the year.</p><table>{table}</table></body></html>"
    return read(Blob("a.html", page.encode()), extractors=[read_html])


def headers(found: Extraction) -> list[str]:
    return [element.header for element in found.elements if element.kind in ("table", "row")]


def test_names_of_two_rows_stand_over_every_value() -> None:
    found = csv(",Europe,,Asia,", ",2022,2023,2022,2023", "Sales,10,12,1,2", "Cost,5,6,1,2")
    names = "– | Europe 2022 | Europe 2023 | Asia 2022 | Asia 2023"
    assert headers(found) == ["", "", names, names]
    assert pieces(found)[2:] == [
        ("row", "Sales | 10 | 12 | 1 | 2"),
        ("row", "Cost | 5 | 6 | 1 | 2"),
    ]


def test_a_row_of_words_below_the_names_is_data() -> None:
    found = csv("Name,City", "Ann,Bonn,late", "Bob,Ulm,early")
    assert headers(found) == ["", "Name | City", "Name | City"]


def test_a_table_further_left_than_it_began_keeps_its_names_in_place() -> None:
    found = csv(",,Q1,Q2", ",North,1,2", "Sum,South,3,4")
    assert headers(found) == ["", "– | Q1 | Q2", "– |  | Q1 | Q2"]
    assert pieces(found)[2] == ("row", "Sum | South | 3 | 4")


@pytest.mark.parametrize(
    ("first", "names"),
    [
        (["Sales", "10", "12"], []),
        (["Height", "1.82 m"], ["Height", "1.82 m"]),
        (["Total", "$ 40", "(12)"], []),
        (["", "2022", "2023"], ["", "2022", "2023"]),
        (["Item", "2022", "2023"], ["Item", "2022", "2023"]),
        (["Month", "1", "2", "3"], ["Month", "1", "2", "3"]),
        (["", "10", "20"], ["", "10", "20"]),
        (["Name", "Age"], ["Name", "Age"]),
    ],
)
def test_a_row_of_figures_names_nothing(first: list[str], names: list[str]) -> None:
    assert names_of([first, ["Cost", "5", "6", "7"]]) == names


def test_a_file_that_says_so_has_a_header_of_figures() -> None:
    out = Composer("a")
    out.table([["Dose", "10", "25"], ["Mice", "3", "4"]], has_header=True)
    found = out.finish(Blob("a", b""), media_type="text/plain")
    assert headers(found) == ["Dose | 10 | 25"]


def test_cells_over_several_rows_shift_nothing() -> None:
    found = html(
        '<tr><th rowspan="2">Region</th><th colspan="2">Europe</th></tr>'
        "<tr><th>2022</th><th>2023</th></tr>"
        '<tr><td rowspan="2">North</td><td>1</td><td>2</td></tr>'
        "<tr><td>3</td><td>4</td></tr>"
    )
    (table,) = [text for kind, text in pieces(found) if kind == "table"]
    assert table.split("\n") == [
        "Region | Europe",
        "Region | 2022 | 2023",
        "North | 1 | 2",
        "North | 3 | 4",
    ]
    assert headers(found) == ["Region | Europe 2022 | Europe 2023"]


def test_an_entry_of_a_list_of_exhibits_is_no_row_of_names() -> None:
    """Visa's exhibits overleaf stood under the first of them."""
    rows = [[f"10.{n}*", "Form of a lease of a berth", "10-K"] for n in range(29, 33)]
    assert names_of(rows) == []
    assert names_of([["No.", "Exhibit", "Form"], *rows]) == ["No.", "Exhibit", "Form"]


def test_thousands_of_digits_are_data() -> None:
    assert names_of([["a", "9" * 5000, "9" * 5000], ["b", "1", "2"]]) == []
