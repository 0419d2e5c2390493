"""When two sources are one document: the rule that every store keeps, in plain Python.

The same bytes met under several uris of one collection are one document with several names, where
the same sender sends them, and reading and labelling them gives the same. Two tokens that send the
same bytes have a document each: neither changes the other's, or learns that it exists. Knows
nothing of tables.
"""

from __future__ import annotations

from dataclasses import replace

from trivium.core.types import EVERYONE, Document, DocumentId, Processed
from trivium.core.work import now

WITHIN = "!/"  # between the uri of a file and the name of a file inside it
ENTRY = "entry"  # metadata of a paper's file: the uri of its entry in a library of references
_MESSAGE = "message/slack"


def conversation(uri: str, media_type: str) -> str:
    """The beginning that the uris of all messages in its conversation share; after it they sort by
    time. Empty: not a message. A uri is `slack:NAME/CHANNEL/TIME`; a reply has the time of its
    thread, then its own."""
    parts = uri.split("/", 2)
    return f"{parts[0]}/{parts[1]}/" if media_type == _MESSAGE and parts[2:] else ""


def is_shareable(processed: Processed) -> bool:
    """Whether it may be another name of a known document. Texts without bytes (records of a data
    set) are what their source says; and a file that contains others stays itself, since those are
    known by their place in it."""
    return bool(processed.extraction.reader) and not processed.extraction.enclosed


def meets(document: Document, processed: Processed) -> bool:
    """Whether they differ only in their uri. Not if an older text was restored."""
    return (
        document.sender == processed.sender
        and document.content_hash == document.seen_hash == processed.content_hash
        and document.fingerprint == processed.fingerprint
        and (document.category, document.audience) == (processed.category, processed.audience)
        and dict(document.metadata) == dict(processed.metadata)
    )


def is_file_of(document: Document, paper: Processed) -> bool:
    """Whether a document is the file of this paper, which came before it and alone: one paper is
    one document. Not if another source or entry says what it is, or if it has another label."""
    if ENTRY not in paper.metadata or {ENTRY, "sync"} & document.metadata.keys():
        return False
    alone = replace(paper, metadata=document.metadata, fingerprint=document.fingerprint)
    return meets(document, inherited(alone, document))


def parts_from(document: Document, content_hash: str, audience: str, sender: str) -> bool:
    """Whether one of several names must become its own document: its bytes or its audience changed
    and those of the other names didn't, or another sender sent it, as in libraries of earlier
    releases."""
    return bool(document.names) and (
        document.seen_hash != content_hash
        or document.audience != audience
        or document.sender != sender
    )


def inherited(processed: Processed, before: Document | None) -> Processed:
    """With the labels of today where nobody gave others."""
    if before is None or not processed.inherits:
        return processed
    category = before.category if "category" in processed.inherits else processed.category
    audience = before.audience if "audience" in processed.inherits else processed.audience
    return replace(processed, category=category, audience=audience)


def successor(processed: Processed, before: Document | None, new_id: DocumentId) -> Document:
    """The document once this is its active interpretation; the first of one with `new_id`, if there
    was none before."""
    extraction, at = processed.extraction, now()
    return Document(
        id=before.id if before else new_id,
        uri=before.uri if before else processed.uri,
        title=extraction.title,
        collection=processed.collection,
        category=processed.category,
        audience=processed.audience,
        media_type=extraction.media_type,
        language=extraction.language,
        content_hash=processed.content_hash,
        size=processed.size,
        interpretation=before.interpretation + 1 if before else 1,
        fingerprint=processed.fingerprint,
        chunks=len(processed.chunks),
        added_at=before.added_at if before else at,
        updated_at=at,
        metadata=processed.metadata,
        names=before.names if before else (),
        original=processed.original,
        seen_hash=processed.content_hash,
        seen_fingerprint=processed.fingerprint,
        sender=processed.sender,
    )


def restored_label(today: str, then: str | None) -> str:
    """The label of a document after an old text is restored: nobody sees a text that was hidden
    from them, then or now. Of two labels other than `all`, the text's own wins. If it is unknown,
    today's stays."""
    return today if then is None or then == EVERYONE else then


def is_within(uri: str, outer: str) -> bool:
    return uri.startswith(outer + WITHIN)
