"""A repository on GitHub: `endpoints` says where the shapes were seen."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.sources.endpoints import refused
from tests.sources.server import Asked, Reply, at

PAGE = 3


@dataclass
class Hub:
    """One repository. `clock` is the minute of the last change, `step` what a change takes."""

    private: bool = False
    clock: float = 0
    step: float = 1
    token: str = "good"
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, dict[str, Any]] = field(default_factory=dict)
    discussions: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    url: str = ""
    summaries: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  # reviews, by number
    refused: dict[str, Reply] = field(default_factory=dict)  # what a path answers instead
    most_entries: int = 100_000  # of a tree; more and GitHub says that it is truncated

    def now(self) -> str:
        self.clock += self.step
        return at(self.clock)

    def issue(self, number: int, title: str, **more: Any) -> None:
        made = self.issues.get(number, {"created_at": self.now(), "number": number})
        self.issues[number] = {
            **made, "title": title, "body": f"About {title}", "user": {"login": "ada"},
            "state": "open", "labels": [], "html_url": f"https://github.com/o/r/issues/{number}",
            **more, "updated_at": self.now(),
        }  # fmt: skip

    def comment(self, id_: int, number: int, text: str, where: str = "issue") -> None:
        kept = self.comments if where == "issue" else self.reviews
        made = kept.get(id_, {"created_at": self.now(), "id": id_})
        address = f"{self.url}repos/o/r/{'issues' if where == 'issue' else 'pulls'}/{number}"
        kept[id_] = {
            **made, "body": text, "user": {"login": "bob"}, "updated_at": self.now(),
            "issue_url" if where == "issue" else "pull_request_url": address,
            "html_url": f"https://github.com/o/r/issues/{number}#c{id_}",
        }  # fmt: skip

    def discuss(self, number: int, title: str, *said: tuple[int, str], body: str = "Hm.") -> None:
        """Every second of what is said is a reply to the one before."""
        nodes: list[dict[str, Any]] = []
        for count, (id_, text) in enumerate(said):
            one = {"databaseId": id_, "body": text, "author": {"login": "cyn"}, "url": "",
                   "createdAt": at(0), "updatedAt": at(0)}  # fmt: skip
            if count % 2:
                nodes[-1]["replies"]["nodes"].append(one)
            else:
                nodes.append({**one, "replies": {"nodes": []}})
        self.discussions[number] = {
            "number": number, "title": title, "body": body, "url": "", "createdAt": at(0),
            "updatedAt": self.now(), "author": {"login": "ada"}, "category": {"name": "Ideas"},
            "closed": False, "labels": {"nodes": [{"name": "big"}]}, "comments": nodes,
        }  # fmt: skip

    def answer(self, asked: Asked) -> Reply:  # noqa: C901
        if reply := self.refused.get(asked.path):
            return reply
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Reply({"message": "Bad credentials"}, 401)
        if reply := refused("github", asked):
            return reply
        if asked.path.startswith("/repositories/7"):  # where a renamed repository is
            asked = replace(asked, path=asked.path.replace("/repositories/7", "/repos/o/r"))
        elif asked.path.startswith("/repos/o/old"):
            rest = asked.path.removeprefix("/repos/o/old")
            query = "&".join(f"{n}={v}" for n, v in asked.params.items())
            headers = {"Location": f"{self.url}repositories/7{rest}?{query}"}
            return Reply({"message": "Moved Permanently"}, 301, headers)
        if asked.path == "/graphql":
            return self._graphql(asked.body["variables"])
        path = asked.path.removeprefix("/repos/o/r").strip("/")
        lists = {
            "issues": self.issues, "issues/comments": self.comments,
            "pulls/comments": self.reviews,
        }  # fmt: skip
        if not path:
            return Reply({"private": self.private, "default_branch": "main"})
        if path in lists:
            return self._page(asked, list(lists[path].values()))
        if path.startswith("git/trees/"):
            return self._tree(path.rpartition("/")[2], "recursive" in asked.params)
        if path.startswith("pulls/") and path.endswith("/reviews"):
            return Reply(self.summaries.get(int(path.split("/")[1]), []))
        if path.startswith("git/blobs/"):
            data = bytes.fromhex(path.rpartition("/")[2])
            return Reply({"content": base64.b64encode(data).decode(), "encoding": "base64"})
        above, _, last = path.rpartition("/")
        if above in lists and last.isdecimal() and int(last) in lists[above]:
            return Reply(lists[above][int(last)])
        return Reply({"message": "Not Found"}, 404)

    def _tree(self, sha: str, recursive: bool) -> Reply:
        """A folder's sha is its path in hex: the ref is the root."""
        above = "" if sha == "main" else bytes.fromhex(sha).decode()
        tree: dict[str, dict[str, Any]] = {}
        for name, text in self.files.items():
            if not name.startswith(above):
                continue
            rest = name.removeprefix(above)
            parts = rest.split("/")
            folders = ["/".join(parts[:n]) for n in range(1, len(parts))]
            for folder in folders if recursive else folders[:1]:
                sha = f"{above}{folder}/".encode().hex()
                tree[folder] = {"path": folder, "type": "tree", "mode": "040000", "sha": sha}
            if recursive or len(parts) == 1:
                tree[rest] = {"path": rest, "type": "blob", "mode": "100644", "size": len(text),
                              "sha": text.encode().hex()}  # fmt: skip
        entries = list(tree.values())
        truncated = recursive and len(entries) > self.most_entries
        return Reply({"tree": entries[: self.most_entries if recursive else None],
                      "truncated": truncated, "sha": sha})  # fmt: skip

    def _page(self, asked: Asked, found: list[dict[str, Any]]) -> Reply:
        since = asked.params.get("since", "")
        found = sorted(
            (one for one in found if one["updated_at"] >= since),
            key=lambda one: one["updated_at"],
        )
        page = int(asked.params.get("page", 1))
        rest = found[page * PAGE :]
        query = "&".join(f"{n}={v}" for n, v in {**asked.params, "page": page + 1}.items())
        # By the repository's number, whatever was asked for, and with `next` anywhere.
        there = f"{self.url}repositories/7/{asked.path.partition('/r/')[2] or asked.path[16:]}"
        link = f'<{there}?page=1>; rel="first", <{there}?{query}>; rel="next"'
        headers = {"Link": link} if rest else {}
        return Reply(found[(page - 1) * PAGE : page * PAGE], headers=headers)

    def _graphql(self, variables: Mapping[str, Any]) -> Reply:
        if "number" in variables:
            one = self.discussions.get(variables["number"])
            found = {"comments": _comments(one, int(variables["after"]))} if one else None
            return Reply({"data": {"repository": {"found": found}}})
        order = sorted(self.discussions.values(), key=lambda one: (one["updatedAt"], one["number"]))
        if after := variables["after"]:
            time, _, number = after.partition("|")
            order = [o for o in order if (o["updatedAt"], o["number"]) < (time, int(number))]
        page = [{**one, "comments": _comments(one, 0)} for one in reversed(order[-2:])]
        last = f"{page[-1]['updatedAt']}|{page[-1]['number']}" if page else None
        info = {"hasNextPage": len(order) > len(page), "endCursor": last}
        listed = {"nodes": page, "pageInfo": info}
        return Reply({"data": {"repository": {"found": listed}}})


def _comments(discussion: Mapping[str, Any], start: int) -> dict[str, Any]:
    nodes = discussion["comments"]
    info = {"hasNextPage": start + 1 < len(nodes), "endCursor": str(start + 1)}
    return {"nodes": nodes[start : start + 1], "pageInfo": info}
