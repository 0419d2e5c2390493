"""Repositories on GitHub: issues, pull requests, discussions, their comments, files at a ref.

    owner/name/issues/7                 an issue or a pull request
    owner/name/issues/7/comments/12     what was said about it
    owner/name/pulls/7/comments/9       what was said about a line of it
    owner/name/pulls/7/reviews/5        what was said with an approval or a refusal
    owner/name/discussions/3            and its comments below it
    owner/name/files/docs/index.md      a file

Issues and comments are listed by when they were last changed, so a cursor is a time. Deletions are
told by nobody: all ids are compared now and then.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from trivium.core.errors import BadSetting, SourceError, UrlFailed
from trivium.core.types import EVERYONE
from trivium.extract.composer import describe
from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.listed import ids_of
from trivium.sources.service import (
    NotThere,
    Refused,
    Service,
    SwitchedOff,
    seconds_within,
    whole_number,
)
from trivium.sources.texts import text_put

URL = "https://api.github.com/"
MEDIA_TYPE = "text/x-github"
_PAGE = 100
_MOST_FILE = 10 << 20  # bytes
_LISTS = {
    "issues": "issues?state=all&sort=updated&direction=asc",
    "comments": "issues/comments?sort=updated&direction=asc",
    "reviews": "pulls/comments?sort=updated&direction=asc",
}
_BELOW = {"issues": "issues", "comments": "issues", "reviews": "pulls"}  # where their ids begin
_SAID = """
fragment said on DiscussionComment { databaseId body url createdAt updatedAt author { login } }
fragment comments on DiscussionCommentConnection {
  pageInfo { hasNextPage endCursor } nodes { ...said replies(first: 100) { nodes { ...said } } }
}"""
_DISCUSSIONS = f"""
query($owner: String!, $name: String!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    found: discussions(first: 20, after: $after, orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{
        number title body url createdAt updatedAt closed author {{ login }} category {{ name }}
        labels(first: 20) {{ nodes {{ name }} }} comments(first: 50) {{ ...comments }}
      }}
    }}
  }}
}}{_SAID}"""
_MORE_COMMENTS = f"""
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    found: discussion(number: $number) {{ comments(first: 50, after: $after) {{ ...comments }} }}
  }}
}}{_SAID}"""

Json = Mapping[str, Any]


class GitHubSource:
    deletions: Deletions = "compared"

    def __init__(
        self,
        service: Service,
        repositories: Sequence[str],
        *,
        files: Sequence[str] = (),
        ref: str = "",
        discussions: bool = False,
        reviews: bool = True,
    ) -> None:
        """`files`: patterns of paths, such as docs/*.md; empty: no files."""
        self._service = service
        self._repositories = repositories
        self._files = files
        self._ref = ref
        self._discussions = discussions
        self._reviews = reviews

    def changes(self, cursor: str) -> Iterator[Change]:
        state: dict[str, Any] = json.loads(cursor) if cursor else {}
        for name in [name for name in state if name not in self._repositories]:
            yield Gone(name, below=True)
            del state[name]
        of = len(self._repositories)
        for count, name in enumerate(self._repositories):
            progress = state.setdefault(name, {})
            try:
                repository = _Repository(name, (yield from self._about(name)))
            except SourceError as reason:
                yield self._service.failed(name, reason, name, hides=f"{name}/")
                continue
            if progress.get("private") not in (None, repository.private):
                progress = state[name] = {}  # others may see it now: report all of it again
            progress["private"] = repository.private
            for part in self._parts(repository, progress):
                for change in part:
                    yield change if change else Checkpoint(json.dumps(state), count, of)
            yield Checkpoint(json.dumps(state), count + 1, of)
        yield Checkpoint(json.dumps(state), of, of)

    def _parts(
        self, repository: _Repository, progress: dict[str, Any]
    ) -> Iterator[Iterator[Change | None]]:
        for part in _LISTS:
            listing = self._list(repository, part, progress)
            yield self._alone(repository, part, listing, _BELOW[part])
        if self._discussions:
            discussions = self._discussed(repository, progress)
            yield self._alone(repository, "discussions", discussions, "discussions")
        if self._files:
            yield self._alone(repository, "files", self._tree(repository, progress), "files")

    def _alone(
        self, repository: _Repository, part: str, changes: Iterator[Change | None], below: str
    ) -> Iterator[Change | None]:
        """A part that GitHub doesn't give fails alone. None: a good moment for a cursor."""
        above = f"{repository.name}/{part}"
        try:
            yield from changes
        except SourceError as reason:
            if isinstance(reason, SwitchedOff):
                return  # the repository has no issues
            hides = f"{repository.name}/{below}/"
            yield self._service.failed(above, reason, f"{part} of {repository.name}", hides)

    def _list(
        self, repository: _Repository, part: str, progress: dict[str, Any]
    ) -> Iterator[Change | None]:
        for page in self._pages(repository.name, part, progress.get(part)):
            if isinstance(page, Wait):
                yield page
                continue
            for fields in page:
                try:
                    yield repository.put(part, fields)
                except (KeyError, TypeError, ValueError, AttributeError):
                    id_ = f"{repository.name}/{part}/{fields.get('number') or fields.get('id')}"
                    yield Failed(id_, "GitHub returned an incomplete item.", "source.nonsense")
                if part == "issues" and fields.get("pull_request") and self._reviews:
                    yield from self._reviewed(repository, str(fields["number"]))
                progress[part] = max(progress.get(part, ""), str(fields.get("updated_at") or ""))
            yield None

    def _reviewed(self, repository: _Repository, number: str) -> Iterator[Change]:
        """What people wrote when they approved a pull request or asked for changes."""
        above = f"{repository.name}/pulls/{number}/reviews"
        path: str | None = f"repos/{above}?per_page={_PAGE}"
        puts: list[Put] = []
        try:
            while path:
                answer = yield from self._service.get(path)
                puts += repository.reviews(number, answer.json("GitHub"))
                path = _next(answer.headers.get("link", ""))
        except SourceError as reason:
            reviews = f"reviews of {repository.name}#{number}"
            yield self._service.failed(above, reason, reviews, hides=f"{above}/")
            return
        yield from puts
        yield Only(f"{above}/", frozenset(put.id for put in puts))

    def ids(self) -> Iterator[str | Wait | Failed]:
        """Listing them means reading them, except for files."""
        return ids_of(self.changes(""))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        about: dict[str, _Repository] = {}
        for id_ in ids:
            parts = id_.split("/")
            name = "/".join(parts[:2])
            if name not in self._repositories or len(parts) < 4:
                yield Gone(id_)
                continue
            try:
                if name not in about:
                    about[name] = _Repository(name, (yield from self._about(name)))
            except SourceError as reason:  # its items may exist: nobody may look
                yield self._service.failed(id_, reason, name)
                continue
            try:
                yield from self._again(about[name], id_, parts[2], parts[3:])
            except NotThere:
                yield Gone(id_)
            except SourceError as reason:
                yield self._service.failed(id_, reason, id_)

    def _again(
        self, repository: _Repository, id_: str, kind: str, rest: Sequence[str]
    ) -> Iterator[Change]:
        if kind == "files":
            listed = yield from self._listed(repository)
            path = "/".join(rest)
            yield self._file(repository, path, listed[path]) if path in listed else Gone(id_)
        elif kind == "discussions":
            last: Put | None = None
            for change in self._discussed(repository, {}):
                if isinstance(change, Wait):
                    yield change
                elif isinstance(change, Put) and change.id == id_:
                    last = change
            yield last or Gone(id_)
        elif rest[1:2] == ["reviews"]:  # one of a pull request, or all that couldn't be read
            changes = list(self._reviewed(repository, rest[0]))
            yield from changes
            if not any(isinstance(change, Put | Failed) and change.id == id_ for change in changes):
                yield Gone(id_)
        else:
            part = "issues" if len(rest) == 1 else {"pulls": "reviews"}.get(kind, "comments")
            path = f"issues/{rest[0]}" if len(rest) == 1 else f"{kind}/comments/{rest[-1]}"
            answer = yield from self._service.get(f"repos/{repository.name}/{path}")
            yield repository.put(part, answer.json("GitHub"))

    # --- asking

    def _about(self, name: str) -> Generator[Wait, None, Json]:
        answer = yield from self._service.get(f"repos/{name}")
        payload: Json = answer.json("GitHub")
        return payload

    def _pages(self, name: str, part: str, since: str | None) -> Iterator[Wait | list[Json]]:
        """By time of change, the oldest first. Asks for the next page by the time of the last item,
        not by its number: items that change meanwhile move to the end, and everything after them
        moves up, across the edge of a page that was already read."""
        first = f"repos/{name}/{_LISTS[part]}&per_page={_PAGE}"
        path: str | None = f"{first}&since={since}" if since else first
        while path:
            answer = yield from self._service.get(path)
            payload = answer.json("GitHub")
            if not isinstance(payload, list):
                raise Refused("GitHub returned something other than a list.")
            page: list[Json] = [item for item in payload if isinstance(item, dict)]
            yield page
            following = _next(answer.headers.get("link", ""))
            last = max((str(fields.get("updated_at") or "") for fields in page), default="")
            if following and last > (since or ""):
                since, path = last, f"{first}&since={last}"
            else:  # a whole page within one second
                path = following

    def _discussed(self, repository: _Repository, progress: dict[str, Any]) -> Iterator[Change]:
        """The newest first, down to what was reported before."""
        since, newest, after = progress.get("discussions", ""), "", None
        while True:
            fields = yield from self._query(repository, _DISCUSSIONS, {"after": after})
            nodes, page = fields["nodes"], fields["pageInfo"]
            for node in nodes:
                newest = max(newest, str(node["updatedAt"]))
                if str(node["updatedAt"]) >= since:
                    comments = yield from self._comments(repository, node)
                    yield from repository.discussion(node, comments)
            if not page["hasNextPage"] or (nodes and str(nodes[-1]["updatedAt"]) < since):
                break
            after = page["endCursor"]
        progress["discussions"] = newest or since

    def _comments(self, repository: _Repository, node: Json) -> Generator[Wait, None, list[Json]]:
        """On a discussion, with their replies."""
        listing, comments = node.get("comments") or {}, []
        while True:
            for comment in listing.get("nodes") or ():
                comments += [comment, *((comment.get("replies") or {}).get("nodes") or ())]
            page = listing.get("pageInfo") or {}
            if not page.get("hasNextPage"):
                return comments
            variables = {"number": node["number"], "after": page["endCursor"]}
            fields = yield from self._query(repository, _MORE_COMMENTS, variables)
            listing = fields["comments"]

    def _query(
        self, repository: _Repository, query: str, variables: Json
    ) -> Generator[Wait, None, dict[str, Any]]:
        owner, _, name = repository.name.partition("/")
        body = {"query": query, "variables": {"owner": owner, "name": name, **variables}}
        # An Enterprise server has its REST API at /api/v3/, its GraphQL API at /api/graphql.
        path = "../graphql" if self._service.url.endswith("/api/v3/") else "graphql"
        while True:
            answer = yield from self._service.ask("POST", path, body=body)
            payload = answer.json("GitHub")
            errors = payload.get("errors") if isinstance(payload, dict) else None
            kinds = [error.get("type") for error in errors or () if isinstance(error, dict)]
            if "RATE_LIMITED" not in kinds:
                break
            seconds = budget(answer.headers) or 60.0
            yield Wait(seconds, f"GitHub allows no more queries for {seconds:.0f} s.")
        try:
            fields: dict[str, Any] = payload["data"]["repository"]["found"]
            fields.items()
        except (KeyError, TypeError, AttributeError) as reason:
            raise Refused(f"GitHub refuses discussions: {str(errors or payload)[:200]}") from reason
        return fields

    def _listed(self, repository: _Repository) -> Generator[Wait, None, dict[str, str]]:
        """The files that you want, with the hash of each."""
        listed: dict[str, str] = {}
        folders = [("", self._ref or repository.branch)]
        while folders:
            above, tree = folders.pop()
            path = f"repos/{repository.name}/git/trees/{tree}"
            answer = yield from self._service.get(path, {"recursive": "1"}, fine=(409,))
            if answer.status == 409:  # an empty repository
                break
            payload = answer.json("GitHub")
            if payload.get("truncated"):  # too many files for one answer: folder by folder
                answer = yield from self._service.get(path)
                payload = answer.json("GitHub")
                if payload.get("truncated"):
                    raise Refused(f"GitHub lists only a part of the folder {above or '/'}.")
                for entry in payload.get("tree", ()):
                    if entry.get("type") == "tree" and self._may_hold(f"{above}{entry['path']}/"):
                        folders.append((f"{above}{entry['path']}/", str(entry["sha"])))
            for entry in payload.get("tree", ()):
                name = f"{above}{entry.get('path')}"
                is_wanted = any(fnmatch(name, pattern) for pattern in self._files)
                if entry.get("type") == "blob" and is_wanted and entry.get("size", 0) <= _MOST_FILE:
                    listed[name] = str(entry["sha"])
        return listed

    def _may_hold(self, folder: str) -> bool:
        """Whether a file that you want may lie in it, by what its patterns begin with."""
        starts = (re.split(r"[*?\[]", pattern)[0] for pattern in self._files)
        return any(start.startswith(folder) or folder.startswith(start) for start in starts)

    def _tree(self, repository: _Repository, progress: dict[str, Any]) -> Iterator[Change]:
        listed = yield from self._listed(repository)
        before = progress.get("tree", {})
        for path, sha in listed.items():
            if before.get(path) != sha:
                yield self._file(repository, path, sha)
        prefix = f"{repository.name}/files/"
        yield Only(prefix, frozenset(prefix + path for path in listed))
        progress["tree"] = listed

    def _file(self, repository: _Repository, path: str, sha: str) -> Put:
        ref = self._ref or repository.branch
        about = {
            "repository": repository.name,
            "path": path,
            "link": f"{repository.link}/blob/{ref}/{path}",
        }
        return Put(
            f"{repository.name}/files/{path}",
            PurePosixPath(path).name,
            partial(self._blob, repository.name, sha),
            metadata=describe(about),
            audience=repository.audience,
        )

    def _blob(self, name: str, sha: str) -> bytes:
        data = self._service.file(f"{self._service.url}repos/{name}/git/blobs/{sha}")
        try:
            return base64.b64decode(json.loads(data)["content"])
        except (ValueError, KeyError, TypeError) as reason:
            raise UrlFailed("GitHub sent no file.") from reason


class _Repository:
    def __init__(self, name: str, fields: Json) -> None:
        self.name = name
        self.private = bool(fields.get("private", True))
        self.branch = str(fields.get("default_branch") or "HEAD")
        self.link = str(fields.get("html_url") or f"https://github.com/{name}")

    @property
    def audience(self) -> str | None:
        """Public items are for everyone; GitHub doesn't say who may read a private repository."""
        return None if self.private else EVERYONE

    def put(self, part: str, fields: Json) -> Put:
        if part == "issues":
            return self._issue(fields)
        # An address such as https://api.github.com/repos/OWNER/NAME/issues/7
        if part == "reviews" and not fields.get("id"):
            raise KeyError("id")
        above = str(fields.get("issue_url") or fields.get("pull_request_url") or "").split("/")[-1]
        kind = "pulls" if part == "reviews" else "issues"
        about = {"number": int(above) if above.isdecimal() else 0, "path": fields.get("path")}
        return self._put(
            f"{self.name}/{kind}/{above}/comments/{fields['id']}", fields, f"#{above}", about
        )

    def _issue(self, fields: Json) -> Put:
        number = fields["number"]
        about = {
            "number": number,
            "kind": "pull request" if fields.get("pull_request") else "issue",
            "state": fields.get("state"),
            "labels": [
                label.get("name") for label in fields.get("labels") or () if isinstance(label, dict)
            ],
            "assignees": [person.get("login") for person in fields.get("assignees") or ()],
            "milestone": (fields.get("milestone") or {}).get("title"),
        }
        title = str(fields.get("title") or "")
        return self._put(f"{self.name}/issues/{number}", fields, f"#{number} {title}", about)

    def reviews(self, number: str, payload: object) -> list[Put]:
        """Those with words."""
        if not isinstance(payload, list):
            raise Refused("GitHub returned something other than a list.")
        puts = []
        for review in payload:
            if isinstance(review, dict) and review.get("body") and review.get("id"):
                state = str(review.get("state") or "").lower().replace("_", " ")
                about = {"number": int(number), "kind": "review", "review": state}
                dated = {**review, "created_at": review.get("submitted_at")}
                id_ = f"{self.name}/pulls/{number}/reviews/{review['id']}"
                puts.append(self._put(id_, dated, f"#{number}", about))
        return puts

    def discussion(self, fields: Json, comments: Sequence[Json]) -> Iterator[Change]:
        number = fields["number"]
        id_ = f"{self.name}/discussions/{number}"
        labels = [label["name"] for label in (fields.get("labels") or {}).get("nodes") or ()]
        about = {
            "number": number,
            "kind": "discussion",
            "state": "closed" if fields.get("closed") else "open",
            "labels": labels,
            "category": (fields.get("category") or {}).get("name"),
        }
        title = f"#{number} {fields.get('title') or ''}"
        yield self._put(id_, fields, title, about)
        ids = [f"{id_}/comments/{comment['databaseId']}" for comment in comments]
        for one_id, comment in zip(ids, comments, strict=True):
            yield self._put(
                one_id, comment, f"#{number} {fields.get('title') or ''}", {"number": number}
            )
        yield Only(f"{id_}/", frozenset(ids))

    def _put(self, id_: str, fields: Json, title: str, about: Json) -> Put:
        author = fields.get("user") or fields.get("author") or {}
        return text_put(
            id_,
            str(fields.get("body") or ""),
            title=title,
            media_type=MEDIA_TYPE,
            headings=(self.name, title),
            author=str(author.get("login") or ""),
            time=str(fields.get("created_at") or fields.get("createdAt") or ""),
            link=str(fields.get("html_url") or fields.get("url") or ""),
            metadata={
                "repository": self.name,
                "project": self.name,
                "edited": fields.get("updated_at") or fields.get("updatedAt"),
                **about,
            },
            audience=self.audience,
        )


def budget(headers: Mapping[str, str]) -> float:
    """Seconds until requests are allowed again, by GitHub's headers."""
    if headers.get("x-ratelimit-remaining") != "0":
        return 0.0
    reset = whole_number(headers.get("x-ratelimit-reset", ""))
    return seconds_within(reset - time.time()) + 1.0 if reset else 60.0


def _next(link: str) -> str | None:
    for part in link.split(","):
        address, _, rel = part.partition(";")
        if 'rel="next"' in rel:
            return address.strip(" <>")
    return None


def _make(request: SourceAsked) -> GitHubSource:
    names = request.several("repositories")
    if not all(name.count("/") == 1 for name in names):
        raise BadSetting("Name a repository as OWNER/NAME.", fix="Correct `repositories`.")
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    if token := request.secrets.get("token", ""):
        headers["Authorization"] = f"Bearer {token}"
    return GitHubSource(
        Service("GitHub", request.option("url", URL), headers, budget),
        names,
        files=request.several("files"),
        ref=request.option("ref"),
        discussions=request.on("discussions"),
        reviews=request.on("reviews", True),
    )


KIND = SourceKind(
    "github",
    "issues, pull requests, discussions and files of repositories on GitHub",
    _make,
    {
        "repositories": "OWNER/NAME, comma-separated",
        "files": "patterns of files to add, such as docs/*.md,README.md; empty: no files",
        "ref": "branch, tag or commit of the files; empty: the default branch",
        "discussions": "on: include discussions",
        "reviews": "off: skip the summaries of reviews (one request a pull request)",
        "url": "address of the API, for GitHub Enterprise",
    },
    required=("repositories",),
    secrets=("token",),
)
