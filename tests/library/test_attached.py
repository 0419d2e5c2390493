"""Libraries of references: their entries, and the files that the entries name."""

import json
from pathlib import Path

import pytest
from tests.unit.extract.making import printed

from trivium.core.types import Document
from trivium.ingest.progress import Fate
from trivium.library import Library
from trivium.operations.searching import Filters

BIBTEX = r"""
@article{lamp2019,
  title = {Lamps of the Northern Coast}, author = {Reed, Mara and Holm, Per}, year = {2019},
  file = {Full Text PDF:files/1/lamp.pdf:application/pdf;Snapshot:files/1/lamp.html:text/html}
}
@book{tide1988, title = {Tides}, author = {Voss, Ina}, year = {1988}, file = {:tide.pdf:PDF}}
@misc{gone, title = {A Lost Letter}, file = {letters/gone.pdf}}
@misc{thief, title = {Somebody Else's}, file = {/etc/passwd;../outside.md}}
@comment{jabref-meta: fileDirectory:files/2;}
"""


@pytest.fixture
def shelf(files: Path) -> Path:
    """A library with two files in its folders, a missing one and one outside."""
    folder = files / "shelf"
    first, second = folder / "files" / "1", folder / "files" / "2"
    first.mkdir(parents=True)
    second.mkdir()
    (first / "lamp.pdf").write_bytes(printed(["Whale oil burned in every lantern."]))
    (first / "lamp.html").write_text("<p>Bright lanterns were saved as a page.</p>")
    (second / "tide.pdf").write_bytes(printed(["Spring tides flood the lower town."]))
    (files / "outside.md").write_text("Nobody may read this.")
    (folder / "refs.bib").write_text(BIBTEX)
    return folder


def by_name(library: Library) -> dict[str, Document]:
    return {Path(document.uri).name: document for document in library.documents.all()}


def test_the_files_of_entries_are_read_with_what_the_entries_say(
    library: Library, files: Path, shelf: Path
) -> None:
    report = library.add(shelf / "refs.bib")
    assert not report.failed
    found = by_name(library)
    assert set(found) == {
        "refs.bib", "lamp2019.csl.json", "tide1988.csl.json", "gone.csl.json", "thief.csl.json",
        "lamp.pdf", "lamp.html", "tide.pdf",
    }  # fmt: skip
    lamp = found["lamp.pdf"]
    assert lamp.title == "Lamps of the Northern Coast"
    assert lamp.metadata["authors"] == ("Mara Reed", "Per Holm")
    assert lamp.metadata["year"] == 2019
    assert lamp.metadata["pages"] == 1
    assert lamp.metadata["entry"] == found["lamp2019.csl.json"].uri
    assert found["tide.pdf"].title == "Tides"
    results = library.search("whale oil lantern", filters=Filters(metadata={"year": 2019}))
    assert Path(results[0].found.document.uri).name == "lamp.pdf"


def test_a_folder_with_library_and_files_holds_each_once(library: Library, shelf: Path) -> None:
    library.add(shelf)
    uris = [document.uri for document in library.documents.all()]
    assert len(uris) == len(set(uris)) == 8
    assert by_name(library)["lamp.pdf"].metadata["year"] == 2019
    again = library.add(shelf)
    assert {outcome.fate for outcome in again.outcomes} == {Fate.UNCHANGED}
    assert by_name(library)["lamp.pdf"].metadata["year"] == 2019


@pytest.mark.parametrize(
    "named",
    [
        {"file": "a.pdf"},
        {"file": ["a.pdf"]},
        {"file": "Title:a.pdf:application/pdf"},
        {"attachments": [{"title": "Full text", "path": "a.pdf"}]},
        {"attachments": ["a.pdf", {"url": "https://example.com"}, 7]},
    ],
)
def test_csl_names_files_in_several_ways(
    library: Library, files: Path, named: dict[str, object]
) -> None:
    (files / "a.pdf").write_bytes(printed(["Whale oil burned in every lantern."]))
    entry = {"id": "one", "type": "book", "title": "Oil", "author": [{"family": "Voss"}], **named}
    (files / "refs.json").write_text(json.dumps([entry]))
    library.add(files / "refs.json")
    assert by_name(library)["a.pdf"].title == "Oil"


def test_a_note_that_names_a_file_attaches_nothing(library: Library, files: Path) -> None:
    (files / "a.md").write_text("Words beside.")
    (files / "note.md").write_text("---\nfile: a.md\n---\n\nA note.")
    library.add(files / "note.md")
    assert set(by_name(library)) == {"note.md"}
