"""Where words occur, as rows of PostgreSQL: written with each change, merged later, read by word.

A change writes one row for each of its words; many such rows would make reading slow and the table
large, so they are merged level by level (`merge`). A row's arrays can be joined end to end. Removed
chunks stay in the rows until `rebuild`: readers mask them. A rebuild gives every word another
number, so whoever caches numbers or words keeps the `generation` beside them. Knows nothing of
scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, Engine, text

from trivium.store.postgres.database import direct
from trivium.store.sql.rows import IndexedChunk
from trivium.store.sql.statements import take
from trivium.text.normalise import words
from trivium.text.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = 0  # the word whose counts are the lengths of chunks
_IDS, _COUNTS = np.dtype("<i4"), np.dtype("<u2")
MOST = 2**16 - 1  # larger positions and counts are cut to this
_RUNS = (32, 8)  # how many rows of a word at a level are merged, for each level except the last
_LAST = len(_RUNS)  # the level whose rows stay as they are
_MERGE = 7_411_002  # lock of whoever merges
_AT_ONCE = 20_000  # chunks whose words are collected at a time in a rebuild
_KNOWN = 500_000  # numbers of words that a writer caches
_COPY = "COPY postings FROM STDIN (FORMAT BINARY)"
_TYPES = ("int4", "int8", "int8", "int2", "bytea", "bytea", "bytea")
_JOIN = """
WITH gone AS (DELETE FROM postings WHERE level = :level RETURNING *)
INSERT INTO postings (word, since, upto, level, ids, counts, positions)
SELECT word, min(since), max(upto), :level + 1, string_agg(ids, ''::bytea ORDER BY since),
       string_agg(counts, ''::bytea ORDER BY since), string_agg(positions, ''::bytea ORDER BY since)
FROM gone GROUP BY word
"""
_NAMELESS = (
    "SELECT count(*) FROM (SELECT DISTINCT word FROM postings WHERE word <> :lengths) AS p"
    " WHERE NOT EXISTS (SELECT FROM words w WHERE w.id = p.word)"
)
_NOWHERE = (
    "SELECT count(*) FROM words w WHERE NOT EXISTS (SELECT FROM postings p WHERE p.word = w.id)"
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The words of some chunks, before their ids and numbers are known."""

    words: list[tuple[str, str]]  # word and language
    bounds: NDArray[np.int64]  # word i is in entries bounds[i] to bounds[i + 1]
    chunks: NDArray[np.int64]  # by entry: which chunk
    counts: NDArray[np.int64]  # by entry: how often
    places: bytes  # all positions, entry by entry
    starts: NDArray[np.int64]  # by entry: where its positions begin, and one more for the end
    lengths: NDArray[np.int64]  # by chunk: how many words


def gather(chunks: Sequence[tuple[str, str]]) -> Gathered:
    """From texts and their languages. Done before any lock is taken: it is most of the work."""
    number_of: dict[tuple[str, str], int] = {}
    terms: list[NDArray[np.int64]] = []
    for text_, language in chunks:
        numbers = [number_of.setdefault((word, language), len(number_of)) for word in words(text_)]
        terms.append(np.array(numbers, dtype=np.int64))
    lengths = np.array([len(term) for term in terms], dtype=np.int64)
    all_terms = np.concatenate([*terms, np.empty(0, dtype=np.int64)])
    owners = np.repeat(np.arange(len(terms)), lengths)
    places = np.concatenate([*map(np.arange, lengths), np.empty(0, dtype=np.int64)])
    order = np.argsort(all_terms, kind="stable")  # chunks and positions stay in order
    all_terms, owners = all_terms[order], owners[order]
    first = np.ones(len(order), dtype=bool)  # an entry is a word in a chunk
    first[1:] = (np.diff(all_terms) != 0) | (np.diff(owners) != 0)
    starts = np.flatnonzero(first)
    bounds = np.searchsorted(all_terms[starts], np.arange(len(number_of) + 1))
    return Gathered(
        list(number_of),
        bounds,
        owners[starts],
        np.diff(np.append(starts, len(order))),
        np.minimum(places[order], MOST).astype(_COUNTS).tobytes(),
        np.append(starts, len(order)),
        lengths,
    )


def generation(connection: Connection) -> int:
    """Another one after each rebuild: numbers of words only rise, and a rebuild gives new ones to
    all of them. Servers of earlier releases change it too."""
    return int(connection.scalar(text("SELECT min(id) FROM words")) or 0)


class WordRows:
    """Changes the rows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._numbers: dict[tuple[str, str], int] = {}
        self._of = (0, 0)  # the generation that the numbers belong to, and the last change

    def add(
        self, connection: Connection, gathered: Gathered, ids: NDArray[np.int64], sequence: int
    ) -> None:
        """Part of a change that has its sequence number: from then on no other change commits, so
        numbers of words rise in the order of changes."""
        if not len(ids):
            return
        now, (before, last) = generation(connection), self._of
        # A sequence that goes back: the database was restored from a backup.
        if now != before or sequence <= last or len(self._numbers) > _KNOWN:
            self._numbers = {}
        self._of = (now, sequence)
        numbers = _numbered(connection, gathered.words, self._numbers)
        _write(connection, gathered, numbers, ids, (sequence, sequence, 0))

    def merge(self) -> None:
        """Merge rows of many changes, if there are enough and nobody else is merging."""
        for level, most in enumerate(_RUNS):
            with self._engine.begin() as connection:
                runs = connection.scalar(
                    text("SELECT count(*) FROM postings WHERE word = :word AND level = :level"),
                    {"word": LENGTHS, "level": level},
                )
                if (runs or 0) < most:
                    return
                mine = connection.scalar(text(f"SELECT pg_try_advisory_xact_lock({_MERGE})"))
                if not mine:
                    return
                connection.execute(text("SET LOCAL statement_timeout = 0"))
                connection.execute(text("SET LOCAL work_mem = '256MB'"))
                connection.execute(text(_JOIN), {"level": level})

    def rebuild(self, chunks: Iterable[list[IndexedChunk]], sequence: int) -> None:
        """Rebuild everything in one transaction: readers see the old rows until the end. Ends with
        a sequence number of its own, so that every process reads the words again."""
        with self._engine.begin() as connection:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MERGE})"))
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("DELETE FROM postings"))
            connection.execute(text("DELETE FROM words"))
            number_of: dict[tuple[str, str], int] = {}
            for some in _together(chunks, _AT_ONCE):
                gathered = gather([(chunk.text, chunk.language) for chunk in some])
                ids = np.array([chunk.id for chunk in some], dtype=np.int64)
                numbers = _numbered(connection, gathered.words, number_of)
                # Since 0: a reader that has some of it in its cache reads all of it again.
                _write(connection, gathered, numbers, ids, (0, sequence, _LAST))
            take(connection, "sequence", 1)

    def counted(self) -> int:
        """Chunks whose words are in the rows, removed ones included."""
        with self._engine.connect() as connection:
            query = text("SELECT coalesce(sum(length(ids)), 0) / 4 FROM postings WHERE word = 0")
            return int(connection.scalar(query) or 0)

    def unmatched(self) -> tuple[int, int]:
        """How many numbers have occurrences but no word, and how many words have no occurrences."""
        with self._engine.connect() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            nameless = connection.scalar(text(_NAMELESS), {"lengths": LENGTHS})
            return int(nameless or 0), int(connection.scalar(text(_NOWHERE)) or 0)


def _numbered(
    connection: Connection, wanted: list[tuple[str, str]], number_of: dict[tuple[str, str], int]
) -> list[int]:
    """The numbers of words; new ones are inserted. Adds to `number_of` what was there before: an
    insert may still be rolled back."""
    numbers = {key: number_of[key] for key in wanted if key in number_of}
    unknown = [key for key in wanted if key not in numbers]
    if unknown:
        there = _there(connection, unknown)
        number_of |= there
        numbers |= there
    new = [key for key in unknown if key not in numbers]
    if new:
        rows = {
            "words": [word for word, _ in new],
            "languages": [language for _, language in new],
            "stems": [stem([word], language)[0] for word, language in new],
        }
        connection.execute(
            text(
                "INSERT INTO words (word, language, stem) SELECT * FROM unnest("
                "CAST(:words AS text[]), CAST(:languages AS text[]), CAST(:stems AS text[]))"
                " ON CONFLICT DO NOTHING"
            ),
            rows,
        )
        numbers |= _there(connection, new)
    return [numbers[key] for key in wanted]


def _write(
    connection: Connection,
    gathered: Gathered,
    numbers: list[int],
    ids: NDArray[np.int64],
    where: tuple[int, int, int],
) -> None:
    """`where`: the first change of the rows, the last one, and their level."""
    chunk_ids = ids[gathered.chunks].astype(_IDS).tobytes()
    counts = np.minimum(gathered.counts, MOST).astype(_COUNTS).tobytes()
    starts, bounds = (2 * gathered.starts).tolist(), gathered.bounds.tolist()
    with direct(connection) as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        lengths = np.minimum(gathered.lengths, MOST).astype(_COUNTS).tobytes()
        every = ids.astype(_IDS).tobytes()
        copy.write_row((LENGTHS, *where, every, lengths, b""))
        for number, a, b in zip(numbers, bounds, bounds[1:], strict=False):
            places = gathered.places[starts[a] : starts[b]]
            arrays = (chunk_ids[4 * a : 4 * b], counts[2 * a : 2 * b], places)
            copy.write_row((number, *where, *arrays))


def _there(connection: Connection, wanted: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    rows = connection.execute(
        text(
            "SELECT w.id, w.word, w.language FROM unnest(CAST(:words AS text[]),"
            " CAST(:languages AS text[])) AS k(word, language)"
            " JOIN words w ON w.word = k.word AND w.language = k.language"
        ),
        {"words": [word for word, _ in wanted], "languages": [language for _, language in wanted]},
    )
    return {(row.word, row.language): row.id for row in rows}


def _together(batches: Iterable[list[IndexedChunk]], most: int) -> Iterator[list[IndexedChunk]]:
    indexed_chunks: list[IndexedChunk] = []
    for batch in batches:
        indexed_chunks += batch
        if len(indexed_chunks) >= most:
            yield indexed_chunks
            indexed_chunks = []
    if indexed_chunks:
        yield indexed_chunks
