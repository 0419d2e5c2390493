"""The match in small libraries: judged queries, foreign ones, and items that people know.

    python -m bench.known_items --data ../shared/data --sets xquad_en,cranfield --sizes 100,30,10,3

Libraries of the first sizes are shrunk to the next, so each text is embedded once. Known items are
drawn from the documents: a name, a number, a phrase of four words, the words of a title, a date; if
the index says that only one document has the words, they count as alone. Prints, for each size, how
often the first result is right, the mean match of right and wrong first results, the error of
calibration over the ten best, and AUROC of the first match of answerable against foreign queries;
for each kind of known item, how often the item is first and has a match of .7 or more.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import arguments
from trivium.config import load
from trivium.core.results import Results
from trivium.core.types import Labels
from trivium.evaluate.dataset import load_dataset
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.ports import SourceItem
from trivium.text.lexicon.dates import dates
from trivium.text.lexicon.names import names

Row = dict[str, Any]
SEED = 19
ASKED = 30  # judged queries, and foreign ones
FLOOR = 0.11  # search.floor
FOREIGN = 10  # queries of other sets
ITEMS = 6  # known items of each kind
BINS = 10
PAGE = 10
_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]{2,}\d(?![\w.,])")
_WORD = re.compile(r"[^\W\d_]{3,}")


def known_items(title: str, text: str, language: str, chance: random.Random) -> Mapping[str, str]:
    """What a person may remember of a document, by kind."""
    found = {}
    several = [name for name in names(text, language) if " " in name]
    numbers = _NUMBER.findall(text)
    words = text.split()
    if several:
        found["name"] = chance.choice(several)
    if numbers:
        found["number"] = chance.choice(numbers)
    if len(words) > 12:
        at = chance.randrange(len(words) - 4)
        found["phrase"] = " ".join(words[at : at + 4])
    if len(_WORD.findall(title)) > 2:
        found["title"] = " ".join(_WORD.findall(title)[:6])
    if said := [one.text for one in dates(text, language) if one.month and one.day]:
        found["date"] = chance.choice(said)
    return found


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    if not right or not wrong:
        return float("nan")
    mine, theirs = np.array(right)[:, None], np.array(wrong)[None, :]
    return float(((mine > theirs) + 0.5 * (mine == theirs)).mean())


def calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    if not pairs:
        return float("nan")
    matches, relevant = np.array([m for m, _ in pairs]), np.array([r for _, r in pairs])
    bins = np.minimum((matches * BINS).astype(int), BINS - 1)
    parts = [
        (bins == at).mean() * abs(matches[bins == at].mean() - relevant[bins == at].mean())
        for at in np.unique(bins)
    ]
    return float(sum(parts))


def rows(
    data: Path, name: str, sizes: Sequence[int], others: Sequence[str], settings: Mapping[str, str]
) -> Iterator[Row]:
    """One for each query and size: its kind, and match and relevance of its ten best documents."""
    dataset, chance = load_dataset(data / "retrieval" / name), random.Random(SEED)
    items = {item.uri: item for item in dataset.items()}
    judged = {
        query: {uri for uri, grade in of_query.items() if grade > 0 and uri in items}
        for query, of_query in dataset.judgments.items()
    }
    answered = sorted(q for q, docs in judged.items() if docs and q in dataset.queries)
    chance.shuffle(answered)
    kept: dict[str, None] = {}
    for query in answered:
        for uri in sorted(judged[query])[:3]:
            kept.setdefault(uri)
    rest = sorted(items.keys() - kept.keys())
    chance.shuffle(rest)
    order = [*kept, *rest]
    foreign = [
        text
        for other in others
        if other != name
        for text in sorted(load_dataset(data / "retrieval" / other).queries.values())[:FOREIGN]
    ]
    with (
        tempfile.TemporaryDirectory() as place,
        Library.open(Path(place) / "library", settings=load(settings).settings) as library,
    ):
        library.add_from(_Chosen([items[uri] for uri in order[: sizes[0]]]), Labels())
        for size in sizes:
            alive = set(order[:size])
            gone = [d.id for d in library.documents.all() if d.uri not in alive]
            if gone:
                library.remove(gone)
            some = [query for query in answered if judged[query] & alive][:ASKED]
            asked = [("judged", dataset.queries[query], judged[query]) for query in some]
            asked += [("foreign", text, set()) for text in foreign[:ASKED]]
            for kind, text, right in asked:
                yield _row(kind, size, name, _search(library, text), right)
            yield from _known(library, size, name, random.Random(SEED))


@dataclass(frozen=True)
class _Chosen:
    """A source of some documents of a corpus."""

    chosen: list[SourceItem]

    def items(self) -> Iterator[SourceItem]:
        return iter(self.chosen)


def _search(library: Library, text: str) -> Results:
    return library.search(text, options=SearchOptions(by="document", limit=PAGE))


def _known(library: Library, size: int, name: str, chance: random.Random) -> Iterator[Row]:
    documents = library.documents.all()
    chance.shuffle(documents)
    counted: dict[str, int] = defaultdict(int)
    for document in documents:
        text = library.documents.text(document.id)
        for kind, query in known_items(document.title, text, document.language, chance).items():
            if counted[kind] >= ITEMS:
                continue
            counted[kind] += 1
            found = _search(library, query)
            row = _row(kind, size, name, found, {document.uri})
            row["alone"] = bool(found and "no other document has" in found[0].why.lower())
            row["query"] = query
            yield row


def _row(kind: str, size: int, name: str, found: Results, right: set[str]) -> Row:
    listed = [(round(r.match, 4), r.found.document.uri in right) for r in found]
    return {"kind": kind, "size": size, "set": name, "listed": listed}


def report(every: Sequence[Row]) -> None:
    for size in sorted({row["size"] for row in every}):
        mine = [row for row in every if row["size"] == size]
        judged = [row["listed"] for row in mine if row["kind"] == "judged" and row["listed"]]
        foreign = [row["listed"] for row in mine if row["kind"] == "foreign"]
        first = [one[0] for one in judged]
        right, wrong = [m for m, r in first if r], [m for m, r in first if not r]
        pairs = [pair for one in (*judged, *foreign) for pair in one]
        tops = [one[0][0] if one else 0.0 for one in foreign]
        print(f"{size:>4} documents: {len(judged)} queries", end=", ")
        print(f"first right {len(right) / max(1, len(first)):.2f}", end=", ")
        print(f"mean match right {np.mean(right or [0]):.2f} wrong {np.mean(wrong or [0]):.2f}")
        print(f"       right under .11 {np.mean([m < FLOOR for m in right] or [0]):.3f}", end=", ")
        print(f"foreign above {np.mean([m >= FLOOR for m in tops] or [0]):.3f}", end=", ")
        print(f"error {calibration_error(pairs):.3f}", end=", ")
        print(f"AUROC {auroc([m for m, _ in first], tops):.3f}")
        for kind in ("name", "number", "phrase", "title", "date"):
            some = [row for row in mine if row["kind"] == kind]
            found = [row for row in some if row["listed"] and row["listed"][0][1]]
            alone = [row for row in some if row.get("alone")]
            sure = [row for row in alone if row["listed"][0][0] >= 0.7]
            print(f"       {kind:<7} {len(some):>3} queries, first {len(found):>3}", end="; ")
            print(f"alone {len(alone):>3}, of these .7 or more {len(sure):>3}")


def main() -> None:
    asked = arguments(
        __doc__,
        "data",
        sets="xquad_en,cranfield,mlquestions,nfcorpus,scifact",
        sizes=("100,30,10,3", "largest first"),
        set={"dest": "settings", "action": "append", "default": [], "metavar": "KEY=VALUE"},
        keep=(Path, "write every row here, as JSON lines"),
    )
    names_, sizes = asked.sets.split(","), [int(size) for size in asked.sizes.split(",")]
    settings = dict(one.split("=", 1) for one in asked.settings)
    every: list[Row] = []
    for name in names_:
        every += rows(asked.data, name, sizes, names_, settings)
        if asked.keep:
            asked.keep.write_text("\n".join(json.dumps(row) for row in every), encoding="utf-8")
    report(every)


if __name__ == "__main__":
    main()
