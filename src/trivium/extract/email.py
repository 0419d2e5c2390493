"""Reads e-mail: single messages (EML) and mailboxes (MBOX).

A message is a document with its subject as title; its attachments become documents of their own.
A mailbox is a conversation document, its threads under headings. `mail_message`
takes one message apart; Outlook's MSG files are `msg`'s.
"""

from __future__ import annotations

import re

from trivium.core.errors import FileEmpty, FileTooLarge
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.mail_message import MailMessage, parse_message
from trivium.extract.sniff import BOMS, binary_kind
from trivium.ports import Blob, reads

MAX_MESSAGES = 100_000
HEAD_BYTES = 16_384

_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:(?:[ \t]|\r?\n)|[Xx]-[A-Za-z0-9-]+:")
_KNOWN = re.compile(
    rb"^(from|to|subject|date|received|message-id|mime-version|return-path|delivered-to"
    rb"|content-type|reply-to|cc|x-[a-z-]+):",
    re.IGNORECASE | re.MULTILINE,
)
# The line that begins a mail in a mailbox: "From ada@x.org Mon Jan  5 10:00:00 2026", or as
# Thunderbird writes it, "From " and "From - ". Words that begin so have no time, and no fields of
# a mail below them.
ENVELOPE_LINE = rb"From (?:-? *|[^\r\n]*\d\d?:\d\d[^\r\n]*)\r?\n"
FIELD_LINE = rb"[!-9;-~]+:|>From "
_ENVELOPE = re.compile(rb"^" + ENVELOPE_LINE + rb"(?=" + FIELD_LINE + rb")", re.MULTILINE)
_FIRST_ENVELOPE = re.compile(rb"\A>?From [^\r\n]*\r?\n")
_ENVELOPE_START = re.compile(rb"From [^\r\n]+\r?\n(?:[!-9;-~]+:|\r?\n)")
_LENGTH = re.compile(rb"\s*(\d{1,12})[ \t]*\r?\n")
_TELLING = frozenset(
    {b"from", b"received", b"message-id", b"return-path", b"date", b"mime-version"}
)
_PREFIX = re.compile(r"\s*((re|aw|wg|fwd?|antw|sv|vs|tr)(\[\d+\])?\s*:\s*)+", re.IGNORECASE)


def _is_mail(blob: Blob) -> bool:
    if blob.data.startswith(BOMS):
        return blob.suffix == ".eml"
    head = _FIRST_ENVELOPE.sub(b"", _message(blob)[:HEAD_BYTES].lstrip(), count=1)
    if not _FIELD.match(head) or (binary_kind(head) and b"\x00" in head):
        return False
    block = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    field_names = {match[1].lower() for match in _KNOWN.finditer(block)}
    named = blob.suffix in (".eml", ".emlx")
    return (
        len(field_names) >= 1
        if named
        else len(field_names & _TELLING) >= 2 and len(field_names) >= 3
    )


@reads("mail/7", _is_mail)
def read_mail(blob: Blob) -> Extraction:
    """Takes what begins with the fields of a message; names help only with few fields."""
    letter = parse_message(_narrow(_message(blob)))
    return letter_document(blob, letter, "message/rfc822")


def _message(blob: Blob) -> bytes:
    """Apple Mail (EMLX) writes a message's length before it, and a property list behind it."""
    length = _LENGTH.match(blob.data[:32])
    if length is None or blob.suffix != ".emlx":
        return blob.data
    return blob.data[length.end() : length.end() + int(length[1])]


def _is_mailbox(blob: Blob) -> bool:
    if not _ENVELOPE_START.match(blob.data[:HEAD_BYTES]):
        return False
    named = blob.suffix in (".mbox", ".mbx", "")
    return named or len(_ENVELOPE.findall(blob.data)) > 1


@reads("mailbox/2", _is_mailbox)
def read_mailbox(blob: Blob) -> Extraction:
    """Takes files that begin with the envelope line of a mailbox."""
    starts = sorted({0, *(match.start() for match in _ENVELOPE.finditer(blob.data))})
    if len(starts) > MAX_MESSAGES:
        raise FileTooLarge(f"{blob.name} holds {len(starts):,} messages.")
    letters = []
    for start, end in zip(starts, [*starts[1:], len(blob.data)], strict=True):
        body = blob.data[blob.data.index(b"\n", start) + 1 : end]
        letters.append(parse_message(re.sub(rb"(?m)^>(>*From )", rb"\1", body)))
    return mailbox_document(blob, letters, "application/mbox")


def mailbox_document(blob: Blob, letters: list[MailMessage], media_type: str) -> Extraction:
    """Messages as a conversation, thread by thread."""
    out = Composer(blob.name)
    threads = _threads(letters)
    for thread in threads:
        out.heading(2, bare_subject(thread[0].subject) or "(no subject)")
        for letter in thread:
            add_message(out, letter)
    dates = sorted(letter.time for letter in letters if letter.time)
    return out.finish(
        blob,
        media_type=media_type,
        metadata=describe(
            {
                "messages": len(letters),
                "threads": len(threads),
                "authors": [name for letter in letters for name in letter.senders][:200],
                "date": dates[0] if dates else "",
                "last": dates[-1] if dates else "",
            }
        ),
        kind=Kind.MESSAGES,
        enclosed=[part for letter in letters for part in letter.attachments],
    )


def letter_document(blob: Blob, letter: MailMessage, media_type: str) -> Extraction:
    """One message as a document."""
    out = Composer(blob.name)
    place = Place(authors=letter.senders, time=letter.time)
    if letter.html:
        root = parse_html(letter.html)
        if root is not None:
            TreeReader(out, place).read(root)
    if not out:
        for paragraph in re.split(r"\n[ \t]*\n", letter.text):
            quoted = paragraph.lstrip().startswith(">")
            out.add("quote" if quoted else "paragraph", paragraph, place=place)
    if not out:  # nothing but a subject or attachments: they still can be found
        names = [part.name for part in letter.attachments]
        lines = [letter.subject, *(f"Attachment: {name}" for name in names)]
        out.add("paragraph", "\n".join(line for line in lines if line), place=place)
    if not out:
        raise FileEmpty(f"{blob.name} is a message without subject, text or attachments.")
    first = letter.addresses[0] if letter.addresses else ""
    return out.finish(
        blob,
        titles=(letter.subject, _from(letter)),
        media_type=media_type,
        metadata=describe(
            {
                "authors": letter.senders,
                "from": letter.addresses if len(letter.addresses) > 1 else first,
                "to": letter.recipients,
                "date": letter.time,
                "message_id": letter.id,
                "in_reply_to": letter.reply_to,
                "attachments": [part.name for part in letter.attachments],
                "encrypted": letter.encrypted,
            }
        ),
        enclosed=letter.attachments,
    )


def add_message(out: Composer, letter: MailMessage) -> None:
    """One message of a conversation, as one element."""
    body = Composer("")
    if letter.text.strip():
        text = letter.text
    else:
        root = parse_html(letter.html) if letter.html else None
        if root is not None:
            TreeReader(body).read(root)
        text = body.text
    names = [f"[{part.name}]" for part in letter.attachments]
    text = "\n".join(part for part in (text.strip(), *names) if part) or letter.subject
    out.add(
        "message", text, place=Place(authors=letter.senders, time=letter.time, link=letter.link)
    )


def _from(letter: MailMessage) -> str:
    """What to call a message whose subject says nothing."""
    opening = f"{letter.subject}, from" if letter.subject else "Message from"
    return f"{opening} {letter.senders[0]}" if letter.senders else ""


def bare_subject(subject: str) -> str:
    return _PREFIX.sub("", subject).strip()


def _threads(letters: list[MailMessage]) -> list[list[MailMessage]]:
    """Messages by conversation: answers follow what they answer, else those of one subject."""
    threads: list[list[MailMessage]] = []
    thread_by_key: dict[str, list[MailMessage]] = {}
    for letter in letters:
        subject = bare_subject(letter.subject).lower()
        keys = [letter.reply_to, *letter.references]
        thread = next((thread_by_key[key] for key in keys if key and key in thread_by_key), None)
        answers = subject and _PREFIX.match(letter.subject)
        if thread is None and answers:
            thread = thread_by_key.get(f"subject {subject}")
        if thread is None:
            thread = []
            threads.append(thread)
        thread.append(letter)
        for key in (letter.id, f"subject {subject}" if subject else ""):
            thread_by_key.setdefault(key, thread)
    return threads


def _narrow(data: bytes) -> bytes:
    """A message saved as UTF-16, as bytes that can be parsed."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8")
    return data
