"""Embeds text on this machine's processor with onnxruntime.

Knows nothing of documents, chunks and stores. onnxruntime and tokenizers are imported at the first
text: until then an embedder costs nothing, and already says its fingerprint and dimensions.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from trivium.errors import BadSetting, DimensionMismatch, ModelDamaged, ModelUnavailable
from trivium.models import weights
from trivium.models.counted import Counted
from trivium.models.late import pack
from trivium.models.weights import Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from trivium.types import TokenVectors, Vector, Vectors

GRAPH = "model.onnx"
# Of what minilm.py builds: bump the first when its output changes, the second too when vectors do.
GRAPH_VERSION = 2
VECTORS_VERSION = 1
# Tokens of one run, padding included. Of documents each core runs its own, on one thread: texts of
# 100 words, 2 cores, a second: 24.7 when both cores share a run of 4096, 25.2 with a run each, 27.3
# with runs of 1024, 27.7 of 512, 27.8 of 256; of 40 words 56, 58, 65, 66, 67. What is computed
# stays in the cache, and no thread waits for another that something else keeps from its core.
BATCH_TOKENS = 512


class LocalEmbedder:
    """A sentence-transformers model in a folder, or the built-in one where no folder is named."""

    def __init__(
        self,
        folder: Path | None,
        cache: Path,
        threads: int = 0,
        max_tokens: int = 256,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        """`threads` 0 takes every core. Longer texts are cut at `max_tokens`."""
        if folder is not None:
            weights.check(folder)
        model = weights.builtin() if folder is None else weights.identify(folder)
        if not 3 <= max_tokens <= model.shape.positions:
            raise BadSetting(
                f"`embed.max_tokens` is {max_tokens}.",
                fix=f"Choose a number from 3 to {model.shape.positions}, which is what"
                f" {model.name} can read.",
            )
        self.dimensions = model.shape.hidden
        self.fingerprint = f"{model.name}-{model.digest}-v{VECTORS_VERSION}-{max_tokens}"
        if document_prefix:  # a query's prefix changes no stored vector
            self.fingerprint += f"-{hashlib.sha256(document_prefix.encode()).hexdigest()[:6]}"
        self._folder = folder
        self._cache = cache
        self._made = cache / "graphs" / f"{model.name}-{model.digest}-v{GRAPH_VERSION}" / GRAPH
        self._shape = model.shape
        self._threads = threads or os.cpu_count() or 2
        self._max_tokens = max_tokens
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._counted = Counted()
        self._lock = Lock()
        self._loaded: _Engine | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def embed(engine: _Engine, batch: list[int], rows: list[list[int]]) -> None:
            vectors[batch] = engine.vectors(rows)

        self._in_batches(texts, embed)
        return vectors

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        import numpy as np

        packed = [b""] * len(texts)
        if not self.load().gives_tokens:
            return self.embed_documents(texts), packed
        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def embed(engine: _Engine, batch: list[int], rows: list[list[int]]) -> None:
            vectors[batch], tokens = engine.with_tokens(rows)
            for i, row, found in zip(batch, rows, tokens, strict=True):
                packed[i] = pack(found[engine.kept(row)])

        self._in_batches(texts, embed)
        return vectors, packed

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Sequence[str]]:
        import numpy as np

        engine = self.load()
        if not engine.gives_tokens:
            raise ModelUnavailable(
                "The embedding model gives vectors of whole texts, none of their tokens.",
                fix="Choose another reranker, or export the model with `last_hidden_state`.",
            )
        row, belonging = engine.encode_words(self._query_prefix + text)
        _, (found,) = engine.with_tokens([row])
        return found / np.linalg.norm(found, axis=1, keepdims=True), belonging

    def embed_query(self, text: str) -> Vector:
        engine = self.load()
        vector: Vector = engine.vectors([engine.encode(self._query_prefix + text)])[0]
        return vector

    def _in_batches(
        self, texts: Sequence[str], embed: Callable[[_Engine, list[int], list[list[int]]], None]
    ) -> None:
        """One batch takes all cores, of several each core takes its own."""
        if not texts:
            return
        engine = self.load()
        rows = [engine.encode(self._document_prefix + text, self._counted) for text in texts]
        calls = [(batch, [rows[i] for i in batch]) for batch in batches([len(r) for r in rows])]
        if len(calls) == 1 or self._threads == 1:
            for batch, read in calls:
                embed(engine, batch, read)
            return
        narrow = engine.on_one_thread
        for _ in self._beside.map(lambda call: embed(narrow, *call), calls):
            pass

    @cached_property
    def _beside(self) -> ThreadPoolExecutor:
        """Threads for documents, always the same ones: each new one would have memory of its own.
        They have the priority of the first who adds documents, and no query waits for them."""
        return ThreadPoolExecutor(self._threads, "trivium-model")

    def knows(self, word: str) -> bool:
        """Whether the model has a token for the whole word. Raises ModelUnavailable."""
        return self.load().has_token(word)

    def load(self) -> _Engine:
        """Make the model ready now. Raises ModelUnavailable where there is none."""
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    graph, tokenizer = self._files()
                    self._loaded = _Engine(
                        graph, tokenizer, self._shape, self._threads, self._max_tokens
                    )
        return self._loaded

    def tokens(self) -> LocalTokens:
        """Counts as this model does."""
        return LocalTokens(self.fingerprint, open_tokenizer(self._files()[1]), self._counted)

    def tokenizer_file(self) -> Path:
        """For another process that counts as this model does. Raises ModelUnavailable."""
        return self._files()[1]

    def _files(self) -> tuple[Path, Path]:
        """The graph and the tokeniser, made ready on the first call on this machine."""
        given = weights.given_graph(self._folder) if self._folder is not None else None
        if self._folder is not None and given is not None:
            return given, self._folder / weights.TOKENIZER
        if not self._made.is_file():
            from trivium.models import minilm

            source = self._folder
            if source is None:
                source = weights.locate_builtin(self._cache)
                weights.verify(source)
            minilm.make(source, self._shape, self._made)
        return self._made, self._made.with_name(weights.TOKENIZER)


class LocalTokens:
    """Counts tokens as a model's own tokeniser does, of the whole text, without the two that
    open and close what the model reads."""

    def __init__(self, name: str, tokenizer: Tokenizer, counted: Counted) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._counted = counted

    def count(self, text: str) -> int:
        ids = self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
        self._counted.keep(text, ids)
        return len(ids)


class _Engine:
    """A session and its tokeniser. Both are safe to use from several threads at once."""

    def __init__(
        self, graph: Path, tokenizer: Path, shape: Shape, threads: int, max_tokens: int
    ) -> None:
        self._shape = shape
        self._tokenizer = open_tokenizer(tokenizer)
        # What stands in front is context; of the passage itself nothing may be lost.
        self._tokenizer.enable_truncation(max_tokens, direction="left")
        self._marks = _marks(self._tokenizer)
        self._room = max_tokens - sum(map(len, self._marks or ()))
        self._graph = graph
        self._session = open_session(graph, threads)
        self._inputs = {given.name for given in self._session.get_inputs()}
        names = [given.name for given in self._session.get_outputs()]
        # `vectors` is our own graph's; sentence-transformers exports name theirs so.
        wanted = (name for name in ("vectors", "sentence_embedding") if name in names)
        self._output = next(wanted, names[0])
        wanted = (name for name in ("tokens", "token_embeddings", "last_hidden_state"))
        self._tokens = next((name for name in wanted if name in names), "")
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise ModelUnavailable(
                f"The model {graph.name} asks for {', '.join(sorted(unknown))}.",
                fix="Export it so that it takes input_ids and attention_mask.",
            )

    @cached_property
    def on_one_thread(self) -> _Engine:
        """The same with a session of its own: 57 MB."""
        narrow = copy(self)
        narrow._session = open_session(self._graph, 1)
        return narrow

    def encode(self, text: str, counted: Counted | None = None) -> list[int]:
        """`counted`: what somebody has read already."""
        ids: list[int]
        if counted and self._marks and (known := counted.take(text)):
            lines, passage = encodable(known[0]), known[1]
            ids = self._tokenizer.encode(lines, add_special_tokens=False).ids + passage
            before, behind = self._marks
            return [*before, *ids[max(0, len(ids) - self._room) :], *behind]
        # One by one: encode_batch starts threads of its own, which warn on stderr after a fork,
        # and saves nothing that counts (1 ms a chunk beside 60 ms in the model).
        ids = self._tokenizer.encode(encodable(text)).ids
        return ids

    def has_token(self, word: str) -> bool:
        return self._tokenizer.token_to_id(word) is not None

    def encode_words(self, text: str) -> tuple[list[int], list[str]]:
        """The tokens, and of each the word that it is a part of; nothing for marks."""
        text = encodable(text)
        read = self._tokenizer.encode(text)
        spans: dict[int, tuple[int, int]] = {}
        for word, (start, end) in zip(read.word_ids, read.offsets, strict=True):
            if word is not None:
                spans[word] = (spans.get(word, (start, end))[0], end)
        belonging = ["" if w is None else text[slice(*spans[w])] for w in read.word_ids]
        return read.ids, belonging

    def vectors(self, rows: Sequence[Sequence[int]]) -> Vectors:
        found: Vectors = self._run(rows, [self._output])[0]
        return found

    def with_tokens(self, rows: Sequence[Sequence[int]]) -> tuple[Vectors, list[Vectors]]:
        """And for each text the vectors of its tokens, as the last layer gives them."""
        vectors, tokens = self._run(rows, [self._output, self._tokens])
        return vectors, [found[: len(row)] for row, found in zip(rows, tokens, strict=True)]

    @property
    def gives_tokens(self) -> bool:
        return bool(self._tokens)

    def kept(self, row: Sequence[int]) -> NDArray[np.bool_]:
        """Which tokens of a passage are; the mark that opens it, if no other is."""
        found: NDArray[np.bool_] = self._uncommon[list(row)]
        found[0] |= not found.any()
        return found

    @cached_property
    def _uncommon(self) -> NDArray[np.bool_]:
        from trivium.models.common import uncommon

        return uncommon(self._tokenizer.get_vocab(with_added_tokens=True))

    def _run(self, rows: Sequence[Sequence[int]], outputs: list[str]) -> list[Any]:
        import numpy as np

        ids = np.full((len(rows), max(map(len, rows))), self._shape.padding, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: values for name, values in feed.items() if name in self._inputs}
        found: list[Any] = self._session.run(outputs, feed)
        if self._output != "vectors":
            found[0] = self._finish(found[0].astype(np.float32), mask.astype(np.float32))
        return found

    def _finish(self, found: Any, mask: Vectors) -> Vectors:
        """Pool and normalise what a graph that is not ours gives."""
        import numpy as np

        if found.ndim == 3 and self._shape.pooling == "cls":
            found = found[:, 0]
        elif found.ndim == 3:
            found = np.einsum("rtd,rt->rd", found, mask)
        if found.shape[1] != self._shape.hidden:
            raise DimensionMismatch(
                f"The model gives {found.shape[1]} dimensions, its config.json says"
                f" {self._shape.hidden}.",
                fix="Correct hidden_size in that file.",
            )
        unit: Vectors = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return unit


def _marks(tokenizer: Tokenizer) -> tuple[list[int], list[int]] | None:
    """What a model reads before and behind every text; None where its tokens are not those of its
    lines, or a sample does not tell."""
    from tokenizers.pre_tokenizers import BertPreTokenizer

    if not isinstance(tokenizer.pre_tokenizer, BertPreTokenizer):
        return None
    bare: list[int] = tokenizer.encode("a", add_special_tokens=False).ids
    marked: list[int] = tokenizer.encode("a").ids
    for start in range(len(marked)):
        if bare and marked[start : start + len(bare)] == bare:
            return marked[:start], marked[start + len(bare) :]
    return None


def open_session(graph: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Waiting threads sleep. Measured on 2 cores beside other work (load 6): spinning ones made the
    # median query 13 ms instead of 4 and took a tenth off the documents.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors: its warnings are about hardware we do not ask for
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as reason:  # onnxruntime has a dozen kinds, without a common root
        raise ModelDamaged(f"The model {graph} cannot be loaded: {reason}.") from reason


def open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as reason:  # the library raises bare Exception
        raise ModelDamaged(f"The tokeniser {path} cannot be loaded: {reason}.") from reason
    tokenizer.no_truncation()  # the file of the built-in model fixes both at 128
    tokenizer.no_padding()
    return tokenizer


def encodable(text: str) -> str:
    """The text with halves of surrogate pairs joined, and U+FFFD for those left alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions grouped so that like lengths run together and little padding is computed.

    Longest first: memory peaks in the first batch, not after an hour.
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    start = 0
    while start < len(order):
        size = max(1, BATCH_TOKENS // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size
