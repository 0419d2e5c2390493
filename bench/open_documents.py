"""Documents for judged questions, made from the open sets below `--data`: pages of annual reports,
chats between two people, German articles and judgments. Writes them into a folder, once.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

JUDGMENTS = 12  # of 200: these are long
CHATS = ("conv-26", "conv-30")
ARTICLE = 5  # paragraphs of one article stand together in this set
_TABLE = re.compile(r"(?:^[^\n]*\|[^\n]*\n){2,}", re.M)
_WHEN = re.compile(r"(?P<who>.+?) (?P<when>\d+:\d\d [ap]m on \d+ \w+, \d{4})")


def write(data: Path, folder: Path) -> None:
    """`data`: the folder with `retrieval`."""
    if (folder / "complete").exists():
        return
    sets = data / "retrieval"
    for kind in ("filings", "chat", "german"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    corpus = (sets / "chunking_evaluation" / "corpora" / "finance.md").read_text("utf-8")
    for number, page in enumerate(pages(corpus)):
        (folder / "filings" / f"page-{number:02}.md").write_text(page, "utf-8")
    _chats(sets / "locomo10", folder / "chat" / "chats.zip")
    articles = [row["text"] for row in _rows(sets / "xquad_de")]
    for at in range(0, len(articles), ARTICLE):
        text = "\n\n".join(articles[at : at + ARTICLE])
        (folder / "german" / f"artikel-{at // ARTICLE:02}.md").write_text(text, "utf-8")
    for number, row in enumerate(_rows(sets / "legalquad_de")[:JUDGMENTS]):
        (folder / "german" / f"urteil-{number:02}.md").write_text(row["text"], "utf-8")
    (folder / "complete").touch()


def pages(corpus: str) -> list[str]:
    """Each table once, with the paragraphs before and after it. The set repeats its pages, with
    questions and answers between them, which would give the answers away."""
    found: dict[str, str] = {}
    tables = list(_TABLE.finditer(corpus))
    for at, table in enumerate(tables):
        start = tables[at - 1].end() if at else 0
        end = tables[at + 1].start() if at + 1 < len(tables) else len(corpus)
        before = _prose(corpus[start : table.start()])[-1:]
        after = _prose(corpus[table.end() : end])[:1]
        rows = [f"| {line} |" for line in table[0].strip().splitlines()]
        rule = "|" + " --- |" * (rows[0].count(" | ") + 1)
        found.setdefault(
            table[0], "\n\n".join((*before, "\n".join((rows[0], rule, *rows[1:])), *after))
        )
    return list(found.values())


def _prose(text: str) -> list[str]:
    """Paragraphs that are no question or answer of the set."""
    parts = (part.strip() for part in text.split("\n\n"))
    return [part for part in parts if len(part) > 150 and "?" not in part]


def _rows(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]


def _chats(folder: Path, target: Path) -> None:
    """As a Slack export: a channel for each conversation, a file for each day."""
    days: dict[str, list[dict[str, str]]] = {}
    people: set[str] = set()
    for row in _rows(folder):
        conversation, found = row["_id"].partition("/")[0], _WHEN.match(row["title"])
        if conversation not in CHATS or found is None:
            continue
        when = datetime.strptime(found["when"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        people.add(found["who"])
        messages = days.setdefault(f"{conversation}/{when:%Y-%m-%d}.json", [])
        stamp = f"{when.timestamp() + 20 * len(messages):.6f}"
        message = {"type": "message", "user": found["who"], "ts": stamp, "text": row["text"]}
        messages.append(message)
    with ZipFile(target, "w") as archive:
        users = [{"id": one, "name": one, "real_name": one} for one in sorted(people)]
        archive.writestr("users.json", json.dumps(users))
        channels = [{"id": f"C{at}", "name": name, "members": []} for at, name in enumerate(CHATS)]
        archive.writestr("channels.json", json.dumps(channels))
        for name, messages in sorted(days.items()):
            archive.writestr(name, json.dumps(messages))
