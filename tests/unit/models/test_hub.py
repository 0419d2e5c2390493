"""Models by name, downloaded from a hub on this machine."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hub import COMMIT, Hub

from trivium.errors import (
    BadSetting,
    ModelDamaged,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelUnavailable,
    ModelUnreachable,
    ModelUnsupported,
)
from trivium.models import catalogue, hub
from trivium.models.catalogue import MODELS, Known
from trivium.models.layout import WEIGHTS, read, receipt
from trivium.models.local import LocalEmbedder

MODEL = Known("tiny", "embedding", "owner/tiny", COMMIT, "mit", 1, "none", 24)
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
    assert hub.kept(MODEL, tmp_path) is None
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
    assert hub.kept(MODEL, tmp_path) is None
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
    assert hub.kept(MODEL, tmp_path / "b") == moved
    one, other = (LocalEmbedder(place, tmp_path / "c") for place in (folder, moved))
    assert one.fingerprint == other.fingerprint


# --- the table -----------------------------------------------------------------------------------


def test_names_are_unique_and_found_in_any_case() -> None:
    assert len({model.name.lower() for model in MODELS}) == len(MODELS)
    assert catalogue.known("LEAF-IR") is catalogue.named("leaf-ir")
    with pytest.raises(BadSetting, match="trivium models"):
        catalogue.named("nothing")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_row_is_sound(model: Known) -> None:
    assert model.revision == "main" or len(model.revision) == 40
    assert model.repository.count("/") == 1
    assert bool(model.score) == bool(model.source), "a score has its source"
    assert model.dimensions or model.kind == "reranker"
