"""Embedding on a GPU: what the setting means where there is none, and the same vectors where torch
is. The latter need `trivium[cuda]`, and take the processor where there is no GPU.
"""

from __future__ import annotations

import json
import os
import tarfile
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from trivium.errors import BadSetting, ExtraMissing
from trivium.models import cuda, weights
from trivium.models.late import unpack
from trivium.models.local import LocalEmbedder
from trivium.models.token_processes import TokenProcesses
from trivium.models.tokenising import Tokeniser, WordTokens

LAYOUTS = Path(__file__).parent / "layouts"
EMBEDDERS = sorted(
    path.name.removesuffix(".tar.xz")
    for path in LAYOUTS.glob("*.tar.xz")
    if "judge" not in path.name and "late" not in path.name
)
with_torch = pytest.mark.skipif(
    not all(find_spec(name) for name in cuda.PACKAGES), reason="needs trivium[cuda]"
)
without_torch = pytest.mark.skipif(find_spec("torch") is not None, reason="torch is here")
without_gpu = pytest.mark.skipif(cuda._gpu(), reason="there is a GPU")


def unpacked(name: str, place: Path) -> Path:
    with tarfile.open(LAYOUTS / f"{name}.tar.xz") as archive:
        archive.extractall(place / name, filter="data")
    return place / name


def test_a_device_that_nobody_knows_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="tpu"):
        LocalEmbedder(None, tmp_path, device="tpu")


@without_gpu
def test_cuda_without_a_gpu_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="no NVIDIA GPU") as caught:
        LocalEmbedder(None, tmp_path, device="cuda")
    assert "auto" in caught.value.fix


@without_torch
def test_cuda_without_torch_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "nvidia-smi"  # looks like a machine with a GPU
    driver.write_text("#!/bin/sh\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ExtraMissing, match="torch") as caught:
        LocalEmbedder(None, tmp_path, device="cuda")
    assert "trivium[cuda]" in caught.value.fix
    assert not cuda.likely()


@without_gpu
def test_auto_without_a_gpu_is_the_processor(tmp_path: Path) -> None:
    folder = unpacked("bert-dense", tmp_path)
    auto = LocalEmbedder(folder, tmp_path / "c", device="auto")
    plain = LocalEmbedder(folder, tmp_path / "c", device="cpu")
    assert auto.fingerprint == plain.fingerprint
    texts = [f"lantern {n}" for n in range(cuda.FEW + 1)]
    similar = np.vecdot(auto.embed_documents(texts), plain.embed_documents(texts))
    assert similar.min() > 0.999


def engine(folder: Path) -> cuda.TorchEngine:
    import torch

    layout = weights.identify(folder).layout
    file = folder / "tokenizer.json"
    tokeniser = Tokeniser(file, WordTokens(file, lower=layout.lower), layout.max_tokens)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return cuda.TorchEngine(folder, layout, tokeniser, device)


@with_torch
@pytest.mark.parametrize("name", EMBEDDERS)
def test_both_ways_give_the_same_vectors(name: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    told = json.loads((folder / "expected.json").read_text())
    processor = LocalEmbedder(folder, tmp_path / "c", quantised=False)
    prompt = processor._document_prefix
    exact, signs = processor.embed_with_tokens(told["texts"])
    there = engine(folder)
    vectors, packed = there.with_tokens(told["texts"], prompt)
    assert np.vecdot(vectors, exact).min() > 0.999
    assert (there.vectors(told["texts"], prompt) == vectors).all()
    for one, other in zip(packed, signs, strict=True):
        assert len(one) == len(other)
        assert (unpack(one, 16) == unpack(other, 16)).mean() > 0.98


@with_torch
def test_many_texts_come_back_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"lantern {n} " * (n % 7 + 1) for n in range(20)]
    there = engine(unpacked(EMBEDDERS[0], tmp_path))
    whole, packed = there.with_tokens(texts, "")
    monkeypatch.setattr(cuda, "BLOCK", 3)  # more blocks than wait for their answers
    vectors, again = there.with_tokens(texts, "")
    assert np.vecdot(vectors, whole).min() > 0.999
    assert list(map(len, again)) == list(map(len, packed))


@with_torch
def test_other_processes_may_tokenise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = unpacked(EMBEDDERS[0], tmp_path)
    texts = [f"lantern {n} " * (n % 7 + 1) for n in range(20)]
    there = engine(folder)
    whole, packed = there.with_tokens(texts, "")
    monkeypatch.setattr(cuda, "PIECE", 3)
    file, tokeniser = folder / "tokenizer.json", there._tokeniser
    lower = weights.identify(folder).layout.lower
    with closing(TokenProcesses(file, tokeniser, lower=lower, count=2)) as processes:
        there._processes = processes
        vectors, again = there.with_tokens(texts, "")
    assert (vectors == whole).all()
    assert again == packed
