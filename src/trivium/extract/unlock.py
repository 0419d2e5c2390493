"""Opens files that a password protects: PDF, Office, archives. The result is the same file without
it; of 7z and RAR, a ZIP of the same members.

Runs in a reader's process as an extractor whose answer is one enclosed file. The password comes
as the blob's `title`, through the pipe: a command line shows it to everybody on the machine.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import struct
import zipfile
import zlib
from contextlib import suppress
from typing import Any

from trivium.core.errors import FileDamaged, FileLocked
from trivium.core.types import Enclosed, Extraction
from trivium.extract.archives import needs_program, unpacked_by_program
from trivium.extract.ole import is_ole
from trivium.extract.package import ZIP_ERRORS, check_sizes, open_zip
from trivium.ports import Blob

_AES, _AES_EXTRA = 99, 0x9901  # WinZip's method, and its extra field
_ROUNDS = 1000


class Unlocker:
    version = "unlock/1"

    def accepts(self, blob: Blob) -> bool:
        return True

    def extract(self, blob: Blob) -> Extraction:
        data = unlocked(blob, blob.title)
        return Extraction("", (), "", "", enclosed=(Enclosed(blob.name, data),))


UNLOCKERS = (Unlocker(),)


def unlocked(blob: Blob, password: str) -> bytes:
    """The file without its password; as it is if it has none. Raises FileLocked when the password
    is wrong."""
    if b"%PDF-" in blob.data[:1024]:
        return _pdf(blob, password)
    if is_ole(blob.data):
        return _office(blob, password)
    if zipfile.is_zipfile(io.BytesIO(blob.data)):
        return _zip(blob, password)
    if needs_program(blob.data):
        return _by_program(blob, password)
    return blob.data


def _wrong(blob: Blob) -> FileLocked:
    return FileLocked(f"That isn't the password of {blob.name}.", fix="Try again.")


def _pdf(blob: Blob, password: str) -> bytes:
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        PdfDocument(blob.data).close()
        return blob.data
    except PdfiumError:
        pass
    try:
        document = PdfDocument(blob.data, password=password)
    except PdfiumError:
        raise _wrong(blob) from None
    try:
        saved = io.BytesIO()
        document.save(saved, flags=raw.FPDF_REMOVE_SECURITY)
    finally:
        document.close()
    return saved.getvalue()


def _office(blob: Blob, password: str) -> bytes:
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError

    opened = io.BytesIO()
    try:
        office: Any = msoffcrypto.OfficeFile(io.BytesIO(blob.data))
        if not office.is_encrypted():
            return blob.data
        office.load_key(password=password)
        office.decrypt(opened)
    except (InvalidKeyError, DecryptionError):
        raise _wrong(blob) from None
    except (FileFormatError, ValueError, OSError, KeyError, IndexError, struct.error) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Office file.") from reason
    return opened.getvalue()


def _zip(blob: Blob, password: str) -> bytes:
    archive = open_zip(blob)
    members = archive.infolist()
    if not any(member.flag_bits & 1 for member in members):
        return blob.data
    check_sizes(blob.name, sum(m.file_size for m in members), sum(m.compress_size for m in members))
    secret, opened = password.encode(), io.BytesIO()
    with zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED) as copy:
        for member in members:
            try:
                if member.compress_type == _AES:
                    data = _winzip(blob, member, secret)
                else:
                    data = archive.read(member, pwd=secret)
            except RuntimeError:  # as zipfile calls a wrong password
                raise _wrong(blob) from None
            except (*ZIP_ERRORS, zlib.error, struct.error, KeyError) as reason:
                raise FileDamaged(f"{blob.name} is damaged.") from reason
            copy.writestr(zipfile.ZipInfo(member.filename, member.date_time), data)
    return opened.getvalue()


def _by_program(blob: Blob, password: str) -> bytes:
    with suppress(FileLocked), unpacked_by_program(blob):
        return blob.data
    opened = io.BytesIO()
    try:
        with (
            unpacked_by_program(blob, password) as files,
            zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED) as copy,
        ):
            for name, path in files:
                copy.writestr(name, path.read_bytes())
    except FileLocked:
        raise _wrong(blob) from None
    return opened.getvalue()


def _winzip(blob: Blob, member: zipfile.ZipInfo, secret: bytes) -> bytes:
    """A member that WinZip, 7-Zip and others encrypted with AES: salt, two bytes that check the
    password, the text in counter mode (counting from 1, lowest byte first), ten bytes of HMAC."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    strength, method = _aes_field(member.extra)
    name, extra = struct.unpack_from("<HH", blob.data, member.header_offset + 26)
    start = member.header_offset + 30 + name + extra
    raw = blob.data[start : start + member.compress_size]
    salt, key = 4 + 4 * strength, 8 + 8 * strength
    made = hashlib.pbkdf2_hmac("sha1", secret, raw[:salt], _ROUNDS, 2 * key + 2)
    body, seal = raw[salt + 2 : -10], raw[-10:]
    digest = hmac.new(made[key : 2 * key], body, "sha1").digest()[:10]
    if made[2 * key :] != raw[salt : salt + 2] or not hmac.compare_digest(digest, seal):
        raise RuntimeError("wrong password")
    blocks = range(1, len(body) // 16 + 2)
    counters = b"".join(block.to_bytes(16, "little") for block in blocks)
    stream = Cipher(algorithms.AES(made[:key]), modes.ECB()).encryptor().update(counters)
    mask = int.from_bytes(stream[: len(body)], "big")
    plain = (int.from_bytes(body, "big") ^ mask).to_bytes(len(body), "big")
    if method == zipfile.ZIP_STORED:
        return plain
    return zlib.decompressobj(-15).decompress(plain, member.file_size or 1)


def _aes_field(extra: bytes) -> tuple[int, int]:
    """Strength (1 to 3) and method of compression."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == _AES_EXTRA and at + 11 <= len(extra) and extra[at + 8] in (1, 2, 3):
            return extra[at + 8], struct.unpack_from("<H", extra, at + 9)[0]
        at += 4 + size
    raise KeyError("no AES field")
