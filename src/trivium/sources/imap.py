"""Mail on an IMAP server: every message of the folders you name is an item, with attachments.

A message is known by its folder, the folder's UIDVALIDITY and its UID, as the protocol promises
that these never mean another one. Which UIDs are there is a short request, so deletions show at
once. If a folder holds all mail (Gmail's archive), it alone is read, with labels in place of
folders. Mail is only looked at: nothing is marked as read.
"""

from __future__ import annotations

import base64
import imaplib
import json
import re
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from trivium.core.errors import BadSetting, SourceNonsense, SourceRefused, SourceUnreachable
from trivium.extract.composer import describe
from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.service import whole_number

_PAGE = 50  # messages per request
_AT_ONCE = 8 << 20  # bytes of messages per request: a page of large ones doesn't fill the memory
_SECONDS = 60.0
_MOST_BYTES = 100 << 20
# Messages whose numbers one answer lists. imaplib refuses lines of more than a million bytes.
_SEARCHED = 20_000
_TRIES = 5
_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?:"(?:[^"\\]|\\.)*"|NIL) (?P<name>.+)', re.DOTALL)
_UID = re.compile(rb"UID (\d{1,10})")
_SIZE = re.compile(rb"RFC822\.SIZE (\d{1,15})")
_LABELS = re.compile(rb'X-GM-LABELS \(((?:"(?:[^"\\]|\\.)*"|[^)"])*)\)')
_LABEL = re.compile(rb'"((?:[^"\\]|\\.)*)"|([^\s"]+)')
_LITERAL = re.compile(rb"\{\d+\}$")
_SET = re.compile(rb"ALL ([\d:,]+)")
_LEFT_OUT = (rb"\noselect", rb"\trash", rb"\junk", rb"\drafts", rb"\nonexistent")


@dataclass(frozen=True, slots=True)
class Account:
    host: str
    user: str
    password: str = ""
    port: int = 993
    encrypted: bool = True  # from the first byte
    starttls: bool = False  # encrypted after a greeting
    token: str = ""  # of OAuth 2, in place of a password


@dataclass(frozen=True, slots=True)
class _Folder:
    name: str  # as the server writes it, without quotes
    holds_all: bool = False  # every mail once, as Gmail's archive: the other folders are labels

    @property
    def part(self) -> str:
        """Of ids: a slash would look like a level."""
        return quote(self.name, safe="&,+.-_ ")

    def id(self, validity: str, uid: int) -> str:
        return f"{self.part}/{validity}/{uid}"


class _NoFolder(SourceNonsense):
    """One folder can't be read; others can."""


class ImapSource:
    """Mail is private: whoever adds the source says who may read it."""

    deletions: Deletions = "told"

    def __init__(self, account: Account, folders: Sequence[str] = ()) -> None:
        """`folders`: their names; empty: all except drafts, junk and trash."""
        self._account = account
        self._folders = folders

    def changes(self, cursor: str) -> Iterator[Change]:
        """The cursor: for each folder, its UIDVALIDITY and the reported UIDs, as ranges."""
        reported_by_folder: dict[str, list[str]] = json.loads(cursor) if cursor else {}
        with self._opened() as server:
            folders = self._listed(server)
            names = {folder.name for folder in folders}
            for name in [name for name in reported_by_folder if name not in names]:
                yield Only(f"{_Folder(name).part}/", frozenset())
                del reported_by_folder[name]
            for count, folder in enumerate(folders):
                try:
                    for change in self._changed(server, folder, reported_by_folder):
                        yield change or Checkpoint(
                            json.dumps(reported_by_folder), count, len(folders)
                        )
                except _NoFolder as reason:
                    yield _unread(folder, reason)
            yield Checkpoint(json.dumps(reported_by_folder), len(folders), len(folders))

    def _changed(
        self, server: imaplib.IMAP4, folder: _Folder, reported_by_folder: dict[str, list[str]]
    ) -> Iterator[Change | None]:
        """None: a good moment for a cursor."""
        validity, there = self._uids(server, folder)
        before = reported_by_folder.get(folder.name)
        reported = _uids_of(before[1]) if before and before[0] == validity else set()
        if before and before[0] != validity:  # the server renumbered them
            yield Only(f"{folder.part}/", frozenset())
        for uid in sorted(reported - there):
            yield Gone(folder.id(validity, uid))
        reported &= there
        fresh = sorted(there - reported)
        for start in range(0, len(fresh), _PAGE):
            page = fresh[start : start + _PAGE]
            yield from self._messages(server, folder, validity, page)
            reported |= set(page)
            reported_by_folder[folder.name] = [validity, _ranges(reported)]
            yield None
        reported_by_folder[folder.name] = [validity, _ranges(reported)]

    def ids(self) -> Iterator[str | Wait | Failed]:
        with self._opened() as server:
            for folder in self._listed(server):
                try:
                    validity, there = self._uids(server, folder)
                except _NoFolder as reason:
                    yield _unread(folder, reason)
                    continue
                yield from (folder.id(validity, uid) for uid in sorted(there))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        wanted = set(ids)
        with self._opened() as server:
            for folder in self._listed(server):
                mine = {id_ for id_ in wanted if id_.startswith(f"{folder.part}/")}
                mine |= wanted & {folder.part}
                if not mine:
                    continue
                try:
                    validity, there = self._uids(server, folder)
                except _NoFolder as reason:
                    yield from (Failed(id_, reason.message) for id_ in sorted(mine))
                    wanted -= mine
                    continue
                uids = [uid for uid in sorted(there) if folder.id(validity, uid) in mine]
                yield from self._messages(server, folder, validity, uids)
                wanted -= {folder.id(validity, uid) for uid in uids}
        for id_ in sorted(wanted):
            yield Gone(id_)

    # --- asking

    @contextmanager
    def _opened(self) -> Iterator[imaplib.IMAP4]:
        account = self._account
        try:
            server = _connected(account)
        except OSError as reason:
            raise SourceUnreachable(f"Couldn't connect to {account.host}: {reason}.") from reason
        except imaplib.IMAP4.error as reason:
            problem = f"{account.host} doesn't answer as a mail server does on port {account.port}."
            raise SourceNonsense(problem, fix="Check `host`, `port` and `tls`.") from reason
        try:
            try:
                _sign_in(server, account)
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as reason:
                problem = f"{account.host} refuses {account.user}."
                credentials = "the token" if account.token else "name and password"
                raise SourceRefused(problem, fix=f"Check {credentials}.") from reason
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

    def _listed(self, server: imaplib.IMAP4) -> list[_Folder]:
        if self._folders:
            return [_Folder(_encoded(folder)) for folder in self._folders]
        status, listed = server.list()
        if status != "OK":
            raise SourceNonsense(f"{self._account.host} lists no folders.")
        folders = []
        for line in _responses(listed):
            if match := _LISTED.match(line):
                flags = match["flags"].lower().split()
                name = _unquoted(match["name"].strip()).decode("ascii", "replace")
                if not any(flag in flags for flag in _LEFT_OUT):
                    folders.append(_Folder(name, rb"\all" in flags))
        every = [folder for folder in folders if folder.holds_all]
        return every[:1] or sorted(folders, key=lambda folder: folder.name)

    def _uids(self, server: imaplib.IMAP4, folder: _Folder) -> tuple[str, set[int]]:
        """Every number once; again if mail went while they were listed. Without drafts, which a
        folder with all mail holds too."""
        key = "UNDRAFT" if folder.holds_all else "ALL"
        for _ in range(_TRIES):
            validity, count = self._selected(server, folder)
            if _can(server, b"ESEARCH"):
                server.response("ESEARCH")
                _answered(server.uid("SEARCH", "RETURN", "(ALL)", key), folder)
                match = _SET.search(b" ".join(_responses(server.response("ESEARCH")[1])))
                return validity, _uids_of(
                    match[1].decode().replace(":", "-"), count
                ) if match else set()
            server.response("EXPUNGE")
            uids: set[int] = set()
            for start in range(1, count + 1, _SEARCHED):
                last = min(start + _SEARCHED - 1, count)
                some = [f"{start}:{last}"] if count > _SEARCHED else []
                data = _answered(server.uid("SEARCH", *some, key), folder)
                uids |= {int(uid) for uid in (data[0] or b"").split() if len(uid) <= 10}
            if server.response("EXPUNGE")[1] in ([], [None]):
                return validity, uids
        raise _NoFolder(f"{_decoded(folder.name)} changes all the time.", fix="Try again later.")

    def _selected(self, server: imaplib.IMAP4, folder: _Folder) -> tuple[str, int]:
        """Its UIDVALIDITY, and how many mails it holds."""
        status, answer = server.select(_quoted(folder.name), readonly=True)
        if status != "OK":
            raise _NoFolder(f"There is no mail folder {_decoded(folder.name)}.", fix="Check it.")
        count = whole_number((answer[0] or b"0").decode("ascii", "replace"))
        valid = server.response("UIDVALIDITY")[1]
        return valid[0].decode() if valid and isinstance(valid[0], bytes) else "0", count

    def _messages(
        self, server: imaplib.IMAP4, folder: _Folder, validity: str, uids: Sequence[int]
    ) -> Iterator[Change]:
        """Sizes first, so that a request brings a few megabytes at most."""
        items = (
            "(UID RFC822.SIZE X-GM-LABELS)" if _can(server, b"X-GM-EXT-1") else "(UID RFC822.SIZE)"
        )
        for start in range(0, len(uids), _PAGE):
            some = ",".join(map(str, uids[start : start + _PAGE]))
            group, total = _Group(folder, validity), 0
            for line in _responses(_answered(server.uid("FETCH", some, items), folder)):
                uid, size = _UID.search(line), _SIZE.search(line)
                if not uid:
                    continue
                count = int(size[1]) if size else 0
                if count > _MOST_BYTES:
                    problem = f"It has more than {_MOST_BYTES:,} bytes."
                    yield Failed(folder.id(validity, int(uid[1])), problem, "file.too_large")
                    continue
                if total and total + count > _AT_ONCE:
                    yield from self._bodies(server, group)
                    group, total = _Group(folder, validity), 0
                group.labels[int(uid[1])] = _labels(line)
                total += count
            yield from self._bodies(server, group)

    def _bodies(self, server: imaplib.IMAP4, group: _Group) -> Iterator[Change]:
        """Those that are still there. One that the server can't give fails alone."""
        uids = list(group.labels)
        if not uids:
            return
        try:
            status, parts = server.uid("FETCH", ",".join(map(str, uids)), "(UID BODY.PEEK[])")
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as reason:
            status, parts = str(reason), []
        if status != "OK" and len(uids) > 1:
            for uid in uids:
                yield from self._bodies(server, replace(group, labels={uid: group.labels[uid]}))
            return
        if status != "OK":
            problem = f"{self._account.host} can't give it: {status}."
            yield Failed(group.folder.id(group.validity, uids[0]), problem)
            return
        for line, tail in zip(parts, [*parts[1:], b""], strict=True):
            if isinstance(line, tuple):
                after = tail if isinstance(tail, bytes) else b""  # some servers say the UID last
                number = _UID.search(line[0]) or _UID.search(after)
                if number and int(number[1]) in group.labels:
                    yield group.put(int(number[1]), line[1])


@dataclass(frozen=True, slots=True)
class _Group:
    """Mails to fetch together, with their labels."""

    folder: _Folder
    validity: str
    labels: dict[int, list[str]] = field(default_factory=dict)  # by UID

    def put(self, uid: int, data: bytes) -> Put:
        metadata: dict[str, object] = {"mailbox": _decoded(self.folder.name)}
        if self.labels[uid]:
            metadata["labels"] = self.labels[uid]
        return Put(
            self.folder.id(self.validity, uid),
            f"{uid}.eml",
            partial(bytes, data),
            metadata=describe(metadata),
            size=len(data),
        )


def _connected(account: Account) -> imaplib.IMAP4:
    if account.encrypted:
        context = ssl.create_default_context()
        return imaplib.IMAP4_SSL(account.host, account.port, ssl_context=context, timeout=_SECONDS)
    server = imaplib.IMAP4(account.host, account.port, timeout=_SECONDS)
    try:
        if account.starttls:
            server.starttls(ssl.create_default_context())
    except (OSError, imaplib.IMAP4.error):
        with suppress(OSError):
            server.shutdown()
        raise
    return server


def _sign_in(server: imaplib.IMAP4, account: Account) -> None:
    """By a token (RFC 7628's forerunner XOAUTH2, as Gmail and Microsoft 365 want it), or a name
    and a password; those beyond ASCII can't be written in LOGIN."""
    if account.token:
        credentials = f"user={account.user}\1auth=Bearer {account.token}\1\1".encode()
        answers = iter([credentials])  # a server that refuses says why, and wants an empty answer
        server.authenticate("XOAUTH2", lambda _: next(answers, b""))
    elif account.user.isascii() and account.password.isascii():
        server.login(account.user, account.password)
    else:
        credentials = f"\0{account.user}\0{account.password}".encode()
        server.authenticate("PLAIN", lambda _: credentials)
    server.capabilities = tuple(  # more than before signing in
        part.decode("ascii", "replace").upper()
        for part in (server.capability()[1][0] or b"").split()
    )


def _can(server: imaplib.IMAP4, capability: bytes) -> bool:
    return capability.decode() in server.capabilities


def _answered(answer: tuple[str, list[Any]], folder: _Folder) -> list[Any]:
    if answer[0] != "OK":
        raise _NoFolder(f"The mail folder {_decoded(folder.name)} can't be read: {answer[1]}.")
    return answer[1]


def _unread(folder: _Folder, reason: _NoFolder) -> Failed:
    return Failed(folder.part, reason.message, hides=f"{folder.part}/")


def _responses(data: Sequence[Any] | None) -> Iterator[bytes]:
    """Answers of a server, with what imaplib cut out of them back in place, in quotes."""
    line = b""
    for part in data or ():
        if isinstance(part, tuple):
            literal = part[1].replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            line += _LITERAL.sub(b"", part[0]) + b'"' + literal + b'"'
        elif isinstance(part, bytes):
            yield line + part
            line = b""
    if line:
        yield line


def _labels(line: bytes) -> list[str]:
    """Gmail's: `\\Inbox` is one of its own."""
    match = _LABELS.search(line)
    labels = (match[1] or match[2] for match in _LABEL.finditer(match[1])) if match else ()
    names = (re.sub(rb"\\(.)", rb"\1", label).decode("ascii", "replace") for label in labels)
    return [_decoded(name.lstrip("\\")) for name in names]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unquoted(name: bytes) -> bytes:
    if name.startswith(b'"') and name.endswith(b'"') and len(name) > 1:
        return re.sub(rb"\\(.)", rb"\1", name[1:-1])
    return name


def _ranges(uids: set[int]) -> str:
    """1-5,8: a hundred thousand numbers without holes are one range."""
    parts: list[list[int]] = []
    for uid in sorted(uids):
        if parts and uid == parts[-1][1] + 1:
            parts[-1][1] = uid
        else:
            parts.append([uid, uid])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def _uids_of(ranges: str, most: int | None = None) -> set[int]:
    """`most`: how many there can be; a server may say anything. Raises SourceNonsense."""
    uids: set[int] = set()
    for part in ranges.split(",") if ranges else ():
        first, last = int(part.partition("-")[0]), int(part.rpartition("-")[2])
        first, last = min(first, last), max(first, last)
        if most is not None and last - first >= most:
            raise SourceNonsense("The mail server lists more mails than there are.")
        uids |= set(range(first, last + 1))
    return uids


def _encoded(name: str) -> str:
    """As IMAP writes folder names: UTF-7 with & for +."""

    def part(match: re.Match[str]) -> str:
        coded = base64.b64encode(match[0].encode("utf-16-be")).decode().rstrip("=")
        return f"&{coded.replace('/', ',')}-"

    return re.sub(r"[^\x20-\x7e]+", part, name.replace("&", "&-"))


def _decoded(name: str) -> str:
    def part(match: re.Match[str]) -> str:
        if not match[1]:
            return "&"
        coded = match[1].replace(",", "/")
        try:
            data = base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
        except ValueError:  # a name that isn't written as it should be: as it is
            return match[0]
        return data.decode("utf-16-be", "replace")

    return re.sub(r"&([^-]*)-", part, name)


def _make(request: SourceAsked) -> ImapSource:
    token = request.secrets.get("token", "")
    password = "" if token else needed_secret(request, "imap", "password")
    starttls = request.option("tls") == "starttls"
    encrypted = not starttls and request.on("tls", True)
    port = whole_number(request.option("port", "993" if encrypted else "143"), 65_535)
    if not port:
        raise BadSetting("`port` must be a number up to 65535.", fix="Correct it or leave it out.")
    account = Account(
        request.option("host"), request.option("user"), password, port, encrypted, starttls, token
    )
    return ImapSource(account, request.several("folders"))


KIND = SourceKind(
    "imap",
    "mail on an IMAP server, with attachments",
    _make,
    {
        "host": "host name of the server",
        "user": "name of the account",
        "folders": "comma-separated; empty: all but drafts, junk and trash",
        "port": "default: 993, or 143 without TLS",
        "tls": "starttls: encrypted after a greeting, on port 143; off: without encryption",
    },
    required=("host", "user"),
    secrets=("password", "token"),
)
