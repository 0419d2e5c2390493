"""Where a passage is goes with it everywhere, and rows go with the names of their columns."""

from pathlib import Path

from trivium.cli.results import title_and_place
from trivium.core.access import caller_of, mint
from trivium.core.shapes import ResultAnswer
from trivium.integrations import found
from trivium.library import Library
from trivium.mcp import shapes, tools

HEADER = "harbour | keeper | lamp oil in barrels"
CALLER = caller_of(*reversed(mint("", audiences=None)))


def test_rows_have_their_columns_and_place_on_every_way_out(library: Library, files: Path) -> None:
    rows = [f"Harbour {at} | Keeper {at} | {at * 3}" for at in range(1, 400)]
    rows[350] = "Zanzibar | Quill | 77"
    table = "\n".join([HEADER, *rows]).replace(" | ", ",")
    (files / "oil.csv").write_text(table)
    library.add(files / "oil.csv")
    result = library.search("Zanzibar Quill")[0]
    chunk = result.found.chunk
    assert chunk.header == HEADER
    assert HEADER not in chunk.text
    first, last = chunk.place.rows or (0, 0)
    assert first <= 352 <= last
    assert ResultAnswer.of(result, weak=False).chunk.header == HEADER
    assert found.text(result).startswith(f"{HEADER}\n")
    assert f"rows {first}–{last}" in title_and_place(result.found).plain
    told = tools.search(library, CALLER, shapes.SearchInput(query="Zanzibar Quill")).results[0]
    assert told.text.startswith(f"{HEADER}\n")
    assert told.place is not None
    assert told.place.rows == (first, last)
    asked = tools.get_passage(
        library, CALLER, shapes.GetPassageInput(document=told.document, index=told.index, around=0)
    )
    assert asked.passages[0].text.startswith(f"{HEADER}\n")
    cited = library.ask("Who is the keeper of Zanzibar?").citations[0]
    assert (cited.header, cited.rows) == (HEADER, (first, last))
    answer = tools.ask(library, CALLER, shapes.AskInput(question="Who is the keeper of Zanzibar?"))
    assert answer.citations[0].place.rows == (first, last)
    assert answer.citations[0].text.startswith(f"{HEADER}\n")


def test_citations_say_who_wrote_it_and_when(library: Library, files: Path) -> None:
    (files / "reed.md").write_text(
        "---\nauthor: Mara Reed\ndate: 2019-05-01\n---\n\nWhale oil burned in every lantern."
    )
    library.add(files / "reed.md")
    cited = library.ask("What burned in every lantern?").citations[0]
    assert (cited.authors, cited.time) == (("Mara Reed",), "2019-05-01")
