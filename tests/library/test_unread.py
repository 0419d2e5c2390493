"""What cannot be read within a document is a remark on it; a file in an archive fails as one."""

from email.message import EmailMessage
from pathlib import Path

from tests.unit.extract.making import zipped

from trivium.core.work import JobState
from trivium.ingest.outcomes import Fate
from trivium.library import Library


def test_a_message_is_added_though_its_attachment_cannot_be_read(
    library: Library, files: Path
) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@x.de", "bo@x.de", "Ferry times"
    mail.set_content("The ferry leaves at nine.")
    mail.add_attachment(b"\x00\x01\x02" * 50, maintype="image", subtype="x", filename="logo.dat")
    mail.add_attachment("Oars for sale.", filename="list.txt")
    (files / "mail.eml").write_bytes(mail.as_bytes())
    report = library.add(files / "mail.eml")
    assert not report.failed
    assert report.job is not None
    assert report.job.state is JobState.DONE
    assert report.count(Fate.UNREAD) == 1
    assert report.count(Fate.ADDED) == 2
    (mail_document,) = [d for d in library.documents.all() if d.title == "Ferry times"]
    (remark,) = mail_document.metadata["unread"]  # type: ignore[misc]
    assert remark.startswith("logo.dat: logo.dat is a binary file")  # type: ignore[union-attr]
    again = library.add(files / "mail.eml")
    assert not again.failed


def test_a_broken_file_in_an_archive_is_a_failure(library: Library, files: Path) -> None:
    data = zipped({"good.txt": "A good file.", "bad.pdf": b"%PDF-1.4 nothing"})
    (files / "both.zip").write_bytes(data)
    report = library.add(files / "both.zip")
    assert [Path(one.uri).name for one in report.failed] == ["bad.pdf"]
