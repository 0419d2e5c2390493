"""The real server over damaged files: it answers, says what is missing, and is truthful."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.serving.running import PATIENCE, serving
from tests.serving.shelf import shelve

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

DAMAGE = {"words": "words/*.words", "vectors": "vectors/*/*/*"}


def damage(place: Path, pattern: str) -> None:
    for path in place.glob(pattern):
        data = bytearray(path.read_bytes())
        for at in range(0, len(data), 64):
            data[at] ^= 0x24
        path.write_bytes(data)


def ask(client: httpx2.Client, address: str) -> dict[str, Any]:
    answer = client.post(f"{address}/v1/search", json={"query": "crown"}, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("pattern", DAMAGE.values(), ids=[*DAMAGE])
def test_a_server_that_starts_on_a_damaged_index_rebuilds_it(tmp_path: Path, pattern: str) -> None:
    place = tmp_path / "library"
    shelve(place).close()
    damage(place, pattern)
    with serving(place) as (address, _), httpx2.Client(trust_env=False) as client:
        found = ask(client, address)
        assert found["results"][0]["document"]["title"] == "The Crown"
        assert found["notes"] == []
        assert client.get(f"{address}/readyz", timeout=PATIENCE).status_code == 200


def test_damage_that_nobody_can_mend_yet(tmp_path: Path) -> None:
    """While another process writes, nobody can rebuild: the other signals answer, with a note."""
    place = tmp_path / "library"
    shelve(place).close()
    with Library(open_embedded(place), TOY, Settings()) as writer, writer.backend.writer.writing():
        damage(place, DAMAGE["words"])
        with serving(place) as (address, _), httpx2.Client(trust_env=False) as client:
            found = ask(client, address)
            assert found["results"][0]["document"]["title"] == "The Crown"
            assert found["notes"][0].startswith("Searched without the signals keyword and trigram.")
            assert client.get(f"{address}/readyz", timeout=PATIENCE).status_code == 200
