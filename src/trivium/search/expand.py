"""Adds the text around a passage: the end of the chunk before, the start of the next.

Chunks overlap; text that is already in the passage isn't repeated. A message of a synced
conversation is a separate document: it gets the messages before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.core.types import ChunkId, Neighbours, StoredChunk, Where
from trivium.ports import Documents
from trivium.store.identity import conversation

CHARACTERS = 500  # on each side
MESSAGES = 5  # on each side: a chat message has about 20 words, so more wouldn't fit


def surrounding(
    documents: Documents,
    passages: Sequence[StoredChunk],
    where: Where,
    *,
    before: int = 1,
    after: int = 1,
    messages: int = MESSAGES,
) -> dict[ChunkId, Neighbours]:
    """Up to `before` and `after` chunks around each. On a side where a message has no more chunks,
    up to `messages` other messages."""
    near = {
        id_: Neighbours(_intact(around.before), _intact(around.after))
        for id_, around in documents.around(
            [passage.id for passage in passages], before, after, where
        ).items()
    }
    for passage in passages:
        own, prefix = (
            near.get(passage.id),
            conversation(passage.document.uri, passage.document.media_type),
        )
        if prefix and own is not None and not (own.before and own.after):
            beside = documents.beside(passage.document, prefix, messages, where)
            near[passage.id] = Neighbours(own.before or beside.before, own.after or beside.after)
    return near


def _intact(chunks: tuple[StoredChunk, ...]) -> tuple[StoredChunk, ...]:
    """None of them if one has changed on disk: the others may not be beside the passage."""
    return chunks if all(chunk.is_intact for chunk in chunks) else ()


def context(passage: StoredChunk, around: Neighbours) -> tuple[str, str]:
    """The text before and after a passage."""
    chunk = passage.chunk
    before = after = ""
    if around.before:
        near = around.before[-1]
        if near.document.id == passage.document.id:
            before = near.chunk.text[: max(0, chunk.start - near.chunk.start)][-CHARACTERS:]
        else:
            before = "\n".join(map(_message_line, around.before))[-CHARACTERS:]
    if around.after:
        near = around.after[0]
        if near.document.id == passage.document.id:
            after = near.chunk.text[max(0, chunk.end - near.chunk.start) :][:CHARACTERS]
        else:
            after = "\n".join(map(_message_line, around.after))[:CHARACTERS]
    return before, after


def _message_line(message: StoredChunk) -> str:
    authors = ", ".join(message.chunk.place.authors)
    return f"{authors}: {message.chunk.text}" if authors else message.chunk.text
