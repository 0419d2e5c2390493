"""Which passages find messages of a conversation best: one message or a group, with or without
author and time in the searched and embedded text, with or without the messages around it.

    python -m bench.chat --queries 600

success@10: a passage among the first ten holds a message that answers the question. A group of
messages holds more of them than one message does, so we also report for how many questions the
answer is among the first 400 words shown.
"""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from bench.harness import arguments
from trivium.config import Settings
from trivium.core.types import Element, Extraction, Kind, Labels, Place
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.ports import SourceItem

TOP = 10
WORDS = 400
Query: TypeAlias = tuple[str, set[str]]  # a question, and the messages that answer it


# What is a passage (in groups or alone, with author and day or not), and under which names it is
# measured: as it is, and shown with the messages around it.
VARIANTS = {
    (False, False): ("message, without", ""),
    (False, True): ("message, author and day", "the same, shown with the messages around it"),
    (True, False): ("group, without", ""),
    (True, True): ("group, author and day", ""),
}


class Chat:
    """Messages by conversation and session, as a source of documents."""

    def __init__(self, corpus: Path, *, grouped: bool, named: bool) -> None:
        self._grouped = grouped
        self._named = named
        self.ranges: dict[str, list[tuple[int, int, str]]] = {}  # by uri: where each message is
        self.said: dict[str, str] = {}  # by message
        self._sessions: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for line in corpus.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            session = told["_id"].rpartition(":")[0]
            self._sessions[session].append((told["_id"], told["title"], told["text"]))
            self.said[told["_id"]] = told["text"]

    def items(self) -> Iterator[SourceItem]:
        for session, messages in self._sessions.items():
            if self._grouped:
                yield self._item(session, messages)
            else:
                for number, one in enumerate(messages):  # as Slack's: their uris sort by time
                    yield self._item(f"slack:chat/{session.replace('/', '-')}/{number:05}", [one])

    def _item(self, uri: str, messages: list[tuple[str, str, str]]) -> SourceItem:
        text, elements, ranges = "", [], []
        for id_, title, said in messages:
            who = _author_and_day(title)
            words = f"{who}: {said}" if self._named and self._grouped else said
            start = len(text)
            text += words + "\n\n"
            above = (who,) if self._named and not self._grouped else ()
            place = Place(authors=tuple(title.split()[:1]))
            elements.append(Element("message", start, start + len(words), above, place=place))
            ranges.append((start, start + len(words), id_))
        self.ranges[uri] = ranges
        read = Extraction(
            text.rstrip(), tuple(elements), uri, "message/slack", "en", kind=Kind.MESSAGES
        )
        return SourceItem(uri, uri, read)


def _author_and_day(title: str) -> str:
    """`Ada 1:56 pm on 8 May, 2023` as a Slack message has it: `Ada, 08 May 2023`."""
    who, _, day = title.partition(" on ")
    try:
        return f"{who.split()[0]}, {datetime.strptime(day, '%d %B, %Y'):%d %B %Y}"
    except ValueError:
        return title


def measured(
    library: Library, chat: Chat, queries: Sequence[Query], *, around: bool
) -> tuple[float, float]:
    options = SearchOptions(expand=around)
    found = within = 0
    for text, gold in queries:
        hits: set[str] = set()
        shown, soon = 0, False
        for result in library.search(text, TOP, options=options):
            chunk = result.found.chunk
            for start, end, message in chat.ranges[result.found.document.uri]:
                if start < chunk.end and end > chunk.start:
                    hits.add(message)
            near = f"{result.before}\n{result.after}"
            hits |= {one for one in gold if chat.said[one] in near}
            soon = soon or (shown < WORDS and bool(hits & gold))
            shown += len(chunk.text.split()) + len(near.split())
        found += bool(hits & gold)
        within += soon
    return found / len(queries), within / len(queries)


def asked_of(data: Path, most: int) -> list[Query]:
    gold: dict[str, set[str]] = defaultdict(set)
    with (data / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row and row[-1].isdecimal() and int(row[-1]) > 0:
                gold[row[0]].add(row[-2])
    lines = (data / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    every = [(one["text"], gold[one["_id"]]) for one in map(json.loads, lines)]
    return random.Random(7).sample(every, min(most, len(every)))


def main() -> None:
    asked = arguments(__doc__, "data", queries=600)
    data = asked.data / "retrieval" / "locomo10"
    some = asked_of(data, asked.queries)
    print(f"| {len(some)} questions | success@{TOP} | in the first {WORDS} words |\n|---|---|---|")
    for (grouped, named), names in VARIANTS.items():
        with (
            TemporaryDirectory(prefix="trivium-bench-") as aside,
            Library.open(Path(aside) / "library", settings=Settings()) as library,
        ):
            chat = Chat(data / "corpus.jsonl", grouped=grouped, named=named)
            library.add_from(chat, Labels())
            for name, around in zip(names, (False, True), strict=True):
                if name:
                    found, within = measured(library, chat, some, around=around)
                    print(f"| {name} | {found:.3f} | {within:.3f} |", flush=True)


if __name__ == "__main__":
    main()
