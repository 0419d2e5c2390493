"""Mail on an IMAP server: every message of the folders you name is an item, with attachments.

A message is known by its folder, the folder's UIDVALIDITY and its UID, as the protocol promises
that these never mean another one. Which UIDs are there is one short request, so deletions show at
once. Mail is only looked at: nothing is marked as read.
"""

from __future__ import annotations

import base64
import imaplib
import json
import re
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from trivium.errors import BadSetting, SourceNonsense, SourceRefused, SourceUnreachable
from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret

_PAGE = 50  # messages per request
_SECONDS = 60.0
_MOST_BYTES = 100 << 20
_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?:"[^"]*"|NIL) (?P<name>.+)')
_UID = re.compile(rb"UID (\d+)")
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
_LEFT_OUT = (rb"\Noselect", rb"\Trash", rb"\Junk", rb"\Drafts", rb"\NonExistent", rb"\All")


@dataclass(frozen=True, slots=True)
class Account:
    host: str
    user: str
    password: str
    port: int = 993
    encrypted: bool = True


class ImapSource:
    """Mail is private: whoever adds the source says who may read it."""

    deletions: Deletions = "told"

    def __init__(self, account: Account, folders: Sequence[str] = ()) -> None:
        """`folders`: their names; empty: all except drafts, junk and trash."""
        self._account = account
        self._folders = folders

    def changes(self, cursor: str) -> Iterator[Change]:
        """The cursor: for each folder, its UIDVALIDITY and the reported UIDs, as ranges."""
        known: dict[str, list[str]] = json.loads(cursor) if cursor else {}
        with self._opened() as server:
            names = self._names(server)
            for name in [one for one in known if one not in names]:
                yield Only(f"{_part(name)}/", frozenset())
                del known[name]
            for count, name in enumerate(names, start=1):
                validity, there = self._uids(server, name)
                before = known.get(name)
                told = _uids_of(before[1]) if before and before[0] == validity else set()
                if before and before[0] != validity:  # the server renumbered them
                    yield Only(f"{_part(name)}/", frozenset())
                for uid in sorted(told - there):
                    yield Gone(_id(name, validity, uid))
                told &= there
                fresh = sorted(there - told)
                for start in range(0, len(fresh), _PAGE):
                    page = fresh[start : start + _PAGE]
                    yield from self._messages(server, name, validity, page)
                    told |= set(page)
                    known[name] = [validity, _ranges(told)]
                    yield Checkpoint(json.dumps(known), count - 1, len(names))
                known[name] = [validity, _ranges(told)]
            yield Checkpoint(json.dumps(known), len(names), len(names))

    def ids(self) -> Iterator[str | Wait]:
        with self._opened() as server:
            for name in self._names(server):
                validity, there = self._uids(server, name)
                yield from (_id(name, validity, uid) for uid in sorted(there))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        wanted = set(ids)
        with self._opened() as server:
            for name in self._names(server):
                validity, there = self._uids(server, name)
                uids = [uid for uid in sorted(there) if _id(name, validity, uid) in wanted]
                for start in range(0, len(uids), _PAGE):
                    yield from self._messages(server, name, validity, uids[start : start + _PAGE])
                wanted -= {_id(name, validity, uid) for uid in uids}
        for id_ in sorted(wanted):
            yield Gone(id_)

    # --- asking

    @contextmanager
    def _opened(self) -> Iterator[imaplib.IMAP4]:
        account = self._account
        try:
            if account.encrypted:
                context = ssl.create_default_context()
                server: imaplib.IMAP4 = imaplib.IMAP4_SSL(
                    account.host, account.port, ssl_context=context, timeout=_SECONDS
                )
            else:
                server = imaplib.IMAP4(account.host, account.port, timeout=_SECONDS)
        except (OSError, imaplib.IMAP4.error) as reason:
            raise SourceUnreachable(f"{account.host} couldn't be reached: {reason}.") from reason
        try:
            try:
                server.login(account.user, account.password)
            except imaplib.IMAP4.error as reason:
                said = f"{account.host} refuses {account.user}."
                raise SourceRefused(said, fix="Check name and password.") from reason
            yield server
        except (TimeoutError, imaplib.IMAP4.abort, ssl.SSLError, ConnectionError) as reason:
            raise SourceUnreachable(f"{account.host} closed the connection: {reason}.") from reason
        except imaplib.IMAP4.error as reason:
            raise SourceNonsense(f"{account.host} answered: {reason}.") from reason
        finally:
            with suppress(OSError, imaplib.IMAP4.error):
                server.logout()
            with suppress(OSError, imaplib.IMAP4.error):
                server.shutdown()  # a failed logout doesn't do this

    def _names(self, server: imaplib.IMAP4) -> list[str]:
        """As the server writes them."""
        if self._folders:
            return [_encoded(one) for one in self._folders]
        _, listed = server.list()
        names = []
        for line in listed:
            found = _LISTED.match(line) if isinstance(line, bytes) else None
            if found and not any(flag in found["flags"] for flag in _LEFT_OUT):
                names.append(found["name"].decode("ascii", "replace").strip().strip('"'))
        return sorted(names)

    def _uids(self, server: imaplib.IMAP4, name: str) -> tuple[str, set[int]]:
        status, _ = server.select(f'"{name}"', readonly=True)
        if status != "OK":
            raise SourceNonsense(
                f"There is no mail folder {_decoded(name)}.", fix="Check its name."
            )
        told = server.response("UIDVALIDITY")[1]
        validity = told[0].decode() if told and isinstance(told[0], bytes) else "0"
        _, found = server.uid("SEARCH", "ALL")
        return validity, {int(uid) for uid in (found[0] or b"").split()}

    def _messages(
        self, server: imaplib.IMAP4, name: str, validity: str, uids: Sequence[int]
    ) -> Iterator[Change]:
        some = ",".join(map(str, uids))
        _, sizes = server.uid("FETCH", some, "(UID RFC822.SIZE)")
        large = set()
        for line in sizes:
            told = line[0] if isinstance(line, tuple) else line
            uid, size = _UID.search(told or b""), _SIZE.search(told or b"")
            if uid and size and int(size[1]) > _MOST_BYTES:
                large.add(int(uid[1]))
        for uid_ in sorted(large):
            id_ = _id(name, validity, uid_)
            yield Failed(id_, f"It has more than {_MOST_BYTES:,} bytes.", "file.too_large")
        wanted = [uid for uid in uids if uid not in large]
        if not wanted:
            return
        _, found = server.uid("FETCH", ",".join(map(str, wanted)), "(UID BODY.PEEK[])")
        for line in found:
            if isinstance(line, tuple) and (uid := _UID.search(line[0])):
                yield self._put(name, validity, int(uid[1]), line[1])

    def _put(self, name: str, validity: str, uid: int, data: bytes) -> Put:
        return Put(
            _id(name, validity, uid),
            f"{uid}.eml",
            partial(bytes, data),
            metadata={"mailbox": _decoded(name)},
            size=len(data),
        )


def _part(name: str) -> str:
    """A folder's name in ids: a slash would look like a level."""
    return quote(name, safe="&,+.-_ ")


def _id(name: str, validity: str, uid: int) -> str:
    return f"{_part(name)}/{validity}/{uid}"


def _ranges(uids: set[int]) -> str:
    """1-5,8: a hundred thousand numbers without holes are one range."""
    parts: list[list[int]] = []
    for uid in sorted(uids):
        if parts and uid == parts[-1][1] + 1:
            parts[-1][1] = uid
        else:
            parts.append([uid, uid])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def _uids_of(ranges: str) -> set[int]:
    found: set[int] = set()
    for part in ranges.split(",") if ranges else ():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _encoded(name: str) -> str:
    """As IMAP writes folder names: UTF-7 with & for +."""

    def part(found: re.Match[str]) -> str:
        held = base64.b64encode(found[0].encode("utf-16-be")).decode().rstrip("=")
        return f"&{held.replace('/', ',')}-"

    return re.sub(r"[^\x20-\x7e]+", part, name.replace("&", "&-"))


def _decoded(name: str) -> str:
    def part(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        held = found[1].replace(",", "/")
        data = base64.b64decode(held + "=" * (-len(held) % 4))
        return data.decode("utf-16-be", "replace")

    return re.sub(r"&([^-]*)-", part, name)


def _make(asked: SourceAsked) -> ImapSource:
    password = needed_secret(asked, "imap", "password")
    encrypted = asked.on("tls", True)
    port = asked.option("port", "993" if encrypted else "143")
    if not port.isdecimal():
        raise BadSetting("`port` must be a number.", fix="Correct it, or leave it out.")
    account = Account(asked.option("host"), asked.option("user"), password, int(port), encrypted)
    return ImapSource(account, asked.several("folders"))


KIND = SourceKind(
    "imap",
    "mail on an IMAP server, with attachments",
    _make,
    {
        "host": "host name of the server",
        "user": "name of the account",
        "folders": "comma-separated; empty: all but drafts, junk and trash",
        "port": "default: 993, or 143 without TLS",
        "tls": "off: without encryption",
    },
    required=("host", "user"),
    secrets=("password",),
)
