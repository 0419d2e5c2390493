"""Queries and judgments, as BEIR and TREC write them.

Queries: JSON lines (`_id`, `text`), lines of id and text with a tab between, topics in TREC's tags
(<top>, <num>, <title>, whether closed or not) or in the XML of later tracks (<topic number="1">).
Judgments: three columns with tabs (query, document, score) or TREC's four with blanks, the second
of which says nothing. Knows nothing of documents.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trivium.core.errors import DatasetInvalid
from trivium.evaluate.lines import broken, field, lines, rows

PARTS = ("title", "desc", "narr")  # of a topic: a few words, a sentence, a paragraph
_IDS = ("_id", "id", "qid", "query_id", "query-id", "number")
_TEXTS = ("text", "query", "title", "question")
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)</\1\s*>", re.I | re.S)
_NUMBERED = re.compile(r"""\bnumber\s*=\s*["']?\s*([^"'\s>]+)""", re.I)
_NUMBER = re.compile(r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)", re.I)
# What later tracks call the parts of a topic, and the words that begin them in earlier ones.
_NAMES = {
    "title": ("title", "query"),
    "desc": ("desc", "description", "question"),
    "narr": ("narr", "narrative"),
}
_LABEL = re.compile(r"^\s*(?:Topic|Description|Narrative)\s*:\s*", re.I)


def read_queries(path: Path, part: str = "title") -> dict[str, str]:
    """Texts by id, in their order. `part`: what to ask of a TREC topic."""
    first = next(iter(lines(path, any_encoding=True)), (0, ""))[1].lstrip()
    if not first:
        raise DatasetInvalid(f"{path} is empty.")
    if first.startswith("{"):
        listed = _of_rows(path)
    elif first.startswith("<"):
        listed = _of_topics(path, part)
    else:
        listed = _of_columns(path)
    queries: dict[str, str] = {}
    for number, query, text in listed:
        if query in queries:
            raise broken(path, number, f"the query {query} appears twice")
        queries[query] = text
    return queries


def _of_rows(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, row in rows(path):
        yield number, *_query(path, number, row)


def _query(path: Path, number: int, row: dict[str, Any]) -> tuple[str, str]:
    query, text = field(row, _IDS), field(row, _TEXTS)
    if not query:
        raise broken(path, number, "no field `_id`")
    if text is None:
        raise broken(path, number, "no field `text`")
    return query, text


def _of_columns(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in lines(path):
        query, tab, text = line.partition("\t")
        if number == 1 and query.strip().lower() in _IDS:
            continue
        if not tab or not query.strip():
            raise broken(path, number, "expected an id, a tab and a text")
        yield number, query.strip(), text.strip()


def _of_topics(path: Path, part: str) -> Iterator[tuple[int, str, str]]:
    numbered = list(lines(path, any_encoding=True))
    whole = "\n".join(line for _, line in numbered)
    is_any = False
    for topic in _TOPIC.finditer(whole):
        is_any = True
        at = numbered[whole.count("\n", 0, topic.start())][0]
        number = _NUMBERED.search(topic[2]) or _NUMBER.search(topic[3])
        if number is None:
            raise broken(path, at, "this topic has no number")
        text = _part(topic[3], part)
        if not text:
            raise broken(path, at, f"the topic {number[1]} has no <{part}>")
        yield at, number[1], text
    if not is_any:
        raise DatasetInvalid(f"{path} has no <top> and no <topic>.")


def _part(topic: str, part: str) -> str:
    """Up to the closing tag or, where tags are not closed, up to the next one."""
    for name in _NAMES[part]:
        if match := re.search(rf"<{name}\b[^>]*>(.*?)(?=<|\Z)", topic, re.I | re.S):
            text = " ".join(html.unescape(_LABEL.sub("", match[1])).split())
            if text:
                return text
    return ""


def read_judgments(path: Path) -> dict[str, dict[str, int]]:
    """How relevant, by query, then document. Of two lines about the same the later counts."""
    judgments: dict[str, dict[str, int]] = {}
    for number, line in lines(path):
        columns = line.split("\t") if line.count("\t") > 1 else line.split()
        if number == 1 and len(columns) in (3, 4) and not _is_score(columns[-1]):
            continue  # the header
        if len(columns) == 4:
            del columns[1]
        if len(columns) != 3:
            raise broken(path, number, "expected three columns with tabs or four with spaces")
        query, document, score = (column.strip() for column in columns)
        if not _is_score(score):
            raise broken(path, number, f"the judgment isn't a whole number: {score}")
        judgments.setdefault(query, {})[document] = int(float(score))
    return judgments


def _is_score(text: str) -> bool:
    try:
        return float(text) == int(float(text))
    except (ValueError, OverflowError):
        return False
