"""In which thread the word signals of a search run."""

import os
from threading import get_ident

import pytest

from trivium.core.types import Hit
from trivium.search.signals import _Beside


def where() -> list[Hit]:
    return [Hit(get_ident(), 0.0)]


def test_a_search_alone_has_threads_beside_it_and_a_crowd_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    beside, own = _Beside(on_our_cores=True), get_ident()
    with beside.search() as first, beside.search() as second, beside.search() as third:
        assert first(where)()[0].chunk_id != own
        assert second(where)()[0].chunk_id != own
        assert third(where)()[0].chunk_id == own
    with beside.search() as later:
        assert later(where)()[0].chunk_id != own


def test_what_a_server_answers_is_always_waited_for_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    beside = _Beside(on_our_cores=False)
    with beside.search(), beside.search() as second:
        assert second(where)()[0].chunk_id != get_ident()
