"""How much a word should count in each known field of a document, measured by words alone.

    python -m bench.fields --data ../shared/data

Libraries of real records: chat messages (locomo10: speaker and date as fields, asked with judged
questions and with drawn items), the same as mails from a speaker's address to the other
one, references of papers (author, year, journal, title, and the sentences that cite them, which
name other authors), and the notes of a rulebook (file and folder, then the folder as a tag). Each
field's weight is changed alone. Prints MRR@10 for each weight, and for the one that is best on
every other group of queries (conversations, papers, folders), what it gives on the rest. No model
is needed: the vectors aren't searched.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.harness import arguments
from trivium.core.types import OWNER, Metadata, Probe, Processed, Signal
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import put, sample
from trivium.text import known
from trivium.text.normalise import words
from trivium.text.query import parse
from trivium.text.stems import content_words

WEIGHTS = (0.0, 0.5, 1.0, 1.4, 1.8, 2.2, 3.0, 4.0)
ASKED = 150  # queries of each kind
PAGE = 10
SEED = 19
_SAID = re.compile(r"(?P<who>\S+) .* on (?P<day>\d+) (?P<month>\w+), (?P<year>\d{4})")
_MONTHS = "January February March April May June July August September October November December"


@dataclass(frozen=True)
class Asked:
    kind: str
    query: str
    right: frozenset[str]
    group: str  # what is held out together


@dataclass(frozen=True)
class Collected:
    documents: list[Processed]
    asked: list[Asked]
    fields: Sequence[str]


def _two(text: str, chance: random.Random) -> list[str]:
    """Content words that somebody may remember."""
    telling = [w for w in dict.fromkeys(content_words(words(text), {"en"})) if len(w) > 4]
    return chance.sample(telling, 2) if len(telling) > 1 else []


def chat(data: Path, chance: random.Random) -> Collected:
    folder = data / "retrieval" / "locomo10"
    documents, drawn = [], []
    if not folder.exists():
        return Collected([], [], ())
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        said = _SAID.match(row["title"])
        if not said or not row["text"]:
            continue
        month = _MONTHS.split().index(said["month"]) + 1
        date = f"{said['year']}-{month:02}-{int(said['day']):02}"
        group = row["_id"].split("/")[0]
        metadata: Metadata = {"authors": (said["who"],), "date": date, "channel": group}
        documents.append(sample(row["_id"], row["text"], metadata=metadata, embedded=False))
        drawn.append((row["_id"], row["text"], said, group))
    asked = _judged(folder, {one.uri for one in documents}, chance)
    chance.shuffle(drawn)
    for uri, text, said, group in drawn:
        if pair := _two(text, chance):
            own, day = frozenset({uri}), f"{said['day']} {said['month']} {said['year']}"
            asked.append(Asked("speaker, word", f"{said['who']} {pair[0]}", own, group))
            asked.append(Asked("date, word", f"{day} {pair[0]}", own, group))
            asked.append(Asked("two words", " ".join(pair), own, group))
        if len(asked) >= 6 * ASKED:
            break
    return Collected(documents, asked, ("author", "date", "channel"))


def mails(data: Path, chance: random.Random) -> Collected:
    """Messages of a chat of two, as mails."""
    said = chat(data, chance).documents
    speakers: dict[str, set[str]] = defaultdict(set)
    for one in said:
        speakers[str(one.metadata["channel"])] |= set(map(str, _all(one.metadata["authors"])))
    documents, drawn = [], []
    for one in said:
        group, (who,) = str(one.metadata["channel"]), _all(one.metadata["authors"])
        others = tuple(sorted(speakers[group] - {str(who)}))
        address = f"{str(who).lower()}@{group.lower()}.example"
        metadata: Metadata = {"from": address, "to": others}
        text = one.extraction.text
        documents.append(sample(one.uri, text, metadata=metadata, embedded=False))
        drawn.append((one.uri, text, address, others, group))
    asked: list[Asked] = []
    chance.shuffle(drawn)
    for uri, text, address, others, group in drawn:
        if (pair := _two(text, chance)) and others:
            own = frozenset({uri})
            asked.append(Asked("address, word", f"{address} {pair[0]}", own, group))
            asked.append(Asked("recipient, word", f"{others[0]} {pair[0]}", own, group))
            asked.append(Asked("two words", " ".join(pair), own, group))
        if len(asked) >= 3 * ASKED:
            break
    return Collected(documents, asked, ("from", "to"))


def _all(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def tagged(data: Path, chance: random.Random) -> Collected:
    """Notes that have the name of their folder as a tag, and no name of their own."""
    found = notes(data, chance)
    numbers = {one.uri: f"{at}.md" for at, one in enumerate(found.documents)}
    documents = [
        replace(one, uri=numbers[one.uri], metadata={"tags": (Path(one.uri).parent.name,)})
        for one in found.documents
    ]
    asked = [
        replace(one, right=frozenset(map(numbers.__getitem__, one.right)))
        for one in found.asked
        if not one.kind.startswith("file")
    ]
    return Collected(documents, asked, ("tag",))


def _judged(folder: Path, there: set[str], chance: random.Random) -> list[Asked]:
    right: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, uri, grade = line.split("\t")
        if int(grade) > 0 and uri in there:
            right[query].add(uri)
    asked = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if found := right.get(row["_id"]):
            group = min(found).split("/")[0]
            asked.append(Asked("judged question", row["text"], frozenset(found), group))
    return chance.sample(asked, min(len(asked), 3 * ASKED))


def papers(data: Path, chance: random.Random) -> Collected:
    documents, asked = [], []
    by_name: dict[tuple[str, str], set[str]] = defaultdict(set)
    drawn = []
    for path in sorted((data / "documents" / "papers").glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))["metadata"]
        contexts: dict[int, list[str]] = defaultdict(list)
        for mention in told.get("referenceMentions", ()):
            contexts[mention["referenceID"]].append(mention["context"])
        for number, one in enumerate(told.get("references", ())):
            authors = tuple(name.strip(" .,") for name in one.get("author", ()))
            title, year = (one.get("title") or "").strip(" ."), one.get("year")
            if not authors or not title or not year or not contexts[number]:
                continue
            uri, venue = f"{path.stem}/{number}", (one.get("venue") or "").strip(" .,")
            metadata: Metadata = {"authors": authors, "year": year, "container": venue}
            text = " ".join(contexts[number])
            documents.append(sample(uri, text, title=title, metadata=metadata, embedded=False))
            last = authors[0].split()[-1]
            by_name[last.lower(), str(year)].add(uri)
            drawn.append((uri, last, str(year), title, venue, path.stem))
    for uri, last, year, title, venue, group in drawn:
        same = frozenset(by_name[last.lower(), year])
        asked.append(Asked("author, year", f"{last} {year}", same, group))
        if pair := _two(title, chance):
            asked.append(Asked("title words", " ".join(pair), frozenset({uri}), group))
            asked.append(Asked("author, title", f"{last} {pair[0]}", frozenset({uri}), group))
            asked.append(Asked("title, year", f"{pair[0]} {year}", frozenset({uri}), group))
            if place := _two(venue, chance):
                query = f"{place[0]} {pair[0]}"
                asked.append(Asked("journal, title", query, frozenset({uri}), group))
    return Collected(documents, asked, ("author", "year", "journal", "title"))


def notes(data: Path, chance: random.Random) -> Collected:
    documents, drawn = [], []
    root = data / "documents" / "rulebook"
    for path in sorted(root.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        uri = str(path.relative_to(root))
        blocks = [block for block in text.split("\n\n")[1:] if block.strip()] or [text]
        documents.append(sample(uri, *blocks[:12], title=path.stem, embedded=False))
        drawn.append((uri, path, text))
    asked = []
    chance.shuffle(drawn)
    for uri, path, text in drawn[:ASKED]:
        own, group = frozenset({uri}), path.parent.name
        asked.append(Asked("file", " ".join(words(path.stem)), own, group))
        if pair := _two(text, chance):
            asked.append(Asked("folder, word", f"{group} {pair[0]}", own, group))
            asked.append(Asked("file, word", f"{words(path.stem)[0]} {pair[0]}", own, group))
            asked.append(Asked("two words", " ".join(pair), own, group))
    return Collected(documents, asked, ("file", "folder", "title"))


def _gains(backend: Backend, asked: Sequence[Asked]) -> list[float]:
    """One over the rank of the first right document; 0 if none of ten is."""
    gains = []
    for one in asked:
        hits = backend.signals.search(Signal.KEYWORD, Probe(parse(one.query)), OWNER, 5 * PAGE)
        chunks = backend.documents.chunks([hit.chunk_id for hit in hits], OWNER)
        found = {chunk.id: chunk.document.uri for chunk in chunks}
        uris = list(dict.fromkeys(found[hit.chunk_id] for hit in hits if hit.chunk_id in found))
        ranks = [rank for rank, uri in enumerate(uris[:PAGE], start=1) if uri in one.right]
        gains.append(1 / ranks[0] if ranks else 0.0)
    return gains


def report(name: str, collected: Collected) -> None:
    asked = collected.asked
    shipped = dict(known._WEIGHTS)
    groups = sorted({one.group for one in asked})
    halves = np.array([groups.index(one.group) % 2 for one in asked])
    kinds = sorted({one.kind for one in asked})
    print(f"\n{name}: {len(collected.documents)} documents, {len(asked)} queries")
    with tempfile.TemporaryDirectory() as place:
        library = Path(place) / "library"
        backend = open_embedded(library, incoming=10_000)
        put(backend, *collected.documents)
        backend.close()
        for field in collected.fields:
            by_weight = {}
            for weight in sorted({*WEIGHTS, shipped[field]}):
                known._WEIGHTS[field] = weight
                known._table.cache_clear()
                backend = open_embedded(library, incoming=10_000)  # one keeps words with weights
                by_weight[weight] = np.array(_gains(backend, asked))
                backend.close()
                each = {
                    kind: by_weight[weight][[one.kind == kind for one in asked]].mean()
                    for kind in kinds
                }
                marked = "*" if weight == shipped[field] else " "
                told = "  ".join(f"{kind} {mean:.3f}" for kind, mean in each.items())
                print(f"  {field:8} {weight:3}{marked} {by_weight[weight].mean():.4f}   {told}")
            known._WEIGHTS[field] = shipped[field]
            known._table.cache_clear()
            for half in (0, 1):
                learned = max(by_weight, key=lambda w: by_weight[w][halves != half].mean())
                mine = halves == half
                gain = by_weight[learned][mine].mean()
                before = by_weight[shipped[field]][mine].mean()
                print(f"    best on half {1 - half}: {learned}", end="; ")
                print(f"on {half} {gain:.4f} ({before:.4f})")


def main() -> None:
    asked = arguments(__doc__, "data", only=(str, "one of chat, papers, notes, mails, tags"))
    collections = {"chat": chat, "papers": papers, "notes": notes, "mails": mails, "tags": tagged}
    for name, collect in collections.items():
        if asked.only and name != asked.only:
            continue
        collected = collect(asked.data, random.Random(SEED))
        if collected.documents:
            report(name, collected)
        else:
            print(f"{name}: no documents in {asked.data}")


if __name__ == "__main__":
    main()
