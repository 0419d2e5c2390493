"""Tables of options in docs/, made from the declarations in `trivium.operations`.

`python -m tests.architecture.tables` writes them; a test compares.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any

from trivium.operations.asking import AskOptions
from trivium.operations.declaring import option_of, options_of
from trivium.operations.searching import Filters, SearchOptions

DOCS = Path(__file__).parents[2] / "docs"
TABLES: dict[str, tuple[str, type]] = {
    "search": ("searching.md", SearchOptions),
    "filters": ("searching.md", Filters),
    "ask": ("answering.md", AskOptions),
}


def table(kind: type) -> str:
    rows = ["| option | default | assistants | what it does |", "|---|---|---|---|"]
    for field in options_of(kind):
        option = option_of(field)
        assistants = "yes" if option.assistants else ""
        rows.append(
            f"| `{field.name}` | {_default(field)} | {assistants} | {_escaped(option.says)} |"
        )
    return "\n".join(rows)


def _default(field: Field[Any]) -> str:
    setting = option_of(field).setting
    if setting:
        return f"setting `{setting}`"
    return "" if field.default in (None, "", MISSING) else f"{field.default}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def written(page: str) -> str:
    """A page of docs/ with its tables as declared."""
    text = (DOCS / page).read_text("utf-8")
    for name, (place, kind) in TABLES.items():
        if place == page:
            begin, end = f"<!-- options: {name} -->\n", "<!-- end -->"
            pattern = re.escape(begin) + r".*?" + re.escape(end)
            made = f"{begin}{table(kind)}\n{end}"
            text, changed = re.subn(pattern, lambda _, made=made: made, text, flags=re.S)
            assert changed == 1, f"{page} has no place for the table {name}"
    return text


if __name__ == "__main__":
    for page in sorted({page for page, _ in TABLES.values()}):
        (DOCS / page).write_text(written(page), "utf-8")
