"""The numbered steps from an empty database, or an older library, to the tables of today."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy import Connection, Table, insert, inspect, select, text, update
from sqlalchemy.schema import CreateColumn

from trivium.store.sql.job_tables import jobs, tasks
from trivium.store.sql.tables import (
    access_tokens,
    alert_hits,
    alerts,
    chunks,
    collections,
    counters,
    documents,
    embeddings,
    interpretations,
    known_terms,
    known_words,
    metadata,
    names,
    query_log,
    shingles,
    source_failures,
    sources,
    token_vectors,
    turn_documents,
    turns,
    watched_folders,
)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    names = ("document", "interpretation", "chunk", "sequence")
    connection.execute(insert(counters), [{"name": name, "value": 0} for name in names])


def _add_summaries(connection: Connection) -> None:
    _add_columns(connection, interpretations, "summary")


def _add_collections(connection: Connection) -> None:
    collections.create(connection, checkfirst=True)


def _add_token_vectors(connection: Connection) -> None:
    token_vectors.create(connection, checkfirst=True)


_SEEN = ("names", "original", "seen_hash", "seen_fingerprint")
_PAST = (
    "retired_at", "restored_from", "media_type", "size", "elements", "tokens", "timings",
    "metadata", "original",
)  # fmt: skip
# What an older library knows of its past: the active interpretation as its document says, and of
# the others that they were retired by the last change at the latest.
_REMEMBERED = (
    "UPDATE documents SET seen_hash = content_hash, seen_fingerprint = fingerprint",
    "UPDATE interpretations SET tokens = (SELECT coalesce(sum(tokens), 0) FROM chunks"
    " WHERE chunks.interpretation = interpretations.id)",
    "UPDATE interpretations SET media_type = (SELECT media_type FROM documents"
    " WHERE documents.id = interpretations.document)",
    "UPDATE interpretations SET retired_at = (SELECT updated_at FROM documents"
    " WHERE documents.id = interpretations.document) WHERE state = 'retired'",
    "UPDATE interpretations SET (size, metadata) = (SELECT size, metadata FROM documents"
    " WHERE documents.id = interpretations.document) WHERE state = 'active'",
)


def _add_history(connection: Connection) -> None:
    """Names beside the first, what was last seen, and what each interpretation was made of."""
    fresh = _add_columns(connection, documents, *_SEEN)
    _add_columns(connection, interpretations, *_PAST)
    names.create(connection, checkfirst=True)
    _add_indexes(connection, documents, interpretations)
    if fresh:
        for statement in _REMEMBERED:
            connection.execute(text(statement))


def _add_sketches(connection: Connection) -> None:
    _add_columns(connection, interpretations, "sketch")
    shingles.create(connection, checkfirst=True)


def _add_columns(connection: Connection, table: Table, *wanted: str) -> bool:
    """Those of the columns that are not there; whether any was added."""
    have = {column["name"] for column in inspect(connection).get_columns(table.name)}
    missing = [table.c[name] for name in wanted if name not in have]
    for column in missing:
        described = CreateColumn(column).compile(dialect=connection.dialect)
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {described}"))
    return bool(missing)


def _add_indexes(connection: Connection, *tables: Table) -> None:
    for table in tables:
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def _add_access_tokens(connection: Connection) -> None:
    access_tokens.create(connection, checkfirst=True)


def _add_jobs(connection: Connection) -> None:
    for table in (jobs, tasks):
        table.create(connection, checkfirst=True)
    _add_counters(connection, "job", "task")


def _add_counters(connection: Connection, *names: str) -> None:
    have = set(connection.scalars(select(counters.c.name)))
    for name in names:
        if name not in have:
            connection.execute(insert(counters).values(name=name, value=0))


def _add_conversations(connection: Connection) -> None:
    turns.create(connection, checkfirst=True)
    turn_documents.create(connection, checkfirst=True)


def _add_summarisers(connection: Connection) -> None:
    _add_columns(connection, interpretations, "summarised_by")
    _add_indexes(connection, interpretations)


def _add_watched_folders(connection: Connection) -> None:
    watched_folders.create(connection, checkfirst=True)


def _add_indexes_of_unfinished(connection: Connection) -> None:
    _add_indexes(connection, documents, interpretations)


def _add_past_audiences(connection: Connection) -> None:
    """Who could see each interpretation. Of the active ones their document says so; what a retired
    one was labelled with nobody wrote down, so it stays unknown."""
    if _add_columns(connection, interpretations, "audience"):
        connection.execute(
            text(
                "UPDATE interpretations SET audience = (SELECT audience FROM documents"
                " WHERE documents.id = interpretations.document) WHERE state = 'active'"
            )
        )


# How the uri of what a token sent begins, or ends before the name of what lies within it.
_SENT = re.compile(r"upload:([0-9a-f]{12})/|https?://.*?#by-([0-9a-f]{12})(?:$|!/)")


def _add_senders(connection: Connection) -> None:
    """Whose each document is. Until then its uri alone said so."""
    if not _add_columns(connection, documents, "sender"):
        return
    for row in connection.execute(select(documents.c.id, documents.c.uri)).all():
        sent = _SENT.match(row.uri)
        if sent:
            ours = update(documents).where(documents.c.id == row.id)
            connection.execute(ours.values(sender=sent[1] or sent[2]))


def _add_losses(connection: Connection) -> None:
    _add_columns(connection, tasks, "lost")


def _add_checksums(connection: Connection) -> None:
    """Unknown for the rows that are there, until they change or a repair writes them."""
    for table in (documents, interpretations, chunks, embeddings, token_vectors):
        _add_columns(connection, table, "checksum")


def _add_workers(connection: Connection) -> None:
    """Who works on what. What is being worked on just now has no owner, so the next one to look
    takes it over."""
    _add_columns(connection, jobs, "worker")
    _add_columns(connection, tasks, "worker")


def _add_sources(connection: Connection) -> None:
    for table in (sources, source_failures):
        table.create(connection, checkfirst=True)


def _add_queries(connection: Connection) -> None:
    """The log of queries, and saved searches with what they found."""
    for table in (query_log, alerts, alert_hits):
        table.create(connection, checkfirst=True)


def _add_progress(connection: Connection) -> None:
    """How many passages documents have, and how many are embedded. Nobody counted those of
    documents that were added before."""
    _add_columns(connection, tasks, "passages", "embedded", "tokens")
    counts = ("read", "read_size", "tokens", "tokens_done", "run_tokens")
    if _add_columns(connection, jobs, *counts):
        _retire(connection, jobs, "run_size")
        over = tasks.c.state.in_(("done", "failed", "cancelled"))
        connection.execute(update(tasks).where(over).values(passages=0))
        connection.execute(update(jobs).values(read=jobs.c.ended, read_size=jobs.c.ended_size))


def _retire(connection: Connection, table: Table, column: str) -> None:
    """Nobody writes this column any more. In PostgreSQL it stays, because servers of the release
    before still write it; a later release may drop it."""
    if connection.dialect.name == "postgresql":
        default = f"ALTER TABLE {table.name} ALTER COLUMN {column} SET DEFAULT 0"
        connection.execute(text(default))
    else:
        connection.execute(text(f"ALTER TABLE {table.name} DROP COLUMN {column}"))


def _add_pauses(connection: Connection) -> None:
    """How often an item of a source failed, and when it is tried again."""
    _add_columns(connection, source_failures, "tries", "not_before")


def _add_senders_of_jobs(connection: Connection) -> None:
    """Whose each job is, so that senders take turns. Those of before count as one sender's."""
    _add_columns(connection, jobs, "sender")
    _add_indexes(connection, jobs)


def _add_sessions_and_quotas(connection: Connection) -> None:
    _add_columns(connection, access_tokens, "person", "quota")


def _add_known_words(connection: Connection) -> None:
    """Filled when the library is opened (`known.learn_all`)."""
    known_terms.create(connection, checkfirst=True)
    known_words.create(connection, checkfirst=True)
    _add_counters(connection, "term")


def _add_hearing(connection: Connection) -> None:
    """How far the transcription of a recording is."""
    _add_columns(connection, tasks, "heard")


# Step n brings a library from schema n to n+1. Steps are only ever appended, and a new library
# has all tables from the first on: later steps add what is not there. A step takes nothing away and
# adds no column without a default: servers of the last release go on while new ones start. What is
# no longer used goes one release later, which raises `READABLE_FROM` of the PostgreSQL tables.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _create,
    _add_summaries,
    _add_collections,
    _add_token_vectors,
    _add_history,
    _add_jobs,
    _add_sketches,
    _add_access_tokens,
    _add_conversations,
    _add_summarisers,
    _add_watched_folders,
    _add_indexes_of_unfinished,
    _add_past_audiences,
    _add_senders,
    _add_losses,
    _add_checksums,
    _add_workers,
    _add_sources,
    _add_queries,
    _add_progress,
    _add_pauses,
    _add_senders_of_jobs,
    _add_sessions_and_quotas,
    _add_known_words,
    _add_hearing,
)
SCHEMA = len(MIGRATIONS)
