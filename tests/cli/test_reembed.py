"""`trivium reembed` as a person or a program calls it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.program import Answer, call
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.models import answer


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(answer) as server:
        yield server


@pytest.fixture
def place(endpoint: ScriptedEndpoint, tmp_path: Path) -> Path:
    (tmp_path / "lantern.md").write_text("A lantern burns at the harbour.")
    (tmp_path / "bread.md").write_text("Bread needs flour and time.")
    added = call("--library", tmp_path / "l", "add", tmp_path, *named(endpoint, "toy"))
    assert added.code == 0, added
    return tmp_path / "l"


def named(endpoint: ScriptedEndpoint, model: str) -> list[str]:
    return ["--set", f"embed.url={endpoint.url}", "--set", f"embed.model={model}"]


def search(place: Path, *options: str) -> Answer:
    return call("--library", place, "search", "lantern", "--mode", "semantic", "--json", *options)


def test_a_named_model_and_then_no_settings(place: Path, endpoint: ScriptedEndpoint) -> None:
    given = ["--set", f"embed.url={endpoint.url}"]
    done = call("--library", place, "reembed", "--model", "other", *given, "--json")
    assert done.code == 0, done
    assert {name: done.json[name] for name in ("before", "model", "passages")} == {
        "before": "toy",
        "model": "other",
        "passages": 2,
    }
    assert done.err == ""
    found = search(place)
    assert found.code == 0, found
    assert found.json["results"][0]["chunk"]["text"] == "A lantern burns at the harbour."
    assert endpoint.requests[-1].body["model"] == "other"
    refused = search(place, *named(endpoint, "toy"))
    assert (refused.code, refused.error["code"]) == (3, "library.model_changed")
    assert "trivium reembed" in refused.error["fix"]


def test_lasting_settings_that_name_another_model_are_pointed_out(
    place: Path, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_EMBED_URL", endpoint.url)
    monkeypatch.setenv("TRIVIUM_EMBED_MODEL", "toy")
    done = call("--library", place, "reembed", "--model", "other")
    assert done.code == 0, done
    assert "2 passages" in done.out
    assert "embed.model (environment)" in done.err
    monkeypatch.setenv("TRIVIUM_EMBED_MODEL", "other")
    assert search(place).code == 0


def test_the_model_of_the_settings_and_nothing_to_do(
    place: Path, endpoint: ScriptedEndpoint
) -> None:
    nothing = call("--library", place, "reembed", "--json")
    assert (nothing.code, nothing.error["code"]) == (2, "setting.bad")
    done = call("--library", place, "reembed", "--json", *named(endpoint, "other"))
    assert done.json["model"] == "other"
    wrong = call("--library", place, "reembed", "--model", "no-such-folder", "--json")
    assert (wrong.code, wrong.error["code"]) == (2, "setting.bad")


def test_a_model_that_fails_is_resumed_or_given_up(place: Path, endpoint: ScriptedEndpoint) -> None:
    def refusing(seen: Seen) -> Reply:
        return Reply({}, 401) if seen.body["model"] == "other" else answer(seen)

    endpoint.answer = refusing
    failed = call("--library", place, "reembed", "--json", *named(endpoint, "other"))
    assert (failed.code, failed.error["code"]) == (4, "model.refused")
    assert search(place).code == 0
    stopped = call("--library", place, "reembed", "--stop", "--json")
    assert stopped.json == {"stopped": "other", "model": "toy"}
    assert call("--library", place, "reembed", "--stop").out == "No change of model is under way.\n"
    call("--library", place, "reembed", *named(endpoint, "other"))
    endpoint.answer = answer
    assert call("--library", place, "reembed", "--json").json["model"] == "other"
    endpoint.answer = lambda seen: Reply({}, 401)
    assert call("--library", place, "reembed", *named(endpoint, "toy")).code == 4
    endpoint.answer = answer
    again = call("--library", place, "jobs", "retry", "--all")
    assert (again.code, again.err) == (0, "")
    assert again.out.endswith("from other to toy.\n")
    both = call("--library", place, "reembed", "--stop", "--model", "x")
    assert both.code == 2


def test_the_built_in_model(place: Path) -> None:
    done = call("--library", place, "reembed", "--model", "all-MiniLM-L6-v2", "--json")
    assert done.code == 0, done
    assert done.json["model"].startswith("all-MiniLM-L6-v2-")
    found = search(place)
    assert found.json["results"][0]["chunk"]["text"] == "A lantern burns at the harbour."
    doctor = call("--library", place, "doctor", "--json")
    assert doctor.json["ok"], doctor.out
