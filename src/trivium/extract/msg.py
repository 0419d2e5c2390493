"""Reads Outlook's files: messages (MSG), compound files of numbered properties, and archives (PST,
OST), by libpff.

Makes the same documents as from EML and MBOX files. Knows the few properties for sender,
recipients, dates, text and attachments.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from trivium.core.errors import FileDamaged, FileTooLarge, FormatUnknown, ReadError
from trivium.core.types import Enclosed, Extraction
from trivium.extract.charsets import decode_text
from trivium.extract.composer import clean
from trivium.extract.email import MAX_MESSAGES, letter_document, mailbox_document
from trivium.extract.mail_message import MailMessage, parse_message, with_address
from trivium.extract.ole import has_stream, open_ole, paths, stream
from trivium.extract.rtf import read_rtf
from trivium.ports import Blob, reads

if TYPE_CHECKING:
    from olefile import OleFileIO

_SUBJECT, _BODY, _HTML, _SENDER, _ADDRESS, _SMTP = 0x0037, 0x1000, 0x1013, 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC, _ID, _REPLY = 0x0E04, 0x0E03, 0x1035, 0x1042
_NAME, _SHORT_NAME, _DATA, _CLASS = 0x3707, 0x3704, 0x3701, 0x001A
_SUBMITTED, _DELIVERED, _CODEPAGE, _INTERNET_CODEPAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
_SHOWN, _SMTP_ADDRESS, _OWN_ADDRESS = 0x3001, 0x39FE, 0x3003  # of a recipient
_TEXT, _BINARY = (0x1E, 0x1F), 0x0102  # types of values
MAX_ATTACHMENTS = 1_000
MAX_RECIPIENTS = 200
MAX_NESTED = 5


@reads("msg/4", lambda blob: has_stream(blob, "__properties_version1.0"))
def read_msg(blob: Blob) -> Extraction:
    """Takes compound files with the properties of a message."""
    with open_ole(blob) as ole:
        letter = _Message(ole, []).letter(0)
    return letter_document(blob, letter, "application/vnd.ms-outlook")


@reads("pst/2", lambda blob: blob.data.startswith(b"!BDN"))
def read_pst(blob: Blob) -> Extraction:
    """Takes Outlook's archives. Appointments and contacts are messages of few words."""
    try:
        import pypff
    except ImportError:
        raise FormatUnknown(
            f"{blob.name} is an Outlook archive (PST) that Trivium needs libpff to read.",
            fix="Run `pip install libpff-python`, or export the mail as MBOX.",
            on_page="Export the mail as MBOX, for example with `readpst`.",
        ) from None
    archive = pypff.file()
    try:
        archive.open_file_object(io.BytesIO(blob.data))
        letters = [*_letters(archive.root_folder)]
    except OSError as reason:
        raise FileDamaged(f"{blob.name} is a damaged Outlook archive.") from reason
    if len(letters) > MAX_MESSAGES:
        raise FileTooLarge(f"{blob.name} holds {len(letters):,} messages.")
    return mailbox_document(blob, letters, "application/vnd.ms-outlook-pst")


def _letters(folder: Any) -> Iterator[MailMessage]:
    for item in folder.sub_messages:
        if hasattr(item, "subject"):  # else it is Outlook's own
            yield _pst_letter(item, 0)
    for inner in folder.sub_folders:
        yield from _letters(inner)


def _pst_letter(item: Any, depth: int) -> MailMessage:
    """What its headers say, if it came by the internet, and else its properties."""
    letter = parse_message((item.transport_headers or "").encode("utf-8", "replace") + b"\n\n")
    sender = "" if item.sender_name in (None, "Unknown") else clean(item.sender_name)
    sent = item.client_submit_time or item.delivery_time
    text = decode_text(item.plain_text_body or b"")
    html = "" if text.strip() else decode_text(item.html_body or b"")
    if not (text + html).strip() and item.rtf_body:
        with suppress(ReadError):
            text = read_rtf.extract(Blob("body.rtf", item.rtf_body)).text
    recipients = item.recipients.record_sets if item.recipients else ()
    return replace(
        letter,
        subject=letter.subject or clean(item.subject or ""),
        senders=letter.senders or ((sender,) if sender else ()),
        recipients=letter.recipients or tuple(filter(None, map(_shown_name, recipients))),
        time=letter.time or (sent.replace(tzinfo=UTC).isoformat() if sent else ""),
        text=clean(text),
        html=html,
        attachments=tuple(_pst_attachments(item, depth)),
    )


def _pst_attachments(item: Any, depth: int) -> Iterator[Enclosed]:
    for number, part in enumerate(islice(item.attachments, MAX_ATTACHMENTS), 1):
        inner = part.get_sub_item(0) if part.number_of_sub_items else None
        kinds = {e.entry_type: e.value_type for s in part.record_sets for e in s.entries}
        if hasattr(inner, "subject") and depth < MAX_NESTED:
            yield _as_eml(_pst_letter(inner, depth + 1), number)
        elif kinds.get(_DATA) == _BINARY and part.size:
            name = clean(part.long_filename or "").replace("\\", "/")
            yield Enclosed(PurePath(name).name or f"attachment-{number}", part.read_buffer())


def _shown_name(properties: Any) -> str:
    texts = {
        e.entry_type: clean(e.data_as_string or "")
        for e in properties.entries
        if e.value_type in _TEXT and e.entry_type in (_SHOWN, _SMTP_ADDRESS, _OWN_ADDRESS)
    }
    address = texts.get(_SMTP_ADDRESS) or texts.get(_OWN_ADDRESS, "")
    return with_address(texts.get(_SHOWN, ""), address)


class _Message:
    """A message in a folder of the compound file; the outermost is at its root."""

    def __init__(self, ole: OleFileIO, folder: list[str]) -> None:
        self._ole = ole
        self._folder = folder
        fixed = stream(ole, [*folder, "__properties_version1.0"])
        # Entries of 16 bytes follow a header: 32 bytes at the root, 24 inside another message.
        self._fixed = {
            struct.unpack_from("<H", fixed, at + 2)[0]: fixed[at + 8 : at + 16]
            for at in range(24 if folder else 32, len(fixed) - 15, 16)
        }
        codepage = (self._fixed.get(_CODEPAGE) or self._fixed.get(_INTERNET_CODEPAGE, b""))[:4]
        number = struct.unpack("<I", codepage)[0] if len(codepage) == 4 else 1252
        self._encoding = "utf-8" if number == 65001 else f"cp{number}"

    def letter(self, depth: int) -> MailMessage:
        text = self._text(_BODY)
        html = "" if text.strip() else self._html()
        kind = self._text(_CLASS).lower()
        address = self._text(_SMTP) or self._text(_ADDRESS)
        return MailMessage(
            subject=self._text(_SUBJECT),
            senders=(sender,) if (sender := self._text(_SENDER) or address) else (),
            addresses=(address,) if "@" in address else (),
            recipients=self._recipients(),
            time=self._time(),
            id=self._text(_ID),
            reply_to=self._text(_REPLY),
            text=text,
            html=html,
            attachments=tuple(self._attachments(depth)),
            encrypted="smime" in kind and "multipartsigned" not in kind,
        )

    def _text(self, number: int, folder: str = "") -> str:
        base = [*self._folder, folder] if folder else self._folder
        wide = stream(self._ole, [*base, f"__substg1.0_{number:04X}001F"])
        if wide:
            return clean(wide.decode("utf-16-le", "replace")).strip()
        narrow = stream(self._ole, [*base, f"__substg1.0_{number:04X}001E"])
        try:
            return clean(narrow.decode(self._encoding, "replace")).strip()
        except LookupError:
            return clean(narrow.decode("cp1252", "replace")).strip()

    def _html(self) -> str:
        raw = stream(self._ole, [*self._folder, f"__substg1.0_{_HTML:04X}0102"])
        if not raw:
            return self._text(_HTML)
        return decode_text(raw)

    def _time(self) -> str:
        for number in (_SUBMITTED, _DELIVERED):
            raw = self._fixed.get(number, b"")
            if len(raw) == 8 and (ticks := struct.unpack("<Q", raw)[0]):
                try:
                    moment = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(seconds=ticks // 10**7)
                except OverflowError:
                    continue
                return moment.isoformat()
        return ""

    def _folders(self, prefix: str) -> list[str]:
        level = len(self._folder)
        return sorted(
            {
                path[level]
                for path in paths(self._ole, storages=True)
                if path[:level] == self._folder
                and len(path) > level
                and path[level].startswith(prefix)
            }
        )

    def _recipients(self) -> tuple[str, ...]:
        people = [
            [self._text(number, folder) for number in (_SHOWN, _SMTP_ADDRESS, _OWN_ADDRESS)]
            for folder in self._folders("__recip_version1.0")[:MAX_RECIPIENTS]
        ]
        display_names = f"{self._text(_TO)};{self._text(_CC)}".split(";")  # names alone
        addressed = (with_address(name, smtp or address) for name, smtp, address in people)
        return tuple(filter(None, addressed)) or tuple(filter(None, map(str.strip, display_names)))

    def _attachments(self, depth: int) -> list[Enclosed]:
        attachments: list[Enclosed] = []
        for number, folder in enumerate(self._folders("__attach_version1.0")[:MAX_ATTACHMENTS], 1):
            name = self._text(_NAME, folder) or self._text(_SHORT_NAME, folder)
            data = stream(self._ole, [*self._folder, folder, f"__substg1.0_{_DATA:04X}0102"])
            inner = [*self._folder, folder, f"__substg1.0_{_DATA:04X}000D"]
            if data:
                safe = PurePath(name.replace("\\", "/")).name or f"attachment-{number}"
                attachments.append(Enclosed(safe[:200], data))
            elif depth < MAX_NESTED and self._ole.exists([*inner, "__properties_version1.0"]):
                attachments.append(_as_eml(_Message(self._ole, inner).letter(depth + 1), number))
        return attachments


def _as_eml(letter: MailMessage, number: int) -> Enclosed:
    """A message inside a message, as a file of its own."""
    message = EmailMessage()
    one_line = {
        "Subject": letter.subject,
        "From": ", ".join(letter.senders),
        "To": ", ".join(letter.recipients),
    }
    for name, value in one_line.items():
        message[name] = " ".join(value.replace("<", "(").replace(">", ")").split())
    if letter.time:
        message["Date"] = format_datetime(datetime.fromisoformat(letter.time))
    message.set_content(letter.text or " ")
    if letter.html:
        message.add_alternative(letter.html, subtype="html")
    for part in letter.attachments:
        message.add_attachment(
            part.data, maintype="application", subtype="octet-stream", filename=part.name
        )
    title = "".join(c for c in letter.subject if c.isalnum() or c in " -_")[:80].strip()
    return Enclosed(f"{title or f'message-{number}'}.eml", message.as_bytes())
