"""A small library to serve, without a model's weight, and clients for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from starlette.testclient import TestClient

from trivium.config import Settings
from trivium.http.app import create_app
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

PATIENCE = 240.0  # seconds: for a machine that is busy with other things
SECRET = "zanzibar"  # a word that only dm-only documents hold
VAULTED = "quicksilver"  # one of another collection

DOCUMENTS = (
    sample(
        "weapons.md",
        "A battle axe needs two hands.",
        "The short sword is for cabins.",
        title="Weapons",
        collection="rules",
        category="rulebook",
        metadata={"year": 2021},
    ),
    sample("crown.md", "The crown lies in the harbour.", title="The Crown", collection="rules"),
    sample(
        "secrets.md",
        f"The crown of {SECRET} is cursed.",
        title=f"Secrets of {SECRET}",
        collection="rules",
        audience="dm-only",
        metadata={"curse": SECRET},
    ),
    sample(
        "vault.md",
        f"The crown of {VAULTED} is fake.",
        title=f"Vault of {VAULTED}",
        collection="vault",
        metadata={"alloy": VAULTED},
    ),
)

Client = Callable[..., TestClient]


def shelve(folder: Path, settings: Settings | None = None) -> Library:
    told = settings or Settings()
    library = Library(open_embedded(folder, incoming=told.serve_incoming_bytes), TOY, told)
    with library.backend.writer.writing():
        library.backend.writer.put(DOCUMENTS, TOY.fingerprint)
    return library


def client(library: Library, token: str | None = None, **changes: Any) -> TestClient:
    """Speaks to the server in this process. With a token the server demands them."""
    # Much time for an answer: this machine may be busy with other things.
    settings = changes.pop("settings", Settings(serve_seconds=240.0))
    app = create_app(library, settings, open_to_all=token is None, **changes)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(
        app, base_url="http://localhost:8420", headers=headers, raise_server_exceptions=False
    )


def until(holds: Callable[[], object]) -> None:
    ends = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < ends
        sleep(0.05)
