"""A Notion workspace, as the documents of its API version 2025-09-03 describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.sources.endpoints import refused
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
    comments: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)  # a status, by path
    most_rows: int = 10_000  # that a query lists; after them it says that it is incomplete

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

    def answer(self, asked: Asked) -> Reply:  # noqa: C901
        if asked.headers.get("notion-version") != "2025-09-03":
            return Reply({"code": "missing_version", "message": "Notion-Version is missing."}, 400)
        if reply := refused("notion", asked):
            return reply
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Reply({"code": "unauthorized"}, 401)
        path = asked.path.strip("/")
        if path in self.refused:
            status = self.refused[path]
            codes = {400: "validation_error", 403: "restricted_resource", 404: "object_not_found"}
            told = {"object": "error", "status": status, "code": codes.get(status, "error")}
            return Reply({**told, "message": f"{path} is refused."}, status)
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
            told = asked.body.get("filter", {})
            bounds = {
                name: value
                for one in told.get("and", [told] if told else [])
                for name, value in one["last_edited_time"].items()
            }
            first, last = bounds.get("on_or_after", ""), bounds.get("on_or_before", "9")
            rows = [one for one in rows if first <= one["last_edited_time"] <= last]
            return self._page(rows, asked.body, self.most_rows)
        if path == "comments":
            return self._part(self.comments.get(asked.params["block_id"], []), asked.params)
        if item := re.fullmatch(r"pages/(.+)/properties/(.+)", path):
            held = self.pages[item[1]]["properties"].values()
            long = next(one for one in held if one.get("id") in (item[2], quote(item[2])))
            kind = str(long["type"])
            every = [{"object": "property_item", "type": kind, kind: one} for one in long["every"]]
            return self._part(every, asked.params)
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

    def _page(
        self, found: list[dict[str, Any]], asked: Mapping[str, Any], most: int = 10_000
    ) -> Reply:
        """A cursor names the last item that was shown, wherever it stands by then."""
        found = sorted(found, key=_order, reverse=True)
        status: dict[str, str] = {"type": "complete"}
        if len(found) > most:
            status = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
        found = found[:most]
        if after := asked.get("start_cursor"):
            found = [one for one in found if _order(one) < tuple(after.split("|"))]
        page = found[:PAGE]
        more = len(found) > PAGE
        told = {"object": "list", "results": page, "has_more": more, "request_status": status}
        return Reply({**told, "next_cursor": "|".join(_order(page[-1])) if more else None})


def _order(told: Mapping[str, Any]) -> tuple[str, str]:
    return str(told.get("last_edited_time", "")), str(told["id"])
