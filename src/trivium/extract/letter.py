"""Takes one MIME message apart: who, when, about what, the readable body, the attachments.

Real messages break every rule; a broken part is skipped or read as well as possible. Knows
nothing of elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import PurePath

from trivium.extract.composer import clean
from trivium.types import Enclosed

MAX_PARTS = 1000
MAX_DEPTH = 20
MAX_FIELD = 10_000  # characters; the library's decoder is quadratic: 2.8 million took four minutes

_ENCODED = re.compile(r"=\?[^?]*\?[bBqQ]\?[^?]*\?=")
_ID = re.compile(r"<[^<>\s]+>")
_SUFFIXES = {"text/html": ".html", "text/plain": ".txt", "message/rfc822": ".eml"}


@dataclass(frozen=True, slots=True)
class Letter:
    subject: str = ""
    sender: str = ""  # the name, else the address
    address: str = ""
    recipients: tuple[str, ...] = ()
    time: str = ""  # ISO 8601
    id: str = ""
    reply_to: str = ""  # id of the message it answers
    references: tuple[str, ...] = ()
    text: str = ""
    html: str = ""  # only when there is no plain text
    attachments: tuple[Enclosed, ...] = ()
    encrypted: bool = False
    link: str = ""


def parse_letter(data: bytes) -> Letter:
    message = message_from_bytes(data)
    parts = _Parts()
    parts.collect(message, 0)
    sender, address = _person(message, "From", "Sender", "Reply-To")
    recipients = _addresses(message, "To") + _addresses(message, "Cc")
    ids = _ID.findall(_field(message, "In-Reply-To"))
    own = _ID.search(_field(message, "Message-ID"))
    archived = _ID.search(_field(message, "Archived-At"))
    return Letter(
        subject=_field(message, "Subject"),
        sender=sender,
        address=address,
        recipients=tuple(name or mail for name, mail in recipients if name or mail)[:200],
        time=_time(_field(message, "Date")),
        id=own[0] if own else "",
        reply_to=ids[0] if ids else "",
        references=tuple(reversed(_ID.findall(_field(message, "References"))))[:50],
        text="\n\n".join(parts.texts),
        html="" if parts.texts else "\n".join(parts.pages),
        attachments=tuple(parts.attachments),
        encrypted=parts.encrypted,
        link=archived[0].strip("<>") if archived else "",
    )


class _Parts:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pages: list[str] = []
        self.attachments: list[Enclosed] = []
        self.encrypted = False
        self._seen = 0

    def collect(self, part: Message, depth: int) -> None:
        self._seen += 1
        if self._seen > MAX_PARTS or depth > MAX_DEPTH:
            return
        kind = part.get_content_type()
        if kind in ("multipart/encrypted", "application/pkcs7-mime"):
            self.encrypted = True
        if kind == "message/rfc822":
            self._forwarded(part)
        elif part.is_multipart():
            children = part.get_payload()
            for child in children if isinstance(children, list) else ():
                if isinstance(child, Message):
                    self.collect(child, depth + 1)
        elif kind in ("text/plain", "text/html") and not _is_attached(part):
            text = _text(part)
            if text.strip():
                (self.texts if kind == "text/plain" else self.pages).append(text)
        else:
            self._attach(part, kind)

    def _attach(self, part: Message, kind: str) -> None:
        name = _name(part)
        data = part.get_payload(decode=True)
        if kind in ("application/pgp-signature", "application/pkcs7-signature"):
            return
        if isinstance(data, bytes) and data.strip():
            suffix = _SUFFIXES.get(kind, "")
            number = len(self.attachments) + 1
            self.attachments.append(Enclosed(name or f"attachment-{number}{suffix}", data))

    def _forwarded(self, part: Message) -> None:
        inner = part.get_payload()
        message = inner[0] if isinstance(inner, list) and inner else None
        if not isinstance(message, Message):
            return
        try:
            data = message.as_bytes()
        except (MessageError, UnicodeError, LookupError, ValueError, AttributeError, KeyError):
            data = message.as_string().encode("utf-8", "replace")
        name = _name(part) or f"{_field(message, 'Subject')[:80] or 'message'}.eml"
        name = PurePath(name.replace("/", "-")).name
        self.attachments.append(Enclosed(name if name.endswith(".eml") else f"{name}.eml", data))


def _is_attached(part: Message) -> bool:
    disposition = str(part.get("Content-Disposition", "")).lower()
    return disposition.startswith("attachment") or bool(_name(part))


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    declared = part.get_content_charset() or "utf-8"
    for charset in (declared, "utf-8"):
        try:
            return clean(data.decode(charset))
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    try:
        return clean(data.decode("cp1252"))
    except UnicodeDecodeError:
        return clean(data.decode("latin-1"))


def _name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, LookupError, TypeError):
        return ""
    return PurePath(decode_words(name).replace("\\", "/").strip()).name[:200]


def _field(message: Message, name: str) -> str:
    """A header in readable characters, on one line."""
    # The raw items: `get` replaces bytes that are no ASCII by question marks.
    values = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return " ".join(decode_words(str(next(values, ""))[:MAX_FIELD]).split())


def decode_words(text: str) -> str:
    """=?utf-8?q?W=C3=B6rter?= as Wörter; raw bytes as UTF-8 or Latin."""
    if any("\udc80" <= character <= "\udcff" for character in text):
        raw = text.encode("utf-8", "surrogateescape")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
    if not _ENCODED.search(text):
        return clean(text)
    try:
        pieces = decode_header(text)
    except (MessageError, ValueError):
        return clean(text)
    parts = []
    for piece, charset in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        try:
            parts.append(piece.decode(charset or "ascii", "replace"))
        except LookupError:
            parts.append(piece.decode("latin-1"))
    return clean("".join(parts))


def _addresses(message: Message, field: str) -> list[tuple[str, str]]:
    try:
        return getaddresses([_field(message, field)])
    except (RecursionError, ValueError, IndexError):  # thousands of open brackets
        return []


def _person(message: Message, *fields: str) -> tuple[str, str]:
    for field in fields:
        for name, address in _addresses(message, field)[:1]:
            if name or address:
                return name.strip("'\" ") or address, address
    return "", ""


def _time(date: str) -> str:
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
