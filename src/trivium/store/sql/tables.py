"""The tables of a library, for SQLite and PostgreSQL; `schema` brings a database to them. Knows the
shape of the data, not what is done with it."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData()
# SQLite gives a rowid table, the fastest kind, only to a column typed INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")
# Uris, names and ranges compare by bytes on every database: by the rules of a language "/a/" and
# "/A/" may be one, and whatever lies below a folder would be another's.
Bytewise = String().with_variant(String(collation="C"), "postgresql")

settings = Table(
    "settings",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("value", Bytewise, nullable=False),
)

# Ids and the sequence come from here, so that none is ever used twice, not even after a removal.
counters = Table(
    "counters",
    metadata,
    Column("name", Bytewise, primary_key=True),  # document, chunk, sequence, and so on
    Column("value", _Id, nullable=False),  # the last one given out
)

# What a writer that died may leave behind. Every writer looks for it, and a look at all rows would
# take 90 ms with 60,000 documents. Spelt out, for an index of some rows is no use to a query that
# gets the value apart. An index names them in `info`, and `schema` tells the dialect in use: as
# options of both dialects they'd load PostgreSQL's at every start (4 % of a search's).
STAGED = text("state = 'staged'")
UNBORN = text("interpretation = 0")

FOLDED_SHEET = "folded_sheet"  # in a passage's place; those of earlier releases lack it

documents = Table(
    "documents",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("uri", Bytewise, nullable=False),
    Column("name", Bytewise, nullable=False),  # last part of the uri, folded
    Column("collection", Bytewise, nullable=False),
    Column("category", Bytewise, nullable=False),
    Column("audience", Bytewise, nullable=False),
    Column("title", Bytewise, nullable=False),
    Column("media_type", Bytewise, nullable=False),
    Column("kind", Bytewise, nullable=False),
    Column("language", Bytewise, nullable=False),
    Column("content_hash", Bytewise, nullable=False),
    Column("size", _Id, nullable=False),
    Column("fingerprint", Bytewise, nullable=False),
    Column("interpretation", Integer, nullable=False),  # number of the active one; 0: none yet
    Column("first_chunk", _Id, nullable=False),  # its chunks have consecutive ids
    Column("chunks", Integer, nullable=False),
    Column("added_at", Bytewise, nullable=False),
    Column("updated_at", Bytewise, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("changed", _Id, nullable=False),  # sequence number of its last visible change
    Column("names", JSON, nullable=False, server_default=text("'[]'")),  # other uris, as in `names`
    Column("original", Bytewise, nullable=False, server_default=text("''")),  # archive's address
    # What was last met at the source, which a restored interpretation does not show.
    Column("seen_hash", Bytewise, nullable=False, server_default=text("''")),
    Column("seen_fingerprint", Bytewise, nullable=False, server_default=text("''")),
    Column("sender", Bytewise, nullable=False, server_default=text("''")),  # empty: the owner
    Column("checksum", _Id),  # see checksums; NULL in rows of older libraries
    Index("documents_by_source", "collection", "uri", unique=True),
    Index("documents_by_content", "collection", "seen_hash"),
    Index("documents_by_change", "changed"),
    Index("documents_by_name", "name"),
    Index("documents_unborn", "id", info={"where": UNBORN}),
)

# The other uris of documents whose bytes were met more than once. The first is in `documents`.
names = Table(
    "names",
    metadata,
    Column("collection", Bytewise, primary_key=True),
    Column("uri", Bytewise, primary_key=True),
    Column("name", Bytewise, nullable=False),  # last part of the uri, folded
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("added_at", Bytewise, nullable=False),
    Index("names_by_document", "document"),
    Index("names_by_name", "name"),
)

# Metadata once more, taken apart for filters: one row for each value of each field.
fields = Table(
    "fields",
    metadata,
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("text", Bytewise, nullable=False),  # folded
    Column("number", Float),
    Index("fields_by_document", "document"),
    Index("fields_by_text", "name", "text"),
    Index("fields_by_number", "name", "number"),
)

interpretations = Table(
    "interpretations",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Bytewise, nullable=False),  # staged, active, retired
    Column("fingerprint", Bytewise, nullable=False),
    Column("content_hash", Bytewise, nullable=False),
    Column("title", Bytewise, nullable=False),
    Column("language", Bytewise, nullable=False),
    Column("text", Text, nullable=False),
    Column("first_chunk", _Id, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("created_at", Bytewise, nullable=False),
    Column("summary", Text, nullable=False, server_default=text("''")),  # embedded, never shown
    Column("retired_at", Bytewise, nullable=False, server_default=text("''")),  # empty: not yet
    Column("restored_from", Integer),  # number of the one whose rows it took over
    Column("media_type", Bytewise, nullable=False, server_default=text("''")),
    Column("size", _Id, nullable=False, server_default=text("0")),
    Column("elements", Integer, nullable=False, server_default=text("0")),
    Column("tokens", Integer, nullable=False, server_default=text("0")),
    Column("timings", JSON, nullable=False, server_default=text("'{}'")),
    Column("metadata", JSON, nullable=False, server_default=text("'{}'")),
    Column("original", Bytewise, nullable=False, server_default=text("''")),
    Column("sketch", LargeBinary),  # of its text, see text.nearness; none in older libraries
    Index("interpretations_by_document", "document", "number", unique=True),
    Column("summarised_by", Bytewise, nullable=False, server_default=text("''")),
    Column("audience", Bytewise),  # its document's while it was active; NULL: nobody wrote it down
    Column("checksum", _Id),  # see checksums; NULL in rows of older libraries
    Index("interpretations_by_original", "original"),
    Index("interpretations_by_content", "content_hash"),
    Index("interpretations_staged", "id", info={"where": STAGED}),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("interpretation", ForeignKey("interpretations.id", ondelete="CASCADE"), nullable=False),
    Column("document", _Id, nullable=False),
    Column("position", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("headings", JSON, nullable=False),
    Column("section", Bytewise, nullable=False),
    Column("header", Text, nullable=False),
    Column("paragraph", Integer),
    # Pages, boxes, sheet (also as filters compare it), rows, authors, time, link.
    Column("place", JSON, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("embedding", Bytewise, nullable=False),  # hash of what is embedded
    Column("checksum", _Id),  # see checksums; NULL in rows of older libraries
    Index("chunks_by_interpretation", "interpretation"),
    Index("chunks_by_embedding", "embedding"),
)

# The few smallest hashes of the active text of each document: nearly equal texts share some.
shingles = Table(
    "shingles",
    metadata,
    Column("hash", _Id, primary_key=True, autoincrement=False),
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Index("shingles_by_document", "document"),
)

# By which words each document is known (`text.known`): title, authors, tags, file, and so on.
known_terms = Table(
    "known_terms",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=False),
    Column("word", Bytewise, nullable=False),
    Column("stem", Bytewise, nullable=False),
    Index("known_terms_by_word", "word", "stem", unique=True),
    Index("known_terms_by_stem", "stem"),
)
known_words = Table(
    "known_words",
    metadata,
    Column("term", _Id, primary_key=True, autoincrement=False),
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("fields", Integer, nullable=False),  # bits
    Index("known_words_by_document", "document"),
    sqlite_with_rowid=False,
)

# The vectors, by what was embedded: truth and cache in one. Equal texts share one row.
embeddings = Table(
    "embeddings",
    metadata,
    Column("model", Bytewise, primary_key=True),
    Column("hash", Bytewise, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float16, little-endian
    Column("checksum", _Id),  # see checksums; NULL in rows of older libraries
)

# A vector for each token that counts, by what was embedded, for reranking: packed by the model.
token_vectors = Table(
    "token_vectors",
    metadata,
    Column("model", Bytewise, primary_key=True),
    Column("hash", Bytewise, primary_key=True),
    Column("vectors", LargeBinary, nullable=False),
    Column("checksum", _Id),  # see checksums; NULL in rows of older libraries
)

# Chunk ids that the derived indexes may hold but search must not find: staged and never finished,
# retired, or removed. Written with the change itself, cleared once the indexes have let go.
leftovers = Table(
    "leftovers",
    metadata,
    Column("first_chunk", _Id, primary_key=True, autoincrement=False),
    Column("chunks", Integer, nullable=False),
)

# Removed documents, as bare numbers, so that readers with a cache notice.
removals = Table(
    "removals",
    metadata,
    Column("document", _Id, primary_key=True, autoincrement=False),
    Column("changed", _Id, nullable=False),
    Index("removals_by_change", "changed"),
)

# Questions and answers that were to be kept, and the documents that each was made from. No foreign
# key to these: a turn goes with the first of them, not a row of the list.
turns = Table(
    "turns",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("conversation", Bytewise, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("audiences", JSON(none_as_null=True)),  # that the caller held; NULL: all
    Column("at", Bytewise, nullable=False),
    Index("turns_by_conversation", "conversation"),
)
turn_documents = Table(
    "turn_documents",
    metadata,
    Column("turn", ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    Column("document", _Id, primary_key=True),
    Index("turn_documents_by_document", "document"),
)

# What was decided for a collection. One that nobody decided anything for has no row.
collections = Table(
    "collections",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("chunker", Bytewise, nullable=False),
)

# Who may ask from elsewhere. Null audiences or collections: all of them.
watched_folders = Table(
    "watched_folders",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("path", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("category", Bytewise),
    Column("audience", Bytewise),
    Column("ignore", JSON, nullable=False),
    Column("added_at", Bytewise, nullable=False),
)

# Synced sources: services and files, how far each was read, and which items failed.
sources = Table(
    "sources",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("kind", Bytewise, nullable=False),
    Column("options", JSON, nullable=False),
    Column("secrets", JSON, nullable=False),  # where they are found, never what they are
    Column("collection", Bytewise, nullable=False),
    Column("category", Bytewise),
    Column("audience", Bytewise),
    Column("every", Integer, nullable=False),
    Column("added_at", Bytewise, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("cursor", Text, nullable=False),
    Column("run", JSON, nullable=False),
)
source_failures = Table(
    "source_failures",
    metadata,
    Column("source", ForeignKey("sources.name", ondelete="CASCADE"), primary_key=True),
    Column("item", Bytewise, primary_key=True),
    Column("code", Bytewise, nullable=False),
    Column("message", Text, nullable=False),
    Column("at", Bytewise, nullable=False),
    Column("tries", Integer, nullable=False, server_default=text("1")),
    Column("not_before", Bytewise, nullable=False, server_default=text("''")),
)

query_log = Table(
    "query_log",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("at", Bytewise, nullable=False),
    Column("text", Text, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("empty", Integer, nullable=False),
    Column("took_ms", Float, nullable=False),
    Column("caller", Bytewise, nullable=False),
    Index("query_log_by_time", "at"),
)
alerts = Table(
    "alerts",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("query", Text, nullable=False),
    Column("webhook", Bytewise, nullable=False),
    Column("created_at", Bytewise, nullable=False),
    Column("seen_at", Bytewise, nullable=False),
)
alert_hits = Table(
    "alert_hits",
    metadata,
    Column("alert", ForeignKey("alerts.id", ondelete="CASCADE"), primary_key=True),
    Column("document", _Id, primary_key=True),
    Column("passage", Integer, nullable=False),
    Column("match", Float, nullable=False),
    Column("at", Bytewise, nullable=False),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("name", Bytewise, nullable=False),
    Column("hash", Bytewise, nullable=False),  # SHA-256 of the secret
    Column("audiences", JSON(none_as_null=True)),
    Column("collections", JSON(none_as_null=True)),
    Column("rights", JSON, nullable=False),
    Column("created_at", Bytewise, nullable=False),
    Column("expires_at", Bytewise, nullable=False),  # empty: never
    Column("person", Bytewise, nullable=False, server_default=text("''")),  # empty: no session
    Column("session", Bytewise, nullable=False, server_default=text("''")),  # the provider's
    Column("quota", JSON(none_as_null=True)),
)

# Jobs and their tasks, in the same database: ending a task and activating its document are one
# transaction.
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
    Index("jobs_open", "sender", "priority", "id", info={"where": _OPEN}),
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
