"""Lets Azure Document Intelligence analyse a file: sends it, and asks until the answer is ready.

Knows the REST interface of version 2024-11-30, nothing of the answer. The key goes only to the
configured address, whatever address the service names for the answer.
"""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from trivium.models.http import Client

VERSION = "2024-11-30"
PAUSE = 1.0  # seconds between two questions, where the service names none
MOST_BYTES = 50 << 20  # what goes into one request; the service itself takes up to 500 MB


class DocumentIntelligence:
    """One model behind one address. Threads may share it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._wait, self._now = client.clock.wait, client.clock.now

    @property
    def name(self) -> str:
        return self._client.endpoint.model

    def analyse(self, data: bytes) -> Any:
        """The `analyzeResult` of a file. Raises ModelUnavailable."""
        endpoint = self._client.endpoint
        address = endpoint.address(f"/documentintelligence/documentModels/{endpoint.model}:analyze")
        if not urlsplit(address).query:
            address += f"?api-version={VERSION}"
        body = {"base64Source": base64.b64encode(data).decode("ascii")}
        place, pause = self._client.begin(address, body, answer="Operation-Location")
        if _host(place) != _host(address):
            raise endpoint.nonsense("names another server for its answer, or none")
        until = self._now() + endpoint.patience
        while True:
            self._wait(pause or PAUSE)
            reply, pause = self._client.get(place)
            status = reply.get("status") if isinstance(reply, dict) else None
            if status == "succeeded" and isinstance(reply.get("analyzeResult"), dict):
                return reply["analyzeResult"]
            if status not in ("notStarted", "running"):
                raise endpoint.failing(f"couldn't analyse the file ({_reason(reply, status)})")
            if self._now() > until:
                raise endpoint.late(endpoint.patience)


def _host(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def _reason(reply: Any, status: object) -> str:
    """The innermost of the errors, which names the cause."""
    error = reply.get("error") if isinstance(reply, dict) else None
    message = str(status)
    while isinstance(error, dict):
        message = str(error.get("message") or error.get("code") or message)
        error = error.get("innererror")
    return message
