"""`trivium models`, and a library that gets a model by its name."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.program import Answer, call
from tests.endpoint import ScriptedEndpoint
from tests.hub import Hub
from tests.models import answer

from trivium.models.catalogue import MODELS, named

LAYOUTS = Path(__file__).parents[1] / "unit" / "models" / "layouts"


def served(tmp_path: Path, layout: str, name: str) -> Hub:
    """A hub that has a small model where the real one has a large one of this name."""
    with tarfile.open(LAYOUTS / f"{layout}.tar.xz") as archive:
        archive.extractall(tmp_path / layout, filter="data")
    hub = Hub(tmp_path / layout, named(name).repository)
    hub.commit = named(name).revision
    return hub


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with served(tmp_path, "bert-first", "e5-small-v2") as server:
        yield server


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A library with the vectors of another model."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "lantern.md").write_text("A lantern burns at the harbour.")
    (tmp_path / "d" / "bread.md").write_text("Bread needs flour and time.")
    with ScriptedEndpoint(answer) as endpoint:
        remote = ["--set", f"embed.url={endpoint.url}", "--set", "embed.model=toy"]
        added = call("--library", tmp_path / "l", "add", tmp_path / "d", *remote)
        assert added.code == 0, added
        yield tmp_path / "l"


def trivium(tmp_path: Path, hub: Hub, *arguments: object) -> Answer:
    settings = ["--set", f"cache={tmp_path / 'c'}", "--set", f"models.hub={hub.url}"]
    return call("--library", tmp_path / "l", *arguments, *settings)


def test_every_model_is_listed() -> None:
    listed = call("models")
    assert listed.code == 0
    assert max(map(len, listed.out.splitlines())) <= 80
    for model in MODELS:
        assert f"\n{model.name} " in listed.out
    rows = call("models", "--json").json["models"]
    assert [row["name"] for row in rows] == [model.name for model in MODELS]
    assert rows[0]["revision"] == MODELS[0].revision
    unverified = next(row for row in rows if row["name"] == "gte-small")
    assert unverified["score"] == "not verified"


def test_one_model_is_shown() -> None:
    shown = call("models", "LEAF-IR")
    assert "MongoDB/mdbr-leaf-ir" in shown.out
    assert "trivium reembed --model leaf-ir" in shown.out
    unknown = call("models", "nothing", "--json")
    assert (unknown.code, unknown.error["code"]) == (2, "setting.bad")
    assert "trivium models" in unknown.error["fix"]
    assert call("models", "--get").code == 2


def test_a_model_is_downloaded_and_described(tmp_path: Path, hub: Hub) -> None:
    got = trivium(tmp_path, hub, "models", "e5-small-v2", "--get", "--json")
    assert got.code == 0, got
    assert Path(got.json["folder"]).is_dir()
    assert got.json["pooling"] == "cls", "as its own files say"
    assert got.json["query_prompt"] == "find ", "its own files go before the table"
    assert got.json["document_prompt"] == "passage: ", "which says what they leave out"
    listed = trivium(tmp_path, hub, "models")
    (row,) = [line for line in listed.out.splitlines() if line.startswith("e5-small-v2 ")]
    assert row.endswith("yes")


def test_a_library_comes_to_a_model_by_name_and_works_offline(
    tmp_path: Path, place: Path, hub: Hub
) -> None:
    done = trivium(tmp_path, hub, "reembed", "--model", "e5-small-v2", "--json")
    assert done.code == 0, done
    assert done.json["model"].startswith("e5-small-v2-")
    asked = len(hub.requests)
    nowhere = ["--set", f"cache={tmp_path / 'c'}", "--set", "models.hub=http://127.0.0.1:9"]
    options = ["--mode", "semantic", "--json", *nowhere]
    found = call("--library", place, "search", "lantern", *options)
    assert found.code == 0, found
    assert found.json["results"]
    assert found.json.get("notes", []) == []
    assert len(hub.requests) == asked
    library = call("--library", place, "models", "--json", *nowhere).json["library"]
    assert library["model"] == done.json["model"]
    assert Path(library["folder"]).is_dir()
    said = call("--library", place, "models", *nowhere)
    assert f"This library uses {done.json['model']}." in said.out
    doctor = call("--library", place, "doctor", "--json", *nowhere)
    assert doctor.json["model"]["fingerprint"] == done.json["model"]
    again = call("--library", place, "add", tmp_path / "d", *nowhere)
    assert again.code == 0, again


def test_a_new_library_takes_a_model_by_its_name(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "lantern.md").write_text("A lantern burns at the harbour.")
    named_so = ["--set", "embed.model=e5-small-v2"]
    assert trivium(tmp_path, hub, "models", "e5-small-v2", "--get").code == 0
    added = trivium(tmp_path, hub, "add", tmp_path / "d", *named_so)
    assert added.code == 0, added
    found = trivium(tmp_path, hub, "search", "lantern", "--mode", "semantic", "--json")
    assert found.json["results"], "the library remembers its model"
    library = trivium(tmp_path, hub, "models", "--json").json["library"]
    assert library["model"].startswith("e5-small-v2-")
    other = trivium(tmp_path, hub, "search", "lantern", "--set", "embed.model=leaf-ir", "--json")
    assert "leaf-ir isn't on this machine" in str(other.json["notes"]), "said, not ignored"
    unknown = trivium(tmp_path, hub, "add", tmp_path / "d", "--set", "embed.model=none", "--json")
    assert unknown.error["code"] == "setting.bad"


def test_a_judged_set_is_indexed_again_for_another_model(tmp_path: Path, hub: Hub) -> None:
    folder = tmp_path / "judged"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text('{"_id": "a", "title": "", "text": "A lantern burns."}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "lantern"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    assert trivium(tmp_path, hub, "models", "e5-small-v2", "--get").code == 0
    for model in ("", "e5-small-v2", ""):
        judged = trivium(tmp_path, hub, "eval", folder, "--json", "--set", f"embed.model={model}")
        assert judged.code == 0, judged
        assert judged.json["runs"]["hybrid"]["ndcg@10"] == 1


def test_without_a_network_the_library_stays_as_it_is(tmp_path: Path, place: Path) -> None:
    nowhere = ["--set", f"cache={tmp_path / 'c'}", "--set", "models.hub=http://127.0.0.1:9"]
    failed = call("--library", place, "reembed", "--model", "leaf-ir", "--json", *nowhere)
    assert (failed.code, failed.error["code"]) == (4, "model.unreachable")
    assert "Connect to the network" in failed.error["fix"]
    assert call("--library", place, "models", "--json").json["library"]["model"] == "toy"


def test_a_reranker_makes_no_vectors(tmp_path: Path, place: Path) -> None:
    failed = call("--library", place, "reembed", "--model", "ettin-17m", "--json")
    assert (failed.code, failed.error["code"]) == (2, "setting.bad")
    assert "reranker" in failed.error["message"]


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("ettin-17m", "ettin-judge"),
        ("ms-marco-minilm-l6", "bert-judge"),
        ("LateOn-Code-edge", "pylate-late"),
    ],
)
def test_a_reranker_by_name_judges_results(
    tmp_path: Path, place: Path, name: str, layout: str
) -> None:
    named_so = ["--set", f"rerank.model={name}", "--set", "rerank.seconds=240"]
    search = ["search", "lantern harbour", "--mode", "keyword", "--rerank", "--json", *named_so]
    with served(tmp_path, layout, name) as hub:
        before = trivium(tmp_path, hub, *search)
        assert before.code == 0, before
        assert "trivium models" in str(before.json["notes"]), "it is not here yet, and says so"
        assert trivium(tmp_path, hub, "models", name, "--get").code == 0
        after = trivium(tmp_path, hub, *search)
    assert after.code == 0, after
    assert not after.json.get("notes")
    assert after.json["results"]
