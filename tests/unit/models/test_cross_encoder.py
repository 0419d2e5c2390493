"""A cross-encoder on a graph small enough to know what it must say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.reference import open_memory
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from trivium.core.errors import ModelDamaged, ModelUnavailable
from trivium.core.types import OWNER, StoredChunk
from trivium.models.cross_encoder import CrossEncoder
from trivium.ports import Reranker
from trivium.testing.samples import sample

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "bell", "amber", "copper", "fog")
VALUES = np.array([9, 0, 0, 0, 1, 2, -1, -3], np.float32)  # 9: padding must not be seen


def make(folder: Path, *, logits: int = 1, extra: str = "") -> Path:
    """A graph that adds up the values of a passage's words: the tokens of type 1."""
    folder.mkdir()
    names = ["input_ids", "attention_mask", "token_type_ids", *([extra] if extra else [])]
    nodes = [
        helper.make_node("Gather", ["values", "input_ids"], ["each"]),
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["wanted"]),
        helper.make_node("Cast", ["wanted"], ["kept"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["each", "kept"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "axis"], ["sum"], keepdims=1),
    ]
    if logits == 2:  # half of it against, half of it in favour
        nodes.append(helper.make_node("Mul", ["sum", "halves"], ["logits"]))
    else:
        nodes.append(helper.make_node("Identity", ["sum"], ["logits"]))
    constants = {
        "values": VALUES,
        "axis": np.array([1]),
        "halves": np.array([[-0.5, 0.5]], np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info(n, TensorProto.INT64, [None, None]) for n in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [None, logits])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    tokenizer = Tokenizer(WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def passages(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample(f"{n}.md", text) for n, text in enumerate(texts)], "model")
    return store.documents.chunks(range(1, len(texts) + 1), OWNER)


def sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


@pytest.mark.parametrize("logits", [1, 2])
def test_logits_become_scores_in_order(tmp_path: Path, logits: int) -> None:
    reranker: Reranker = CrossEncoder(make(tmp_path / "m", logits=logits))
    found = reranker.scores("fog fog", passages("bell", "amber bell bell", "copper fog", "amber"))
    assert found == pytest.approx([sigmoid(v) for v in (1, 4, -4, 2)])


def test_headings_are_read_and_long_passages_cut(tmp_path: Path) -> None:
    store = open_memory()
    long = "bell " * 799 + "b"  # with the heading 4,001 characters before the last word
    store.writer.put([sample("a.md", "copper", long + " amber", title="amber")], "model")
    reranker = CrossEncoder(make(tmp_path / "m"), max_tokens=5000)
    found = reranker.scores("fog", store.documents.chunks([1], OWNER))
    assert found == pytest.approx([sigmoid(2 - 1)])
    (cut,) = reranker.scores("fog", store.documents.chunks([2], OWNER))
    assert cut == pytest.approx(1)


def test_pairs_longer_than_the_model_reads_are_cut(tmp_path: Path) -> None:
    reranker = CrossEncoder(make(tmp_path / "m"), max_tokens=8)
    found = reranker.scores("fog", passages("bell " * 50))
    assert found == pytest.approx([sigmoid(4)])


def test_no_passages_no_scores(tmp_path: Path) -> None:
    assert CrossEncoder(make(tmp_path / "m")).scores("fog", []) == []


def test_a_folder_without_a_graph_says_what_it_needs(tmp_path: Path) -> None:
    reranker = CrossEncoder(tmp_path)  # a wrong folder harms only who reranks
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        reranker.scores("fog", passages("bell"))


def test_a_damaged_graph_is_named(tmp_path: Path) -> None:
    (make(tmp_path / "m") / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelDamaged, match=r"model\.onnx"):
        CrossEncoder(tmp_path / "m").scores("fog", passages("bell"))


def test_a_graph_that_asks_for_more_is_refused(tmp_path: Path) -> None:
    reranker = CrossEncoder(make(tmp_path / "m", extra="pixel_values"))
    with pytest.raises(ModelUnavailable, match="pixel_values"):
        reranker.scores("fog", passages("bell"))
