"""Reranks with a cross-encoder, which reads query and passage together.

A model in a folder with a graph and a tokenizer.json (one logit a pair, or two of which the second
says `relevant`), or with the safetensors of BERT, RoBERTa or ModernBERT, of which the graph is made
here. Knows nothing of stores and blending. onnxruntime and tokenizers are imported at the first
query.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from trivium.core.errors import ModelUnavailable, ModelUnsupported
from trivium.core.types import StoredChunk
from trivium.models.layout import TOKENIZER, WEIGHTS, encoder_folder, given_graph, read_reranker
from trivium.models.sessions import (
    INPUTS,
    check_folder,
    fed,
    graph_place,
    open_session,
    run_session,
)
from trivium.models.tokenising import batches, encodable, open_tokenizer
from trivium.models.weights import sha256
from trivium.ports import LONGEST_PASSAGE

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from trivium.core.types import Vectors
    from trivium.models.head import Head

FIRST = 2  # passages whose time tells how many more fit
AT_ONCE = 8  # between two looks at the clock
BATCH_TOKENS = 1024  # of one run, padding included


class CrossEncoder:
    """A `Reranker`. Threads may share it."""

    def __init__(
        self,
        folder: Path,
        threads: int = 0,
        max_tokens: int = 512,
        cache: Path | None = None,
        *,
        quantised: bool = True,
    ) -> None:
        """`threads` 0 takes every core. Longer pairs are cut at `max_tokens`. `cache`: where graphs
        that are made here are kept; else only a folder with a graph serves."""
        self._folder = folder
        self._threads = threads
        self._max_tokens = max_tokens
        self._cache = cache
        self._quantised = quantised
        self.fingerprint = f"cross-{folder.name}-{max_tokens}"

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        return self.scores_until(query, passages, inf)

    def scores_until(
        self, query: str, passages: Sequence[StoredChunk], deadline: float
    ) -> Sequence[float]:
        self._graph  # noqa: B018  says what is wrong with the folder before its tokeniser fails
        scores: list[float] = []
        size = FIRST
        while len(scores) < len(passages) and size and (started := monotonic()) < deadline:
            scores += self._judged(query, passages[len(scores) : len(scores) + size])
            now = monotonic()
            size = int(min(AT_ONCE, (deadline - now) / max((now - started) / size, 1e-6)))
        return scores

    def _judged(self, query: str, passages: Sequence[StoredChunk]) -> list[float]:
        texts = [p.chunk.embedded_text[:LONGEST_PASSAGE] for p in passages]
        pairs = [self._tokenizer.encode(encodable(query), encodable(text)) for text in texts]
        judged = [0.0] * len(pairs)
        for batch in batches([len(pair.ids) for pair in pairs], BATCH_TOKENS):
            for at, score in zip(batch, self._run([pairs[i] for i in batch]), strict=True):
                judged[at] = score
        return judged

    def _run(self, pairs: Sequence[Encoding]) -> list[float]:
        import numpy as np

        feed = fed(pairs, self._inputs)
        outputs = np.asarray(run_session(self._session, None, feed, self._graph)[0])
        if self._head is not None:
            outputs = self._pooled(self._head, outputs, pairs)
        logits = outputs.astype(np.float64).reshape(len(pairs), -1)
        # Two logits in softmax are the sigmoid of their difference.
        relevant = logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)
        return [float(score) for score in 1 / (1 + np.exp(-np.clip(relevant, -60, 60)))]

    @staticmethod
    def _pooled(head: Head, tokens: Vectors, pairs: Sequence[Encoding]) -> Vectors:
        import numpy as np

        mask = np.zeros(tokens.shape[:2], np.float32)
        for row, pair in zip(mask, pairs, strict=True):
            row[: len(pair.ids)] = 1
        return head.pooled(tokens, mask)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer(encoder_folder(self._folder) / TOKENIZER)
        tokenizer.enable_truncation(self._max_tokens, strategy="longest_first")
        return tokenizer

    @cached_property
    def _graph(self) -> Path:
        """Looked for when it is needed: a wrong folder must not break a search without it."""
        check_folder(self._folder)
        encoder = encoder_folder(self._folder)
        graph = given_graph(encoder)
        if graph is None and self._cache is not None and (encoder / WEIGHTS).is_file():
            return self._made(encoder, self._cache)
        if graph is None or not (encoder / TOKENIZER).is_file():
            raise ModelUnavailable(
                f"{self._folder.name} isn't a cross-encoder: it needs model.onnx or {WEIGHTS}, and"
                f" {TOKENIZER}.",
                fix="`trivium models` lists rerankers that Trivium downloads.",
                on_page="Ask the person who runs this server to choose another model.",
            )
        return graph

    def _made(self, encoder: Path, cache: Path) -> Path:
        layout = read_reranker(self._folder)
        text = f"{sha256(encoder / WEIGHTS)}{layout.shape}{layout.further()}{self._quantised}"
        made = graph_place(cache, "cross", text)
        if not made.is_file():
            from trivium.models import graph

            alone = not layout.modules  # the classifier is among the weights
            graph.make(encoder, layout, made, quantised=self._quantised, pairs=alone)
        return made

    @cached_property
    def _head(self) -> Head | None:
        """Turns tokens into a score, if the model consists of modules."""
        if given_graph(encoder_folder(self._folder)) is not None:
            return None
        layout = read_reranker(self._folder)
        if not layout.modules:
            return None
        from trivium.models.head import Head

        return Head(self._folder, layout)

    @cached_property
    def _session(self) -> Any:
        return open_session(self._graph, self._threads)

    @cached_property
    def _inputs(self) -> list[str]:
        names = [node.name for node in self._session.get_inputs()]
        unknown = set(names) - INPUTS.keys()
        if unknown:
            raise ModelUnsupported(
                f"The model {self._graph.name} needs the inputs {', '.join(sorted(unknown))}.",
                fix="Export it with input_ids and attention_mask as its inputs.",
            )
        return names
