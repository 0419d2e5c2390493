"""Turns a text's token vectors into one unit vector, as the model's modules say: pooling, then
Dense, LayerNorm and Normalize in order, then the cut. Knows nothing of sessions and tokenising."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trivium.core.errors import DimensionMismatch, ModelDamaged
from trivium.models.layout import WEIGHTS, Layout, Module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vectors

Step: TypeAlias = Callable[["Vectors"], "Vectors"]


class Head:
    """Threads may share it."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        self._layout = layout
        self._steps = [_step(folder, module) for module in layout.modules]

    def vectors(self, tokens: Vectors, mask: Vectors, prompt: int = 0) -> Vectors:
        """`tokens` by text and place, `mask` 1 where there is one. `prompt`: how many tokens in
        front of each text belong to its prompt, which some models leave out."""
        return self.finished(self.pooled(tokens, mask, prompt))

    def pooled(self, tokens: Vectors, mask: Vectors, prompt: int = 0) -> Vectors:
        """The output of the modules, of any length."""
        if prompt and not self._layout.pools_prompt:
            mask = mask.copy()
            mask[:, :prompt] = 0
        modes = self._layout.shape.pooling.split("+")
        pooled = np.concatenate([_POOLINGS[mode](tokens, mask) for mode in modes], axis=1)
        for step in self._steps:
            pooled = step(pooled)
        return pooled

    def finished(self, vectors: Vectors) -> Vectors:
        """Cut to the wanted numbers, and of length 1."""
        vectors = vectors[:, : self._layout.dimensions]
        if vectors.shape[1] != self._layout.dimensions:
            raise DimensionMismatch(
                f"The model returns {vectors.shape[1]} dimensions, but its files say"
                f" {self._layout.dimensions}.",
                fix="Correct hidden_size in its config.json, or download the model again.",
            )
        return _unit(vectors)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = rows / np.maximum(lengths, 1e-12)
    return unit


# --- pooling -------------------------------------------------------------------------------------


def _first(tokens: Vectors, mask: Vectors) -> Vectors:
    rows: Vectors = tokens[np.arange(len(tokens)), mask.argmax(axis=1)]
    return rows


def _last(tokens: Vectors, mask: Vectors) -> Vectors:
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    rows: Vectors = tokens[np.arange(len(tokens)), last]
    return rows


def _most(tokens: Vectors, mask: Vectors) -> Vectors:
    where: Vectors = np.where(mask[:, :, None] > 0, tokens, -np.inf).max(axis=1)
    return where


def _sum(tokens: Vectors, mask: Vectors) -> Vectors:
    # As products of matrices: einsum takes 3 times as long.
    rows: Vectors = (mask[:, None, :] @ tokens)[:, 0]
    return rows


def _mean(tokens: Vectors, mask: Vectors) -> Vectors:
    mean: Vectors = _sum(tokens, mask) / np.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
    return mean


def _mean_by_root(tokens: Vectors, mask: Vectors) -> Vectors:
    count = np.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
    rows: Vectors = _sum(tokens, mask) / np.sqrt(count)
    return rows


def _weighted(tokens: Vectors, mask: Vectors) -> Vectors:
    """Later tokens count more: the second twice as much as the first."""
    return _mean(tokens, mask * np.arange(1, mask.shape[1] + 1, dtype=np.float32))


_POOLINGS: Mapping[str, Callable[[Vectors, Vectors], Vectors]] = {
    "cls": _first,
    "max": _most,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_by_root,
    "weightedmean": _weighted,
    "lasttoken": _last,
}


# --- modules -------------------------------------------------------------------------------------


def _step(folder: Path, module: Module) -> Step:
    if module.kind == "Normalize":
        return _unit
    path = folder / module.path / WEIGHTS
    if not path.is_file():
        raise ModelDamaged(
            f"{path} is missing.", fix="Download the model again, with its safetensors."
        )
    from trivium.models.graph import tensors

    weights = tensors(path)
    try:
        return _norm(weights) if module.kind == "LayerNorm" else _dense(module, weights)
    except KeyError as missing:
        raise ModelDamaged(f"{path} has no tensor {missing}.") from missing


def _norm(weights: Mapping[str, Any]) -> Step:
    scale, bias = weights["norm.weight"], weights["norm.bias"]

    def step(rows: Vectors) -> Vectors:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)  # torch's epsilon
        normed: Vectors = centred / spread * scale + bias
        return normed

    return step


def _dense(module: Module, weights: Mapping[str, Any]) -> Step:
    weight = weights["linear.weight"].T
    bias = weights.get("linear.bias", np.float32(0))
    activated = _ACTIVATIONS[module.activation]
    beside: NDArray[Any] | None = None
    if module.residual and weight.shape[0] != weight.shape[1]:
        beside = weights["residual.weight"].T

    def step(rows: Vectors) -> Vectors:
        out: Vectors = activated(rows @ weight + bias)
        if module.residual:
            out = out + (rows if beside is None else rows @ beside)
        return out

    return step


def _gelu(x: Vectors) -> Vectors:
    from math import erf

    bent: Vectors = x / 2 * (1 + np.vectorize(erf, otypes=[np.float32])(x / np.float32(sqrt(2))))
    return bent


def _sigmoid(x: Vectors) -> Vectors:
    bent: Vectors = np.float32(1) / (np.float32(1) + np.exp(-x))
    return bent


_ACTIVATIONS: Mapping[str, Callable[[Vectors], Vectors]] = {
    "Identity": lambda x: x,
    "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0),
    "GELU": _gelu,
    "Sigmoid": _sigmoid,
    "SiLU": lambda x: x * _sigmoid(x),
}
