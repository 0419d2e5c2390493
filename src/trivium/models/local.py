"""Embeds text on this machine's processor with onnxruntime.

Knows nothing of documents, chunks and stores. onnxruntime and tokenizers are imported at the first
text: until then an embedder costs nothing, and already says its fingerprint and dimensions.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from trivium.core.errors import BadSetting, ModelUnavailable, ModelUnsupported
from trivium.models import cuda, weights
from trivium.models.late import pack
from trivium.models.layout import CONFIG, TOKENIZER, WEIGHTS, Layout, given_graph
from trivium.models.sessions import GRAPH, GRAPH_VERSION, open_session, run_session
from trivium.models.token_processes import TokenProcesses, usual_count
from trivium.models.tokenising import LocalTokens, Tokeniser, WordTokens, batches, check_vocabulary

if TYPE_CHECKING:
    from trivium.core.types import TokenVectors, Vector, Vectors
    from trivium.models.cuda import TorchEngine
    from trivium.models.head import Head
    from trivium.models.reader import AnswerReader
    from trivium.ports import Reading

VECTORS_VERSION = 1  # bump it when vectors change
# For one text at a time. A query of 12 tokens takes 5.0 ms of processor time with one thread, 5.3
# with two, and 13.5 instead of 7.4 on a machine where sixteen shared it (docs/log.md).
QUERY_THREADS = 2
QUERIES = 32  # whose tokens are kept: as many searches at a time as a server lets in, 20 kB each
log = logging.getLogger("trivium.models")
_Made = TypeVar("_Made")
USUAL_TOKENS = 512  # chunks are made for 400; longer ones cost time and dilute the vector


class LocalEmbedder:
    """A sentence-transformers model in a folder, or the built-in one without a folder."""

    def __init__(
        self,
        folder: Path | None,
        cache: Path,
        threads: int = 0,
        max_tokens: int = 0,
        query_prefix: str = "",
        document_prefix: str = "",
        dimensions: int = 0,
        *,
        device: str = "cpu",
        quantised: bool = True,
    ) -> None:
        """`threads` 0 takes every core for several texts, and two for one. Longer texts are cut at
        `max_tokens`, vectors behind the first `dimensions` numbers; 0 is what the model was made
        for, and no prefix its own prompt.
        `device`: where documents are embedded; `auto` takes a GPU for many where there is one.
        `quantised`: in the graphs that are made here, not in those that a folder brings along."""
        cuda.check(device)
        if folder is not None:
            weights.check(folder)
        model = weights.builtin() if folder is None else weights.identify(folder)
        layout = _cut(model.layout, dimensions)
        self.max_tokens = _most(max_tokens, layout, model.name)
        self.dimensions = layout.dimensions
        self.fingerprint = f"{model.name}-{model.digest}-v{VECTORS_VERSION}-{self.max_tokens}"
        if layout.cut:
            self.fingerprint += f"-d{layout.dimensions}"
        self._query_prefix = query_prefix or layout.query_prompt
        self._document_prefix = document_prefix or layout.document_prompt
        if self._document_prefix:  # a query's prefix changes no stored vector
            digest = hashlib.sha256(self._document_prefix.encode()).hexdigest()
            self.fingerprint += f"-{digest[:6]}"
        self._is_builtin = model.name == weights.NAME
        self._folder = folder
        self._cache = cache
        exact = "" if quantised else "-float"
        made = f"{model.name}-{model.digest}-v{GRAPH_VERSION}{exact}"
        self._made = cache / "graphs" / made / GRAPH
        self._quantised = quantised
        self._device = device
        self._texts = 0  # embedded so far
        self._gpu: TorchEngine | None = None
        self.note = ""  # a sentence, once `auto` has gone back from a GPU to the processor
        self._layout = layout
        self._threads = threads or os.cpu_count() or 2
        self._for_one = threads or min(QUERY_THREADS, self._threads)
        # Of queries just embedded, by their token ids: a reranker asks for these a moment later.
        self._last_queries: dict[tuple[int, ...], Vectors] = {}
        self._lock = Lock()
        self._loaded: _Engine | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        made = self._by_gpu(len(texts), lambda gpu: gpu.vectors(texts, self._document_prefix))
        if made is not None:
            return made
        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def embed(engine: _Engine, batch: list[int], rows: list[list[int]], prompt: int) -> None:
            vectors[batch] = engine.vectors(rows, prompt)

        self._in_batches(texts, embed)
        return vectors

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        import numpy as np

        made = self._by_gpu(len(texts), lambda gpu: gpu.with_tokens(texts, self._document_prefix))
        if made is not None:
            return made
        packed = [b""] * len(texts)
        if not self.load().gives_tokens:
            return self.embed_documents(texts), packed
        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def embed(engine: _Engine, batch: list[int], rows: list[list[int]], prompt: int) -> None:
            vectors[batch], tokens = engine.with_tokens(rows, prompt)
            for i, row, matrix in zip(batch, rows, tokens, strict=True):
                packed[i] = pack(matrix[engine.tokeniser.kept(row)])

        self._in_batches(texts, embed)
        return vectors, packed

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Sequence[str]]:
        import numpy as np

        engine = self.load()
        if not engine.gives_tokens:
            raise ModelUnavailable(
                "The embedding model returns vectors of whole texts, not of tokens.",
                fix="Choose another reranker, or export the model with `last_hidden_state`.",
            )
        row, belonging = engine.tokeniser.encode_words(self._query_prefix + text)
        opening = engine.tokeniser.prompt_length(self._query_prefix)
        belonging[:opening] = [""] * opening  # nobody asked for the words of the prompt
        tokens = self._last_queries.get(tuple(row))
        if tokens is None:
            _, (tokens,) = engine.with_tokens([row])
        return tokens / np.linalg.norm(tokens, axis=1, keepdims=True), belonging

    def embed_query(self, text: str) -> Vector:
        engine, prefix = self.load(), self._query_prefix
        row = engine.tokeniser.encode(prefix + text, prefix)
        prompt = engine.tokeniser.prompt_length(prefix)
        if not engine.gives_tokens:
            alone: Vector = engine.vectors([row], prompt)[0]
            return alone
        vectors, (tokens,) = engine.with_tokens([row], prompt)
        self._last_queries[tuple(row)] = tokens
        if len(self._last_queries) > QUERIES:
            with suppress(KeyError, RuntimeError):  # another thread was faster
                del self._last_queries[next(iter(self._last_queries))]
        vector: Vector = vectors[0]
        return vector

    def _in_batches(
        self,
        texts: Sequence[str],
        embed: Callable[[_Engine, list[int], list[list[int]], int], None],
    ) -> None:
        """One batch takes the threads of a query, of several each core takes its own."""
        if not texts:
            return
        engine, prefix = self.load(), self._document_prefix
        read, prompt = engine.tokeniser, engine.tokeniser.prompt_length(prefix)
        rows = [read.encode(prefix + text, prefix) for text in texts]
        lengths = [len(row) for row in rows]
        calls = [(batch, [rows[i] for i in batch], prompt) for batch in batches(lengths)]
        if len(calls) == 1 or self._threads == 1:
            for call in calls:
                embed(engine, *call)
            return
        narrow = engine.on_one_thread
        for _ in self._beside.map(lambda call: embed(narrow, *call), calls):
            pass

    @cached_property
    def _beside(self) -> ThreadPoolExecutor:
        """Threads for documents, always the same ones: each new one would have its own memory. They
        have the priority of the first caller that adds documents, and no query waits for them."""
        return ThreadPoolExecutor(self._threads, "trivium-model")

    def _by_gpu(self, texts: int, embed: Callable[[TorchEngine], _Made]) -> _Made | None:
        """What a GPU makes of this many more texts; None: use the processor.

        Everything that `auto` meets on the way to a GPU sends it back to the processor: a torch
        that doesn't import raises ImportError, OSError or RuntimeError, a missing driver and a full
        card RuntimeError, packages that don't fit each other anything at all."""
        self._texts += texts
        if self._device == "cpu" or not texts:
            return None
        if self._device == "auto" and (self._texts <= cuda.FEW or not cuda.likely()):
            return None
        tokeniser = self.load().tokeniser
        try:
            with self._lock:
                if self._gpu is None:
                    self._gpu = self._torch_engine(tokeniser)
                return None if self._gpu is None else embed(self._gpu)
        except Exception as reason:
            if self._device == "cuda":
                raise
            self._device, self._gpu = "cpu", None
            first = str(reason).strip().partition("\n")[0][:200]
            self.note = (
                "The GPU couldn't be used, so the processor embeds the documents"
                f" ({type(reason).__name__}: {first})."
            )
            log.warning(self.note)
            return None

    def _torch_engine(self, tokeniser: Tokeniser) -> TorchEngine | None:
        folder = self._folder or weights.locate_builtin(self._cache)
        if not (folder / self._layout.encoder / WEIGHTS).is_file():
            if self._device == "auto":
                return None
            raise ModelUnsupported(
                f"The model folder {folder.name} has a graph for the processor only.",
                fix=f"Put its {WEIGHTS} beside it, or set `embed.device` to cpu.",
            )
        processes, count = None, usual_count()
        if count > 1:
            processes = TokenProcesses(
                self.tokenizer_file(), tokeniser, lower=self.lowers, count=count
            )
        return cuda.TorchEngine(folder, self._layout, tokeniser, processes=processes)

    def knows(self, word: str) -> bool:
        """Whether the model has a token for the whole word. Raises ModelUnavailable."""
        return self.load().tokeniser.has_token(word)

    def read(self, question: str, passages: Sequence[str]) -> Sequence[Reading]:
        return self._reader.read(question, passages) if self._reader is not None else ()

    @cached_property
    def _reader(self) -> AnswerReader | None:
        """Its differences are to the weights of the built-in model, and not part of every copy of
        this package that people pass on."""
        from trivium.models.reader import DIFFERENCES, AnswerReader

        if not self._is_builtin or not DIFFERENCES.is_file():
            return None
        encoder = self._folder or weights.locate_builtin(self._cache)
        return AnswerReader(encoder, self._layout, self._cache, self._for_one)

    def load(self) -> _Engine:
        """Load the model now. Raises ModelUnavailable if there is none."""
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._engine()
        return self._loaded

    def _engine(self) -> _Engine:
        from trivium.models.head import Head

        graph, tokenizer = self._files()
        if self._folder is not None:
            encoder = self._folder / self._layout.encoder
            check_vocabulary(self._words.tokenizer, encoder / CONFIG)
        tokeniser = Tokeniser(tokenizer, self._words, self.max_tokens)
        head = Head(self._folder or Path(), self._layout)
        return _Engine(graph, tokeniser, head, self._layout, self._for_one)

    def tokens(self) -> LocalTokens:
        """Counts as this model does."""
        return LocalTokens(self.fingerprint, self._words)

    @cached_property
    def _words(self) -> WordTokens:
        return WordTokens(self.tokenizer_file(), lower=self.lowers)

    def tokenizer_file(self) -> Path:
        """For another process that counts as this model does. Raises ModelUnavailable."""
        return self._files()[1]

    @property
    def lowers(self) -> bool:
        """Whether letters are made small before the tokeniser sees them."""
        return self._layout.lower

    def _files(self) -> tuple[Path, Path]:
        """The graph and the tokeniser, made ready on the first call on this machine."""
        if self._folder is not None:
            encoder = self._folder / self._layout.encoder
            graph_path = given_graph(encoder)
            if graph_path is not None:
                return graph_path, encoder / TOKENIZER
        if not self._made.is_file():
            from trivium.models import graph

            if self._folder is None:
                encoder = weights.locate_builtin(self._cache)
                weights.verify(encoder)
            graph.make(encoder, self._layout, self._made, quantised=self._quantised)
        return self._made, self._made.with_name(TOKENIZER)


def _most(limit: int, layout: Layout, name: str) -> int:
    """How many tokens to read. Unless more are asked for, no more than chunks are made for."""
    if not limit:
        return min(USUAL_TOKENS, layout.max_tokens or layout.readable, layout.readable)
    if not 3 <= limit <= layout.readable:
        raise BadSetting(
            f"`embed.max_tokens` is {limit}.",
            fix=f"Choose a number from 3 to {layout.readable}, which is what {name} can read.",
        )
    return limit


def _cut(layout: Layout, dimensions: int) -> Layout:
    """Matryoshka models keep most of their meaning in the first numbers."""
    if not dimensions:
        return layout
    if not 0 < dimensions <= layout.dimensions:
        raise BadSetting(
            f"`embed.dimensions` is {dimensions}.",
            fix=f"The model has {layout.dimensions}: choose that or fewer.",
        )
    return replace(layout, cut=dimensions)


class _Engine:
    """A session, its tokeniser and what makes a vector of tokens. Threads may share it."""

    def __init__(
        self, graph: Path, tokeniser: Tokeniser, head: Head, layout: Layout, threads: int
    ) -> None:
        self.tokeniser = tokeniser
        self._head = head
        self._padding = layout.shape.padding
        self._graph = graph
        self._session = open_session(graph, threads)
        self._inputs = {node.name for node in self._session.get_inputs()}
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise ModelUnsupported(
                f"The model {graph.name} needs the inputs {', '.join(sorted(unknown))}.",
                fix="Export it with input_ids and attention_mask as its inputs.",
            )
        outputs = {node.name: len(node.shape) for node in self._session.get_outputs()}
        wanted = ("tokens", "token_embeddings", "last_hidden_state", next(iter(outputs)))
        # By its axes: text, token, number. Some exports give whole texts' vectors only.
        self._tokens = next((name for name in wanted if outputs.get(name) == 3), "")
        self._whole = next((n for n in ("sentence_embedding", *outputs) if outputs.get(n) == 2), "")
        if not (self._tokens or self._whole) or not (self._tokens or layout.pools_prompt):
            raise ModelUnsupported(
                f"The model {graph.name} returns no token vectors.",
                fix="Export it with `last_hidden_state`.",
            )

    @cached_property
    def on_one_thread(self) -> _Engine:
        """The same with its own session: 57 MB."""
        narrow = copy(self)
        narrow._session = open_session(self._graph, 1)
        return narrow

    @property
    def gives_tokens(self) -> bool:
        return bool(self._tokens)

    def vectors(self, rows: Sequence[Sequence[int]], prompt: int = 0) -> Vectors:
        """`prompt`: as many tokens of each row are its prompt."""
        if not self._tokens:
            output, _ = self._run(rows, self._whole)
            return self._head.finished(output)
        output, mask = self._run(rows, self._tokens)
        return self._head.vectors(output, mask, prompt)

    def with_tokens(
        self, rows: Sequence[Sequence[int]], prompt: int = 0
    ) -> tuple[Vectors, list[Vectors]]:
        """And for each text the vectors of its tokens, as the last layer gives them."""
        padded, mask = self._run(rows, self._tokens)
        tokens = [vectors[: len(row)] for row, vectors in zip(rows, padded, strict=True)]
        return self._head.vectors(padded, mask, prompt), tokens

    def _run(self, rows: Sequence[Sequence[int]], output: str) -> tuple[Vectors, Vectors]:
        import numpy as np

        ids = np.full((len(rows), max(map(len, rows))), self._padding, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: values for name, values in feed.items() if name in self._inputs}
        result = run_session(self._session, [output], feed, self._graph)[0]
        return result.astype(np.float32, copy=False), mask.astype(np.float32)
