"""Builds the ONNX graph of a BERT-type sentence encoder from its safetensors weights, and keeps it.

The graph takes padded token ids and a mask and gives unit vectors, pooling and normalisation
inside, and beside them the vectors of the tokens as they leave the last layer. Knows nothing of
where weights come from, of tokenising and of sessions.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors import SafetensorError
from safetensors.numpy import load_file

from trivium.errors import ModelDamaged, ModelUnavailable
from trivium.models.weights import TOKENIZER, WEIGHTS, Shape

Array: TypeAlias = NDArray[Any]
Weights: TypeAlias = Mapping[str, Array]

# Inputs that share a scale. Least cosine to fp32 over 32 abstracts: .9993; with 128 .9986 for 5 %
# more speed, with 32 .9995 a quarter slower. Zero points gained nothing.
BLOCK = 64
# Activations in int8 too. Against fp32, 2 x86 cores beside other work: query 4.0 for 7.0 ms,
# 1.1 times the documents; with float activations (level 0) a third fewer.
ACCURACY_LEVEL = 4
MICROSOFT = "com.microsoft"
ACTIVATIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}


class _Graph:
    """Collects nodes and initialisers; every method returns the name of what it computed."""

    def __init__(self, *, quantised: bool) -> None:
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []
        self._quantised = quantised

    def constant(self, values: Array) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def split(self, x: str, parts: int) -> list[str]:
        names = [f"n{len(self.nodes)}_{i}" for i in range(parts)]
        self._append("Split", [x], names, axis=-1, num_outputs=parts)
        return names

    def add(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"n{len(self.nodes)}"
        self._append(op, list(inputs), [name], **attributes)
        return name

    def _append(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def dense(self, x: str, weight: Array, bias: Array) -> str:
        """x·weightᵀ + bias, for weights stored as torch does: (outputs, inputs)."""
        if not self._quantised:
            product = self.add("MatMul", x, self.constant(weight.T))
            return self.add("Add", product, self.constant(bias))
        codes, scales = quantise(weight)
        return self.add(
            "MatMulNBits",
            x,
            self.constant(codes),
            self.constant(scales),
            "",  # zero points: the default, 128, is what `quantise` uses
            "",
            self.constant(bias),
            domain=MICROSOFT,
            K=weight.shape[1],
            N=weight.shape[0],
            bits=8,
            block_size=BLOCK,
            accuracy_level=ACCURACY_LEVEL,
        )


def quantise(weight: Array) -> tuple[Array, Array]:
    """Symmetric 8-bit codes around 128, one scale for each row's block of BLOCK inputs."""
    outputs, inputs = weight.shape
    blocks = -(-inputs // BLOCK)
    padded = np.zeros((outputs, blocks * BLOCK), np.float32)
    padded[:, :inputs] = weight
    grouped = padded.reshape(outputs, blocks, BLOCK)
    scales = np.abs(grouped).max(axis=2) / np.float32(127)
    steps = np.where(scales == 0, np.float32(1), scales)[:, :, None]
    codes = np.rint(grouped / steps).astype(np.int16) + 128
    return codes.astype(np.uint8), scales.astype(np.float32)


def build(weights: Weights, shape: Shape, *, quantised: bool = True) -> ModelProto:
    """The whole encoder. `weights` has the names of a BertModel; a missing one is a KeyError."""
    g = _Graph(quantised=quantised)
    mask = g.add("Cast", "attention_mask", to=TensorProto.INT32)
    x = _embeddings(g, weights, shape)
    for layer in range(shape.layers):
        x = _layer(g, weights, shape, f"encoder.layer.{layer}.", x, mask)
    _pool(g, shape, x)
    g.add("Identity", x, output="tokens")
    graph = helper.make_graph(
        g.nodes,
        "sentence-encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [*axes, shape.hidden])
            for name, axes in (("vectors", ["batch"]), ("tokens", ["batch", "tokens"]))
        ],
        g.tensors,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _embeddings(g: _Graph, weights: Weights, shape: Shape) -> str:
    # Every text is of token type 0, so that type's row is added to the positions beforehand.
    kinds = weights["embeddings.token_type_embeddings.weight"]
    positions = g.constant(weights["embeddings.position_embeddings.weight"] + kinds[0])
    words = g.add("Gather", g.constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    length = g.add("Shape", "input_ids", start=1, end=2)
    zero = g.constant(np.array([0]))
    summed = g.add("Add", words, g.add("Slice", positions, zero, length, zero))
    return _norm(g, weights, shape, "embeddings.", summed)


def _layer(g: _Graph, weights: Weights, shape: Shape, at: str, x: str, mask: str) -> str:
    # Query, key and value in one product: one pass over x instead of three.
    parts = [f"{at}attention.self.{part}." for part in ("query", "key", "value")]
    weight = np.concatenate([weights[f"{part}weight"] for part in parts])
    bias = np.concatenate([weights[f"{part}bias"] for part in parts])
    heads = (*g.split(g.dense(x, weight, bias), 3), "", mask)
    attended = g.add("MultiHeadAttention", *heads, domain=MICROSOFT, num_heads=shape.heads)
    added = g.add("Add", x, _dense(g, weights, f"{at}attention.output.", attended))
    x = _norm(g, weights, shape, f"{at}attention.output.", added)
    kind, attributes = ACTIVATIONS[shape.activation]
    wide = g.add(kind, _dense(g, weights, f"{at}intermediate.", x), **attributes)
    added = g.add("Add", x, _dense(g, weights, f"{at}output.", wide))
    return _norm(g, weights, shape, f"{at}output.", added)


def _dense(g: _Graph, weights: Weights, at: str, x: str) -> str:
    return g.dense(x, weights[f"{at}dense.weight"], weights[f"{at}dense.bias"])


def _norm(g: _Graph, weights: Weights, shape: Shape, at: str, x: str) -> str:
    scale, bias = (g.constant(weights[f"{at}LayerNorm.{part}"]) for part in ("weight", "bias"))
    return g.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=shape.epsilon)


def _pool(g: _Graph, shape: Shape, x: str) -> None:
    one = g.constant(np.array([1]))
    if shape.pooling == "cls":
        pooled = g.add("Gather", x, g.constant(np.array(0)), axis=1)
    else:
        # The sum over the mask has the direction of the mean; normalising takes its length away.
        kept = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        kept = g.add("Unsqueeze", kept, g.constant(np.array([2])))
        pooled = g.add("ReduceSum", g.add("Mul", x, kept), one, keepdims=0)
    g.add("Div", pooled, g.add("ReduceL2", pooled, one, keepdims=1), output="vectors")


def make(folder: Path, shape: Shape, graph: Path) -> None:
    """Build the graph of the model in `folder` and keep it as `graph`, the tokeniser beside it.

    The graph appears last and whole, so who sees it may use both. Several processes may do this
    at once: their files are equal, and the last one's stay.
    """
    try:
        model = build(_read(folder, shape), shape).SerializeToString()
    except KeyError as missing:
        raise ModelDamaged(f"{folder / WEIGHTS} has no tensor {missing}.") from missing
    try:
        graph.parent.mkdir(parents=True, exist_ok=True)
        _write(graph.with_name(TOKENIZER), (folder / TOKENIZER).read_bytes())
        _write(graph, model)
    except OSError as reason:
        raise ModelUnavailable(
            f"The embedding model could not be kept in {graph.parent.name}: {reason.strerror}.",
            fix="Make that folder writable, or free some space.",
        ) from reason


def _read(folder: Path, shape: Shape) -> Weights:
    if shape.kind != "bert" or shape.activation not in ACTIVATIONS:
        raise ModelUnavailable(
            f"The model in {folder.name} is a {shape.kind} with {shape.activation}, not a known"
            " BERT.",
            fix="Export it to ONNX and put model.onnx into its folder.",
        )
    try:
        tensors = load_file(folder / WEIGHTS)
    except (SafetensorError, OSError) as reason:
        raise ModelDamaged(f"{folder / WEIGHTS} cannot be read: {reason}.") from reason
    # Some folders hold the encoder inside a larger model, under the name `bert.`.
    # Some are kept in half precision; the graph computes in float32.
    return {
        name.removeprefix("bert."): values.astype(np.float32, copy=False)
        for name, values in tensors.items()
    }


def _write(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)  # mkstemp's 0600 would hide a shared cache from other users
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
