"""Reranks with a cross-encoder in ONNX form, which reads query and passage together.

Any BERT-type model in a folder with a graph and a tokenizer.json: one logit a pair, or two of
which the second says `relevant`. Knows nothing of stores and blending. onnxruntime and tokenizers
are imported at the first query.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import ModelUnavailable
from trivium.models.layout import TOKENIZER, given_graph
from trivium.models.local import batches, open_session
from trivium.models.tokenising import encodable, open_tokenizer
from trivium.ports import LONGEST_PASSAGE
from trivium.types import StoredChunk

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_MEANT = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


class CrossEncoder:
    """A `Reranker`. Threads may share it."""

    def __init__(self, folder: Path, threads: int = 0, max_tokens: int = 512) -> None:
        """`threads` 0 takes every core. Longer pairs are cut at `max_tokens`."""
        self._folder = folder
        self._threads = threads
        self._max_tokens = max_tokens
        self.fingerprint = f"cross-{folder.name}-{max_tokens}"

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        texts = [p.chunk.embedded_text[:LONGEST_PASSAGE] for p in passages]
        self._graph  # noqa: B018  says what is wrong with the folder before its tokeniser fails
        pairs = [self._tokenizer.encode(encodable(query), encodable(text)) for text in texts]
        found = [0.0] * len(pairs)
        for batch in batches([len(pair.ids) for pair in pairs]):
            for at, score in zip(batch, self._run([pairs[i] for i in batch]), strict=True):
                found[at] = score
        return found

    def _run(self, pairs: Sequence[Encoding]) -> list[float]:
        import numpy as np

        longest = max(len(pair.ids) for pair in pairs)
        feed = {}
        for name in self._inputs:
            rows = np.zeros((len(pairs), longest), np.int64)  # the mask hides the padding
            for row, pair in zip(rows, pairs, strict=True):
                row[: len(pair.ids)] = getattr(pair, _MEANT[name])
            feed[name] = rows
        logits = np.asarray(self._session.run(None, feed)[0], np.float64).reshape(len(pairs), -1)
        # Two logits in softmax are the sigmoid of their difference.
        relevant = logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)
        return [float(score) for score in 1 / (1 + np.exp(-np.clip(relevant, -60, 60)))]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer(self._folder / TOKENIZER)
        tokenizer.enable_truncation(self._max_tokens, strategy="longest_first")
        return tokenizer

    @cached_property
    def _graph(self) -> Path:
        """Looked for when it is needed: a wrong folder must not break a search without it."""
        graph = given_graph(self._folder)
        if graph is None or not (self._folder / TOKENIZER).is_file():
            raise ModelUnavailable(
                f"{self._folder.name} is no cross-encoder: it needs model.onnx and {TOKENIZER}.",
                fix="Export the model to ONNX, with its tokeniser beside it.",
            )
        return graph

    @cached_property
    def _session(self) -> Any:
        return open_session(self._graph, self._threads)

    @cached_property
    def _inputs(self) -> list[str]:
        names = [given.name for given in self._session.get_inputs()]
        unknown = set(names) - _MEANT.keys()
        if unknown:
            raise ModelUnavailable(
                f"The model {self._graph.name} asks for {', '.join(sorted(unknown))}.",
                fix="Export it so that it takes input_ids and attention_mask.",
            )
        return names
