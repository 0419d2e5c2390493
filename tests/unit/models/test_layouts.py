"""Models in the layout of sentence-transformers give the vectors that this library gives.

`layouts/make.py` made them, small and with random weights, and wrote down the library's answers.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reference import open_memory

from trivium.core.errors import BadSetting, ModelDamaged, ModelUnavailable, ModelUnsupported
from trivium.core.types import OWNER, StoredChunk
from trivium.models import layout
from trivium.models.colbert import ColbertReranker, is_colbert
from trivium.models.cross_encoder import CrossEncoder
from trivium.models.head import _ACTIVATIONS
from trivium.models.local import LocalEmbedder
from trivium.testing.samples import sample

LAYOUTS = Path(__file__).parent / "layouts"
SAME = 0.9999  # cosine to the library's vector; two texts of these models are below .99
EMBEDDERS = sorted(
    path.name.removesuffix(".tar.xz")
    for path in LAYOUTS.glob("*.tar.xz")
    if "judge" not in path.name and "late" not in path.name
)


@pytest.fixture
def unpacked(tmp_path: Path) -> Callable[[str], Path]:
    def unpack(name: str) -> Path:
        with tarfile.open(LAYOUTS / f"{name}.tar.xz") as archive:
            archive.extractall(tmp_path / name, filter="data")
        return tmp_path / name

    return unpack


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text())


def cosines(found: Any, wanted: Any) -> Any:
    wanted = np.array(wanted, np.float32)
    return np.vecdot(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True))


def edited(path: Path, **changes: Any) -> None:
    told = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**told, **changes}))


@pytest.mark.parametrize("name", EMBEDDERS)
def test_vectors_are_those_of_sentence_transformers(
    unpacked: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    folder = unpacked(name)
    told = expected(folder)
    embedder = LocalEmbedder(folder, tmp_path / "c", dimensions=told["cut"], quantised=False)
    assert embedder.dimensions == len(told["queries"][0])
    documents = embedder.embed_documents(told["texts"])
    queries = np.stack([embedder.embed_query(text) for text in told["texts"]])
    assert cosines(documents, told["documents"]).min() > SAME
    assert cosines(queries, told["queries"]).min() > SAME
    tokens, _ = embedder.embed_with_tokens(told["texts"])
    assert cosines(tokens, told["documents"]).min() > SAME
    others = documents @ documents.T - 2 * np.eye(len(documents))
    assert others.max() < 0.99, "the texts differ, so that equal vectors mean something"


@pytest.mark.parametrize("name", EMBEDDERS)
def test_eight_bits_hardly_turn_a_vector(
    unpacked: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    """The graphs that people get. In 32 dimensions the errors hardly cancel out: MiniLM, with 384,
    has .9993."""
    folder = unpacked(name)
    told = expected(folder)
    embedder = LocalEmbedder(folder, tmp_path / "c", dimensions=told["cut"])
    assert cosines(embedder.embed_documents(told["texts"]), told["documents"]).min() > 0.995


def test_the_models_limit_is_kept_and_can_be_raised(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = unpacked("bert-dense")
    assert LocalEmbedder(folder, tmp_path).max_tokens == expected(folder)["max_tokens"] == 48
    assert LocalEmbedder(folder, tmp_path, max_tokens=66).max_tokens == 66
    with pytest.raises(BadSetting, match="67"):
        LocalEmbedder(folder, tmp_path, max_tokens=67)
    shifted = unpacked("roberta-joined")  # two of its 66 positions stand for padding
    assert LocalEmbedder(shifted, tmp_path).max_tokens == 64
    vector = LocalEmbedder(shifted, tmp_path).embed_query("crown " * 200)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_long_text_keeps_its_prompt(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    folder = unpacked("bert-dense")
    embedder = LocalEmbedder(folder, tmp_path, quantised=False)
    read = embedder.load().tokeniser
    row = read.encode("passage: " + "lake " * 99 + "crown", "passage: ")
    assert len(row) == 48
    prompt = read.prompt_length("passage: ")
    assert row[:prompt] == read.encode("passage: ")[:prompt]
    assert row[-2] == read.encode("crown")[-2]


def test_prompts_can_be_replaced(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    folder = unpacked("bert-dense")
    own = LocalEmbedder(folder, tmp_path, quantised=False)
    other = LocalEmbedder(folder, tmp_path, query_prefix="find ", quantised=False)
    same = LocalEmbedder(folder, tmp_path, query_prefix="query: ", quantised=False)
    assert own.fingerprint == other.fingerprint, "a query's prompt changes no stored vector"
    assert own.embed_query("lake") @ same.embed_query("lake") > SAME
    assert own.embed_query("lake") @ other.embed_query("lake") < SAME
    document = LocalEmbedder(folder, tmp_path, document_prefix="text: ")
    assert document.fingerprint != own.fingerprint


def test_nobody_asked_for_the_words_of_a_prompt(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    """Else a reranker would look for them in passages."""
    embedder = LocalEmbedder(unpacked("bert-dense"), tmp_path)
    vectors, belonging = embedder.embed_query_tokens("crown lake")
    assert len(vectors) == len(belonging)
    assert [word for word in dict.fromkeys(belonging) if word] == ["crown", "lake"]


def test_what_decides_vectors_is_in_the_fingerprint(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = unpacked("bert-dense")

    def fingerprint() -> str:
        return LocalEmbedder(folder, tmp_path).fingerprint

    seen = {fingerprint(), LocalEmbedder(folder, tmp_path, dimensions=12).fingerprint}
    edited(folder / layout.PROMPTS, prompts={"document": "another: "})
    seen.add(fingerprint())
    config = folder / "2_Dense" / "config.json"
    edited(config, activation_function="torch.nn.modules.linear.Identity")
    seen.add(fingerprint())
    edited(folder / "1_Pooling" / "config.json", pooling_mode="max")
    seen.add(fingerprint())
    edited(folder / "1_Pooling" / "config.json", include_prompt=False)
    seen.add(fingerprint())
    modules = json.loads((folder / layout.MODULES).read_text())
    (folder / layout.MODULES).write_text(json.dumps(modules[:2]))
    seen.add(fingerprint())
    assert len(seen) == 7


def test_an_old_folder_with_the_encoder_within_is_read(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = unpacked("bert-dense")
    (folder / "0_Transformer").mkdir()
    for path in [p for p in folder.iterdir() if p.is_file()]:
        if path.name not in (layout.MODULES, layout.PROMPTS, "expected.json"):
            path.rename(folder / "0_Transformer" / path.name)
    modules = json.loads((folder / layout.MODULES).read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rpartition(".")[2]
    modules[0]["path"] = "0_Transformer"
    (folder / layout.MODULES).write_text(json.dumps(modules))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text('{"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true}')
    told = expected(folder)
    embedder = LocalEmbedder(folder, tmp_path / "c", quantised=False)
    assert cosines(embedder.embed_documents(told["texts"]), told["documents"]).min() > SAME


def test_modernbert_of_before_transformers_5_is_read(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    """Its layers and angles had other names; most models on the hub have them still."""
    folder = unpacked("modernbert-norm")
    config = json.loads((folder / "config.json").read_text())
    del config["layer_types"]
    thetas = config.pop("rope_parameters")
    config |= {
        "global_attn_every_n_layers": 3,
        "global_rope_theta": thetas["full_attention"]["rope_theta"],
        "local_rope_theta": thetas["sliding_attention"]["rope_theta"],
    }
    (folder / "config.json").write_text(json.dumps(config))
    told = expected(folder)
    embedder = LocalEmbedder(folder, tmp_path / "c", quantised=False)
    assert cosines(embedder.embed_documents(told["texts"]), told["documents"]).min() > SAME
    config["local_rope_theta"] = None
    (folder / "config.json").write_text(json.dumps(config))
    rotary = layout.read(folder).rotary
    assert rotary is not None
    assert rotary.near_theta == rotary.full_theta


def test_a_graph_that_is_given_goes_through_the_same_modules(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = unpacked("bert-dense")
    told = expected(folder)
    LocalEmbedder(folder, tmp_path / "c", quantised=False).load()
    (made,) = (tmp_path / "c").rglob("model.onnx")
    shutil.copy(made, folder / "model.onnx")
    (folder / "model.safetensors").unlink()
    given = LocalEmbedder(folder, tmp_path / "other")
    assert cosines(given.embed_documents(told["texts"]), told["documents"]).min() > SAME
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("activation", "at_one", "below"),
    [
        ("Identity", 1.0, -2.0),
        ("Tanh", 0.7615942, -0.9640276),
        ("ReLU", 1.0, 0.0),
        ("GELU", 0.8413447, -0.0455003),
        ("Sigmoid", 0.7310586, 0.1192029),
        ("SiLU", 0.7310586, -0.2384058),
    ],
)
def test_activations_are_those_of_torch(activation: str, at_one: float, below: float) -> None:
    """At 1 and at -2, as torch.nn gives them."""
    bend = _ACTIVATIONS[activation]
    found = bend(np.array([[1.0, -2.0]], np.float32))
    assert found[0] == pytest.approx([at_one, below], abs=1e-6)
    assert set(_ACTIVATIONS) == set(layout.ACTIVATIONS)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "changes", "named"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "attention"}, "the pooling attention"),
        (
            "1_Pooling/config.json",
            {"pooling_mode": None, "pooling_mode_odd_tokens": True},
            "the pooling pooling_mode_odd_tokens",
        ),
        ("2_Dense/config.json", {"activation_function": "my.Own"}, "a Dense with my.Own"),
        ("2_Dense/config.json", {"module_input_name": "token_embeddings"}, "token_embeddings"),
        ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, "fill-mask"),
        ("sentence_bert_config.json", {"query_length": 32}, "query_length"),
    ],
)
def test_settings_without_an_equal_are_refused_by_name(
    unpacked: Callable[[str], Path], tmp_path: Path, file: str, changes: Any, named: str
) -> None:
    folder = unpacked("bert-dense")
    edited(folder / file, **changes)
    with pytest.raises(ModelUnsupported, match=named) as caught:
        LocalEmbedder(folder, tmp_path)
    assert caught.value.code == "model.unsupported"
    assert "trivium models" in caught.value.fix


@pytest.mark.parametrize(
    ("at", "kind"),
    [
        (0, "sentence_transformers.models.StaticEmbedding"),
        (0, "sentence_transformers.models.CLIPModel"),
        (1, "sentence_transformers.models.WeightedLayerPooling"),
        (2, "sentence_transformers.models.CNN"),
        (2, "sentence_transformers.models.LSTM"),
        (2, "sentence_transformers.base.modules.router.Router"),
        (2, "pylate.models.Dense.Dense"),
        (3, "custom_st.Rotate"),
    ],
)
def test_modules_without_an_equal_are_refused_by_name(
    unpacked: Callable[[str], Path], tmp_path: Path, at: int, kind: str
) -> None:
    folder = unpacked("bert-dense")
    modules = json.loads((folder / layout.MODULES).read_text())
    modules[at]["type"] = kind
    (folder / layout.MODULES).write_text(json.dumps(modules))
    with pytest.raises(ModelUnsupported, match=kind.rpartition(".")[2]):
        LocalEmbedder(folder, tmp_path)


def test_dropout_changes_nothing(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    folder = unpacked("bert-dense")
    before = LocalEmbedder(folder, tmp_path).fingerprint
    modules = json.loads((folder / layout.MODULES).read_text())
    modules.insert(2, {"type": "sentence_transformers.models.Dropout", "path": "2_Dropout"})
    (folder / layout.MODULES).write_text(json.dumps(modules))
    assert LocalEmbedder(folder, tmp_path).fingerprint == before


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("modules.json", "{}"),
        ("modules.json", '[{"idx": 0}]'),
        ("1_Pooling/config.json", "[]"),
        ("config_sentence_transformers.json", '{"prompts": {"query": 3}}'),
        ("2_Dense/model.safetensors", "odd"),
        ("2_Dense/config.json", "{}"),
    ],
)
def test_damaged_files_are_named(
    unpacked: Callable[[str], Path], tmp_path: Path, file: str, data: str
) -> None:
    folder = unpacked("bert-dense")
    (folder / file).write_text(data)
    with pytest.raises(ModelDamaged):
        LocalEmbedder(folder, tmp_path).embed_query("lake")


def test_a_missing_module_says_so(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    folder = unpacked("bert-dense")
    (folder / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(ModelDamaged, match="2_Dense"):
        LocalEmbedder(folder, tmp_path).embed_query("lake")


def test_an_unsupported_model_is_one_that_is_not_there() -> None:
    """So that a search goes on by words and spelling."""
    assert issubclass(ModelUnsupported, ModelUnavailable)


# --- cross-encoders ------------------------------------------------------------------------------


def passages(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample(f"{n}.md", text) for n, text in enumerate(texts)], "model")
    return store.documents.chunks(range(1, len(texts) + 1), OWNER)


@pytest.mark.parametrize("name", ["bert-judge", "modernbert-judge", "ettin-judge"])
@pytest.mark.parametrize("quantised", [False, True])
def test_scores_are_those_of_sentence_transformers(
    unpacked: Callable[[str], Path], tmp_path: Path, name: str, quantised: bool
) -> None:
    folder = unpacked(name)
    told = expected(folder)
    reranker = CrossEncoder(folder, 1, 64, tmp_path / "c", quantised=quantised)
    query = told["pairs"][0][0]
    found = reranker.scores(query, passages(*(text for _, text in told["pairs"])))
    assert found == pytest.approx(told["scores"], abs=0.05 if quantised else 1e-4)
    assert max(told["scores"]) - min(told["scores"]) > 0.2


def test_a_cross_encoder_saved_today_is_read(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    """With a list of modules, of which there is one."""
    folder = unpacked("bert-judge")
    told = expected(folder)
    kind = "sentence_transformers.base.modules.transformer.Transformer"
    (folder / layout.MODULES).write_text(json.dumps([{"type": kind, "path": ""}]))
    edited(folder / "sentence_bert_config.json", transformer_task="sequence-classification")
    reranker = CrossEncoder(folder, 1, 64, tmp_path / "c", quantised=False)
    (score,) = reranker.scores(told["pairs"][0][0], passages(told["pairs"][0][1]))
    assert score == pytest.approx(told["scores"][0], abs=1e-4)


# --- late interaction ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pylate-late", "stanford-late"])
@pytest.mark.parametrize("quantised", [False, True])
def test_late_interaction_is_that_of_sentence_transformers(
    unpacked: Callable[[str], Path], tmp_path: Path, name: str, quantised: bool
) -> None:
    folder = unpacked(name)
    told = expected(folder)
    assert is_colbert(folder)
    reranker = ColbertReranker(folder, tmp_path / "c", 1, quantised=quantised)
    query = told["pairs"][0][0]
    found = reranker.scores(query, passages(*(text for _, text in told["pairs"])))
    assert found == pytest.approx(told["scores"], abs=0.02 if quantised else 1e-4)
    assert max(told["scores"]) - min(told["scores"]) > 0.05
    assert reranker.scores(query, []) == []


def test_other_folders_are_no_late_interaction(unpacked: Callable[[str], Path]) -> None:
    assert not is_colbert(unpacked("bert-judge"))
    assert not is_colbert(unpacked("ettin-judge"))
    assert not is_colbert(Path("nowhere"))


def test_a_late_interaction_model_that_does_more_is_refused(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = unpacked("pylate-late")
    edited(folder / "1_Dense" / "config.json", bias=True)
    with pytest.raises(ModelUnsupported, match="Dense"):
        ColbertReranker(folder, tmp_path).scores("lake", passages("crown"))
    missing = ColbertReranker(tmp_path / "absent", tmp_path)
    with pytest.raises(ModelUnavailable, match="trivium models"):
        missing.scores("lake", passages("crown"))


@pytest.mark.parametrize("name", ["bert-first", "bert-judge"])
def test_a_tokeniser_of_another_model_is_named(
    unpacked: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    folder = unpacked(name)
    path = folder / "tokenizer.json"
    told = json.loads(path.read_text())
    vocabulary = told["model"]["vocab"]
    told["model"]["vocab"] = {word: at + 10_000 * (at > 4) for word, at in vocabulary.items()}
    path.write_text(json.dumps(told))
    embedder, reranker = LocalEmbedder(folder, tmp_path), CrossEncoder(folder, cache=tmp_path)
    judges = name == "bert-judge"
    with pytest.raises(ModelDamaged, match=r"tokens that tokenizer\.json beside it") as caught:
        reranker.scores("lake", passages("the lake")) if judges else embedder.embed_query("lake")
    assert "own tokenizer.json" in caught.value.fix


def test_the_tokeniser_of_another_model_is_refused(
    tmp_path: Path, unpacked: Callable[[str], Path]
) -> None:
    folder = unpacked("bert-dense")
    file = folder / "tokenizer.json"
    told = json.loads(file.read_text())
    words = list(told["model"]["vocab"].items())
    told["model"]["vocab"] = dict(words[: len(words) // 2])
    file.write_text(json.dumps(told))
    embedder = LocalEmbedder(folder, tmp_path / "c")
    with pytest.raises(ModelDamaged, match="belongs to another model") as caught:
        embedder.embed_documents(["lantern"])
    assert "tokenizer.json" in caught.value.fix


def test_a_graph_cut_in_half_is_named_with_what_to_do(
    tmp_path: Path, unpacked: Callable[[str], Path]
) -> None:
    folder = unpacked("bert-dense")
    LocalEmbedder(folder, tmp_path / "c").embed_query("lantern")
    (made,) = (tmp_path / "c").rglob("model.onnx")
    given = folder / "model.onnx"
    given.write_bytes(made.read_bytes()[: made.stat().st_size // 2])
    with pytest.raises(ModelDamaged, match=r"model\.onnx") as caught:
        LocalEmbedder(folder, tmp_path / "d").embed_query("lantern")
    assert "Copy the model there again" in caught.value.fix
