"""Builds the ONNX graph of an encoder (BERT, RoBERTa, MPNet, ModernBERT) from its safetensors
weights, and keeps it.

The graph takes padded token ids and a mask and gives the vectors of the tokens as they leave the
last layer. Knows nothing of where weights come from, of tokenising, of pooling and of sessions.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from safetensors import SafetensorError
from safetensors.numpy import load_file

from trivium.core.errors import ModelDamaged, ModelUnavailable, ModelUnsupported
from trivium.models.layout import TOKENIZER, WEIGHTS, Layout, Shape

Array: TypeAlias = NDArray[Any]
Weights: TypeAlias = Mapping[str, Array]

# Inputs that share a scale. Least cosine to fp32 over 32 abstracts: .9993; with 128 .9986 for 5 %
# more speed, with 32 .9995 a quarter slower. Zero points gained nothing.
BLOCK = 64
# Activations in int8 too. Against fp32, 2 x86 cores beside other work: query 4.0 for 7.0 ms,
# 1.1 times the documents; with float activations (level 0) a third fewer.
ACCURACY_LEVEL = 4
# ModernBERT adds up its layers before it normalises, so that a few activations are far greater than
# the rest, and int8 would flatten those.
FLOAT_ACTIVATIONS = 0
MICROSOFT = "com.microsoft"
ACTIVATIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}


_TABLES = "model.data"  # beside the graph
_LARGE = 1 << 20  # bytes of a table that goes there
_PAGE = 1 << 16  # where each begins: 4 KiB on Linux, 64 on other systems
_NO_ZERO_POINTS = ("", "")  # nor groups: the default point, 128, is what `quantise` uses


class _Graph:
    """Collects nodes and initialisers; every method returns the name of what it computed."""

    def __init__(self, *, quantised: bool, accuracy: int = ACCURACY_LEVEL) -> None:
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []
        self._quantised = quantised
        self._accuracy = accuracy

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

    def dense(self, x: str, weight: Array, bias: Array | None) -> str:
        """x·weightᵀ + bias, for weights stored as torch does: (outputs, inputs)."""
        if not self._quantised:
            product = self.add("MatMul", x, self.constant(weight.T))
            return product if bias is None else self.add("Add", product, self.constant(bias))
        codes, scales = quantise(weight)
        return self.add(
            "MatMulNBits",
            x,
            self.constant(codes),
            self.constant(scales),
            *(() if bias is None else _NO_ZERO_POINTS),
            *(() if bias is None else (self.constant(bias),)),
            domain=MICROSOFT,
            K=weight.shape[1],
            N=weight.shape[0],
            bits=8,
            block_size=BLOCK,
            accuracy_level=self._accuracy,
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


def build(
    weights: Weights, layout: Layout, *, quantised: bool = True, pairs: bool = False
) -> ModelProto:
    """The encoder, which gives `tokens`; of `pairs` of texts, with the classifier behind it, which
    gives `logits`, by text or, of a reader, by token. `weights` has the names of the bare encoder;
    a missing one is a KeyError."""
    shape = layout.shape
    accuracy = FLOAT_ACTIVATIONS if shape.kind == "modernbert" else ACCURACY_LEVEL
    g = _Graph(quantised=quantised, accuracy=accuracy)
    x = FAMILIES[shape.kind](g, weights, layout, pairs)
    g.add("Identity", x, output="tokens")
    inputs = ["input_ids", "attention_mask"]
    outputs: list[tuple[str, list[str | int]]] = [("tokens", ["batch", "tokens", shape.hidden])]
    if pairs:
        outputs = [("logits", _judge(g, weights, layout))]
        inputs += ["token_type_ids"] if shape.kind == "bert" else []
    graph = helper.make_graph(
        g.nodes,
        "sentence-encoder",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, axes) for n, axes in outputs],
        g.tensors,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


# --- BERT, RoBERTa, MPNet ------------------------------------------------------------------------


def _bert(g: _Graph, weights: Weights, layout: Layout, pairs: bool) -> str:
    names, bias = _BERT, ""
    if layout.shape.kind == "mpnet":
        names, bias = _MPNET, _distances(g, weights, layout)
    mask = g.add("Cast", "attention_mask", to=TensorProto.INT32)
    x = _embeddings(g, weights, layout, pairs)
    for layer in range(layout.shape.layers):
        x = _layer(g, weights, layout.shape, f"encoder.layer.{layer}.", names, x, (mask, bias))
    return x


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the tensors of a layer's attention."""

    parts: tuple[str, str, str]  # query, key, value
    output: str
    norm: str


_BERT = _Names(
    ("attention.self.query.", "attention.self.key.", "attention.self.value."),
    "attention.output.dense.",
    "attention.output.LayerNorm.",
)
_MPNET = _Names(
    ("attention.attn.q.", "attention.attn.k.", "attention.attn.v."),
    "attention.attn.o.",
    "attention.LayerNorm.",
)


def _embeddings(g: _Graph, weights: Weights, layout: Layout, pairs: bool) -> str:
    shape = layout.shape
    # Some count positions from the id behind the padding's. Texts are padded behind their end.
    table = weights["embeddings.position_embeddings.weight"][shape.positions - layout.readable :]
    types = weights.get("embeddings.token_type_embeddings.weight")
    x = g.add("Gather", g.constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    if types is not None and pairs and shape.kind == "bert":
        x = g.add("Add", x, g.add("Gather", g.constant(types), "token_type_ids"))
    elif types is not None:
        table = table + types[0]  # every text is of type 0, so its row is added beforehand
    length = g.add("Shape", "input_ids", start=1, end=2)
    zero = g.constant(np.array([0]))
    summed = g.add("Add", x, g.add("Slice", g.constant(table), zero, length, zero))
    return _norm(g, weights, shape, "embeddings.LayerNorm.", summed)


def _layer(
    g: _Graph,
    weights: Weights,
    shape: Shape,
    at: str,
    names: _Names,
    x: str,
    masks: tuple[str, str],
) -> str:
    # Query, key and value in one product: one pass over x instead of three.
    weight = np.concatenate([weights[f"{at}{part}weight"] for part in names.parts])
    bias = np.concatenate([weights[f"{at}{part}bias"] for part in names.parts])
    attended = _attention(g, shape, g.split(g.dense(x, weight, bias), 3), masks)
    added = g.add("Add", x, _dense(g, weights, f"{at}{names.output}", attended))
    x = _norm(g, weights, shape, f"{at}{names.norm}", added)
    wide = _activated(g, shape, _dense(g, weights, f"{at}intermediate.dense.", x))
    added = g.add("Add", x, _dense(g, weights, f"{at}output.dense.", wide))
    return _norm(g, weights, shape, f"{at}output.LayerNorm.", added)


def _distances(g: _Graph, weights: Weights, layout: Layout) -> str:
    """What MPNet adds to the attention of two tokens for their distance. In its buckets: 8 exact
    distances to either side, then 8 that grow to 128, of 32."""
    table = weights["encoder.relative_attention_bias.weight"]
    half = len(table) // 2
    exact = half // 2
    away = np.arange(1 - layout.readable, layout.readable)  # of the token that is looked at
    far = np.log(np.maximum(np.abs(away), 1).astype(np.float32) / exact) / math.log(128 / exact)
    grown = np.minimum(exact + (far * (half - exact)).astype(np.int64), half - 1)
    bucket = np.where(np.abs(away) < exact, np.abs(away), grown) + half * (away > 0)
    rows = g.add("Gather", g.constant(table[bucket]), _away(g, layout.readable - 1))
    return g.add("Unsqueeze", g.add("Transpose", rows, perm=[2, 0, 1]), g.constant(np.array([0])))


def _away(g: _Graph, least: int = 0) -> str:
    """How far behind each token each other one is, `least` added: rows look, columns are seen."""
    at = _positions(g)
    columns = g.add("Unsqueeze", at, g.constant(np.array([0])))
    rows = g.add("Unsqueeze", at, g.constant(np.array([1])))
    return g.add("Add", g.add("Sub", columns, rows), g.constant(np.array(least)))


# --- ModernBERT ----------------------------------------------------------------------------------


def _modernbert(g: _Graph, weights: Weights, layout: Layout, pairs: bool) -> str:
    shape, rotary = layout.shape, layout.rotary
    if rotary is None:
        raise KeyError("rotary positions")
    mask = g.add("Cast", "attention_mask", to=TensorProto.INT32)
    words = g.constant(weights["embeddings.tok_embeddings.weight"])
    x = _norm(g, weights, shape, "embeddings.norm.", g.add("Gather", words, "input_ids"))
    nothing = g.add("Mul", "input_ids", g.constant(np.array(0)))
    at = g.add("Add", nothing, _positions(g))  # the same for every text
    full = _turns(g, layout, rotary.full_theta)
    near = _turns(g, layout, rotary.near_theta)
    beyond = g.add("Greater", g.add("Abs", _away(g)), g.constant(np.array(rotary.window)))
    # Far below every score, and still far from the least float when a mask is added.
    hidden = g.constant(np.array(-1e9, np.float32))
    window = g.add("Where", beyond, hidden, g.constant(np.array(0, np.float32)))
    window = g.add("Unsqueeze", window, g.constant(np.array([0, 1])))
    for layer, whole in enumerate(rotary.full):
        here = f"layers.{layer}."
        read = x if layer == 0 else _norm(g, weights, shape, f"{here}attn_norm.", x)
        query, key, value = g.split(_dense(g, weights, f"{here}attn.Wqkv.", read), 3)
        turns = full if whole else near
        query, key = (
            g.add("RotaryEmbedding", part, at, *turns, domain=MICROSOFT) for part in (query, key)
        )
        attended = _attention(g, shape, (query, key, value), (mask, "" if whole else window))
        x = g.add("Add", x, _dense(g, weights, f"{here}attn.Wo.", attended))
        read = _norm(g, weights, shape, f"{here}mlp_norm.", x)
        wide, gate = g.split(_dense(g, weights, f"{here}mlp.Wi.", read), 2)
        gated = g.add("Mul", _activated(g, shape, wide), gate)
        x = g.add("Add", x, _dense(g, weights, f"{here}mlp.Wo.", gated))
    return _norm(g, weights, shape, "final_norm.", x)


def _positions(g: _Graph) -> str:
    length = g.add("Gather", g.add("Shape", "input_ids"), g.constant(np.array(1)))
    return g.add("Range", g.constant(np.array(0)), length, g.constant(np.array(1)))


def _turns(g: _Graph, layout: Layout, theta: float) -> tuple[str, str]:
    """Cosine and sine of every position's angles."""
    width = layout.shape.hidden // layout.shape.heads
    speeds = 1.0 / theta ** (np.arange(0, width, 2, dtype=np.float64) / width)
    angles = np.outer(np.arange(layout.readable), speeds)
    cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    return g.constant(cosine), g.constant(sine)


FAMILIES: Mapping[str, Callable[[_Graph, Weights, Layout, bool], str]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert", "mpnet"), _bert),
    "modernbert": _modernbert,
}


# --- shared --------------------------------------------------------------------------------------


def _attention(g: _Graph, shape: Shape, parts: Sequence[str], masks: tuple[str, str]) -> str:
    """`masks`: which tokens aren't padding, and what to add to the scores."""
    inputs = (*parts, "", *masks) if masks[1] else (*parts, "", masks[0])
    return g.add("MultiHeadAttention", *inputs, domain=MICROSOFT, num_heads=shape.heads)


def _activated(g: _Graph, shape: Shape, x: str) -> str:
    kind, attributes = ACTIVATIONS[shape.activation]
    return g.add(kind, x, **attributes)


def _dense(g: _Graph, weights: Weights, at: str, x: str) -> str:
    return g.dense(x, weights[f"{at}weight"], weights.get(f"{at}bias"))


def _norm(g: _Graph, weights: Weights, shape: Shape, at: str, x: str) -> str:
    scale = weights[f"{at}weight"]
    bias = weights.get(f"{at}bias", np.zeros_like(scale))
    constants = (g.constant(scale), g.constant(bias))
    return g.add("LayerNormalization", x, *constants, axis=-1, epsilon=shape.epsilon)


def _judge(g: _Graph, weights: Weights, layout: Layout) -> list[str | int]:
    """The axes of the logits."""
    if "reader.weight" not in weights:
        _classify(g, weights, layout)
        return ["batch", "labels"]
    product = g.add("MatMul", "tokens", g.constant(weights["reader.weight"].T))
    g.add("Add", product, g.constant(weights["reader.bias"]), output="logits")
    return ["batch", "tokens", len(weights["reader.weight"])]


def _classify(g: _Graph, weights: Weights, layout: Layout) -> None:
    """The classifier of a cross-encoder, in float: it is small."""
    shape = layout.shape
    first = g.add("Gather", "tokens", g.constant(np.array(0)), axis=1)

    def dense(at: str, x: str) -> str:
        product = g.add("MatMul", x, g.constant(weights[f"{at}weight"].T))
        bias = weights.get(f"{at}bias")
        return product if bias is None else g.add("Add", product, g.constant(bias))

    if shape.kind == "modernbert":
        if shape.pooling == "mean":
            first = _mean(g)
        head = g.add("Gelu", dense("head.dense.", first))
        x = _norm(g, weights, shape, "head.norm.", head)
        x = dense("classifier.", x)
    elif "classifier.out_proj.weight" in weights:  # RoBERTa's
        x = dense("classifier.out_proj.", g.add("Tanh", dense("classifier.dense.", first)))
    else:
        x = dense("classifier.", g.add("Tanh", dense("pooler.dense.", first)))
    g.add("Identity", x, output="logits")


def _mean(g: _Graph) -> str:
    axis = g.constant(np.array([1]))
    weights = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    wide = g.add("Unsqueeze", weights, g.constant(np.array([2])))
    summed = g.add("ReduceSum", g.add("Mul", "tokens", wide), axis, keepdims=0)
    return g.add("Div", summed, g.add("ReduceSum", weights, axis, keepdims=1))


def make(
    folder: Path,
    layout: Layout,
    graph: Path,
    *,
    quantised: bool = True,
    pairs: bool = False,
    change: Callable[[Weights], Weights] = lambda weights: weights,
) -> None:
    """Build the graph of the encoder in `folder`, with its weights `change`d, and save it as
    `graph`, with the tokeniser and large tables beside it. The graph appears last and complete, so
    all are ready once it exists. Several processes may do this at once: their files are equal, the
    last one's stay."""
    weights = change(_read(folder, layout.shape))
    try:
        model = build(weights, layout, quantised=quantised, pairs=pairs)
    except KeyError as missing:
        raise ModelDamaged(f"{folder / WEIGHTS} has no tensor {missing}.") from missing
    try:
        graph.parent.mkdir(parents=True, exist_ok=True)
        _write(graph.with_name(TOKENIZER), (folder / TOKENIZER).read_bytes())
        if tables := _moved_out(model):
            _write(graph.with_name(_TABLES), tables)
        _write(graph, model.SerializeToString())
    except OSError as reason:
        raise ModelUnavailable(
            f"Couldn't save the model in {graph.parent.name}: {reason.strerror}.",
            fix="Make the folder writable, or free some space.",
        ) from reason


def _moved_out(model: ModelProto) -> bytes:
    """Takes large tables out of a graph. onnxruntime maps their file, so that processes share it:
    each keeps 52 MB of MiniLM to itself instead of 93, and loads it in 36 ms instead of 105."""
    tables = bytearray()
    for tensor in model.graph.initializer:
        size = len(tensor.raw_data)
        if size >= _LARGE:
            tables += bytes(-len(tables) % _PAGE)
            set_external_data(tensor, _TABLES, len(tables), size)
            tables += tensor.raw_data
            tensor.ClearField("raw_data")
    return bytes(tables)


def _read(folder: Path, shape: Shape) -> Weights:
    if shape.kind not in FAMILIES or shape.activation not in ACTIVATIONS:
        raise ModelUnsupported(
            f"The model in {folder.name} is a {shape.kind} with {shape.activation or 'no'}"
            " activation, which Trivium can't build from its weights.",
            fix="Export it to ONNX and put model.onnx into its folder.",
        )
    return tensors(folder / WEIGHTS)


def tensors(path: Path) -> Weights:
    """In float32, with the names of the bare encoder: some files hold it inside a larger model."""
    try:
        weights = load_file(path)
    except (SafetensorError, OSError) as reason:
        raise ModelDamaged(f"{path} can't be read: {reason}.") from reason
    return {
        _OUTER.sub("", name): values.astype(np.float32, copy=False)
        for name, values in weights.items()
    }


_OUTER = re.compile(r"^(bert|roberta|mpnet|model)\.")


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
