"""Messages keep who, when and what; attachments become documents; mailboxes keep their threads."""

from email.message import EmailMessage

import pytest
from tests.unit.extract.making import check_offsets, pieces

from trivium.core.errors import FileEmpty
from trivium.core.types import Extraction, Kind
from trivium.extract.email import bare_subject, read_mail, read_mailbox
from trivium.ports import Blob


def message(subject: str, body: str = "Hello.", **fields: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = fields.pop("sender", "Ann Lee <ann@example.org>")
    mail["To"] = "Bo <bo@example.org>"
    mail["Subject"] = subject
    mail["Date"] = "Fri, 21 Nov 1997 09:55:06 -0600"
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail


def test_a_message_with_attachments() -> None:
    mail = message("Grüße", "First.\n\n> quoted\n\nLast.", Message_ID="<1@x>")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="../ä.pdf")
    mail.add_attachment(message("Inner"))
    blob = Blob("nameless", mail.as_bytes())
    assert read_mail.accepts(blob)
    result = read_mail.extract(blob)
    check_offsets(result)
    assert pieces(result) == [
        ("paragraph", "First."),
        ("quote", "> quoted"),
        ("paragraph", "Last."),
    ]
    assert result.title == "Grüße"
    assert result.elements[0].place.authors == ("Ann Lee",)
    assert result.elements[0].place.time == "1997-11-21T09:55:06-06:00"
    assert result.metadata["authors"] == ("Ann Lee",)
    assert result.metadata["to"] == ("Bo <bo@example.org>",)
    assert result.metadata["year"] == 1997
    assert [part.name for part in result.enclosed] == ["ä.pdf", "Inner.eml"]
    assert read_mail.extract(Blob("i.eml", result.enclosed[1].data)).title == "Inner"


def test_html_is_read_when_there_is_no_plain_text() -> None:
    mail = message("x")
    mail.set_content("<h1>News</h1><p>Item</p>", subtype="html")
    result = read_mail.extract(Blob("x.eml", mail.as_bytes()))
    assert pieces(result) == [("heading", "News"), ("paragraph", "Item")]


def test_broken_messages_still_give_what_they_have() -> None:
    raw = (
        b"From: Fran\xe7ois <f@x>\nSubject: caf\xe9\n"
        b"Content-Type: text/plain; charset=nonsense\n\nd\xe9j\xe0\n"
    )
    result = read_mail.extract(Blob("x.eml", raw))
    assert (result.title, result.text) == ("café", "déjà")
    assert result.metadata["authors"] == ("François",)
    only = read_mail.extract(Blob("x.eml", b"From: a@x\nSubject: Only this\n\n"))
    assert only.text == "Only this"
    with pytest.raises(FileEmpty):
        read_mail.extract(Blob("x.eml", b"From: a@x\n\n"))


def test_a_field_of_a_provider_may_have_no_blank() -> None:
    """As Outlook.com writes them first: testThunderbirdEml.eml of apache/tika."""
    blob = Blob("a.eml", b"x-store-info:J++/JTCz\n" + message("Grüße").as_bytes())
    assert read_mail.accepts(blob)
    assert read_mail.extract(blob).title == "Grüße"


def test_text_with_a_colon_is_no_message() -> None:
    accepts = read_mail.accepts
    assert not accepts(Blob("x.txt", b"Note: this\nDate: today\n\nText"))
    assert not accepts(Blob("recipe", b"Flour: 1 kg\nWater: 1 l\n\nMix."))
    assert accepts(Blob("x.eml", b"Subject: x\n\ny"))


def test_a_mailbox_is_threads_of_messages() -> None:
    mails = [
        message("Boats", "One.", Message_ID="<1@x>"),
        message("Other", ">From here\nFrom there", Message_ID="<2@x>"),
        message("RE: Boats", "Two.", sender="Bo <bo@x>", In_Reply_To="<1@x>"),
        message("Aw: Boats", "Three."),
    ]
    raw = b"".join(
        b"From ann Fri Nov 21 09:55:06 1997\n"
        + m.as_bytes().replace(b"\nFrom ", b"\n>From ")
        + b"\n"
        for m in mails
    )
    blob = Blob("nameless", raw)
    assert read_mailbox.accepts(blob)
    result = read_mailbox.extract(blob)
    check_offsets(result)
    assert pieces(result) == [
        ("heading", "Boats"),
        ("message", "One."),
        ("message", "Two."),
        ("message", "Three."),
        ("heading", "Other"),
        ("message", "From here\nFrom there"),
    ]
    assert result.elements[2].place.authors == ("Bo",)
    assert result.elements[2].headings == ("Boats",)
    assert result.kind == Kind.MESSAGES
    assert result.metadata["messages"] == 4


def test_one_envelope_in_an_eml_file_is_a_message() -> None:
    raw = b"From ann Fri Nov 21 09:55:06 1997\n" + message("Boats").as_bytes()
    assert not read_mailbox.accepts(Blob("x.eml", raw))
    assert read_mail.accepts(Blob("x.eml", raw))
    assert read_mail.extract(Blob("x.eml", raw)).title == "Boats"


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_hostile_fields_and_parts_end_soon() -> None:
    bad = (
        b"From: a\nSubject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nx",
        b"From: a\nTo: " + b'"<(,' * 100_000 + b"\nSubject: s\n\nx",
        b"From: a\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n"
        + b"--b\nContent-Type: multipart/mixed; boundary=b\n\n" * 2_000
        + b"x",
    )
    for raw in bad:
        read_mail.extract(Blob("x.eml", raw + b"\nlast"))


@pytest.mark.parametrize("subject", ["Boats", "Re: Boats", "AW: Fwd: Boats", "Re[2]: Boats"])
def test_bare_subject(subject: str) -> None:
    assert bare_subject(subject) == "Boats"


def _with_attachment(disposition: str, sender: str = "a@x.de") -> Extraction:
    raw = (
        f"From: {sender}\r\nTo: x@y.z\r\nSubject: s\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=X\r\n\r\n--X\r\nContent-Type: text/plain\r\n\r\n"
        f"hi\r\n--X\r\nContent-Type: application/pdf\r\nContent-Disposition: {disposition}\r\n\r\n"
        "data\r\n--X--\r\n"
    )
    return read_mail.extract(Blob("x.eml", raw.encode()))


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ("attachment; filename*=UTF-8''na%C3%AFve%20r%C3%A9sum%C3%A9.pdf", "naïve résumé.pdf"),
        ("attachment; filename*0*=utf-8''%E6%97%A5%E6%9C; filename*1*=%AC.pdf", "日本.pdf"),
        ("attachment; filename=plain.pdf; filename*=UTF-8''na%C3%AFve.pdf", "naïve.pdf"),
        ("attachment; filename*=na%C3%AFve.pdf", "naïve.pdf"),
        ('attachment; filename="naïve.pdf"', "naïve.pdf"),
        ('attachment; filename="=?UTF-8?Q?na=C3=AFve.pdf?="', "naïve.pdf"),
    ],
)
def test_names_of_attachments_in_every_form(disposition: str, name: str) -> None:
    assert [part.name for part in _with_attachment(disposition).enclosed] == [name]


def test_a_message_from_several_people_names_them_all() -> None:
    sender = '=?utf-8?q?M=C3=BCller=2C_Anna?= <anna@x.de>, "Bob B" <bob@y.de>'
    found = _with_attachment("attachment", sender)
    assert found.metadata["authors"] == ("Müller, Anna", "Bob B")
    assert found.metadata["from"] == ("anna@x.de", "bob@y.de")
