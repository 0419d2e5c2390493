"""Chunks documents in the process that read them, under its limits of time and memory.

Large ones always: the process that asked may be a server, whose other requests would wait. All of
them where the processors don't embed: counting tokens would keep the process that asked from
feeding the GPU. Here and not in `extract`, which knows nothing of chunks; the sandbox imports it in
its workers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

from trivium.chunk.choose import AutoChunker
from trivium.core.errors import FileTooLarge
from trivium.core.types import Chunked, Extraction
from trivium.extract.pulse import still_working
from trivium.models.tokenising import LocalTokens, WordTokens
from trivium.ports import Tokens
from trivium.text.nearness import sketch
from trivium.text.summary import ExtractiveSummariser
from trivium.text.tokens import Cl100kTokens, SlicedTokens, StricterTokens

FACTORY = "trivium.ingest.file_chunker:made"
_PULSE = 1.0  # seconds between two signs of progress


@dataclass(frozen=True, slots=True)
class Plan:
    """How documents are chunked, in a form that can be sent to other processes."""

    size: int
    overlap: int
    minimum: int
    ceiling: int
    most: int
    strategy: str
    limit: int  # chunks of one document
    wanted: int = 0  # the ceiling that was asked for, where the model reads less
    tokenizer: str = ""  # file of the embedding model's, where that runs here
    lower: bool = False  # that one is for small letters

    def chunker(self, tokens: Tokens) -> AutoChunker:
        return AutoChunker(
            SlicedTokens(tokens),
            self.size,
            self.overlap,
            self.minimum,
            ceiling=self.ceiling,
            most=self.most,
            strategy=self.strategy,
            wanted=self.wanted,
        )

    def as_text(self) -> str:
        return json.dumps(asdict(self))


def made(plan: str) -> PlannedChunker:
    return PlannedChunker(Plan(**json.loads(plan)))


class PlannedChunker:
    def __init__(self, plan: Plan) -> None:
        tokens: Tokens = Cl100kTokens()
        if plan.tokenizer:
            words = WordTokens(Path(plan.tokenizer), lower=plan.lower)
            tokens = StricterTokens(tokens, lambda: LocalTokens("model", words))
        self._chunker = plan.chunker(_Pulsing(tokens))
        self._limit = plan.limit

    def chunk(self, name: str, extraction: Extraction) -> Chunked:
        chunks = self._chunker.chunk(extraction)
        check_count(name, len(chunks), self._limit)
        return Chunked(
            chunks,
            self._chunker.fingerprint,
            self._chunker.note(extraction, chunks),
            ExtractiveSummariser().summarise(extraction),
            len(extraction.elements),
            sketch(extraction.text),
        )


def check_count(name: str, chunks: int, limit: int) -> None:
    if chunks > limit:
        raise FileTooLarge(
            f"{name} has {chunks:,} passages; the limit is {limit:,}.",
            fix="Split the file, or raise the setting `chunk.limit`.",
        )


class _Pulsing:
    """Counts, and says now and then that it does: 20 MB of prose take longer than a file may
    without a sign."""

    def __init__(self, tokens: Tokens) -> None:
        self.name = tokens.name
        self._tokens = tokens
        self._told = monotonic()

    def count(self, text: str) -> int:
        if monotonic() - self._told > _PULSE:
            self._told = monotonic()
            still_working()
        return self._tokens.count(text)
