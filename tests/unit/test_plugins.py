"""What people read if a package that only some commands need is missing or broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.core.errors import ExtraMissing
from trivium.core.plugins import needs


def test_a_missing_package_is_named_with_its_extra() -> None:
    missing = "package no_such_package, which isn't installed"
    with pytest.raises(ExtraMissing, match=missing) as error, needs("serve"):
        import no_such_package  # noqa: F401
    assert "serve" in error.value.fix


def test_a_package_that_breaks_while_it_loads_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("raise ImportError('no pq wrapper available')")
    monkeypatch.syspath_prepend(tmp_path)
    broken = r"extra postgres \(no pq wrapper available\)"
    with pytest.raises(ExtraMissing, match=broken), needs("postgres"):
        import broken_package  # noqa: F401


def test_a_missing_module_of_ours_is_a_fault() -> None:
    with pytest.raises(ModuleNotFoundError), needs("serve"):
        import trivium.no_such_module  # noqa: F401
