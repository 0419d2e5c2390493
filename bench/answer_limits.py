"""Measures the limits of answering: which questions are refused, which statements count as
supported, and which get a citation that they lacked.

    python -m bench.answer_limits --data ../shared/data [--questions 150] [--documents 1000]
        [--sets scifact,xquad_en]

Questions with a judged passage among those found, and questions of other corpora: how many are
refused before a model is asked. Sentences with their own text, with another text, and with a
changed number, date or name or turned into their opposite: how many count as supported, and how
many would be shown with a mark. Sentences without a citation among eight passages: how many get the
right one, and how many get one though none of the eight says so. These are figures of quality,
so other work on the machine doesn't matter. Libraries are built once, in the cache.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from bench.harness import arguments
from trivium.answer.check import Checker, may_be_shown
from trivium.answer.passages import Passage, numbered
from trivium.answer.statements import Sentence
from trivium.answer.support import Words, pieces
from trivium.config import Settings, load
from trivium.core.answers import Citation, Statement
from trivium.core.types import OWNER
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.text.lexicon.negation import denies

SETS = ("scifact", "xquad_en", "xquad_de")
FEWEST_WORDS = 6  # of a sentence that is tried
OWN, CLAIM = "a part of its sentence", "a claim's own abstract"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b(?=\s\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_VERB = re.compile(r"\b(?:is|was|are|were|can|could|has been|have been|will|would)\b")


@dataclass(frozen=True, slots=True)
class Judged:
    name: str
    texts: dict[str, str]
    questions: list[tuple[str, frozenset[str]]]  # and the documents that answer them


def read(folder: Path, most: int, documents: int) -> Judged:
    """This many questions, with the documents that answer them and others to fill up."""
    texts = {
        str(row["_id"]): f"{row.get('title') or ''}\n\n{row['text']}".strip()
        for row in map(json.loads, (folder / "corpus.jsonl").open(encoding="utf-8"))
    }
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, answer, score = line.split("\t")
        if int(score) > 0:
            relevant.setdefault(query, set()).add(answer)
    rows = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    asked = [(row["text"], frozenset(relevant[i])) for row in rows if (i := row["_id"]) in relevant]
    random.Random(1).shuffle(asked)
    asked = asked[:most]
    wanted = {answer for _, answers in asked for answer in answers}
    kept = [i for i in texts if i in wanted]
    kept += [i for i in texts if i not in wanted][: max(0, documents - len(kept))]
    return Judged(folder.name, {i: texts[i] for i in kept}, asked)


def opened(judged: Judged, settings: Settings, folder: Path) -> Library:
    """The set's library, built once."""
    place = settings.cache / "answers" / f"{judged.name}-{len(judged.texts)}"
    library = Library.open(place, settings=settings)
    if not library.documents.all():
        files = folder / place.name
        files.mkdir(parents=True, exist_ok=True)
        for name, text in judged.texts.items():
            (files / f"{name}.txt").write_text(text, encoding="utf-8")
        library.add(files)
    return library


def refused(library: Library, judged: Judged, foreign: Sequence[str]) -> None:
    answerable = wrongly = rightly = 0
    for question, documents in judged.questions:
        found = library.search(question, 8, options=SearchOptions(rerank=True))
        if {Path(r.found.document.uri).stem for r in found} & documents:
            answerable += 1
            wrongly += found.weak
    for question in foreign:
        found = library.search(question, 8, options=SearchOptions(rerank=True))
        rightly += found.weak
    print(
        f"{judged.name:10} refused: {wrongly} of {answerable} answerable,"
        f" {rightly} of {len(foreign)} foreign"
    )


def passage(text: str, language: str) -> Passage:
    place = Citation(1, 1, 1, 0, "", "", "", (), (), None, "", text)
    return Passage(place, text, language)


def pairs(judged: Judged) -> Iterator[tuple[str, str, str]]:
    """What kind of pair, a sentence, and a text."""
    for one, other in list(pairwise(judged.texts.values()))[:100]:
        found = [
            p for p in pieces(one.partition("\n\n")[2] or one) if len(p.split()) > FEWEST_WORDS
        ]
        if not found:
            continue
        sentence = random.Random(one).choice(found)
        words = sentence.split()
        yield OWN, " ".join(words[: max(5, int(len(words) * 0.7))]), one
        yield "the next document", sentence, other
        number = re.search(r"\d+", sentence)
        if number:
            changed = str(int(number[0]) + 3)
            yield "another number", sentence.replace(number[0], changed, 1), one
        month = _MONTH.search(sentence)
        if month:
            at = (MONTHS.index(month[0]) + 3) % len(MONTHS)
            yield "another month", sentence.replace(month[0], MONTHS[at], 1), one
        names = [m[0] for m in _NAME.finditer(sentence)]
        others = [m[0] for m in _NAME.finditer(other) if m[0] not in one]
        if names and others:
            yield "another name", sentence.replace(names[0], others[0], 1), one
        verb = _VERB.search(sentence)
        if verb and not denies(sentence):
            yield "denied", f"{sentence[: verb.end()]} not{sentence[verb.end() :]}", one
    if judged.name == "scifact":
        for claim, documents in judged.questions[:100]:
            yield CLAIM, claim, judged.texts[min(documents)]


def borne_out(library: Library, judged: Judged, language: str) -> None:
    told: dict[str, list[Statement]] = {}
    for kind, sentence, text in pairs(judged):
        checker = Checker(_words(library), library.embedder, [passage(text, language)])
        told.setdefault(kind, []).extend(checker.check(f"{sentence.rstrip('.')} [1]."))
    for kind, found in told.items():
        print(
            f"{judged.name:10} {kind}: {sum(one.supported for one in found)} of {len(found)} borne"
            f" out, {sum(may_be_shown(one) for one in found)} shown"
        )


def attributed(library: Library, judged: Judged, language: str) -> None:
    """Sentences without a citation, among the passages that search finds for them."""
    right = wrong = without = asked = 0
    for kind, sentence, text in pairs(judged):
        if kind not in (OWN, CLAIM):
            continue
        found = list(numbered(library.search(sentence, 8)))
        start = " ".join(text.split())[:200]
        own = [p.number for p in found if " ".join(p.text.split())[:200] == start]
        if not own:
            continue
        asked += 1
        said = Sentence(sentence, (), True)
        one = Checker(_words(library), library.embedder, found).attributed(said, language)
        right += one is not None and one.citations[0] in own
        wrong += one is not None and one.citations[0] not in own
        rest = [p for p in found if p.number not in own]
        without += (
            Checker(_words(library), library.embedder, rest).attributed(said, language) is not None
        )
    print(
        f"{judged.name:10} without a citation: of {asked} {right} get the right one, {wrong}"
        f" another; where the right one is missing, {without} get one"
    )


def _words(library: Library) -> Words:
    return Words(partial(library.backend.signals.rarities, where=OWNER))


def main() -> None:
    given = arguments(
        __doc__, "data", questions=150, documents=1000, sets=(",".join(SETS), "comma-separated")
    )
    settings = load().settings
    data, names = given.data / "retrieval", given.sets.split(",")
    sets = [read(data / name, given.questions, given.documents) for name in names]
    for judged in sets:
        # The two halves of xquad are one text in two languages: neither is foreign to the other.
        others = [o for o in sets if o.name.partition("_")[0] != judged.name.partition("_")[0]]
        foreign = [q for other in others for q, _ in other.questions[: given.questions // 2]]
        with opened(judged, settings, settings.cache / "answers" / "files") as library:
            refused(library, judged, foreign)
            language = "de" if judged.name.endswith("_de") else "en"
            borne_out(library, judged, language)
            attributed(library, judged, language)


if __name__ == "__main__":
    main()
