"""Mailboxes in files: every message is an item, with its attachments.

Takes one mbox file or a folder of them. A file that only grew is read from where it ended before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from trivium.core.errors import FileUnreadable
from trivium.extract.email import ENVELOPE_LINE, FIELD_LINE
from trivium.ports import Change, Checkpoint, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.listed import existing, missing, picked, stamp_of

PAGE = 256  # messages between two cursors
_PIECE = 1 << 20
_ENVELOPE, _FIELD = re.compile(ENVELOPE_LINE), re.compile(FIELD_LINE)
_QUOTED = re.compile(rb"(?m)^>(>*From )")
_SUFFIXES = (".mbox", ".mbx", "")


class MboxSource:
    """Mail is private: whoever adds the source says who may read it."""

    deletions: Deletions = "told"

    def __init__(self, place: Path) -> None:
        self._place = place

    def changes(self, cursor: str) -> Iterator[Change]:
        """For each file, the cursor says how much of it was reported, and its stamp if that is
        all."""
        state: dict[str, dict[str, object]] = json.loads(cursor) if cursor else {}
        files = self._files()
        for name in sorted(state.keys() - files.keys()):
            yield Only(f"{name}/", frozenset())
            del state[name]
        for name, path in files.items():
            stamp = stamp_of(path)
            if stamp is None or state.get(name, {}).get("stamp") == list(stamp):
                continue
            with _opened(path) as file:
                yield from self._file(name, file, state)
                state[name]["stamp"] = list(stamp)
            yield Checkpoint(json.dumps(state))
        yield Checkpoint(json.dumps(state))

    def _file(
        self, name: str, file: BinaryIO, state: dict[str, dict[str, object]]
    ) -> Iterator[Change]:
        before = state.get(name, {})
        size = int(str(before.get("bytes", 0)))
        sum_ = hashlib.sha256()
        grew = bool(size) and _hashed(file, size, sum_) and sum_.hexdigest() == before.get("hash")
        if grew and file.read(5) not in (b"From ", b""):  # its last message continues
            grew = False
        file.seek(size)
        if not grew:
            file.seek(0)
            size, sum_ = 0, hashlib.sha256()
        ids = set()
        for count, message in enumerate(_messages(file), start=1):
            put = self._put(name, message)
            if not grew:
                ids.add(put.id)
            yield put
            sum_.update(message)
            size += len(message)
            # If a file was rewritten, the old cursor stays until all of it is reported again: only
            # then do we know what is gone.
            if count % PAGE == 0 and (grew or not before):
                state[name] = {"bytes": size, "hash": sum_.hexdigest()}
                yield Checkpoint(json.dumps(state))
        if not grew:
            yield Only(f"{name}/", frozenset(ids))
        state[name] = {"bytes": size, "hash": sum_.hexdigest()}

    def ids(self) -> Iterator[str | Wait]:
        for name in self._files():
            yield from dict.fromkeys(put.id for put in self._puts(name))

    def _puts(self, name: str) -> Iterator[Put]:
        """The messages of one file, if it is there."""
        if name in (files := self._files()):
            with _opened(files[name]) as file:
                yield from (self._put(name, message) for message in _messages(file))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        named = {id_.rpartition("/")[0] for id_ in ids}
        return picked((put for name in named for put in self._puts(name)), ids)

    def _files(self) -> dict[str, Path]:
        if self._place.is_file():
            return {self._place.name: self._place}
        if not self._place.is_dir():
            raise missing(self._place)
        paths = sorted(self._place.rglob("*"))
        return {
            path.relative_to(self._place).as_posix(): path
            for path in paths
            if path.is_file() and path.suffix.lower() in _SUFFIXES and not path.name.startswith(".")
        }

    def _put(self, name: str, message: bytes) -> Put:
        """Identified by its bytes: a message doesn't change, and not all have a good id."""
        body = message.lstrip(b"\r\n")
        if body.startswith(b"From "):
            body = body.partition(b"\n")[2]
        body = _QUOTED.sub(rb"\1", body)
        id_ = hashlib.sha256(body).hexdigest()[:20]
        return Put(
            f"{name}/{id_}",
            f"{id_}.eml",
            partial(bytes, body),
            metadata={"mailbox": name},
            size=len(body),
        )


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as reason:
        raise FileUnreadable(f"{path.name} can't be read: {reason.strerror}.") from reason


def _hashed(file: BinaryIO, count: int, sum_: hashlib._Hash) -> bool:
    """Hash the next `count` bytes; returns whether the file has that many."""
    left = count
    while left and (piece := file.read(min(left, _PIECE))):
        sum_.update(piece)
        left -= len(piece)
    return not left


def _messages(file: BinaryIO) -> Iterator[bytes]:
    """From here to the end, each with its envelope line; one at a time is in memory."""
    lines: list[bytes] = []
    blank, following = True, file.readline()
    while following:
        line, following = following, file.readline()
        begins = blank and _ENVELOPE.fullmatch(line) and _FIELD.match(following)
        if begins and any(map(bytes.strip, lines)):
            yield b"".join(lines)
            lines = []
        lines.append(line)
        blank = not line.strip()
    if any(map(bytes.strip, lines)):
        yield b"".join(lines)


def _make(request: SourceAsked) -> MboxSource:
    return MboxSource(existing(request.option("path")))


KIND = SourceKind(
    "mbox",
    "mail in mbox files, with attachments",
    _make,
    {"path": "the file, or a folder of mbox files"},
    required=("path",),
    files=("path",),
)
