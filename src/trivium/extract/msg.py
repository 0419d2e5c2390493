"""Reads Outlook's message files (MSG): compound files of numbered properties.

Makes the same document as from an EML file. Knows the few properties for sender, recipients, dates,
text and attachments.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from trivium.core.types import Enclosed, Extraction
from trivium.extract.charsets import decode_text
from trivium.extract.composer import clean
from trivium.extract.email import letter_document
from trivium.extract.mail_message import MailMessage
from trivium.extract.ole import has_stream, open_ole, stream
from trivium.ports import Blob

if TYPE_CHECKING:
    from olefile import OleFileIO

_SUBJECT, _BODY, _HTML, _SENDER, _ADDRESS, _SMTP = 0x0037, 0x1000, 0x1013, 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC, _ID, _REPLY = 0x0E04, 0x0E03, 0x1035, 0x1042
_NAME, _SHORT_NAME, _DATA, _CLASS = 0x3707, 0x3704, 0x3701, 0x001A
_SUBMITTED, _DELIVERED, _CODEPAGE, _INTERNET_CODEPAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
MAX_ATTACHMENTS = 1_000
MAX_NESTED = 5


class MsgExtractor:
    """Takes compound files with the properties of a message."""

    version = "msg/3"

    def accepts(self, blob: Blob) -> bool:
        return has_stream(blob, "__properties_version1.0")

    def extract(self, blob: Blob) -> Extraction:
        with open_ole(blob) as ole:
            letter = _Message(ole, []).letter(0)
        return letter_document(blob, letter, "application/vnd.ms-outlook")


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
        recipients = f"{self._text(_TO)};{self._text(_CC)}".split(";")
        address = self._text(_SMTP) or self._text(_ADDRESS)
        return MailMessage(
            subject=self._text(_SUBJECT),
            senders=(sender,) if (sender := self._text(_SENDER) or address) else (),
            addresses=(address,) if "@" in address else (),
            recipients=tuple(name.strip() for name in recipients if name.strip()),
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

    def _attachments(self, depth: int) -> list[Enclosed]:
        level = len(self._folder)
        folders = {
            path[level]
            for path in self._ole.listdir(streams=True, storages=True)
            if path[:level] == self._folder
            and len(path) > level
            and path[level].startswith("__attach_version1.0")
        }
        found: list[Enclosed] = []
        for number, folder in enumerate(sorted(folders)[:MAX_ATTACHMENTS], start=1):
            name = self._text(_NAME, folder) or self._text(_SHORT_NAME, folder)
            data = stream(self._ole, [*self._folder, folder, f"__substg1.0_{_DATA:04X}0102"])
            inner = [*self._folder, folder, f"__substg1.0_{_DATA:04X}000D"]
            if data:
                safe = PurePath(name.replace("\\", "/")).name or f"attachment-{number}"
                found.append(Enclosed(safe[:200], data))
            elif depth < MAX_NESTED and self._ole.exists([*inner, "__properties_version1.0"]):
                found.append(_as_eml(_Message(self._ole, inner).letter(depth + 1), number))
        return found


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
