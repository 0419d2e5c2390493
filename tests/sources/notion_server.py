"""A Notion workspace, as the documents of its API version 2025-09-03 describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.sources.server import Asked, Reply, at

PAGE = 3


@dataclass
class Notion:
    """`clock` is the minute of the last change, `step` what a change takes: times are rounded."""

    clock: float = 0
    step: float = 1
    token: str = "good"
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def page(self, id_: str, title: str, *lines: str, **more: Any) -> None:
        self.clock += self.step
        made = self.pages.get(id_, {"created_time": at(self.clock)})
        named = {"Name": {"type": "title", "title": [{"plain_text": title}]}}
        self.pages[id_] = {
            **made, "object": "page", "id": id_, "in_trash": False, "archived": False,
            "last_edited_time": at(self.clock), "url": f"https://notion.so/{id_}",
            "created_by": {"id": "p1"}, "last_edited_by": {"id": "p2"},
            "parent": {"type": "workspace", "workspace": True}, **more,
            "properties": {**named, **more.get("properties", {})},
        }  # fmt: skip
        self.blocks[id_] = [
            {"id": f"{id_}-{n}", "type": "paragraph", "has_children": False,
             "paragraph": {"rich_text": [{"plain_text": line}]}}
            for n, line in enumerate(lines)
        ]  # fmt: skip

    def trash(self, id_: str) -> None:
        self.pages[id_]["in_trash"] = True

    def answer(self, asked: Asked) -> Reply:
        assert asked.headers.get("notion-version") == "2025-09-03"
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Reply({"code": "unauthorized"}, 401)
        path = asked.path.strip("/")
        kept = [one for one in self.pages.values() if not one["in_trash"]]
        order = sorted(kept, key=lambda one: one["last_edited_time"], reverse=True)
        if path == "users":
            people = [{"id": "p1", "name": "Ada"}, {"id": "p2", "name": "Bob"}]
            return self._part(people, asked.params)
        if path == "search":
            if asked.body["filter"]["value"] == "data_source":
                found = [{"object": "data_source", "id": "d1", "title": [{"plain_text": "Tasks"}]}]
                return self._page(found, asked.body)
            # The search forgets rows at times: that is why data sources are asked as well.
            return self._page([one for one in order if "row" not in one["id"]], asked.body)
        if path == "data_sources/d1/query":
            rows = [one for one in order if one["parent"].get("data_source_id") == "d1"]
            wanted = asked.body.get("filter", {}).get("last_edited_time", {}).get("on_or_after", "")
            return self._page([r for r in rows if r["last_edited_time"] >= wanted], asked.body)
        if found_page := re.fullmatch(r"pages/(.+)", path):
            page = self.pages.get(found_page[1])
            return Reply(page) if page else Reply({"code": "object_not_found"}, 404)
        if children := re.fullmatch(r"blocks/(.+)/children", path):
            return self._part(self.blocks.get(children[1], []), asked.params)
        return Reply({"code": "invalid_request_url"}, 400)

    def _part(self, found: list[dict[str, Any]], asked: Mapping[str, Any]) -> Reply:
        """Of a list in an order of its own."""
        start = int(asked.get("start_cursor") or 0)
        more = start + PAGE < len(found)
        told = {"object": "list", "results": found[start : start + PAGE], "has_more": more}
        return Reply({**told, "next_cursor": str(start + PAGE) if more else None})

    def _page(self, found: list[dict[str, Any]], asked: Mapping[str, Any]) -> Reply:
        """A cursor names the last item that was shown, wherever it stands by then."""
        found = sorted(found, key=_order, reverse=True)
        if after := asked.get("start_cursor"):
            found = [one for one in found if _order(one) < tuple(after.split("|"))]
        page = found[:PAGE]
        more = len(found) > PAGE
        told = {"object": "list", "results": page, "has_more": more}
        return Reply({**told, "next_cursor": "|".join(_order(page[-1])) if more else None})


def _order(told: Mapping[str, Any]) -> tuple[str, str]:
    return str(told.get("last_edited_time", "")), str(told["id"])
