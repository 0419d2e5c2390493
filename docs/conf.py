"""Builds these pages, and those at the top of the repository, as a site for a browser without a
network: `make docs`. A link that leads nowhere is an error.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

project = "Trivium"
extensions = ["myst_parser"]
include_patterns = [*TOP, "docs/**.md"]
# Sphinx walks through every folder that isn't named here, twice: a third of its time.
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]
root_doc = "README"
html_theme = "furo"
html_title = "Trivium"
html_favicon = str(ROOT / "src/trivium/web/static/icon.svg")
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # shortened examples are not quite JSON

# The bar at the side, by task.
TASKS = {
    "Start": ["docs/README", "docs/start", "docs/guides/*"],
    "Use": ["docs/searching", "docs/queries", "docs/answering", "docs/reading", "docs/recordings",
            "docs/sources", "docs/sources/*", "docs/keeping", "docs/web", "docs/mcp"],
    "Run for others": ["docs/serving", "docs/security", "docs/postgresql", "docs/deploying",
                       "docs/scale"],
    "Look up": ["docs/operations", "docs/settings", "docs/errors", "docs/models", "CHANGELOG"],
    "Measure": ["docs/evaluating", "docs/performance", "docs/benchmarks", "docs/stranger",
                "docs/log"],
    "Change Trivium": ["ARCHITECTURE", "CONTRIBUTING", "SECURITY", "docs/decisions/*",
                       "docs/page", "docs/pictures"],
}  # fmt: skip


def _with_bar(app: Any, name: str, source: list[str]) -> None:
    """Pages are plain Markdown, so the bar is added here; and a link to a folder or a file that
    isn't a page leads to its text, as there is nothing else to show of it here."""
    here = (ROOT / name).parent

    def linked(match: re.Match[str]) -> str:
        text, target = match[1], match[2].partition("#")[0]
        path = (here / target).resolve()
        is_page = path.suffix == ".md" and (path.parent == ROOT or ROOT / "docs" in path.parents)
        return text if path.exists() and not is_page else match[0]

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)\s]+)\)", linked, source[0])
    if name == root_doc:
        for task, pages in TASKS.items():
            listed = "\n".join(pages)
            source[0] += (
                f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {task}\n\n{listed}\n```\n"
            )


def setup(app: Any) -> None:
    app.connect("source-read", _with_bar)
