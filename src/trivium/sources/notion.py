"""Pages of Notion that an integration was given, rows of its data sources included.

For API version 2025-09-03 and later: a database holds data sources, whose rows are pages. Pages are
listed by when they were last edited, so a cursor is a time; Notion rounds it to the minute, so the
last minute is read again. What goes to the trash is told by nobody: all ids are compared now and
then. Who may see a page isn't told either, so pages are private unless you say who may see them.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from trivium.ports import Change, Checkpoint, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.service import NotThere, Service
from trivium.sources.texts import text_put

URL = "https://api.notion.com/v1/"
VERSION = "2025-09-03"
MEDIA_TYPE = "text/x-notion"
_PAGE = 100
_SAVED = 25  # pages between two cursors
_DEEPEST = 12  # blocks within blocks
_MOST_BLOCKS = 20_000  # of a page
_LIST = {"bulleted_list_item": "- ", "numbered_list_item": "1. ", "quote": "> ", "toggle": ""}
_HEADINGS = {"heading_1": "# ", "heading_2": "## ", "heading_3": "### "}

Told = Mapping[str, Any]


class NotionSource:
    deletions: Deletions = "compared"

    def __init__(self, service: Service) -> None:
        self._service = service
        self._people: dict[str, str] = {}
        self._sources: dict[str, str] = {}  # titles of data sources

    def changes(self, cursor: str) -> Iterator[Change]:
        """A listing shows the newest first, so a cursor keeps what it has reported until the end.
        For each listing it stores the time of the newest page at its start: the next run reports
        pages edited meanwhile, even within the same minute."""
        before = json.loads(cursor) if cursor else {}
        since: dict[str, str] = before.get("since", {})
        since = since if isinstance(since, dict) else {}
        told: dict[str, str] = dict(before.get("told", {}))
        newest: dict[str, str] = dict(before.get("newest", {}))
        yield from self._learn()
        for listing in ("", *self._sources):
            for page in self._listed(listing, since.get(listing, "")):
                if isinstance(page, Wait):
                    yield page
                    continue
                edited, id_ = str(page.get("last_edited_time", "")), str(page["id"])
                newest.setdefault(listing, edited)
                if told.get(id_) == edited:
                    continue  # the search finds rows of data sources too
                told[id_] = edited
                yield from self._page(page)
                if len(told) % _SAVED == 0:
                    at = {"since": since, "told": told, "newest": newest}
                    yield Checkpoint(json.dumps(at))
        yield Checkpoint(json.dumps({"since": since | newest}))

    def ids(self) -> Iterator[str | Wait]:
        yield from self._learn()
        seen: dict[str, None] = {}
        for listing in ("", *self._sources):
            for page in self._listed(listing, ""):
                if isinstance(page, Wait):
                    yield page
                elif not _is_gone(page):
                    seen[str(page["id"])] = None
        yield from seen

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        yield from self._learn()
        for id_ in ids:
            try:
                answer = yield from self._service.get(f"pages/{id_}")
            except NotThere:
                yield Gone(id_)
                continue
            yield from self._page(answer.json("Notion"))

    # --- asking

    def _learn(self) -> Iterator[Wait]:
        """Names of people and data sources. Without the right to see people, ids stay."""
        if self._people or self._sources:
            return
        for found in self._pages("GET", "users", {}, fine=(403,)):
            if isinstance(found, Wait):
                yield found
            else:
                self._people[str(found.get("id"))] = str(found.get("name") or "")
        wanted = {"filter": {"property": "object", "value": "data_source"}}
        for found in self._pages("POST", "search", wanted):
            if isinstance(found, Wait):
                yield found
            elif not _is_gone(found):
                self._sources[str(found["id"])] = _plain(found.get("title"))

    def _listed(self, listing: str, since: str) -> Iterator[Told | Wait]:
        """Pages edited since then, from the search (empty) or from a data source, the newest first:
        Notion doesn't promise that the search knows them all."""
        sort = {"direction": "descending", "timestamp": "last_edited_time"}
        if not listing:
            search = {"filter": {"property": "object", "value": "page"}, "sort": sort}
            for found in self._pages("POST", "search", search):
                if not isinstance(found, Wait) and str(found.get("last_edited_time", "")) < since:
                    return
                yield found
            return
        query: dict[str, Any] = {"sorts": [sort]}
        if since:
            after = {"on_or_after": since}
            query["filter"] = {"timestamp": "last_edited_time", "last_edited_time": after}
        yield from self._pages("POST", f"data_sources/{listing}/query", query)

    def _pages(
        self, method: str, path: str, body: Told, fine: tuple[int, ...] = ()
    ) -> Iterator[Told | Wait]:
        after: str | None = None
        while True:
            if method == "GET":
                params = {"page_size": _PAGE, "start_cursor": after}
                answer = yield from self._service.get(path, params, fine=fine)
            else:
                sent = {**body, "page_size": _PAGE, **({"start_cursor": after} if after else {})}
                answer = yield from self._service.ask("POST", path, body=sent)
            told = answer.json("Notion")
            yield from (one for one in told.get("results", ()) if isinstance(one, dict))
            after = told.get("next_cursor")
            if not told.get("has_more") or not after:
                return

    # --- one page

    def _page(self, page: Told) -> Iterator[Change]:
        id_ = str(page["id"])
        if _is_gone(page):
            yield Gone(id_)
            return
        try:
            lines = yield from self._lines(id_, 0, [_MOST_BLOCKS])
        except NotThere:
            yield Gone(id_)
            return
        yield self._put(page, "\n\n".join(lines))

    def _lines(self, block: str, depth: int, room: list[int]) -> Generator[Wait, None, list[str]]:
        lines: list[str] = []
        for child in self._pages("GET", f"blocks/{block}/children", {}):
            if isinstance(child, Wait):
                yield child
                continue
            room[0] -= 1
            if room[0] < 0 or child.get("type") in ("child_page", "child_database"):
                continue  # these are separate pages
            if line := _line(child):
                lines.append("  " * depth + line if line.startswith("- ") else line)
            if child.get("has_children") and depth < _DEEPEST:
                lines += yield from self._lines(str(child["id"]), depth + 1, room)
        return lines

    def _put(self, page: Told, text: str) -> Put:
        id_ = str(page["id"])
        properties = page.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        title = next(
            (_plain(one.get("title")) for one in properties.values() if one.get("type") == "title"),
            "",
        )
        parent = page.get("parent") or {}
        database = self._sources.get(str(parent.get("data_source_id", "")), "")
        author = self._person(page.get("created_by"))
        fields = {_field(name): self._value(one) for name, one in properties.items()}
        return text_put(
            id_,
            text,
            title=title or "Untitled",
            media_type=MEDIA_TYPE,
            headings=(database, title),
            author=author,
            time=str(page.get("created_time") or ""),
            link=str(page.get("url") or ""),
            metadata={
                **{name: value for name, value in fields.items() if value not in (None, "", [])},
                "notionPageId": [id_, id_.replace("-", "")],
                "database": database,
                "edited": page.get("last_edited_time"),
                "edited_by": self._person(page.get("last_edited_by")),
            },
        )

    def _person(self, told: object) -> str:
        if not isinstance(told, dict):
            return ""
        return self._people.get(str(told.get("id")), "") or str(told.get("name") or "")

    def _value(self, told: Told) -> object:
        """A property as a value, or several, for filters."""
        kind = str(told.get("type", ""))
        value = told.get(kind)
        match kind, value:
            case (("select" | "status"), {"name": name}):
                return name
            case "multi_select", list():
                return [one.get("name") for one in value]
            case "people", list():
                return [self._person(one) for one in value]
            case "date", {"start": start}:
                return start
            case "rich_text", _:
                return _plain(value)
            case "checkbox", bool():
                return "yes" if value else "no"
            case (("number" | "url" | "email" | "phone_number"), _):
                return value
            case "unique_id", {"number": number}:
                return "-".join(str(one) for one in (told[kind].get("prefix"), number) if one)
        return None


def _is_gone(told: Told) -> bool:
    return bool(told.get("in_trash") or told.get("archived"))


def _field(name: str) -> str:
    """A property's name as filters use it; `status` already means something else."""
    field = "_".join(name.lower().split())
    return {"status": "state", "tags": "labels", "tag": "labels"}.get(field, field)


def _plain(rich: object) -> str:
    if not isinstance(rich, list):
        return ""
    return "".join(str(one.get("plain_text", "")) for one in rich if isinstance(one, dict))


def _line(block: Told) -> str:
    """A block as a line of Markdown."""
    kind = str(block.get("type", ""))
    held = block.get(kind)
    if not isinstance(held, dict):
        return ""
    if kind == "table_row":
        return " | ".join(_plain(cell) for cell in held.get("cells", ()))
    if kind == "equation":
        return str(held.get("expression", ""))
    text = _plain(held.get("rich_text")) or _plain(held.get("caption"))
    if kind in ("bookmark", "embed", "link_preview"):
        return " ".join(one for one in (text, str(held.get("url", ""))) if one)
    if not text:
        return ""
    if kind == "to_do":
        return f"- [{'x' if held.get('checked') else ' '}] {text}"
    if kind == "code":
        return f"```\n{text}\n```"
    return f"{_HEADINGS.get(kind, _LIST.get(kind, ''))}{text}"


def _make(asked: SourceAsked) -> NotionSource:
    token = needed_secret(asked, "notion", "token")
    headers = {"Authorization": f"Bearer {token}", "Notion-Version": VERSION}
    return NotionSource(Service("Notion", asked.option("url", URL), headers))


KIND = SourceKind(
    "notion",
    "pages and database rows that your Notion integration can read",
    _make,
    {"url": "address of the API, if not Notion's own"},
    secrets=("token",),
)
