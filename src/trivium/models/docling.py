"""Lets a docling-serve server convert a file: sends it, and asks until the document is ready. Knows
the REST interface under `/v1`, nothing of the document."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from trivium.models.http import Client

NAME = "docling"  # as `read.model`
PAUSE = 1.0  # seconds between two questions
_WORKING = ("pending", "started")


class Docling:
    """One server behind one address. Threads may share it."""

    name = NAME

    def __init__(self, client: Client) -> None:
        self._client = client
        self._wait, self._now = client.clock.wait, client.clock.now

    def analyse(self, data: bytes) -> Any:
        """The DoclingDocument of a file. Raises ModelUnavailable."""
        endpoint = self._client.endpoint
        status = self._client.post("/v1/convert/source/async", _order(data))
        task = status.get("task_id") if isinstance(status, dict) else None
        if not isinstance(task, str) or not task:
            raise endpoint.nonsense("returned no task for the file")
        task = quote(task, safe="")
        until = self._now() + endpoint.patience
        while status.get("task_status") in _WORKING:
            if self._now() > until:
                raise endpoint.late(endpoint.patience)
            self._wait(PAUSE)
            status, _ = self._client.get(endpoint.address(f"/v1/status/poll/{task}"))
            if not isinstance(status, dict):
                raise endpoint.nonsense("returned no status")
        if status.get("task_status") != "success":
            raise endpoint.failing(f"couldn't convert the file ({status.get('task_status')})")
        result, _ = self._client.get(endpoint.address(f"/v1/result/{task}"))
        document = result.get("document") if isinstance(result, dict) else None
        content = document.get("json_content") if isinstance(document, dict) else None
        if not isinstance(content, dict):
            errors = result.get("errors") if isinstance(result, dict) else None
            raise endpoint.failing(f"couldn't convert the file ({_reason(errors)})")
        return content


def _order(data: bytes) -> dict[str, Any]:
    file = {
        "kind": "file",
        "base64_string": base64.b64encode(data).decode("ascii"),
        # Docling goes by the bytes, and by the name where they leave it open.
        "filename": "file.pdf" if b"%PDF-" in data[:1024] else "file.png",
    }
    options = {"to_formats": ["json"], "image_export_mode": "placeholder"}
    return {"options": options, "sources": [file]}


def _reason(errors: object) -> str:
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict) and error.get("error_message"):
            return str(error["error_message"])
    return "no document"
