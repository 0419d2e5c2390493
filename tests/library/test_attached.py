"""Libraries of references: their entries, and the files that the entries name."""

import json
from pathlib import Path

import pytest
from tests.unit.extract.making import printed

from trivium.core.types import Document
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.operations.searching import Filters

BIBTEX = r"""
@article{lamp2019,
  title = {Lamps of the Northern Coast}, author = {Reed, Mara and Holm, Per}, year = {2019},
  annote = {Borrowed from Holm.}, abstract = {Whale oil burned in every lantern.},
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


def test_one_paper_is_one_document(library: Library, shelf: Path) -> None:
    """With the entry's title, authors and year, the file's pages, the entry's notes and the text of
    its other files; the list of papers is no document."""
    report = library.add(shelf / "refs.bib")
    assert not report.failed
    assert report.counts == {Fate.ADDED: 4}  # not the list of them
    found = by_name(library)
    assert set(found) == {"lamp.pdf", "tide.pdf", "gone.csl.json", "thief.csl.json"}
    assert [one.documents for one in library.documents.collections()] == [4]
    lamp = found["lamp.pdf"]
    assert lamp.title == "Lamps of the Northern Coast"
    assert lamp.metadata["authors"] == ("Mara Reed", "Per Holm")
    assert (lamp.metadata["year"], lamp.metadata["pages"]) == (2019, 1)
    assert lamp.metadata["entry"] == f"{shelf / 'refs.bib'}!/lamp2019.csl.json"
    assert found["tide.pdf"].title == "Tides"
    for query, page in (("whale oil lantern", 1), ("borrowed from Holm", 0), ("saved page", 0)):
        result = library.search(query, filters=Filters(metadata={"year": 2019}))[0]
        assert result.found.document.id == lamp.id, query
        assert query.split()[0] in result.found.chunk.text.lower()
        assert result.found.chunk.pages == ((page,) if page else ()), query
    assert library.documents.get("refs.bib").metadata["references"] == 4  # to be removed by


def test_an_export_in_ris_is_its_papers(library: Library, shelf: Path) -> None:
    """A paper with its file, found by author and year, and one without."""
    (shelf / "export.ris").write_text(
        "TY  - JOUR\nAU  - Reed, Mara\nPY  - 2019\nTI  - Lamps of the Northern Coast\nKW  - light\n"
        "N1  - Borrowed from Holm.\nL1  - files/1/lamp.pdf\nER  - \n\n"
        "TY  - BOOK\nAU  - Voss, Ina\nPY  - 1988\nTI  - Tides\nER  - \n"
    )
    assert not library.add(shelf / "export.ris").failed
    lamp, tides = sorted(library.documents.all(), key=lambda document: document.title)
    assert (lamp.title, Path(lamp.uri).name) == ("Lamps of the Northern Coast", "lamp.pdf")
    assert (tides.title, tides.metadata["year"]) == ("Tides", 1988)
    for query in ("Reed 2019", "Reed light", "borrowed from Holm", "whale oil"):
        assert library.search(query)[0].found.document.id == lamp.id, query


def test_a_folder_with_library_and_files_holds_each_once(library: Library, shelf: Path) -> None:
    library.add(shelf)
    lamp = by_name(library)["lamp.pdf"]
    assert len(library.documents.all()) == 5  # the snapshot lies in the folder that was added
    assert (lamp.title, lamp.metadata["year"]) == ("Lamps of the Northern Coast", 2019)
    again = library.add(shelf)
    assert {outcome.fate for outcome in again.outcomes} == {Fate.UNCHANGED}
    assert by_name(library)["lamp.pdf"].interpretation == lamp.interpretation
    (shelf / "files/1/lamp.pdf").write_bytes(printed(["Seal oil burned in every lantern."]))
    library.add(shelf)
    after = by_name(library)["lamp.pdf"]
    assert (after.title, after.metadata["year"]) == ("Lamps of the Northern Coast", 2019)
    text = library.documents.text(after.id)
    assert "Seal oil" in text
    assert "Borrowed from Holm" in text


def test_an_entry_that_changes_changes_its_paper(library: Library, shelf: Path) -> None:
    """A note that is edited, a file that is named later, an entry that goes."""
    bib = shelf / "refs.bib"
    bib.write_text(BIBTEX.replace("file = {:tide.pdf:PDF}", ""))
    library.add(bib)
    assert "tide1988.csl.json" in by_name(library)
    changed = BIBTEX.replace("Borrowed from Holm", "Returned in March")
    bib.write_text(changed.replace("@misc{gone,", "@comment{gone,"))
    library.add(bib)
    found = by_name(library)
    assert set(found) == {"lamp.pdf", "tide.pdf", "thief.csl.json"}
    text = library.documents.text(found["lamp.pdf"].id)
    assert "Returned in March" in text
    assert "Borrowed" not in text


def test_a_paper_whose_file_is_damaged_is_found_by_its_entry(library: Library, shelf: Path) -> None:
    (shelf / "files/2/tide.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (shelf / "files/1/lamp.html").write_bytes(b"")
    library.add(shelf / "refs.bib")
    found = by_name(library)
    assert len(found) == 4
    assert next(r.found.document.title for r in library.search("Voss 1988")) == "Tides"
    assert "tide.pdf" in found["tide.pdf"].metadata["unread"][0]
    assert "lamp.html" in found["lamp.pdf"].metadata["unread"][0]


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


def test_a_paper_takes_over_its_file_that_was_added_before(library: Library, shelf: Path) -> None:
    """The PDF was in another folder; later comes the library that names a copy of it. Adding the
    folder again changes nothing."""
    downloads = shelf.parent / "downloads"
    downloads.mkdir()
    (downloads / "1-s2.0-main.pdf").write_bytes((shelf / "files/1/lamp.pdf").read_bytes())
    library.add(downloads)
    (alone,) = library.documents.all()
    library.add(shelf / "refs.bib")
    for _ in range(2):
        lamp = by_name(library)["lamp.pdf"]
        assert (lamp.id, lamp.title) == (alone.id, "Lamps of the Northern Coast")
        assert [Path(name).name for name in lamp.names] == ["1-s2.0-main.pdf"]
        assert len(library.documents.all()) == 4
        assert library.search("Reed 2019")[0].found.document.id == lamp.id
        assert "Borrowed from Holm" in library.documents.text(lamp.id)
        library.add(downloads)


def test_exports_of_endnote_are_their_papers(library: Library, shelf: Path) -> None:
    """Its XML names files in the folder of the library, `NAME.Data/PDF`; records as EndNote 17
    writes them, from posts of platinhom/platinhom.github.com; tags of zotero/translators
    (ReferBibIX.js)."""
    pdf = shelf / "My Library.Data" / "PDF" / "2020440412" / "Reed-2019.pdf"
    pdf.parent.mkdir(parents=True)
    (shelf / "files/1/lamp.pdf").rename(pdf)
    (shelf / "export.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record>'
        '<database name="My Library.enl" path="C:\\refs\\My Library.enl">My Library.enl</database>'
        '<rec-number>2</rec-number><ref-type name="Journal Article">17</ref-type><contributors>'
        '<authors><author><style face="normal">Reed, Mara</style></author></authors></contributors>'
        '<titles><title><style face="normal">Lamps of the </style><style face="italic">Northern'
        "</style><style> Coast</style></title><secondary-title>J Light</secondary-title></titles>"
        "<keywords><keyword>light</keyword></keywords><dates><year>2019</year></dates>"
        "<notes>Borrowed from Holm.</notes><urls><related-urls><url>&lt;Go to ISI&gt;://WOS:1</url>"
        "<url>http://example.org/lamps</url></related-urls><pdf-urls><url>internal-pdf://2020440412"
        "/Reed-2019.pdf</url></pdf-urls></urls></record></records></xml>"
    )
    (shelf / "scholar.enw").write_text(
        "%0 Book\r\n%A Voss, Ina\r\n%T Tides\r\n%D 1988\r\n%K harbours\r\n"
    )
    for name in ("export.xml", "scholar.enw"):
        assert not library.add(shelf / name).failed
    lamp, tides = sorted(library.documents.all(), key=lambda document: document.title)
    assert (lamp.title, Path(lamp.uri).name) == ("Lamps of the Northern Coast", "Reed-2019.pdf")
    assert lamp.metadata["link"] == "http://example.org/lamps"
    for query in ("Reed 2019", "Reed light", "borrowed from Holm", "whale oil"):
        assert library.search(query)[0].found.document.id == lamp.id, query
    for query in ("Voss 1988", "Voss harbours"):
        assert library.search(query)[0].found.document.id == tides.id, query
