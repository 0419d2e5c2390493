"""One small library, built once, for the tests that only read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.program import CROWN, SECRETS, WEAPONS, Program, call


@pytest.fixture(autouse=True, scope="session")
def no_own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have settings and a library: they play no part."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("nobody")
        patch.setenv("TRIVIUM_CONFIG", str(folder / "config.toml"))
        patch.setenv("TRIVIUM_LIBRARY", str(folder / "library"))
        yield


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "weapons.md").write_text(WEAPONS, encoding="utf-8")
    (folder / "crown.md").write_text(CROWN, encoding="utf-8")
    (folder / "secrets.md").write_text(SECRETS, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def library(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents. Tests that change a library make their own."""
    place = tmp_path_factory.mktemp("built") / "library"
    answer = call("add", documents, "--library", place)
    assert answer.code == 0, answer
    return place


@pytest.fixture(scope="session")
def trivium(library: Path) -> Program:
    """The program on the shared library."""
    return lambda *arguments: call("--library", library, *arguments)
