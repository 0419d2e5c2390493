"""HyDE through a library: with a real small model, with one that is down, and without any."""

from functools import partial
from pathlib import Path

import pytest
from tests.endpoint import closed_port
from tests.language_model import KEY, NAME

from trivium.config import load
from trivium.core.errors import BadSetting
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.search import run
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def opened(folder: Path, **settings: str) -> Library:
    given = {name.replace("_", ".", 1): value for name, value in settings.items()}
    library = Library(open_embedded(folder / "library"), TOY, load(given).settings)
    (folder / "fog.md").write_text("Fog is a cloud that touches the ground.")
    library.add(folder / "fog.md")
    return library


def test_a_real_model_guesses_an_answer(
    tmp_path: Path, language_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More time than a person would give it: this machine may be busy with other things.
    monkeypatch.setattr(run, "hypothesise", partial(run.hypothesise, seconds=240.0))
    monkeypatch.setenv("TRIVIUM_GENERATE_KEY", KEY)
    with opened(tmp_path, generate_url=language_model, generate_model=NAME) as library:
        plain, guessed = (
            library.search("what is fog"),
            library.search("what is fog", options=SearchOptions(hyde=True)),
        )
    assert guessed.analysis.hypothesis
    assert plain.analysis.hypothesis == ""
    assert "hyde" in guessed.timings_ms
    assert guessed[0].found.id == plain[0].found.id


def test_without_an_answer_the_search_goes_on_and_explains_itself(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    with opened(tmp_path, generate_url=url, generate_model="none") as library:
        down = library.search("what is fog", options=SearchOptions(hyde=True))
    assert down.items
    assert down.notes == ()  # no note for the user
    assert any("HyDE" in note for note in down.analysis.notes)


def test_no_model_is_set_up(tmp_path: Path) -> None:
    with opened(tmp_path) as library:
        found = library.search("what is fog", options=SearchOptions(hyde=True))
        assert any("generate.url" in note for note in found.analysis.notes)
        with pytest.raises(BadSetting, match="hyde"):
            library.search("fog", options=SearchOptions(mode="keyword", hyde=True))
