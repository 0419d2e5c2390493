"""Tables of options in docs/, made from the declarations in `trivium.operations`.

`python -m tests.architecture.tables` writes them; a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field
from functools import partial
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

from trivium.http.routes import (
    about,
    documents,
    evaluations,
    files,
    jobs,
    query,
    search,
    sources,
    sync,
    tokens,
)
from trivium.operations.asking import AskOptions
from trivium.operations.catalogue import OPERATIONS
from trivium.operations.declaring import option_of, options_of
from trivium.operations.searching import Filters, SearchOptions

ROUTES = (search, query, documents, files, jobs, sources, sync, evaluations, tokens, about)
DOCS = Path(__file__).parents[2] / "docs"


def table(kind: type) -> str:
    rows = ["| option | default | assistants | what it does |", "|---|---|---|---|"]
    for field in options_of(kind):
        option = option_of(field)
        assistants = "yes" if option.assistants else ""
        rows.append(
            f"| `{field.name}` | {_default(field)} | {assistants} | {_escaped(option.says)} |"
        )
    return "\n".join(rows)


def operations() -> str:
    """Every operation, and how each way in names it."""
    rows = ["| operation | terminal | HTTP | assistants | right | what it does |"]
    rows.append("|---|---|---|---|---|---|")
    routes = {
        route.name: f"`{min(route.methods)} {route.path}`"
        for module in ROUTES
        for route in module.router.routes
        if isinstance(route, APIRoute)
    }
    for one in OPERATIONS.values():
        command = f"`trivium {one.command}`" if one.command else ""
        tool = f"`{one.tool}`" if one.tool else ""
        route = routes[one.id].replace(":path}", "}")
        rows.append(f"| `{one.id}` | {command} | {route} | {tool} | {one.needs} | {one.says} |")
    return "\n".join(rows)


def _default(field: Field[Any]) -> str:
    setting = option_of(field).setting
    if setting:
        return f"setting `{setting}`"
    return "" if field.default in (None, "", MISSING) else f"{field.default}"


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "search": ("searching.md", partial(table, SearchOptions)),
    "filters": ("searching.md", partial(table, Filters)),
    "ask": ("answering.md", partial(table, AskOptions)),
    "operations": ("operations.md", operations),
}


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def written(page: str) -> str:
    """A page of docs/ with its tables as declared."""
    text = (DOCS / page).read_text("utf-8")
    for name, (place, make) in TABLES.items():
        if place == page:
            begin, end = f"<!-- table: {name} -->\n", "<!-- end -->"
            pattern = re.escape(begin) + r".*?" + re.escape(end)
            made = f"{begin}{make()}\n{end}"
            text, changed = re.subn(pattern, lambda _, made=made: made, text, flags=re.S)
            assert changed == 1, f"{page} has no place for the table {name}"
    return text


if __name__ == "__main__":
    for page in sorted({page for page, _ in TABLES.values()}):
        (DOCS / page).write_text(written(page), "utf-8")
