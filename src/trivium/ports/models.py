"""Models that turn text into vectors, judge passages and write text."""

import re
from collections.abc import Generator as Pieces
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from trivium.core.types import StoredChunk, TokenVectors, Vector, Vectors, Where
from trivium.ports.ingest import Tokens

_OF_A_FOLDER = re.compile(r"(.+)-[0-9a-f]{12}-v\d+-")


def model_name(fingerprint: str) -> str:
    """The name of the model in a folder that has this fingerprint; empty: a model elsewhere."""
    named = _OF_A_FOLDER.match(fingerprint)
    return named[1] if named else ""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    fingerprint: str  # names model, weights and arithmetic: equal means interchangeable vectors
    dimensions: int

    def embed_documents(self, texts: Sequence[str]) -> Vectors: ...

    def embed_query(self, text: str) -> Vector: ...


@runtime_checkable
class CalledEmbedder(Embedder, Protocol):
    """An embedder that works in calls: if one call fails, the vectors of the others are kept."""

    batch: int  # texts of a call
    parallel: int  # calls at the same time


@runtime_checkable
class Lexicon(Protocol):
    """An embedder that knows which words are in its vocabulary as a whole."""

    def knows(self, word: str) -> bool: ...


@runtime_checkable
class CountingEmbedder(Embedder, Protocol):
    """An embedder that says how much of a text it reads, in tokens of its own."""

    max_tokens: int
    lowers: bool  # letters are made small before they are counted

    def tokens(self) -> Tokens: ...

    def tokenizer_file(self) -> Path:
        """For another process that counts in the same way. Raises ModelUnavailable."""


@runtime_checkable
class NotingEmbedder(Protocol):
    """An embedder that has something to tell the person who adds documents."""

    note: str  # a sentence; empty: nothing


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also returns a vector for every token, from the same pass."""

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        """What `embed_documents` returns, and each text's token vectors, packed; empty bytes if the
        model has none."""

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Sequence[str]]:
        """A unit vector for each token of a query, and the word it belongs to; empty for marks.
        Raises ModelUnavailable if the model only returns vectors of whole texts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader thinks of a passage: of each token its place in the text, and the chances that
    it begins and that it ends the answer. What is missing to 1 is the chance of no answer."""

    spans: tuple[tuple[int, int], ...]
    begins: tuple[float, ...]
    ends: tuple[float, ...]

    def within(self, start: int, end: int) -> float:
        """The chance that the answer is between two characters."""
        inside = [at for at, (a, b) in enumerate(self.spans) if start <= a and b <= end]
        begins, ends = (sum(chances[at] for at in inside) for chances in (self.begins, self.ends))
        return sqrt(begins * ends)


@runtime_checkable
class ReadingEmbedder(Embedder, Protocol):
    """An embedder that comes with a reader of the same size, for its language."""

    def read(self, question: str, passages: Sequence[str]) -> Sequence[Reading]:
        """One for each passage; none if this model has no reader. Raises ModelError."""


LONGEST_PASSAGE = 4_000  # characters of a passage that a reranker reads


class Reranker(Protocol):
    """Judges how well passages answer a query, by reading both."""

    fingerprint: str

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        """One for each passage, in order, higher is better, 0..1. Raises ModelError."""


@runtime_checkable
class WeighingReranker(Reranker, Protocol):
    """A reranker that weighs words by how rare they are in the library."""

    def within(self, where: Where) -> Reranker:
        """The same reranker, with weights from what this caller may see."""


@runtime_checkable
class FittedReranker(Reranker, Protocol):
    """A reranker whose scores the match was fitted to."""

    span: float  # a passage so far below the best of its query gets nothing for it


@runtime_checkable
class TimedReranker(Reranker, Protocol):
    """A reranker that judges passages one after the other and can stop in between."""

    def scores_until(
        self, query: str, passages: Sequence[StoredChunk], deadline: float
    ) -> Sequence[float]:
        """Like `scores`, of as many of the first passages as it is done with at `deadline`
        (`time.monotonic`)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A language model asks for a tool to be used. `arguments`: JSON, as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a language model may call. `parameters`: a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    images: tuple[tuple[str, bytes], ...] = ()  # media type and file, for a model that sees
    calls: tuple[ToolCall, ...] = ()  # of an assistant
    answers: str = ""  # of a tool: the id of the call


@dataclass(frozen=True, slots=True)
class Generated:
    """What a language model wrote, and the tokens it used; 0 if nobody counted them."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[ToolCall, ...] = ()  # tools to run before it continues
    cut: bool = False  # it had more to say than the tokens it was given


class Generator(Protocol):
    """Writes text from messages."""

    name: str
    window: int  # tokens that prompt and answer may have together

    def generate(self, messages: Sequence[Message], most_tokens: int) -> Generated:
        """Raises ModelError."""

    def stream(self, messages: Sequence[Message], most_tokens: int) -> Pieces[str, None, Generated]:
        """Piece by piece; the return value is the whole, with its tokens. Raises ModelError,
        perhaps in the middle; close it to stop early."""


@runtime_checkable
class ToolGenerator(Generator, Protocol):
    """A generator that can call tools, or can say that its model doesn't."""

    def converse(
        self, messages: Sequence[Message], tools: Sequence[ToolOffer], most_tokens: int
    ) -> Pieces[str, None, Generated]:
        """Like `stream`, but the return value may hold calls instead of text, and a piece may be
        empty while the model writes one. Raises ModelRefused if the model can't call tools."""
