"""What a page of Notion says: its properties and blocks as text and as fields.

Shapes as in the types of notion-sdk-js. Knows nothing of requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]

# Blocks with their own page, or without any text.
SEPARATE = ("child_page", "child_database")
_LIST = {"bulleted_list_item": "- ", "numbered_list_item": "1. ", "quote": "> ", "toggle": ""}
_HEADINGS = {f"heading_{level}": "#" * level + " " for level in range(1, 5)}
_MEETING_PARTS = ("summary_block_id", "notes_block_id", "transcript_block_id")


@dataclass(slots=True)
class Directory:
    """Names behind ids."""

    people: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)  # of pages
    sources: dict[str, str] = field(default_factory=dict)  # titles of data sources

    def person(self, user: object) -> str:
        if not isinstance(user, dict):
            return ""
        return self.people.get(str(user.get("id")), "") or str(user.get("name") or "")


def properties(page: Json) -> dict[str, Json]:
    props = page.get("properties")
    props = props if isinstance(props, dict) else {}
    return {str(name): prop for name, prop in props.items() if isinstance(prop, dict)}


def title_of(page: Json) -> str:
    titles = (
        property_ for property_ in properties(page).values() if property_.get("type") == "title"
    )
    return next((plain(title.get("title")) for title in titles), "")


def is_gone(thing: Json) -> bool:
    return bool(thing.get("in_trash") or thing.get("archived"))


def field_name(name: str) -> str:
    """A property's name as filters use it; `status` already means something else."""
    made = "_".join(name.lower().split())
    return {"status": "state", "tags": "labels", "tag": "labels"}.get(made, made)


def related(prop: Json) -> list[str]:
    """Ids of the pages that a property, or a rollup of such, refers to."""
    kind = prop.get("type")
    if kind == "relation":
        return [str(page["id"]) for page in _dicts(prop.get("relation")) if "id" in page]
    if kind == "rollup" and isinstance(prop.get("rollup"), dict):
        parts = _dicts(prop["rollup"].get("array"))
        return [id_ for part in parts for id_ in related(part)]
    return []


def values(prop: Json, directory: Directory) -> list[Any]:
    """A property as values, for filters and for the text; dates as their first day."""
    kind = str(prop.get("type", ""))
    value = prop.get(kind)
    if kind in ("formula", "rollup") and isinstance(value, dict):
        return values(value, directory)
    if kind in _VALUES:
        return _filled(_VALUES[kind](value, directory))
    is_plain = isinstance(value, str | int | float)  # numbers, addresses, times, text of formulas
    return _filled([value]) if is_plain else []


def _unique_id(value: Any, _: Directory) -> list[str]:
    parts = (value.get("prefix"), value.get("number")) if isinstance(value, dict) else ()
    return ["-".join(str(part) for part in parts if part is not None)]


def _yes_or_no(value: Any, _: Directory) -> list[str]:
    return ["yes" if value else "no"] if isinstance(value, bool) else []


def _part(*names: str) -> Callable[[Any, Directory], list[Any]]:
    return lambda value, _: [value.get(name) for name in names] if isinstance(value, dict) else []


_VALUES: Mapping[str, Callable[[Any, Directory], Iterable[Any]]] = {
    "title": lambda value, _: [plain(value)],
    "rich_text": lambda value, _: [plain(value)],
    "select": _part("name"),
    "status": _part("name"),
    "multi_select": lambda value, _: [option.get("name") for option in _dicts(value)],
    "people": lambda value, directory: [directory.person(person) for person in _dicts(value)],
    "created_by": lambda value, directory: [directory.person(value)],
    "last_edited_by": lambda value, directory: [directory.person(value)],
    "date": _part("start"),
    "checkbox": _yes_or_no,
    "boolean": _yes_or_no,
    "files": lambda value, _: [file.get("name") for file in _dicts(value)],
    "unique_id": _unique_id,
    "relation": lambda value, directory: [
        directory.titles.get(str(page.get("id"))) for page in _dicts(value)
    ],
    "array": lambda value, directory: [
        part for item in _dicts(value) for part in values(item, directory)
    ],
    "verification": _part("state"),
    "place": _part("name", "address"),
}


def fields(page: Json, directory: Directory) -> dict[str, object]:
    """Every property but the title, by the name that filters use."""
    made: dict[str, object] = {}
    for name, prop in properties(page).items():
        if prop.get("type") != "title" and (shown := values(prop, directory)):
            kind = str(prop.get("type"))
            is_list = isinstance(prop.get(kind), list) and kind != "rich_text"
            is_list = is_list or (kind == "rollup" and prop[kind].get("type") == "array")
            made[field_name(name)] = shown if is_list or len(shown) > 1 else shown[0]
    return made


def lines_of_properties(page: Json, directory: Directory) -> str:
    """One line each, as people see them above the page."""
    lines = []
    for name, prop in properties(page).items():
        if prop.get("type") == "title":
            continue
        shown = ", ".join(str(value) for value in values(prop, directory))
        date = prop.get("date")
        if prop.get("type") == "date" and isinstance(date, dict) and date.get("end"):
            shown = f"{shown} – {date['end']}"
        if shown:
            lines.append(f"{name}: {shown}")
    return "\n".join(lines)


def line_of(block: Json) -> str:
    """A block as a line of Markdown."""
    kind = str(block.get("type", ""))
    content = block.get(kind)
    if not isinstance(content, dict):
        return ""
    if kind == "table_row":
        return " | ".join(plain(cell) for cell in content.get("cells", ()))
    if kind == "equation":
        return str(content.get("expression", ""))
    text = plain(content.get("rich_text")) or plain(content.get("caption"))
    if kind in ("transcription", "meeting_notes"):
        return plain(content.get("title"))
    if kind in ("bookmark", "embed", "link_preview"):
        return " ".join(part for part in (text, str(content.get("url", ""))) if part)
    if kind in ("file", "pdf", "audio", "video", "image"):
        return " ".join(part for part in (text, str(content.get("name") or "")) if part)
    if not text:
        return ""
    if kind == "to_do":
        return f"- [{'x' if content.get('checked') else ' '}] {text}"
    if kind == "code":
        return f"```\n{text}\n```"
    return f"{_HEADINGS.get(kind, _LIST.get(kind, ''))}{text}"


def below(block: Json) -> list[str]:
    """Ids of the blocks whose children belong under this one. The notes of a meeting name their
    parts: summary, notes, transcript."""
    kind = str(block.get("type", ""))
    content = block.get(kind)
    parts = content.get("children") if isinstance(content, dict) else None
    if kind in ("transcription", "meeting_notes") and isinstance(parts, dict):
        return [str(parts[name]) for name in _MEETING_PARTS if parts.get(name)]
    return [str(block["id"])] if block.get("has_children") and "id" in block else []


def plain(rich: object) -> str:
    return "".join(str(part.get("plain_text") or "") for part in _dicts(rich))


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _filled(parts: Iterable[Any]) -> list[Any]:
    return [value for value in parts if value not in (None, "")]
