"""Issues of Linear and what was said about them, by its GraphQL interface.

Both are listed by when they last changed, the newest first, so a cursor is a time. What was
archived stays; what was moved to the trash goes. Linear doesn't report deleted comments, so all ids
are compared now and then.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from trivium.core.errors import SourceError, SourceNonsense, SourceRefused
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.service import Service, seconds_within, whole_number
from trivium.sources.texts import text_put

URL = "https://api.linear.app/"
MEDIA_TYPE = "text/x-linear"
_PAGE = 50
_ISSUE = """id identifier title description url createdAt updatedAt archivedAt trashed
 priorityLabel dueDate state { name type } team { id key name } project { name }
 cycle { name number } labels { nodes { name } } assignee { name } creator { name }
 botActor { name userDisplayName } externalUserCreator { name }"""
_COMMENT = """id body url createdAt updatedAt archivedAt user { name }
 botActor { name userDisplayName } externalUser { name }
 issue { id identifier trashed }"""
_QUERY = """query($after: String, $filter: %s) {
 found: %s(first: %d, after: $after, filter: $filter, orderBy: updatedAt, includeArchived: true) {
  pageInfo { hasNextPage endCursor } nodes { %s } } }"""
QUERIES = {
    "issues": _QUERY % ("IssueFilter", "issues", _PAGE, _ISSUE),
    "comments": _QUERY % ("CommentFilter", "comments", _PAGE, _COMMENT),
}
_ONE = {
    "issues": f"query($id: String!) {{ found: issue(id: $id) {{ {_ISSUE} }} }}",
    "comments": f"query($id: String!) {{ found: comment(id: $id) {{ {_COMMENT} }} }}",
}

Json = Mapping[str, Any]


class LinearSource:
    """Linear doesn't say who may see a team's issues, so they are private unless you say
    otherwise."""

    deletions: Deletions = "compared"

    def __init__(self, service: Service, teams: Sequence[str] = ()) -> None:
        """`teams`: their keys; empty: all."""
        self._service = service
        self._teams = teams

    def changes(self, cursor: str) -> Iterator[Change]:
        """The newest come first, so a cursor keeps what it has reported until the end of a list."""
        state: dict[str, Any] = json.loads(cursor) if cursor else {}
        for count, part in enumerate(QUERIES, start=1):
            reported: dict[str, str] = state.setdefault("told", {}).setdefault(part, {})
            for node in self._nodes(part, str(state.get(part, ""))):
                if isinstance(node, Wait):
                    yield node
                    continue
                id_, at = str(node.get("id")), str(node.get("updatedAt") or "")
                if reported.get(id_) != at:
                    try:
                        yield self._change(part, node)
                    except (KeyError, TypeError, AttributeError):
                        yield Failed(id_, "Linear returned an incomplete item.", "source.nonsense")
                    reported[id_] = at
                    if len(reported) % _PAGE == 0:
                        yield Checkpoint(json.dumps(state), count - 1, len(QUERIES))
            state[part] = max([str(state.get(part, "")), *reported.values()])
            del state["told"][part]
            yield Checkpoint(json.dumps(state), count, len(QUERIES))

    def ids(self) -> Iterator[str | Wait]:
        for part in QUERIES:
            for node in self._nodes(part, ""):
                if isinstance(node, Wait):
                    yield node
                elif isinstance(change := self._change(part, node), Put):
                    yield change.id

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        for id_ in ids:
            part = "comments" if "/" in id_ else "issues"
            variables = {"id": id_.rpartition("/")[2]}
            try:
                fields = yield from self._ask(_ONE[part], variables, missing=True)
            except SourceError as reason:
                yield self._service.failed(id_, reason)
                continue
            node = fields.get("found") if fields else None
            yield self._change(part, node) if node else Gone(id_)

    def _nodes(self, part: str, since: str) -> Iterator[Json | Wait]:
        wanted: dict[str, Any] = {}
        if since:
            wanted["updatedAt"] = {"gte": since}
        if self._teams:
            team = {"team": {"key": {"in": list(self._teams)}}}
            wanted |= team if part == "issues" else {"issue": team}
        after = None
        while True:
            fields = yield from self._ask(QUERIES[part], {"after": after, "filter": wanted})
            try:
                connection = fields["found"]
                nodes, page = connection["nodes"], connection["pageInfo"]
            except (KeyError, TypeError) as reason:
                raise SourceNonsense("Linear returned an incomplete answer.") from reason
            yield from nodes
            if not page["hasNextPage"]:
                return
            after = page["endCursor"]

    def _ask(
        self, query: str, variables: Json, *, missing: bool = False
    ) -> Generator[Wait, None, dict[str, Any]]:
        """`missing`: return nothing for an entity that doesn't exist."""
        while True:
            body = {"query": query, "variables": variables}
            answer = yield from self._service.ask("POST", "graphql", body=body, fine=(400,))
            payload = answer.json("Linear")
            errors = payload.get("errors") or ()
            if not errors and answer.status < 300:
                data: dict[str, Any] = payload.get("data") or {}
                return data
            codes = {str((error.get("extensions") or {}).get("code", "")) for error in errors}
            message = "; ".join(str(error.get("message", "")) for error in errors)[:200]
            if "RATELIMITED" in codes:
                seconds = budget(answer.headers, spent=True)
                yield Wait(seconds, f"Linear asks to wait {seconds:.0f} s before the next request.")
                continue
            if "AUTHENTICATION_ERROR" in codes or "FORBIDDEN" in codes:
                raise SourceRefused(f"Linear refuses: {message.rstrip('.')}.")
            if missing and ("INPUT_ERROR" in codes or "not found" in message.lower()):
                return {}
            raise SourceNonsense(f"Linear answered: {message.rstrip('.')}.")

    def _change(self, part: str, fields: Json) -> Change:
        return _issue(fields) if part == "issues" else _comment(fields)


def _issue(fields: Json) -> Change:
    id_ = str(fields["id"])
    if fields.get("trashed"):
        return Gone(id_, below=True)
    name = f"{fields.get('identifier')} {fields.get('title') or ''}".strip()
    return text_put(
        id_,
        str(fields.get("description") or ""),
        title=name,
        media_type=MEDIA_TYPE,
        headings=(_named(fields.get("project")), name),
        author=_author(fields, "creator", "externalUserCreator"),
        time=str(fields.get("createdAt") or ""),
        link=str(fields.get("url") or ""),
        metadata={
            **_about(fields),
            "linearIssueId": [fields.get("identifier"), id_],
            "state": _named(fields.get("state")),
            "labels": [_named(label) for label in (fields.get("labels") or {}).get("nodes") or ()],
            "assignees": [_named(fields.get("assignee"))],
            "priority": fields.get("priorityLabel"),
            "due": fields.get("dueDate"),
            "cycle": _named(fields.get("cycle")),
        },
    )


def _comment(fields: Json) -> Change:
    """Names only fields of its issue that never change: a comment isn't reported again with its
    issue."""
    issue = fields.get("issue") or {}
    id_ = f"{issue.get('id')}/{fields['id']}"
    if not issue or issue.get("trashed"):
        return Gone(id_)
    name = str(issue.get("identifier") or "")
    return text_put(
        id_,
        str(fields.get("body") or ""),
        title=f"Comment on {name}",
        media_type=MEDIA_TYPE,
        headings=(name,),
        author=_author(fields, "user", "externalUser"),
        time=str(fields.get("createdAt") or ""),
        link=str(fields.get("url") or ""),
        metadata={
            "edited": fields.get("updatedAt"),
            "issue": name,
            "linearIssueId": [name, issue.get("id")],
        },
    )


def _about(issue: Json) -> dict[str, object]:
    team = issue.get("team") or {}
    return {
        "edited": issue.get("updatedAt"),
        "project": _named(issue.get("project")),
        "team": [team.get("name"), team.get("key")],
        "issue": issue.get("identifier"),
    }


def _named(value: object) -> str:
    return str(value.get("name") or "") if isinstance(value, dict) else ""


def _author(fields: Json, *people: str) -> str:
    """A person, or whoever wrote through an integration."""
    bot = fields.get("botActor")
    bot = bot if isinstance(bot, dict) else {}
    names = (
        *(_named(fields.get(person)) for person in people),
        bot.get("userDisplayName"),
        _named(bot),
    )
    return next((str(name) for name in names if name), "")


def budget(headers: Mapping[str, str], *, spent: bool = False) -> float:
    """Seconds until requests are allowed again, by the limit that ran out: of requests, or of what
    queries may cost, which can be too little before it is 0. Linear's clock counts milliseconds.
    `spent`: Linear said that one of them ran out."""
    limits = ("requests", "endpoint-requests", "complexity")
    over = [limit for limit in limits if headers.get(f"x-ratelimit-{limit}-remaining") == "0"]
    if not over and not spent:
        return 0.0
    resets = [
        whole_number(headers.get(f"x-ratelimit-{limit}-reset", "")) / 1000
        for limit in over or ("complexity", "requests")
    ]
    later = [reset for reset in resets if reset]
    if not later:
        return 60.0
    until = max(later) if over else later[0]
    return seconds_within(until - time.time()) + 1.0


def _make(request: SourceAsked) -> LinearSource:
    key = needed_secret(request, "linear", "key")
    service = Service("Linear", request.option("url", URL), {"Authorization": key}, budget)
    return LinearSource(service, request.several("teams"))


KIND = SourceKind(
    "linear",
    "Linear issues with their comments",
    _make,
    {
        "teams": "keys of teams, comma-separated; empty: all the key can read",
        "url": "address of the API, if not Linear's own",
    },
    secrets=("key",),
)
