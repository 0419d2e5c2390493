"""Reads a question with passages: which words of a passage answer it, and how sure that is.

The model is the built-in encoder with small differences that are part of this package
(`reader.safetensors`, trained by `bench.reader`). Its graph is made at the first question and kept
beside the encoder's. Knows nothing of sentences, answers and stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.models.layout import TOKENIZER, Layout
from trivium.models.sessions import fed, graph_place, open_session, run_session
from trivium.models.tokenising import batches, encodable, open_tokenizer
from trivium.ports import Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

DIFFERENCES = Path(__file__).with_name("reader.safetensors")
LONGEST = 320  # tokens of question and passage, as in training
BATCH_TOKENS = 1024
REMEMBERED = 64  # readings: before a refusal the same ones are looked at three times
SCALE = 2.0  # of the differences, as in training


class AnswerReader:
    """Threads may share it."""

    def __init__(self, encoder: Path, layout: Layout, cache: Path, threads: int) -> None:
        """`encoder`: the folder of the built-in model. `cache`: where the graph is kept."""
        self._encoder = encoder
        self._layout = layout
        self._cache = cache
        self._threads = threads
        self._readings: dict[tuple[str, str], Reading] = {}

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        readings = {
            passage: self._readings[question, passage]
            for passage in passages
            if (question, passage) in self._readings
        }
        new = [passage for passage in dict.fromkeys(passages) if passage not in readings]
        pairs = [self._tokenizer.encode(encodable(question), encodable(passage)) for passage in new]
        for batch in batches([len(pair.ids) for pair in pairs], BATCH_TOKENS):
            logits = self._run([pairs[at] for at in batch])
            readings |= {
                new[at]: _reading(pairs[at], row) for at, row in zip(batch, logits, strict=True)
            }
        if len(self._readings) > REMEMBERED:
            self._readings = {}
        self._readings |= {(question, passage): readings[passage] for passage in new}
        return [readings[passage] for passage in passages]

    def _run(self, pairs: Sequence[Encoding]) -> NDArray[Any]:
        logits: NDArray[Any] = run_session(self._session, ["logits"], fed(pairs), self._graph)[0]
        return logits

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer(self._encoder / TOKENIZER)
        tokenizer.enable_truncation(LONGEST, strategy="only_second")
        return tokenizer

    @cached_property
    def _graph(self) -> Path:
        from trivium.models import graph, weights

        parts = f"{weights.builtin().digest}{weights.sha256(DIFFERENCES)}"
        made = graph_place(self._cache, "reader", parts)
        if not made.is_file():
            weights.verify(self._encoder)
            own = graph.tensors(DIFFERENCES)
            graph.make(
                self._encoder, self._layout, made, pairs=True, change=lambda w: changed(w, own)
            )
        return made

    @cached_property
    def _session(self) -> Any:
        return open_session(self._graph, self._threads)


def changed(weights: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The encoder's weights with the reader's differences: of a matrix as the product of two small
    ones in 8 bits by row, of anything else in its place."""
    mixed = dict(weights)
    for name, values in own.items():
        if name.endswith(".a"):
            at = name.removesuffix(".a")
            a, b = (own[f"{at}.{x}"] * own[f"{at}.{x}.scale"][:, None] for x in "ab")
            mixed[f"{at}.weight"] = weights[f"{at}.weight"] + np.float32(SCALE) * (b @ a)
        elif name.startswith("reader.") or name in weights:
            mixed[name] = values
    return mixed


def _reading(pair: Encoding, logits: NDArray[Any]) -> Reading:
    """`logits` by token: how well it begins and ends the answer; the first token says that there is
    none."""
    places = [at for at, kind in enumerate(pair.sequence_ids) if kind == 1]
    scores = np.concatenate([logits[:1], logits[places]]).astype(np.float64)
    chances = np.exp(scores - scores.max(axis=0))
    chances /= chances.sum(axis=0)
    spans = tuple(pair.offsets[at] for at in places)
    return Reading(spans, tuple(chances[1:, 0].tolist()), tuple(chances[1:, 1].tolist()))
