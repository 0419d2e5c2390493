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
from typing import TypeAlias

from trivium.core.errors import FileDamaged
from trivium.core.types import Enclosed
from trivium.extract.charsets import decode_text, named
from trivium.extract.composer import clean

MAX_PARTS = 1000
MAX_DEPTH = 20
MAX_SENDERS = 20
MAX_FIELD = 10_000  # characters; the library's decoder is quadratic: 2.8 million took four minutes

_Value: TypeAlias = str | tuple[str | None, str | None, str]  # the latter: charset, language, text

_ENCODED = re.compile(r"=\?[^?]*\?[bBqQ]\?[^?]*\?=")
_ID = re.compile(r"<[^<>\s]+>")
_SUFFIXES = {"text/html": ".html", "text/plain": ".txt", "message/rfc822": ".eml"}


@dataclass(frozen=True, slots=True)
class MailMessage:
    subject: str = ""
    senders: tuple[str, ...] = ()  # their names, else their addresses
    addresses: tuple[str, ...] = ()  # of the senders
    recipients: tuple[str, ...] = ()  # names with addresses: people know either
    time: str = ""  # ISO 8601
    id: str = ""
    reply_to: str = ""  # id of the message it answers
    references: tuple[str, ...] = ()
    text: str = ""
    html: str = ""  # only when there is no plain text
    attachments: tuple[Enclosed, ...] = ()
    encrypted: bool = False
    link: str = ""


def parse_message(data: bytes) -> MailMessage:
    try:
        message = message_from_bytes(data)
    except RecursionError:
        raise FileDamaged("The message holds messages in messages, too deep to read.") from None
    parts = _Parts()
    parts.collect(message, 0)
    senders = _people(message, "From", "Sender", "Reply-To")
    recipients = _addresses(message, "To") + _addresses(message, "Cc")
    ids = _ID.findall(_field(message, "In-Reply-To"))
    own = _ID.search(_field(message, "Message-ID"))
    archived = _ID.search(_field(message, "Archived-At"))
    return MailMessage(
        subject=_field(message, "Subject"),
        senders=tuple(name or address for name, address in senders),
        addresses=tuple(address for _, address in senders if "@" in address),
        recipients=tuple(filter(None, (with_address(*recipient) for recipient in recipients)))[
            :200
        ],
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
        self._part_count = 0

    def collect(self, part: Message, depth: int) -> None:
        self._part_count += 1
        if self._part_count > MAX_PARTS or depth > MAX_DEPTH:
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
    declared = part.get_content_charset()
    for charset in (named(declared), "utf-8") if declared else ():
        try:
            return clean(data.decode(charset))
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    return clean(decode_text(data))


def _name(part: Message) -> str:
    """The name of an attachment. Of two forms the one with a charset counts (RFC 6266)."""
    names: dict[bool, str] = {}
    for header, wanted in (("Content-Disposition", "filename"), ("Content-Type", "name")):
        for key, value in _parameters(part, header):
            if key.lower() == wanted and value:
                names.setdefault(isinstance(value, tuple), _parameter(value))
    name = names.get(True) or names.get(False) or ""
    return PurePath(name.replace("\\", "/").strip()).name[:200]


def _parameters(part: Message, header: str) -> list[tuple[str, _Value]]:
    """The parameters after the semicolons of a header. Parsed from its raw text: the library turns
    bytes beyond ASCII into question marks first."""
    probe = Message()
    try:
        probe[header] = _readable(_raw(part, header)).replace("\n", " ").replace("\r", " ")
        return list(probe.get_params(failobj=[], header=header))
    except (ValueError, LookupError, TypeError):
        return []


def _parameter(value: _Value) -> str:
    """A parameter as RFC 2231 writes it, in a charset, or with words as in a subject."""
    if isinstance(value, str):
        return decode_words(value)
    charset, _, text = value
    raw = text.encode("raw-unicode-escape")
    try:
        return clean(raw.decode(named(charset))) if charset else clean(decode_text(raw))
    except (LookupError, UnicodeDecodeError):
        return clean(decode_text(raw))


def _field(message: Message, name: str) -> str:
    """A header in readable characters, on one line."""
    return " ".join(decode_words(_raw(message, name)).split())


def _raw(message: Message, name: str) -> str:
    # The raw items: `get` replaces bytes that are no ASCII by question marks.
    values = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return str(next(values, ""))[:MAX_FIELD]


def _readable(text: str) -> str:
    """Bytes that the parser kept as they were become characters."""
    if not any("\udc80" <= character <= "\udcff" for character in text):
        return text
    return decode_text(text.encode("utf-8", "surrogateescape"))


def decode_words(text: str) -> str:
    """=?utf-8?q?W=C3=B6rter?= as Wörter; raw bytes by the table that they look like."""
    text = _readable(text)
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
            parts.append(piece.decode(named(charset or "ascii"), "replace"))
        except LookupError:
            parts.append(decode_text(piece))
    return clean("".join(parts))


def _addresses(message: Message, field: str) -> list[tuple[str, str]]:
    """Names and addresses. Taken apart before they are decoded: a name may hold a comma."""
    raw = " ".join(_readable(_raw(message, field)).split())
    if not _ENCODED.search(raw):
        raw = clean(raw)
    try:
        return [(decode_words(name), decode_words(mail)) for name, mail in getaddresses([raw])]
    except (RecursionError, ValueError, IndexError):  # thousands of open brackets
        return []


def with_address(name: str, address: str) -> str:
    """`Per Holm <per@works.example>`, or what there is of it."""
    if "@" in name and "@" not in address:  # `Per Holm (per@works.example)`
        name, address = address, name
    name = name.strip("'\" ")
    both = name and "@" in address and name.lower() != address.lower()
    return f"{name} <{address}>" if both else name or address


def _people(message: Message, *fields: str) -> list[tuple[str, str]]:
    """The people in the first of these fields that has any."""
    for field in fields:
        people = [(name.strip("'\" "), mail) for name, mail in _addresses(message, field)]
        if named_ones := [(name, mail) for name, mail in people if name or mail]:
            return named_ones[:MAX_SENDERS]
    return []


def _time(date: str) -> str:
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
