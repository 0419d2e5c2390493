"""The Slack export and the reference libraries of the test data, synced: everything comes in, and
can be filtered by author, channel and year.

    python -m bench.sync_data

The expected numbers are counted here from the files. A toy model embeds them: no check depends on
the model.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.harness import arguments
from trivium.config import Settings
from trivium.core.work import KeptSource
from trivium.extract.bibliography import references
from trivium.library import Library
from trivium.ports import Blob
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

# What nobody said: Slack writes these by itself.
_SILENT = ("channel_join", "channel_leave", "bot_add", "bot_remove", "channel_topic",
           "channel_purpose", "channel_name", "pinned_item")  # fmt: skip


def said_in(export: Path) -> list[dict[str, Any]]:
    """Messages with their channel's name and their author's."""
    found = []
    with zipfile.ZipFile(export) as archive:
        names = archive.namelist()
        for name in names:
            parts = name.rstrip("/").split("/")
            if len(parts) < 2 or not name.endswith(".json"):
                continue
            for one in json.loads(archive.read(name)):
                if one.get("subtype") not in _SILENT and any(
                    one.get(part) for part in ("text", "files", "attachments")
                ):
                    found.append({**one, "channel": parts[-2]})
    return found


class Checks:
    def __init__(self, library: Library) -> None:
        self._library = library
        self.wrong = 0
        print("| what | in the files | in the library |\n|---|---|---|")

    def count(self, where: str, expected: int) -> None:
        found = len(self._library.documents.all(where=where))
        self.wrong += found != expected
        print(f"| {where} | {expected:,} | {found:,} |")

    def synced(self, name: str, kind: str, path: Path) -> None:
        self._library.sync.add(KeptSource(name, kind, {"path": str(path)}))
        run = self._library.sync.run(name)
        found = self._library.sync.verify(name)
        self.wrong += len(found.differences) + run.counts.get("failed", 0)
        print(f"| {path.name}: differences by verify | 0 | {len(found.differences)} |")


def check(data: Path, library: Library) -> int:
    """The number of faults."""
    checks = Checks(library)
    export = data / "documents" / "chat" / "slack-export.zip"
    checks.synced("chat", "slack-export", export)
    said = said_in(export)
    checks.count("sync:chat", len(said))
    people = Counter(str(one["user"]) for one in said if one.get("user"))
    for user, times in people.most_common():
        checks.count(f"slackAuthor:{user}", times)
    for channel, times in Counter(one["channel"] for one in said).items():
        checks.count(f"sync:chat channel:{channel}", times)
    years = Counter(datetime.fromtimestamp(float(one["ts"]), UTC).year for one in said)
    for when, times in years.items():
        checks.count(f"sync:chat year:{when}", times)
    together: Counter[str] = Counter()
    for number, path in enumerate(sorted((data / "documents" / "library").iterdir())):
        name = f"library{number}"
        checks.synced(name, "zotero", path)
        entries = references(Blob(path.name, path.read_bytes()))
        checks.count(f"sync:{name}", len(entries))
        together.update(str(_year(one)) for one in entries if _year(one))
    for year, times in together.most_common(3):
        checks.count(f"year:{year}", times)
    return checks.wrong


def _year(entry: dict[str, Any]) -> object:
    dates = (entry.get("issued") or {}).get("date-parts") or [[None]]
    return dates[0][0]


def main() -> None:
    asked = arguments(__doc__, "data")
    with (
        TemporaryDirectory(prefix="trivium-bench-") as aside,
        Library(open_embedded(Path(aside) / "library"), TOY, Settings()) as library,
    ):
        wrong = check(asked.data, library)
    if wrong:
        sys.exit(f"{wrong} are wrong")


if __name__ == "__main__":
    main()
