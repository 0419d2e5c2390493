"""What was spent, over a whole table: also over rows that the search didn't find."""

from pathlib import Path

from trivium.library import Library


def test_every_row_of_a_long_table_counts(library: Library, tmp_path: Path) -> None:
    shops = ("Lidl", "Shell", "Kestrel Books", "Vodafone")
    rows = [f"2026-{at % 12 + 1:02}-03,{shops[at % 4]},{at}.50" for at in range(400)]
    rows[7] = "2026-08-03,IKEA,219.00"
    rows[391] = "2026-08-09,IKEA,31.50"
    file = tmp_path / "expenses.csv"
    file.write_text("\n".join(("Date,Shop,Amount", *rows)), "utf-8")
    library.add(file)
    answer = library.ask("How much did we spend at IKEA?")
    assert "IKEA, Amount: 219.00 + 31.50 = 250.50" in answer.text
    assert len(answer.citations) == 1
    assert library.ask("How much did we spend at Tesco?").refused
