"""Embedding on a GPU: what the setting means where there is none, and the same vectors where torch
is. The latter need `trivium[cuda]`, and take the processor where there is no GPU.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from trivium.config import Settings
from trivium.core.errors import BadSetting, ExtraMissing, ModelUnavailable
from trivium.library.library import Library
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
    assert ".[cuda]" in caught.value.fix
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


BROKEN = {
    "its own library is missing": "raise ImportError('libtorch_cuda.so: undefined symbol: ncclX')",
    "a library of the driver is missing": "raise OSError('libcudnn.so.9: cannot open')",
    "packages that don't fit": "raise RuntimeError('operator torchvision::nms does not exist')",
}
NO_DRIVER = "class cuda:\n    is_available = staticmethod(lambda: False)"
# torch.OutOfMemoryError is a RuntimeError (torch/_C/__init__.pyi).
FULL = """
class OutOfMemoryError(RuntimeError): ...
class cuda:
    is_available = staticmethod(lambda: True)
class backends:
    class cuda:
        enable_cudnn_sdp = staticmethod(lambda on: None)
float16 = float32 = None
"""
FULL_LOADING = """
import torch
class SentenceTransformer:
    def __init__(self, *given, **named):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
"""


@pytest.fixture
def broken_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes this look like a machine with a GPU and these packages."""
    names = ("torch", "sentence_transformers")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}

    def install(torch: str, sentence_transformers: str = "class SentenceTransformer: ...") -> None:
        for name, code in zip(names, (torch, sentence_transformers), strict=True):
            (tmp_path / f"{name}.py").write_text(code)
        driver = tmp_path / "nvidia-smi"
        driver.write_text("#!/bin/sh\n")
        driver.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.mark.parametrize(
    ("torch", "transformers"),
    [*((code, "class SentenceTransformer: ...") for code in BROKEN.values()),
     (NO_DRIVER, "class SentenceTransformer: ..."), (FULL, FULL_LOADING)],
    ids=[*BROKEN, "no driver", "the card is full"],
)  # fmt: skip
def test_auto_with_a_broken_gpu_stack_is_the_processor(
    torch: str, transformers: str, broken_torch: Callable[..., None], tmp_path: Path
) -> None:
    broken_torch(torch, transformers)
    auto = LocalEmbedder(unpacked("bert-dense", tmp_path), tmp_path / "c", device="auto")
    texts = [f"lantern {n}" for n in range(cuda.FEW + 1)]
    assert auto.embed_documents(texts).shape == (len(texts), auto.dimensions)
    assert "processor" in auto.note
    assert len(auto.embed_with_tokens(texts)[1]) == len(texts)


def test_a_report_says_once_that_the_gpu_could_not_be_used(
    broken_torch: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_torch(BROKEN["its own library is missing"])
    monkeypatch.setattr(cuda, "FEW", 0)
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("lantern", "harbour"):
        (notes / f"{name}.txt").write_text(f"The {name} is lit at dusk.")
    settings = Settings(
        library=tmp_path / "library",
        cache=tmp_path / "c",
        embed_folder=unpacked("bert-dense", tmp_path),
    )
    with Library.open(settings=settings) as library:
        report = library.add(notes)
    assert not report.failed
    assert sum("GPU" in note for note in report.notes) == 1
    (note,) = (note for note in report.notes if "GPU" in note)
    assert "ncclX" in note


def test_cuda_with_a_broken_torch_says_what_to_do(
    broken_torch: Callable[..., None], tmp_path: Path
) -> None:
    broken_torch(BROKEN["a library of the driver is missing"])
    there = LocalEmbedder(unpacked("bert-dense", tmp_path), tmp_path / "c", device="cuda")
    with pytest.raises(ModelUnavailable, match="libcudnn") as caught:
        there.embed_documents(["lantern"])
    assert "embed.device" in caught.value.fix


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
