"""Feeds entry by entry, other XML by its text; entities are refused."""

import pytest
from tests.unit.extract.making import check_offsets, pieces

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction
from trivium.extract.detect import read
from trivium.extract.feeds import read_xml
from trivium.ports import Blob


def extract(source: str) -> Extraction:
    blob = Blob("x.xml", source.encode())
    assert read_xml.accepts(blob)
    result = read_xml.extract(blob)
    check_offsets(result)
    return result


def test_rss() -> None:
    result = extract(
        '<rss xmlns:dc="d"><channel><title>News</title><language>en</language>'
        "<item><title>One</title>"
        "<link>https://x.org/1</link><dc:creator>Ann</dc:creator>"
        "<pubDate>Fri, 21 Nov 1997 09:55:06 +0000</pubDate>"
        "<description>&lt;p&gt;Text &amp;amp; more&lt;/p&gt;&lt;h1&gt;Part&lt;/h1&gt;</description>"
        "</item></channel></rss>"
    )
    assert pieces(result) == [("heading", "One"), ("paragraph", "Text & more"), ("heading", "Part")]
    place = result.elements[1].place
    assert (place.authors, place.time, place.link) == (
        ("Ann",),
        "1997-11-21T09:55:06+00:00",
        "https://x.org/1",
    )
    assert result.title == "News"
    assert result.elements[2].headings == ("One",)


def test_any_xml() -> None:
    result = extract(
        "<?xml version='1.0'?><a><b>one</b><c>two <i>three</i> four</c><d><e/></d></a>"
    )
    assert result.text == "one\n\ntwo three four"


def test_hostile_xml() -> None:
    with pytest.raises(FileDamaged, match="entities"):
        extract('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>')
    with pytest.raises(FileDamaged, match="levels deep"):
        extract("<?xml version='1.0'?>" + "<a>" * 5000 + "</a>" * 5000)


def test_feeds_that_are_not_well_formed() -> None:
    """As feedparser reads them: entities without a DOCTYPE, a bare ampersand, a comment first."""
    result = extract(
        "<!-- made by hand --><rss><channel><title>Caf&eacute;</title>"
        "<item><title>Fish & chips</title><description>Cr&egrave;me</description></item>"
        "</channel></rss>"
    )
    assert pieces(result) == [("heading", "Fish & chips"), ("paragraph", "Crème")]
    assert result.title == "Café"
    assert extract("<rss><channel><title>Nothing yet</title></channel></rss>").text == "Nothing yet"


def test_xml_may_begin_with_a_licence() -> None:
    """As papers that GROBID has read (TEI): they were indexed as raw markup."""
    source = (
        "<!-- Licensed to a board\n of the harbour -->\n<TEI><p>The mole was built.</p></TEI>\n"
    )
    result = read(Blob("paper.xml", source.encode()))
    assert result.text == "The mole was built."
    assert result.media_type == "application/xml"
