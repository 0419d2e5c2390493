"""Reranks with a late interaction model (ColBERT), which gives a vector for each token.

Each token of a query looks for its nearest token in a passage; the mean of those similarities is
the passage's score. Reads folders as PyLate and as Stanford's ColBERT save them, and computes as
sentence-transformers does with both. Knows nothing of stores and blending, nor of what `late` keeps
beside vectors. onnxruntime and tokenizers are imported at the first query.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import ModelDamaged, ModelUnavailable, ModelUnsupported
from trivium.core.types import StoredChunk
from trivium.models.layout import CONFIG, MODULES, PROMPTS, TOKENIZER, WEIGHTS, Layout, read_bare
from trivium.models.sessions import check_folder, graph_place, open_session
from trivium.models.tokenising import batches, encodable, open_tokenizer
from trivium.models.weights import sha256
from trivium.ports import LONGEST_PASSAGE

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from trivium.core.types import Vectors

METADATA = "artifact.metadata"  # of Stanford's ColBERT
_DENSE = "pylate.models.Dense.Dense"


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How such a model reads queries and passages."""

    query_prefix: str
    document_prefix: str
    query_length: int = 32
    document_length: int = 180
    expands: bool = True  # short queries are filled up with the mask token, which looks on its own
    attends: bool = False  # and is seen by the other tokens
    skipped: tuple[str, ...] = tuple(string.punctuation)  # tokens of passages that don't count
    dense: str = ""  # the folder of what makes the vectors short; empty: among the weights


def is_colbert(folder: Path) -> bool:
    """Whether a folder holds such a model, judging by its files."""
    try:
        return "HF_ColBERT" in (_json_of(folder / CONFIG).get("architectures") or ()) or any(
            module["type"] == _DENSE for module in _json_of(folder / MODULES).get("modules", ())
        )
    except (ModelDamaged, KeyError, TypeError):
        return False


class ColbertReranker:
    """A `Reranker`. Threads may share it."""

    def __init__(
        self, folder: Path, cache: Path, threads: int = 0, *, quantised: bool = True
    ) -> None:
        """`threads` 0 takes every core. `cache`: where the graph that is made here is kept."""
        self._folder = folder
        self._cache = cache
        self._threads = threads
        self._quantised = quantised
        self.fingerprint = f"colbert-{folder.name}"

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        import numpy as np

        if not passages:
            return []
        row, mask = self._query_row(query)
        (of_query,) = self._vectors([row], [mask])
        texts = [p.chunk.embedded_text[:LONGEST_PASSAGE] for p in passages]
        rows = [self._passage_row(text) for text in texts]
        scores = [0.0] * len(rows)
        for batch in batches([len(row) for row in rows]):
            read = [rows[i] for i in batch]
            for i, row, tokens in zip(
                batch, read, self._vectors(read, [[1] * len(r) for r in read]), strict=True
            ):
                counted = tokens[~np.isin(row, self._skipped)]
                nearest = (of_query @ (counted if len(counted) else tokens).T).max(axis=1)
                scores[i] = min(1.0, max(0.0, float(nearest.mean())))
        return scores

    def _query_row(self, query: str) -> tuple[list[int], list[int]]:
        """The tokens, and which of them others see."""
        reading = self._reading
        ids = self._of_queries.encode(encodable(reading.query_prefix + query)).ids
        missing = reading.query_length - len(ids) if reading.expands else 0
        mask = [1] * len(ids) + [int(reading.attends)] * missing
        return ids + [self._mask_token] * missing, mask

    def _passage_row(self, text: str) -> list[int]:
        prefixed = encodable(self._reading.document_prefix + text)
        ids: list[int] = self._of_passages.encode(prefixed).ids
        return ids

    def _vectors(
        self, rows: Sequence[Sequence[int]], masks: Sequence[Sequence[int]]
    ) -> list[Vectors]:
        """A unit vector for each token."""
        import numpy as np

        ids = np.full((len(rows), max(map(len, rows))), self._layout.shape.padding, np.int64)
        mask = np.zeros_like(ids)
        for at, (row, seen) in enumerate(zip(rows, masks, strict=True)):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = seen
        (tokens,) = self._session.run(["tokens"], {"input_ids": ids, "attention_mask": mask})
        short = tokens @ self._projection
        unit = short / np.maximum(np.linalg.norm(short, axis=2, keepdims=True), 1e-12)
        return [vectors[: len(row)] for row, vectors in zip(rows, unit, strict=True)]

    @cached_property
    def _reading(self) -> ReadingRules:
        check_folder(self._folder)
        try:
            return (
                _pylate(self._folder)
                if (self._folder / MODULES).is_file()
                else _stanford(self._folder)
            )
        except (KeyError, TypeError, ValueError, IndexError) as reason:
            raise ModelDamaged(
                f"{self._folder.name} doesn't describe a late interaction model: {reason}."
            ) from reason

    @cached_property
    def _layout(self) -> Layout:
        return read_bare(self._folder)

    @cached_property
    def _of_queries(self) -> Tokenizer:
        return self._tokenizer(self._reading.query_length)

    @cached_property
    def _of_passages(self) -> Tokenizer:
        return self._tokenizer(self._reading.document_length)

    def _tokenizer(self, most: int) -> Tokenizer:
        from tokenizers import AddedToken

        tokenizer = open_tokenizer(self._folder / TOKENIZER)
        for prefix in (self._reading.query_prefix, self._reading.document_prefix):
            # Known to the vocabulary with the blank behind it, or without.
            for mark in (prefix, prefix.rstrip()):
                if mark and tokenizer.token_to_id(mark) is not None:
                    tokenizer.add_special_tokens([AddedToken(mark, normalized=False, special=True)])
                    break
        tokenizer.enable_truncation(most)
        return tokenizer

    @cached_property
    def _mask_token(self) -> int:
        named = _json_of(self._folder / "tokenizer_config.json").get("mask_token", "[MASK]")
        token = named["content"] if isinstance(named, dict) else str(named)
        number = self._of_queries.token_to_id(token)
        if number is None:
            raise ModelUnsupported(
                f"The model in {self._folder.name} pads queries with a token it doesn't have.",
                fix="Choose another model.",
            )
        return int(number)

    @cached_property
    def _skipped(self) -> list[int]:
        numbers = (self._of_passages.token_to_id(word) for word in self._reading.skipped)
        return [number for number in numbers if number is not None]

    @cached_property
    def _projection(self) -> Any:
        from trivium.models.graph import tensors

        path = self._folder / self._reading.dense / WEIGHTS
        weight = tensors(path).get("linear.weight")
        if weight is None:
            raise ModelDamaged(f"{path} has no tensor 'linear.weight'.")
        return weight.T

    @cached_property
    def _session(self) -> Any:
        weights = self._folder / WEIGHTS
        if not weights.is_file():
            raise ModelUnavailable(
                f"The model folder {self._folder.name} lacks {WEIGHTS}.",
                fix="Download it again, with its safetensors.",
            )
        text = f"{sha256(weights)}{self._layout.shape}{self._layout.rotary}{self._quantised}"
        made = graph_place(self._cache, "late", text)
        if not made.is_file():
            from trivium.models import graph

            graph.make(self._folder, self._layout, made, quantised=self._quantised)
        return open_session(made, self._threads)


def _pylate(folder: Path) -> ReadingRules:
    first, dense, *rest = _json_of(folder / MODULES)["modules"]
    if rest or dense["type"] != _DENSE or first["path"]:
        kinds = ", ".join(module["type"] for module in rest or (dense,))
        raise ModelUnsupported(
            f"The model in {folder.name} has the module {kinds}.", fix="Choose another model."
        )
    config = _json_of(folder / dense["path"] / CONFIG)
    activation = str(config.get("activation_function", "torch.nn.modules.linear.Identity"))
    if config.get("bias") or config.get("use_residual") or not activation.endswith(".Identity"):
        raise ModelUnsupported(
            f"The model in {folder.name} has a Dense module with more than weights.",
            fix="Choose another model.",
        )
    fields = _json_of(folder / PROMPTS)
    words = fields.get("skiplist_words")
    return ReadingRules(
        str(fields.get("query_prefix", "[Q] ")),
        str(fields.get("document_prefix", "[D] ")),
        int(fields.get("query_length") or 32),
        int(fields.get("document_length") or 180),
        fields.get("do_query_expansion") is not False,
        bool(fields.get("attend_to_expansion_tokens")),
        tuple(string.punctuation if words is None else map(str, words)),
        str(dense["path"]),
    )


def _stanford(folder: Path) -> ReadingRules:
    fields = _json_of(folder / METADATA) if (folder / METADATA).is_file() else {}
    return ReadingRules(
        f"{fields.get('query_token_id') or '[unused0]'} ",
        f"{fields.get('doc_token_id') or '[unused1]'} ",
        int(fields.get("query_maxlen") or 32),
        int(fields.get("doc_maxlen") or 180),
        attends=bool(fields.get("attend_to_mask_tokens")),
        skipped=tuple(string.punctuation) if fields.get("mask_punctuation", True) else (),
    )


def _json_of(path: Path) -> Mapping[str, Any]:
    """The contents of a file; a list as its `modules`, empty if there is no file."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except ValueError as reason:
        raise ModelDamaged(f"{path} isn't JSON: {reason}.") from reason
    return value if isinstance(value, dict) else {"modules": value}
