"""Levels of headings that say where in a report they are."""

from __future__ import annotations

from trivium.extract.divisions import DIVISION, division_levels


def levels(*headings: str) -> dict[str, int]:
    return {headings[at]: level for at, level in division_levels(headings).items()}


REPORT = ("Part II", "Item 7. Discussion", "Item 8. Financial Statements and Data")


def test_notes_that_only_have_a_number_are_below_their_heading() -> None:
    """GameStop's notes were below its last statement, Procter's parts of a note beside the note."""
    statements = ("Consolidated Balance Sheets", "Notes to Consolidated Financial Statements")
    notes = ("1. Basis", "Estimates", "2. Debt", "10 largest loans", "4. Taxes", "(5) Leases")
    given = levels(*REPORT, *statements, *notes, "Item 9. Changes")
    assert {given[name] for name in statements} == {3}
    assert [given.get(name) for name in notes] == [4, None, 4, None, 4, 4]
    assert given["Item 9. Changes"] == 2


def test_statements_are_no_divisions_of_a_discussion() -> None:
    assert "Consolidated Balance Sheets" not in levels(*REPORT[:2], "Consolidated Balance Sheets")


def test_signatures_close_a_report_and_not_the_file() -> None:
    """The first exhibit of Walmart's report of 2016 was below Item 15, as if it had no end."""
    closing = ("Exhibit Index (1),(2)", "Signatures")
    exhibit = ("Exhibit 13", "Item 2. Discussion", "Notes to Financial Statements", "Note 1. Basis")
    given = levels(*REPORT, "Item 15. Exhibits", *closing, *exhibit)
    assert [given[name] for name in closing] == [0, 0]
    assert [given[name] for name in exhibit[:2]] == [1, 2]


def test_an_index_within_the_last_items_closes_nothing() -> None:
    given = levels(*REPORT, "Exhibit Index", "Item 16. Summary", "Signatures")
    assert "Exhibit Index" not in given
    assert given["Signatures"] == 0


def test_items_of_each_part_count_from_one() -> None:
    quarter = ("Part I", "Item 1. Financial Statements", "Item 4. Controls", "Signatures")
    assert "Signatures" not in levels(*quarter, "Part II", "Item 1. Legal", "Item 6. Exhibits")


def test_numbers_of_exhibits_have_signs() -> None:
    assert all(map(DIVISION.fullmatch, ("Exhibit 10.5(31)", "EXHIBIT *10.21", "Exhibit 13")))
