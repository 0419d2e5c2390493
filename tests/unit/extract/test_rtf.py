"""RTF: text in every code page, headings, lists, tables; nothing a reader does not see."""

import pytest
from tests.unit.extract.making import check_offsets, pieces

from trivium.core.errors import FileDamaged, FileEmpty
from trivium.core.types import Extraction
from trivium.extract.rtf import read_rtf
from trivium.ports import Blob


def extract(body: str) -> Extraction:
    blob = Blob("x.bin", body.encode("latin-1"))
    assert read_rtf.accepts(blob)
    result = read_rtf.extract(blob)
    check_offsets(result)
    return result


def test_structure() -> None:
    result = extract(
        r"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Cyr;}}
{\stylesheet{\s1 heading 1;}{\s2\sbasedon1 Body;}}{\info{\title The Ferry}{\author Ann; Bo}}
{\header Running head}{\*\generator Word;}
\pard\s1 Boats\par
\pard\s2 Caf\'e9 \u8364?\u55357?\u56832? {\f1 \'cf\'f0} \b bold\b0\line next\par
\pard\outlinelevel1 Oars\par
\pard{\listtext\'b7\tab}point\par
\pard{\listtext 2.\tab}second\par
\trowd\pard\intbl A\cell B\cell\row
\trowd\pard\intbl 1\cell 2\cell\row
\pard End{\v hidden}{\pict\bin4 }}}}}.\par}"""
    )
    assert pieces(result) == [
        ("heading", "Boats"),
        ("paragraph", "Café €😀 Пр bold\nnext"),
        ("heading", "Oars"),
        ("list_item", "point"),
        ("list_item", "2. second"),
        ("table", "A | B\n1 | 2"),
        ("paragraph", "End."),
    ]
    assert (result.title, result.metadata["authors"]) == ("The Ferry", ("Ann", "Bo"))
    assert result.elements[2].headings == ("Boats",)


def test_a_star_within_a_group_hides_nothing() -> None:
    """As in testRTFIgnoredControlWord.rtf of apache/tika, which OpenOffice wrote."""
    assert (
        extract(r"{\rtf1{\*\cs9 hidden}{\b0\*\cs7\cf0 The quick fox}\par}").text == "The quick fox"
    )


def test_fields_show_their_result_only() -> None:
    field = r"{\rtf1 See {\field{\*\fldinst HYPERLINK x}{\fldrslt the page}}.\par}"
    assert extract(field).text == "See the page."


def test_damage_is_borne_and_depth_is_not() -> None:
    assert extract(r"{\rtf1 cut \'e").text.startswith("cut")
    with pytest.raises(FileDamaged, match="levels deep"):
        extract(r"{\rtf1" + "{" * 10_000)
    with pytest.raises(FileEmpty):
        extract(r"{\rtf1 }")
