"""References become documents with title, authors, year and the paths of their files."""

import json

import pytest
from tests.unit.extract.making import pieces

from trivium.core.errors import FileEmpty
from trivium.extract.bibliography import BibtexExtractor, CslExtractor, RisExtractor
from trivium.extract.bibtex import parse_bibtex
from trivium.extract.latex import readable
from trivium.ports import Blob

LIBRARY = r"""
@string{nat = "Nature"}
@comment{jabref-meta: fileDirectory:/papers;}
@ARTICLE{Key1,
  author = {M{\"o}ller, Niklas and {The {Big} Institute} and Costa, Jr., P. T. and Ada Byron},
  title = "The {P}hysics of {$\mu$J} pulses",
  journal = nat # " Physics", year = 2001, month = feb, pages = {3--7}, volume = 5, number = {2},
  abstract = {We show, at 5\,\% level, it.},
  file = {:sub/a.pdf:PDF;My paper:C\:\\b.pdf:application/pdf},
  keywords = {one, two},
}
@book{broken, title = {No end
@misc(Key2, title = {Second}, date = {2013-05-06}, doi = {10.1/x_y})
"""


def test_a_library_encloses_its_entries() -> None:
    blob = Blob("my.bib", LIBRARY.encode())
    assert BibtexExtractor().accepts(blob)
    overview = BibtexExtractor().extract(blob)
    assert [part.name for part in overview.enclosed] == [
        "Key1.csl.json",
        "broken.csl.json",
        "Key2.csl.json",
    ]
    assert (overview.text, overview.metadata["references"]) == ("", 3)
    entry = Blob(overview.enclosed[0].name, overview.enclosed[0].data)
    assert CslExtractor().accepts(entry)
    result = CslExtractor().extract(entry)
    assert result.title == "The Physics of μJ pulses"
    assert pieces(result) == [
        (
            "paragraph",
            "Niklas Möller, The Big Institute, P. T. Costa Jr., Ada Byron (2001). "
            "The Physics of μJ pulses. Nature Physics 5 (2) pp. 3–7.",
        ),
        ("heading", "Abstract"),
        ("paragraph", "We show, at 5 % level, it."),
        ("paragraph", "Keywords: one, two"),
    ]
    metadata = result.metadata
    assert metadata["authors"] == (
        "Niklas Möller",
        "The Big Institute",
        "P. T. Costa Jr.",
        "Ada Byron",
    )
    assert (metadata["year"], metadata["date"]) == (2001, "2001-02")
    assert metadata["file"] == ("sub/a.pdf", "C:\\b.pdf")
    assert metadata["file_directory"] == "/papers"


def test_one_entry_is_the_document_itself() -> None:
    result = BibtexExtractor().extract(Blob("x.bib", b"@misc{k, title={Alone}, year={1999}}"))
    assert (result.title, result.metadata["year"], result.enclosed) == ("Alone", 1999, ())


def test_csl_json() -> None:
    item = {
        "id": "x",
        "type": "book",
        "title": "On <i>Boats</i>",
        "author": [{"family": "Lee", "given": "Ann"}, {"literal": "Institute"}],
        "issued": {"date-parts": [["1966", 10, 19]]},
        "DOI": "10.1/2",
    }
    result = CslExtractor().extract(Blob("x.json", json.dumps([item]).encode()))
    assert result.title == "On Boats"
    assert result.metadata["authors"] == ("Ann Lee", "Institute")
    assert (result.metadata["date"], result.metadata["doi"]) == ("1966-10-19", "10.1/2")
    twice = CslExtractor().extract(Blob("x.json", json.dumps([item, item]).encode()))
    assert [part.name for part in twice.enclosed] == ["x.csl.json", "x-2.csl.json"]


def test_other_json_is_no_library() -> None:
    accepts = CslExtractor().accepts
    assert not accepts(Blob("x.json", b'[{"type": "a", "id": 1}]'))
    assert not accepts(Blob("x.json", b'{"type": "FeatureCollection", "author": "x"}'))
    assert not accepts(Blob("x.json", b"[1, 2]"))
    assert not BibtexExtractor().accepts(Blob("x.py", b"@property{x,\n"))


def test_no_entries_is_empty() -> None:
    with pytest.raises(FileEmpty):
        BibtexExtractor().extract(Blob("x.bib", b"@comment{k, x}"))


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"Fran{\c c}ois Tr\`{e}s \'Elan", "François Très Élan"),
        (r"{\O}rsted {\ss} \v{C}ech \r{A}", "Ørsted ß Čech Å"),
        (r"10\,mm$^2$ and H$_2$O, $\alpha$-x", "10 mm² and H₂O, α-x"),
        (r"A \& B---C \textit{D} \textendash{} E", "A & B—C D – E"),
        (r"Na\"{\i}ve \"{\i}", "Naïve ï"),
    ],
)
def test_latex(latex: str, text: str) -> None:
    assert readable(latex) == text


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_unclosed_entries_end_soon() -> None:
    for source in ("@a{k,\n" * 100_000, "@a{k, t={" * 50_000, '@a{k, t="' * 50_000):
        parse_bibtex(source)


RIS = """\
TY  - JOUR
AU  - Spitz, François
AU  - Furlong, Eileen E. M.
PY  - 2012
DA  - 2012/09/01
TI  - Transcription factors
JO  - Nature Reviews Genetics
SP  - 613
EP  - 626
VL  - 13
AB  - Genetic studies during the past decades
have revealed networks.
KW  - enhancer
KW  - Keyword2, Keyword3
Keyword4; Keyword5
L1  - files/7/Spitz.pdf
DO  - https://doi.org/10.1038/nrg3207
ER  -

TY  - PAT
A1  - Burger,D.R.
T1  - Method of detecting AIDS virus infection
Y1  - 1990/2/27
N2  - A method is disclosed.
ER  -
"""
PUBMED = """\
PMID- 23193287
TI  - GenBank.
PG  - D36-42
LID - 10.1093/nar/gks1195 [doi]
AB  - GenBank is a comprehensive database that contains publicly available
      sequences.
FAU - Benson, Dennis A
AU  - Benson DA
DP  - 2013 Jan
JT  - Nucleic acids research
"""


def test_ris_and_pubmed_are_libraries_of_references() -> None:
    """Tags and continued lines as in the test cases of zotero/translators (RIS.js) and in the
    sample of anglyan/gris (docs/source/specification.rst)."""
    blob = Blob("export.ris", b"\xef\xbb\xbf" + RIS.encode())
    assert RisExtractor().accepts(blob)
    assert RisExtractor().accepts(Blob("saved", RIS.encode()))
    assert not RisExtractor().accepts(Blob("notes.md", b"# Formats\n\nTY  - JOUR begins an entry"))
    first, patent = RisExtractor().extract(blob).enclosed
    paper = CslExtractor().extract(Blob(first.name, first.data))
    assert paper.title == "Transcription factors"
    assert "past decades have revealed networks." in paper.text
    metadata = paper.metadata
    assert metadata["authors"] == ("François Spitz", "Eileen E. M. Furlong")
    assert (metadata["year"], metadata["date"]) == (2012, "2012-09-01")
    assert metadata["keywords"] == ("enhancer", "Keyword2", "Keyword3", "Keyword4", "Keyword5")
    assert metadata["file"] == ("files/7/Spitz.pdf",)
    assert (metadata["doi"], metadata["page"]) == ("10.1038/nrg3207", "613–626")
    other = CslExtractor().extract(Blob(patent.name, patent.data))
    assert other.metadata["authors"] == ("D.R. Burger",)
    assert other.metadata["date"] == "1990-02-27"
    medline = RisExtractor().extract(Blob("pubmed.nbib", PUBMED.encode()))
    assert (medline.title, medline.metadata["year"]) == ("GenBank.", 2013)
    assert medline.metadata["authors"] == ("Dennis A Benson",)
    assert medline.metadata["doi"] == "10.1093/nar/gks1195"
    assert "publicly available sequences." in medline.text


ENDNOTE = """\
%0 Journal Article
%A 余敏
%A 朱江
%T 参考文献管理工具研究
%J 现代情报
%J JOURNAL OF MODERN INFORMATION
%D 2009
%P 94-98,93
%X 介绍了参考文献管理的基本方法
AIMS - to compare tools

at last.
%U http://d.wanfangdata.com.cn/Periodical_xdqb200902027.aspx
%R 10.3969/j.issn.1008-0821.2009.02.027

%T Corn
%A Newman, W. H.
%D 1891
%K Corn -- Yields
%K Corn -- Varieties

%0 Serial
%0 Audio
%D 2021
%T Diesseits von Eden
"""


def test_endnotes_tagged_format() -> None:
    """Entries of zotero/translators (ReferBibIX.js): without a kind, with two, after an empty line;
    and lines of an abstract that look like tags of RIS."""
    found = RisExtractor().extract(Blob("library.enw", ENDNOTE.encode()))
    first, corn, audio = (
        CslExtractor().extract(Blob(one.name, one.data)) for one in found.enclosed
    )
    assert first.metadata["authors"] == ("余敏", "朱江")
    assert first.metadata["container"] == "现代情报"
    assert first.metadata["doi"] == "10.3969/j.issn.1008-0821.2009.02.027"
    assert "AIMS - to compare tools at last." in first.text
    assert (corn.title, corn.metadata["year"]) == ("Corn", 1891)
    assert corn.metadata["keywords"] == ("Corn -- Yields", "Corn -- Varieties")
    assert (audio.title, audio.metadata["reference_type"]) == ("Diesseits von Eden", "audio")
