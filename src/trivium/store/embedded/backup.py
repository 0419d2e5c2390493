"""Backs up a library into one file while it is in use, and restores it into an empty folder.

    trivium.json      what it holds: format, counts
    library.db        a consistent copy of the database
    archive/…         the originals that this copy refers to
    evaluation/…      judged sets and saved evaluations, the work of people
    SHA256SUMS        a line for each of the others; last, so if it is there, everything is

The search indexes are left out: they are derived. They would make the file half as large again
(10,000 chunks of 200 words: 13 MB beside 29), and could only be copied while nobody writes;
rebuilding them takes about a millisecond per chunk on a busy machine.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO

from trivium.core.errors import BackupDamaged, OriginalMissing
from trivium.core.upkeep import Backup, Progress
from trivium.ports import Blobs
from trivium.store.embedded.database import translated

DATABASE = "library.db"
ABOUT, SUMS, ARCHIVE = "trivium.json", "SHA256SUMS", "archive"
EVALUATION = "evaluation"
_PIECE = 1 << 20
_SCHEME = "sha256:"
_PLAIN = re.compile(rf"{EVALUATION}(/[\w-][\w.-]*){{2,4}}")  # no path upwards, no hidden file


def write_backup(
    database: Path, blobs: Blobs, target: Path, on_progress: Progress = lambda *_: None
) -> Backup:
    """Write the file completely or not at all. Others may search and add meanwhile: the backup has
    the state of one instant, when it began."""
    unfinished = f".{target.name}.new-"
    for left in target.parent.glob(f"{glob.escape(unfinished)}*"):  # left by a killed process
        shutil.rmtree(left, ignore_errors=True)
    with (
        translated(target.parent),
        tempfile.TemporaryDirectory(prefix=unfinished, dir=target.parent) as folder,
    ):
        copy = Path(folder) / DATABASE
        size = database.stat().st_size
        on_progress("database", 0, size)
        _copy_database(database, copy)
        on_progress("database", size, size)
        packed = Path(folder) / "packed"
        with tarfile.open(packed, "w") as tar:
            about = _pack(tar, copy, database.parent / EVALUATION, blobs, on_progress)
        _sync(packed)
        packed.replace(target)
    return Backup(**{**asdict(about), "bytes": target.stat().st_size})


def _pack(
    tar: tarfile.TarFile, copy: Path, beside: Path, blobs: Blobs, on_progress: Progress
) -> Backup:
    sums: list[str] = []
    with closing(sqlite3.connect(copy)) as connection:
        wanted = _originals(connection)
        total = sum(size for _, size in wanted)
        done, missing = 0, []
        for address, size in wanted:
            try:
                data = blobs.get(address)
            except OriginalMissing:  # removed meanwhile, or lost before
                missing.append(address)
                continue
            name = f"{ARCHIVE}/{address.removeprefix(_SCHEME)}"
            _add(tar, name, data, sums)
            done += size
            on_progress("originals", done, total)
        for start in range(0, len(missing), 500):
            some = missing[start : start + 500]
            marks = ", ".join("?" * len(some))
            for table in ("documents", "interpretations"):
                unset = f"UPDATE {table} SET original = '', checksum = NULL"
                connection.execute(f"{unset} WHERE original IN ({marks})", some)
        connection.commit()
        about = _about(connection, len(wanted) - len(missing))
    _add_file(tar, DATABASE, copy, sums)
    for path in sorted(beside.rglob("*")):
        name = f"{EVALUATION}/{path.relative_to(beside).as_posix()}"
        if path.is_file() and _PLAIN.fullmatch(name):
            _add(tar, name, path.read_bytes(), sums)  # read at once: someone may be judging
    _add(tar, ABOUT, json.dumps(asdict(about), indent=1).encode(), sums)
    _add(tar, SUMS, "".join(sums).encode(), [])
    return about


def read_backup(
    source: Path, folder: Path, blobs: Blobs, on_progress: Progress = lambda *_: None
) -> Backup:
    """Unpack a backup's database and evaluations into an empty folder, its originals into the
    archive. Checks the hash of every file; raises on any damage."""
    about: Backup | None = None
    sums: dict[str, str] = {}
    listed: dict[str, str] = {}
    try:
        with tarfile.open(source, "r:") as tar:
            size, done = source.stat().st_size, 0
            for member in tar:
                stream = tar.extractfile(member) if member.isreg() else None
                if stream is None:
                    raise BackupDamaged(f"{source} contains something that isn't a file.")
                if member.name == DATABASE:
                    sums[DATABASE] = _unpack(stream, folder / DATABASE)
                else:
                    data = stream.read()
                    sums[member.name] = hashlib.sha256(data).hexdigest()
                    if member.name == SUMS:
                        listed = _listed(data)
                    elif member.name == ABOUT:
                        about = Backup(**json.loads(data))
                    elif member.name.startswith(f"{ARCHIVE}/"):
                        blobs.put(data)  # under its own hash, whatever its name here is
                    elif _PLAIN.fullmatch(member.name):
                        path = folder / member.name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(data)
                done += member.size
                on_progress("unpacking", done, size)
    except (tarfile.TarError, EOFError, ValueError, TypeError) as reason:
        raise BackupDamaged(f"{source} can't be read: {reason}.") from reason
    sums.pop(SUMS, None)
    if about is None or not listed or listed != sums:
        wrong = sorted({n for n in listed.keys() | sums.keys() if listed.get(n) != sums.get(n)})
        text = f"{wrong[0]} has changed" if wrong else "its list of contents is missing"
        raise BackupDamaged(f"{source} is damaged: {text}.")
    return about


def _copy_database(source: Path, target: Path) -> None:
    """In one step, so from one instant; readers and the writer continue meanwhile."""
    with (
        closing(sqlite3.connect(source, timeout=30)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # so that it is one file
        # Leave out what a writer had not finished.
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("DELETE FROM interpretations WHERE state = 'staged'")
        new.execute("DELETE FROM documents WHERE interpretation = 0")
        new.commit()


def _originals(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    query = "SELECT original, max(size) FROM interpretations WHERE original <> '' GROUP BY original"
    return list(connection.execute(query))


def _about(connection: sqlite3.Connection, originals: int) -> Backup:
    def number(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    return Backup(
        documents=number("SELECT count(*) FROM documents"),
        interpretations=number("SELECT count(*) FROM interpretations"),
        originals=originals,
        schema=number("SELECT value FROM settings WHERE name = 'schema'"),
    )


def _add(tar: tarfile.TarFile, name: str, data: bytes, sums: list[str]) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))
    sums.append(f"{hashlib.sha256(data).hexdigest()}  {name}\n")


def _add_file(tar: tarfile.TarFile, name: str, path: Path, sums: list[str]) -> None:
    info = tarfile.TarInfo(name)
    info.size = path.stat().st_size
    with path.open("rb") as stream:
        tar.addfile(info, stream)
    with path.open("rb") as stream:
        sums.append(f"{hashlib.file_digest(stream, 'sha256').hexdigest()}  {name}\n")


def _unpack(stream: IO[bytes], path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("xb") as file:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _listed(data: bytes) -> dict[str, str]:
    lines = (line.split("  ", 1) for line in data.decode().splitlines())
    return {name: digest for digest, name in lines}


def _sync(path: Path) -> None:
    with suppress(OSError), path.open("rb") as file:
        os.fsync(file.fileno())
