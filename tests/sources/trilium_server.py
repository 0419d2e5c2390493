"""A Trilium server, as the OpenAPI document of its ETAPI describes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.sources.endpoints import refused
from tests.sources.server import Asked, Reply, at


@dataclass
class Trilium:
    clock: int = 0
    token: str = "good"
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)

    def note(self, id_: str, title: str, content: str, **more: Any) -> None:
        self.clock += 1
        self.notes[id_] = {
            "noteId": id_, "title": title, "type": "text", "mime": "text/html",
            "isProtected": False, "utcDateCreated": at(0), "utcDateModified": at(self.clock),
            "blobId": f"b{self.clock}", "parentNoteIds": ["root"], "attributes": [], **more,
        }  # fmt: skip
        self.contents[id_] = content

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != self.token:
            told = {"status": 401, "code": "NOT_AUTHENTICATED", "message": "Not authenticated"}
            return Reply(told, 401)
        if reply := refused("trilium", asked):
            return reply
        path = asked.path.removeprefix("/etapi/")
        if path == "notes":
            if not asked.params.get("search", "").strip():
                return Reply({"status": 400, "code": "SEARCH_QUERY_PARAM_MANDATORY"}, 400)
            assert "note.isProtected = false" in asked.params["search"]
            found = [one for one in self.notes.values() if not one["isProtected"]]
            return Reply({"results": found})
        content = re.fullmatch(r"notes/(.+)/content", path)
        if content and content[1] in self.contents:
            return Reply(self.contents[content[1]].encode())
        return Reply({"code": "NOTE_NOT_FOUND"}, 404)
