"""Models of other packages are found by their entry points, as ours are."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import BadSetting
from trivium.library import Library, embedder_for, generator_for
from trivium.models import kinds
from trivium.models.endpoint import Endpoint

REPOSITORY = Path(__file__).parents[2]
PLUGIN = """
from trivium.models.kinds import ModelKind
from trivium.testing.samples import ToyEmbedder


def embedder(there, calls):
    made = ToyEmbedder()
    made.fingerprint = f"abacus-{there.model}"
    return made


KIND = ModelKind(embedder=embedder)
"""


@pytest.fixture
def abacus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "trivium_abacus-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: trivium-abacus\n")
    (installed / "entry_points.txt").write_text("[trivium.models]\nabacus = abacus_models:KIND\n")
    (tmp_path / "abacus_models.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("abacus")
def test_a_model_is_found_by_the_scheme_of_its_address(tmp_path: Path) -> None:
    settings = Settings(embed_url="abacus:beads", embed_model="small")
    (tmp_path / "note.md").write_text("A lantern burns.")
    with Library.open(tmp_path / "library", settings=settings) as library:
        library.add(tmp_path / "note.md")
        assert library.models.manifest().model == "abacus-small"
        assert library.search("lantern")


@pytest.mark.usefixtures("abacus")
def test_a_service_without_such_models_says_so() -> None:
    with pytest.raises(BadSetting, match=r"`generate.url` names a service that has no models"):
        generator_for(Settings(generate_url="abacus:", generate_model="small"))


def test_an_unknown_scheme_is_no_address() -> None:
    with pytest.raises(BadSetting, match="isn't the address of a server"):
        embedder_for(Settings(embed_url="sundial:", embed_model="small"))


def test_ours_are_declared_as_those_of_others_are() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["trivium.models"] == kinds._OURS
    for scheme in ("bedrock:", "http://localhost", "https://localhost"):
        kind = kinds.kind_of(Endpoint("embed", scheme, "model"))
        assert all((kind.embedder, kind.reranker, kind.generator))
