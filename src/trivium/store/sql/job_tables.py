"""The tables of jobs and their tasks, in the registry's database: one transaction covers both."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    text,
)

from trivium.store.sql.tables import Bytewise, metadata

_Id = BigInteger().with_variant(Integer, "sqlite")

_OPEN = text("state IN ('queued', 'running')")

# Counts are kept here and not counted: progress is asked for several times a second.
jobs = Table(
    "jobs",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("kind", Bytewise, nullable=False),
    Column("what", Bytewise, nullable=False),
    Column("options", JSON, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", Bytewise, nullable=False),
    Column("created_at", Bytewise, nullable=False),
    Column("started_at", Bytewise, nullable=False),
    Column("ended_at", Bytewise, nullable=False),
    Column("tasks", Integer, nullable=False),
    Column("size", _Id, nullable=False),
    Column("ended", Integer, nullable=False),
    Column("ended_size", _Id, nullable=False),
    Column("failed", Integer, nullable=False),
    # Tasks that are read, their bytes and tokens, and the tokens of passages that are embedded.
    Column("read", Integer, nullable=False, server_default=text("0")),
    Column("read_size", _Id, nullable=False, server_default=text("0")),
    Column("tokens", _Id, nullable=False, server_default=text("0")),
    Column("tokens_done", _Id, nullable=False, server_default=text("0")),
    Column("unchanged", Integer, nullable=False),  # tasks that are no longer listed
    Column("notes", JSON, nullable=False),
    Column("lasting", Boolean, nullable=False),
    Column("complete", Boolean, nullable=False),  # all its tasks are known
    # Since when the process that works on it does, and what had ended by then: for the rate.
    Column("run_at", Bytewise, nullable=False),
    Column("run_ended", Integer, nullable=False),
    Column("run_tokens", _Id, nullable=False, server_default=text("0")),
    Column("worker", Bytewise, nullable=False, server_default=text("''")),  # the last one at it
    Column("sender", Bytewise, nullable=False, server_default=text("''")),  # the token's id, if any
    Index("jobs_by_state", "state"),
    # Those that have work left, in the order in which a sender's are worked on.
    Index("jobs_open", "sender", "priority", "id", postgresql_where=_OPEN, sqlite_where=_OPEN),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("job", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("parent", _Id, nullable=False),  # 0: none
    Column("uri", Bytewise, nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("size", _Id, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("state", Bytewise, nullable=False),
    Column("step", Bytewise, nullable=False),
    Column("fate", Bytewise, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("anew", Boolean, nullable=False),  # look at the files inside it, though it is known
    Column("code", Bytewise, nullable=False),
    Column("message", Text, nullable=False),
    Column("document", _Id),
    Column("seconds", JSON, nullable=False),
    # How often a worker ended, without saying why, while it had this.
    Column("lost", Integer, nullable=False, server_default=text("0")),
    Column("worker", Bytewise, nullable=False, server_default=text("''")),  # who has it, or had
    Column("passages", Integer),  # null: it isn't read yet
    Column("embedded", Integer, nullable=False, server_default=text("0")),
    Column("heard", Text, nullable=False, server_default=text("''")),
    Column("tokens", _Id, nullable=False, server_default=text("0")),
    Index("tasks_by_job", "job", "state", "id"),
    Index("tasks_by_document", "document"),
)
