"""Copies a whole library: folder to PostgreSQL, back, or between two of a kind.

Rows keep their ids, so history, tokens, jobs and conversations stay the same, and nothing is
embedded again. An interrupted copy continues where it stopped, unless the source has changed since:
then it starts again. Knows the places by their engines; each rebuilds its own indexes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, func, insert, select, text

from trivium.core.errors import CopyFailed, LibraryNotFound, OriginalMissing, TargetExists
from trivium.core.places import DatabaseAddress, LibraryPlace
from trivium.core.upkeep import Progress
from trivium.ports import Backend
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.sql.checks import Checks
from trivium.store.sql.copying import LAST, TABLES, copy_table, count
from trivium.store.sql.rows import CHECKED
from trivium.store.sql.statements import one_state, set_setting, setting
from trivium.store.sql.tables import counters, documents, interpretations, settings

_UNDER_WAY = "copy"  # setting of a target: the state of the source that is being copied into it
_OWN = ("schema", "postgres_schema", _UNDER_WAY)  # settings that say something of the place itself


@dataclass(frozen=True, slots=True)
class Copied:
    documents: int
    interpretations: int
    passages: int
    originals: int
    missing: int  # originals that the source itself had lost


def copy_library(
    source: LibraryPlace,
    target: LibraryPlace,
    from_options: BackendOptions,
    to_options: BackendOptions,
    on_progress: Progress = lambda *_: None,
) -> Copied:
    """Raises TargetExists if the target holds something else, CopyFailed if the copy differs from
    the source. Others may search the source meanwhile; what they add isn't copied."""
    if str(source) == str(target):
        raise TargetExists("Source and target are the same library.", fix="Name another target.")
    with _Opened(source, from_options) as here, _Opened(target, to_options) as there:
        with one_state(here.engine) as rows:
            _begin(rows, there.engine, source, target)
            with there.engine.connect() as copy:
                for table in TABLES:
                    copy_table(rows, copy, table, on_progress)
                _copy_last(rows, copy)
            addresses = _originals(rows)
            missing = _copy_originals(here.backend, there.backend, addresses, on_progress)
            _copy_beside(here.backend, there.backend)
            try:
                _verify(rows, there.engine, on_progress)
            except CopyFailed:
                with there.engine.begin() as copy:
                    set_setting(copy, _UNDER_WAY, "failed")  # so that the next try starts again
                raise
            done = Copied(
                documents=count(rows, documents),
                interpretations=count(rows, interpretations),
                passages=int(rows.scalar(select(func.sum(documents.c.chunks))) or 0),
                originals=len(addresses) - missing,
                missing=missing,
            )
        on_progress("indexes", 0, 1)
        with there.backend.writer.writing():
            there.backend.upkeep.rebuild()
        on_progress("indexes", 1, 1)
        with there.engine.begin() as copy:
            copy.execute(settings.delete().where(settings.c.name == _UNDER_WAY))
    return done


class _Opened:
    """A library with its own engine beside its backend."""

    def __init__(self, place: LibraryPlace, options: BackendOptions) -> None:
        self.backend: Backend = open_backend(place, options)
        self.engine: Engine = _engine(place)

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.dispose()
        self.backend.close()


def _engine(place: LibraryPlace) -> Engine:
    if isinstance(place, DatabaseAddress):
        from trivium.store.postgres import database
        from trivium.store.postgres.address import parse

        return database.open_database(parse(place))
    from trivium.store.embedded import database as file
    from trivium.store.embedded.backup import DATABASE

    return file.open_database(Path(place) / DATABASE)


def _begin(rows: Connection, target: Engine, source: LibraryPlace, place: LibraryPlace) -> None:
    """Make sure that the target is empty, or holds the beginning of this very copy."""
    if setting(rows, _UNDER_WAY):
        raise LibraryNotFound(
            "The source is itself an unfinished copy.", fix="Finish that copy first."
        )
    sequence = rows.scalar(select(counters.c.value).where(counters.c.name == "sequence"))
    note = f"{source} at {sequence}"
    with target.begin() as copy:
        begun = setting(copy, _UNDER_WAY)
        if begun is None and any(count(copy, table) for table in TABLES):
            raise TargetExists(
                f"{place} already has a library with documents.",
                fix="Name a new folder, database or schema.",
            )
        if begun is not None and begun != note:
            for table in reversed(TABLES):
                copy.execute(table.delete())
        set_setting(copy, _UNDER_WAY, note)


def _copy_last(rows: Connection, copy: Connection) -> None:
    for table in LAST:
        condition = settings.c.name.not_in(_OWN) if table is settings else None
        query = select(table) if condition is None else select(table).where(condition)
        copy.execute(table.delete() if condition is None else table.delete().where(condition))
        for row in rows.execute(query).mappings():
            copy.execute(insert(table).values(**row))
    if copy.dialect.name == "postgresql":  # whose next turn would else have the number of the first
        copy.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('turns', 'id'),"
                " coalesce((SELECT max(id) FROM turns), 0) + 1, false)"
            )
        )
    copy.commit()


def _originals(rows: Connection) -> list[str]:
    query = select(interpretations.c.original).where(interpretations.c.original != "").distinct()
    return sorted(rows.scalars(query))


def _copy_originals(
    here: Backend, there: Backend, addresses: list[str], on_progress: Progress
) -> int:
    """How many the source had lost."""
    missing = 0
    for done, address in enumerate(addresses, start=1):
        try:
            there.originals.put_back(address, here.originals.get(address))
        except OriginalMissing:
            missing += 1
        on_progress("originals", done, len(addresses))
    return missing


def _copy_beside(here: Backend, there: Backend) -> None:
    """Files that were sent in, and judged sets."""
    for name in sorted(here.spool.sizes()):
        there.spool.put_back(name, here.spool.read(name))
    for name in here.shelf.names():
        with here.shelf.reading(name) as source_folder, there.shelf.writing(name) as folder:
            for path in (path for path in source_folder.rglob("*") if path.is_file()):
                copied = folder / path.relative_to(source_folder)
                copied.parent.mkdir(parents=True, exist_ok=True)
                copied.write_bytes(path.read_bytes())


def _verify(rows: Connection, target: Engine, on_progress: Progress) -> None:
    """Every table has as many rows, and every row with a checksum still fits it."""
    with target.connect() as copy:
        for table in (*TABLES, *CHECKED):
            sent, arrived = _summed(rows, table), _summed(copy, table)
            if sent != arrived:
                raise CopyFailed(f"The table {table.name} has {arrived} in the copy, not {sent}.")
    on_progress("checking", 0, 1)
    wrong = Checks(target).unsound(with_passages=True)
    if wrong:
        tables = ", ".join(sorted({finding.table.name for finding in wrong}))
        raise CopyFailed(f"Rows of {tables} that differ from the source: {len(wrong):,}.")
    on_progress("checking", 1, 1)


def _summed(connection: Connection, table: Table) -> tuple[int, int]:
    """Rows, and the sum of their checksums."""
    if table not in CHECKED:
        return count(connection, table), 0
    query = select(func.count(), func.coalesce(func.sum(table.c.checksum), 0))
    row = connection.execute(query.select_from(table)).one()
    return int(row[0]), int(row[1])
