"""Titles identify a document: one that could be on a thousand others is no title."""

import json

import pytest

from trivium.extract.detect import read
from trivium.extract.pdf.front import is_generic
from trivium.ports import Blob
from trivium.text.titles import first_title, followed, identifies, names, placed


@pytest.mark.parametrize(
    "title",
    [
        *("CHAPTER 1 – INTRODUCTION", "Chapter 1", "FORM 8-K", "Contents", "Legal Information"),
        *("testing", "Test Document", "Testing 123", "Untitled", "To Do", "title", "Redacted"),
        *("25.pdf", "Q3 report.docx", "Microsoft Word - letter", "Document1", "IMG_2034"),
        *("2024", "scan 0007", "3f2a9c4e11d0", "", "  "),
        *("SUBTOTAL $863.91 Member Discount", "TOTAL $821.14", "Summe 12,50 €"),
    ],
)
def test_it_could_be_on_a_thousand_documents(title: str) -> None:
    assert not identifies(title)


@pytest.mark.parametrize(
    "title",
    [
        *("Chapter 2 – The Harbour", "The Drowned Crown", "Adobe Inc.", "Test with tables"),
        *("The $100 laptop", "£3bn for buses"),
        *("Message", "acl17-173", "raw_email7", "龍", "Wikipedia.org", "Facade"),
    ],
)
def test_a_name_stays(title: str) -> None:
    assert identifies(title)
    assert not is_generic(title) or len(title) == 1


def test_a_form_is_generic_on_the_first_page_of_a_pdf() -> None:
    assert is_generic("FORM 8-K")


def test_the_first_title_that_identifies_is_used() -> None:
    assert first_title("Untitled", "The Harbour", "Boats") == "The Harbour"
    assert first_title("Untitled", "") == ""


@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        # The JSON beside a paper, as a parser of papers writes it.
        ("25.json", {"name": "25.pdf", "metadata": {"title": "Word Senses"}}, "Word Senses"),
        ("boats.json", {"name": "25.pdf", "metadata": {"title": None}}, "boats"),
        ("boats.md", "# To Do\n\nPaint them.", "boats"),
        ("srd.html", "<h1>Legal Information</h1><p>Free of charge.</p>", "srd"),
        ("letter.txt", "test\n\nA second line.", "letter"),
        ("a.eml", "From: Ann <a@b.org>\nSubject: testing\n\nHello", "testing, from Ann"),
        ("a.eml", "From: Ann <a@b.org>\nTo: b@b.org\n\nHello", "Message from Ann"),
        (
            "a.bib",
            "@misc{k, author={Roe, Jane}, journal={Boats}, year={1999}}",
            "Jane Roe, Boats, 1999",
        ),
    ],
)
def test_metadata_then_a_real_heading_then_the_file(name: str, data: object, title: str) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    assert read(Blob(name, text.encode())).title == title


@pytest.mark.parametrize(
    ("title", "uri", "shown"),
    [
        ("test", "/home/ann/boats/test.xlsx", "boats/test.xlsx"),
        ("__init__.py", "/home/ann/boats/__init__.py", "boats/__init__.py"),
        ("test", "/home/ann/mail.eml!/test.rb", "mail.eml/test.rb"),
        ("test", "upload:test.xlsx", "test"),  # there is no folder to name
        ("index", "https://example.org/index.html", "example.org/index.html"),
        ("acl17-352.pdf", "/home/ann/papers/acl17-352.pdf.json", "acl17-352.pdf"),
        ("weapons", "/home/ann/boats/weapons.md", "weapons"),
        ("Untitled", "/home/ann/boats/test.xlsx", "Untitled"),  # its own, not the file's name
        ("new", "eea06f7436dd/new.md", "new"),  # an upload's folder is the hash of its sender
    ],
)
def test_a_file_name_that_says_nothing_comes_with_its_folder(
    title: str, uri: str, shown: str
) -> None:
    assert placed(title, uri) == shown


@pytest.mark.parametrize(
    ("title", "new", "shown"),
    [
        ("boats/test.md", "/x/sails/test.md", "sails/test.md"),
        ("boats/test.md", "/x/sails/hull.md", "hull"),
        ("test", "/x/sails/hull.md", "hull"),
        ("test", "/x/sails/index.md", "sails/index.md"),
        ("The Harbour", "/x/sails/hull.md", "The Harbour"),
    ],
)
def test_a_title_from_the_file_name_follows_it(title: str, new: str, shown: str) -> None:
    assert followed(title, "/x/boats/test.md", new) == shown


@pytest.mark.parametrize(
    "line",
    [
        *("Dear Ms Roe,", "Dear Mr. and Mrs. Roe", "Dear fellow shareholders", "Hi all,", "Hello!"),
        *("To whom it may concern", "Sehr geehrte Damen und Herren", "Liebe Anna,", "Chère Marie,"),
        *(
            "FOR IMMEDIATE RELEASE",
            "For Immediate Release – 4 May 2021",
            "PRESS RELEASE",
            "Media Contact",
        ),
        *(
            "Heritage Reporting Corporation",
            "Jane Roe, Official Court Reporter",
            "Reported by: J. Roe",
        ),
        *("Date Description Amount", "Item | Qty | Price", "Name, Address, Phone", "Datum Betrag"),
        *("STRICTLY PRIVATE AND CONFIDENTIAL", "Untitled spreadsheet"),
    ],
)
def test_what_stands_above_the_name_is_no_title(line: str) -> None:
    assert not identifies(line)


@pytest.mark.parametrize(
    "line",
    [
        *("pulleys, provided the inner race is clamped", "job or system optimization."),
        *("A Comparison of", "The Harbour, the Quay and", "Boats for the"),
        *("Source: https://example.org/a", "MIME-Version: 1.0", "https://example.org"),
        *("1 import layoutparser as lp", "#+INCLUDE: file", "<p>Simple</p>", ".LP"),
        *("0.19 0.28 CNN + 0.27", "We meet at the quay at noon and sail then."),
    ],
)
def test_half_a_sentence_is_no_title_where_nobody_says_so(line: str) -> None:
    assert not names(line)


@pytest.mark.parametrize(
    "line",
    [
        *("Dear Evan Hansen", "Press Release: Acme buys Bolt and Nut", "Hello World", "Hi-Fi"),
        *("Court Reporting in Wales", "The Price of Salt", "Total War", "Name of the Rose"),
        *(
            "A Comparison of Boats",
            "What Dreams Are Made Of",
            "Vitamin A",
            "eBay Inc.",
            "3M Company",
        ),
        *(
            "All quiet on the western front.",
            "“Hands-free” card",
            "2021 in review",
            "iPhone manual",
        ),
        *("Confidential Computing with Enclaves", "Log in", "Date palms of Egypt", "龍", "مرحبا"),
    ],
)
def test_names_that_look_a_little_like_it_stay(line: str) -> None:
    assert names(line)
