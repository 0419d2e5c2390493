"""A Linear workspace, as its GraphQL schema describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.sources.endpoints import refused
from tests.sources.server import Asked, Reply, at

PAGE = 3


@dataclass
class Linear:
    clock: int = 0
    key: str = "lin_good"
    issues: dict[str, dict[str, Any]] = field(default_factory=dict)
    comments: dict[str, dict[str, Any]] = field(default_factory=dict)

    def now(self) -> str:
        self.clock += 1
        return at(self.clock)

    def issue(self, id_: str, title: str, **more: Any) -> None:
        made = self.issues.get(id_, {"createdAt": self.now()})
        self.issues[id_] = {
            **made, "id": id_, "identifier": f"ENG-{id_[1:]}", "title": title, "trashed": None,
            "description": f"About {title}", "url": f"https://linear.app/x/issue/{id_}",
            "state": {"name": "Todo"}, "team": {"id": "t", "key": "ENG", "name": "Engineering"},
            "project": {"name": "Lamp"}, "labels": {"nodes": [{"name": "bug"}]},
            "assignee": {"name": "Bob"}, "creator": {"name": "Ada"}, "priorityLabel": "High",
            **more, "updatedAt": self.now(),
        }  # fmt: skip

    def comment(self, id_: str, issue: str, text: str) -> None:
        made = self.comments.get(id_, {"createdAt": self.now()})
        self.comments[id_] = {
            **made, "id": id_, "body": text, "url": f"https://linear.app/c/{id_}",
            "user": {"name": "Cyn"}, "updatedAt": self.now(), "on": issue,
        }  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        if reply := refused("linear", asked):
            return reply
        if asked.headers.get("authorization") != self.key:
            error = {"message": "not authenticated", "extensions": {"code": "AUTHENTICATION_ERROR"}}
            return Reply({"errors": [error]}, 400)
        query, variables = asked.body["query"], asked.body["variables"]
        shown = {
            id_: {**one, "issue": self.issues.get(one["on"])} for id_, one in self.comments.items()
        }
        if "id" in variables:
            kept = shown if "comment(" in query else self.issues
            if variables["id"] in kept:
                return Reply({"data": {"found": kept[variables["id"]]}})
            error = {"message": "Entity not found", "extensions": {"code": "INPUT_ERROR"}}
            return Reply({"errors": [error]}, 400)
        kept = shown if "comments(" in query else self.issues
        since = variables["filter"].get("updatedAt", {}).get("gte", "")
        found = [one for one in kept.values() if one["updatedAt"] >= since]
        found.sort(key=lambda one: (one["updatedAt"], one["id"]), reverse=True)
        if after := variables["after"]:
            last = tuple(after.split("|"))
            found = [one for one in found if (one["updatedAt"], one["id"]) < last]
        nodes = found[:PAGE]
        end = f"{nodes[-1]['updatedAt']}|{nodes[-1]['id']}" if nodes else None
        info = {"hasNextPage": len(found) > PAGE, "endCursor": end}
        return Reply({"data": {"found": {"nodes": nodes, "pageInfo": info}}})
