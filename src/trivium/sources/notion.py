"""Pages of Notion that an integration was given, rows of its data sources included.

For API version 2025-09-03 and later: a database holds data sources, whose rows are pages. Pages are
listed by when they were last edited, so a cursor is a time; Notion rounds it to the minute, so the
last minute is read again. Notion doesn't report what goes to the trash, so all ids are compared now
and then. Nor does it report who may see a page, so pages are private unless you say who may see
them.

A block that the API doesn't give is left out and named in the page's field `not_read`; a page or a
data source that it doesn't give fails alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from trivium.core.errors import SourceError
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.notion_pages import (
    SEPARATE,
    Directory,
    Json,
    below,
    fields,
    is_gone,
    line_of,
    lines_of_properties,
    plain,
    properties,
    related,
    title_of,
)
from trivium.sources.service import Forbidden, NotThere, Refused, Service
from trivium.sources.texts import text_put

URL = "https://api.notion.com/v1/"
VERSION = "2025-09-03"
MEDIA_TYPE = "text/x-notion"
_PAGE = 100
_SAVED = 25  # pages between two cursors
_DEEPEST = 12  # blocks within blocks
_MOST_BLOCKS = 20_000  # of a page
_SHORTENED = 25  # values after which Notion leaves the rest of a property out
_LISTING = "data_source/"  # begins the id under which a data source fails
_REST = "/not_read"  # ends the id under which blocks of a page fail
_CONTENTS = "contents of"
_LONG = ("relation", "people", "rich_text")  # properties that Notion shortens
_NOT_GIVEN = (Forbidden, NotThere, Refused)


class NotionSource:
    deletions: Deletions = "compared"

    def __init__(self, service: Service, *, comments: bool = True, on_blocks: bool = False) -> None:
        """`comments`: those on pages as a whole; `on_blocks`: and on each of their blocks, for
        which Notion must be asked one by one."""
        self._service = service
        self._directory = Directory()
        self._reads_comments = comments
        self._on_blocks = on_blocks
        self._is_nameless = False  # Notion doesn't say who people are
        self._is_speechless = False  # nor what they commented

    def changes(self, cursor: str) -> Iterator[Change]:
        """A listing shows the newest first, so a cursor keeps what it has reported until the end.
        For each listing it stores the time of the newest page at its start: the next run reports
        pages edited meanwhile, even within the same minute."""
        before = json.loads(cursor) if cursor else {}
        since: dict[str, str] = before.get("since", {})
        since = since if isinstance(since, dict) else {}
        reported: dict[str, str] = dict(before.get("told", {}))
        newest: dict[str, str] = dict(before.get("newest", {}))
        yield from self._learn()
        if before.get("speechless"):
            yield from self._try_comments()
        if (before.get("nameless") and not self._is_nameless) or (
            before.get("speechless") and not self._is_speechless
        ):
            since, reported, newest = {}, {}, {}  # now that they are given: report all again
        for listing in ("", *self._directory.sources):
            for page in self._listed(listing, since.get(listing, "")):
                if isinstance(page, Failed):
                    newest.pop(listing, None)  # the next run lists it from the same time
                if isinstance(page, Failed | Wait):
                    yield page
                    continue
                edited, id_ = str(page.get("last_edited_time", "")), str(page["id"])
                newest.setdefault(listing, edited)
                if edited and reported.get(id_) == edited:
                    continue  # the search finds rows of data sources too
                reported[id_] = edited
                yield from self._page(page)
                if len(reported) % _SAVED == 0:
                    at = {"since": since, "told": reported, "newest": newest}
                    yield Checkpoint(json.dumps(at | self._lacks()))
        yield Checkpoint(json.dumps({"since": since | newest} | self._lacks()))

    def _lacks(self) -> dict[str, bool]:
        """Pages were reported without the names of people, or their comments."""
        lacks = {"nameless": self._is_nameless, "speechless": self._is_speechless}
        return {name: True for name, is_so in lacks.items() if is_so}

    def _try_comments(self) -> Iterator[Wait]:
        """Whether they may be read by now."""
        for page in self._listed("", ""):
            if isinstance(page, Wait):
                yield page
            elif not isinstance(page, Failed):
                yield from self._comments(str(page["id"]))
                return

    def ids(self) -> Iterator[str | Wait | Failed]:
        yield from self._learn()
        seen: dict[str, None] = {}
        for listing in ("", *self._directory.sources):
            for page in self._listed(listing, ""):
                if isinstance(page, Failed | Wait):
                    yield page
                elif not is_gone(page):
                    seen[str(page["id"])] = None
        yield from seen

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        yield from self._learn()
        for id_ in ids:
            if id_.startswith(_LISTING):
                yield from self._listing_again(id_.removeprefix(_LISTING))
                continue
            try:
                answer = yield from self._service.get(f"pages/{id_.removesuffix(_REST)}")
            except NotThere:
                yield Gone(id_)
            except SourceError as reason:
                yield self._service.failed(id_, reason, "the page")
            else:
                changes = list(self._page(answer.json("Notion")))
                if id_.endswith(_REST) and not any(
                    isinstance(change, Failed) for change in changes
                ):
                    yield Gone(id_)
                yield from changes

    # --- asking

    def _learn(self) -> Iterator[Wait]:
        """Names of people and data sources. Without the right to see people, ids stay."""
        directory = self._directory
        if directory.people or directory.sources:
            return
        try:
            for page in self._pages("GET", "users", {}):
                if isinstance(page, Wait):
                    yield page
                else:
                    directory.people[str(page.get("id"))] = str(page.get("name") or "")
        except _NOT_GIVEN:
            self._is_nameless = True
        wanted = {"filter": {"property": "object", "value": "data_source"}}
        for page in self._pages("POST", "search", wanted):
            if isinstance(page, Wait):
                yield page
            elif not is_gone(page) and "id" in page:
                directory.sources[str(page["id"])] = plain(page.get("title"))

    def _listed(self, listing: str, since: str) -> Iterator[Json | Wait | Failed]:
        """Pages edited since then, from the search (empty) or from a data source, the newest first:
        Notion doesn't promise that the search knows them all."""
        sort = {"direction": "descending", "timestamp": "last_edited_time"}
        if not listing:
            search = {"filter": {"property": "object", "value": "page"}, "sort": sort}
            for page in self._pages("POST", "search", search):
                if not isinstance(page, Wait):
                    if "id" not in page:
                        continue
                    if "" < str(page.get("last_edited_time", "")) < since:
                        return
                yield page
            return
        try:
            yield from self._rows(listing, since, sort)
        except SourceError as reason:
            listing_name = self._directory.sources.get(listing) or "a data source"
            failed = self._service.failed(f"{_LISTING}{listing}", reason, listing_name)
            yield Failed(failed.id, failed.message, partial=True)

    def _rows(self, listing: str, since: str, sort: Json) -> Iterator[Json | Wait]:
        """Notion lists 10,000 rows at most and says so: what is older is asked for after that."""
        until = ""
        while True:
            bounds: list[Json] = [
                {"timestamp": "last_edited_time", "last_edited_time": {name: value}}
                for name, value in (("on_or_after", since), ("on_or_before", until))
                if value
            ]
            query: dict[str, Any] = {"sorts": [sort]}
            if bounds:
                query["filter"] = bounds[0] if len(bounds) == 1 else {"and": bounds}
            last, is_whole = until, True
            for page in self._pages("POST", f"data_sources/{listing}/query", query):
                if isinstance(page, Wait):
                    yield page
                elif "id" in page:
                    last = str(page.get("last_edited_time") or last)
                    yield page
                elif page.get("type") == "incomplete":
                    is_whole = False
            if is_whole:
                return
            if last == until:
                raise Refused("Notion lists no more than 10,000 rows that were edited together.")
            until = last

    def _listing_again(self, listing: str) -> Iterator[Change]:
        """A data source that couldn't be listed: the next listing reads it anyway."""
        id_ = f"{_LISTING}{listing}"
        if listing not in self._directory.sources:
            yield Gone(id_)
            return
        try:
            yield from self._service.ask(
                "POST", f"data_sources/{listing}/query", body={"page_size": 1}
            )
        except SourceError as reason:
            yield self._service.failed(id_, reason, self._directory.sources[listing])
        else:
            yield Gone(id_)

    def _pages(self, method: str, path: str, body: Json) -> Iterator[Json | Wait]:
        """Every result of a list; at its end `{"type": "incomplete"}` if Notion left some out."""
        after: str | None = None
        while True:
            if method == "GET":
                params = {**body, "page_size": _PAGE, "start_cursor": after}
                answer = yield from self._service.get(path, params)
            else:
                sent = {**body, "page_size": _PAGE, **({"start_cursor": after} if after else {})}
                answer = yield from self._service.ask("POST", path, body=sent)
            payload = answer.json("Notion")
            if not isinstance(payload, dict) or not isinstance(payload.get("results"), list):
                raise Refused("Notion returned something other than a list.")
            yield from (result for result in payload["results"] if isinstance(result, dict))
            after = payload.get("next_cursor")
            if not payload.get("has_more") or not after:
                status = payload.get("request_status")
                if isinstance(status, dict) and status.get("type") == "incomplete":
                    yield {"type": "incomplete"}
                return

    # --- one page

    def _page(self, page: Json) -> Iterator[Change]:
        id_ = str(page["id"])
        if is_gone(page):
            yield Gone(id_)
            return
        try:
            if "properties" not in page:  # Notion may list no more than an id
                answer = yield from self._service.get(f"pages/{id_}")
                page = answer.json("Notion")
            self._directory.titles[id_] = title_of(page)
            page = yield from self._completed(page)
            not_read: Counter[str] = Counter()
            lines = yield from self._lines(id_, 0, [_MOST_BLOCKS], not_read)
            comments = yield from self._comments(id_)
        except SourceError as reason:
            page_name = f"the page {title_of(page)}".strip()
            yield self._service.failed(id_, reason, page_name)
            return
        parts = [lines_of_properties(page, self._directory), *lines, *comments]
        yield self._put(page, "\n\n".join(part for part in parts if part), not_read)
        refused = [missing for missing in not_read if missing.startswith(_CONTENTS)]
        if refused:  # may be given another time
            text = f"Notion doesn't give all of {title_of(page) or 'a page'}: {', '.join(refused)}."
            yield Failed(f"{id_}{_REST}", text)

    def _completed(self, page: Json) -> Generator[Wait, None, Json]:
        """With every value of long properties, and the titles of related pages looked up."""
        whole = dict(properties(page))
        for name, prop in whole.items():
            kind = str(prop.get("type", ""))
            value = prop.get(kind)
            is_full = isinstance(value, list) and len(value) >= _SHORTENED
            if kind in _LONG and (prop.get("has_more") or is_full) and prop.get("id"):
                items = []
                path = f"pages/{page['id']}/properties/{prop['id']}"
                for item in self._pages("GET", path, {}):
                    if isinstance(item, Wait):
                        yield item
                    elif kind in item:
                        items.append(item[kind])
                whole[name] = {**prop, kind: items}
            for id_ in related(whole[name]):
                if id_ not in self._directory.titles:
                    yield from self._learn_title(id_)
        return {**page, "properties": whole}

    def _learn_title(self, id_: str) -> Iterator[Wait]:
        """Of a related page, which the integration may not be allowed to read."""
        try:
            answer = yield from self._service.get(f"pages/{id_}")
            self._directory.titles[id_] = title_of(answer.json("Notion"))
        except _NOT_GIVEN:
            self._directory.titles[id_] = ""

    def _lines(
        self, block: str, depth: int, room: list[int], not_read: Counter[str]
    ) -> Generator[Wait, None, list[str]]:
        lines: list[str] = []
        for child in self._pages("GET", f"blocks/{block}/children", {}):
            if isinstance(child, Wait):
                yield child
                continue
            kind = str(child.get("type", ""))
            room[0] -= 1
            if room[0] < 0:
                not_read["block beyond the first 20,000"] += 1
            if room[0] < 0 or kind in SEPARATE:
                continue  # the latter are pages of their own
            if kind == "unsupported":
                details = child.get("unsupported")
                block_type = details.get("block_type") if isinstance(details, dict) else ""
                not_read[f"{block_type or 'unsupported'} block"] += 1
                continue
            if line := line_of(child):
                lines.append("  " * depth + line if line.startswith("- ") else line)
            if self._on_blocks:
                lines += yield from self._comments(str(child.get("id")))
            for inner in below(child) if depth < _DEEPEST else ():
                try:
                    lines += yield from self._lines(inner, depth + 1, room, not_read)
                except _NOT_GIVEN:
                    not_read[f"{_CONTENTS} a {kind} block"] += 1
        return lines

    def _comments(self, id_: str) -> Generator[Wait, None, list[str]]:
        """On a page as a whole, or on a block. An integration without the right to read them gets
        none."""
        lines: list[str] = []
        reads = self._reads_comments and not self._is_speechless
        try:
            for comment in self._pages("GET", "comments", {"block_id": id_}) if reads else ():
                if isinstance(comment, Wait):
                    yield comment
                elif text := plain(comment.get("rich_text")):
                    named = comment.get("display_name")
                    name = named.get("resolved_name") if isinstance(named, dict) else ""
                    author = self._directory.person(comment.get("created_by")) or name
                    lines.append(f"{author}: {text}" if author else text)
        except Forbidden:
            self._is_speechless = True
        except (NotThere, Refused):
            pass
        return lines

    def _put(self, page: Json, text: str, not_read: Counter[str]) -> Put:
        id_, title, directory = str(page["id"]), title_of(page), self._directory
        parent = page.get("parent") or {}
        database = directory.sources.get(str(parent.get("data_source_id", "")), "")
        return text_put(
            id_,
            text,
            title=title or "Untitled",
            media_type=MEDIA_TYPE,
            headings=(database, title),
            author=directory.person(page.get("created_by")),
            time=str(page.get("created_time") or ""),
            link=str(page.get("url") or ""),
            metadata={
                **fields(page, directory),
                "notionPageId": [id_, id_.replace("-", "")],
                "database": database,
                "edited": page.get("last_edited_time"),
                "edited_by": directory.person(page.get("last_edited_by")),
                "not_read": [f"{count} × {missing}" for missing, count in sorted(not_read.items())],
            },
        )


def _make(request: SourceAsked) -> NotionSource:
    token = needed_secret(request, "notion", "token")
    headers = {"Authorization": f"Bearer {token}", "Notion-Version": VERSION}
    service = Service("Notion", request.option("url", URL), headers)
    on_blocks = request.option("comments").lower() == "blocks"
    return NotionSource(
        service, comments=on_blocks or request.on("comments", True), on_blocks=on_blocks
    )


KIND = SourceKind(
    "notion",
    "pages and database rows that your Notion integration can read",
    _make,
    {
        "comments": "off: skip comments (saves a request a page); blocks: also read those on single"
        " blocks (a request for each block)",
        "url": "address of the API, if not Notion's own",
    },
    secrets=("token",),
)
