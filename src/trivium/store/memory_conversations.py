"""The conversations of the reference store: a list of turns, in order."""

from __future__ import annotations

from collections.abc import Collection as Some
from dataclasses import replace

from trivium.answers import Conversation, KeptTurn
from trivium.store.clock import now
from trivium.store.where import holds
from trivium.types import Document, DocumentId, Where


class MemoryConversations:
    def __init__(self) -> None:
        super().__init__()
        self._turns: list[tuple[str, KeptTurn]] = []  # with the conversation's name

    def documents(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        raise NotImplementedError

    def keep_turn(self, conversation: str, kept: KeptTurn) -> None:
        self._turns.append((conversation, replace(kept, at=now())))

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        return [t for name, t in self._turns if name == conversation and self._shows(t, where)]

    def conversations(self, where: Where) -> list[Conversation]:
        seen = {name: self.turns(name, where) for name in sorted({name for name, _ in self._turns})}
        return [Conversation(n, len(t), t[0].at, t[-1].at) for n, t in seen.items() if t]

    def forget_conversation(self, conversation: str, where: Where) -> int:
        before = len(self._turns)
        self._turns = [
            (name, t)
            for name, t in self._turns
            if name != conversation or not self._shows(t, where)
        ]
        return before - len(self._turns)

    def _forget_turns_of(self, gone: Some[DocumentId]) -> None:
        self._turns = [(name, t) for name, t in self._turns if t.documents.isdisjoint(gone)]

    def _shows(self, kept: KeptTurn, where: Where) -> bool:
        passing = {document.id for document in self.documents(where)}
        return holds(where.audiences, kept.audiences) and kept.documents <= passing
