"""How well a quotation finds its source: sentences of real PDF files, pasted as a viewer copies
them, with none, a tenth, a fifth and three tenths of their words edited.

    python -m bench.quote --data ../shared/data [--more FOLDER] [--sentences 1000] [--failures]

The sentences are read from the pages by pdfium, not by Trivium's own reader, so line breaks,
hyphens and ligatures are in them as in a paste. Every fifth paper is left out of the library: its
sentences are foreign, and a source claimed for one is false. Boilerplate isn't foreign: a paper of
the library has it too, perhaps with a few words changed (six tenths of its runs of four words). A
right answer has the right document and the page; where a paragraph runs over two pages, both may be
named. An edit replaces a word by one of another paper (six in ten), leaves it out, or adds one.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from time import process_time

import pypdfium2

from bench.harness import arguments
from trivium.config import load
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY
from trivium.text import boundaries

SEED = 21
SHARES = (0.0, 0.1, 0.2, 0.3)
GOALS = (0.99, 0.98, 0.95, 0.90)
FEWEST, MOST = 8, 45  # words of a sentence
LEFT_OUT = 5  # every fifth paper
RUN, BOILERPLATE = 4, 0.6  # words of a run; share of a sentence's runs that another paper has
_REFERENCES = re.compile(r"^\s*(?:references|bibliography)\s*$", re.I | re.M)
_PROSE = re.compile(r"[A-Z][^|{}\\=<>]+[.!?]$", re.S)


@dataclass(frozen=True, slots=True)
class Pasted:
    text: str
    paper: str  # file name
    page: int


def sentences(path: Path) -> Iterator[Pasted]:
    """Sentences of a paper's pages up to its references."""
    document = pypdfium2.PdfDocument(path)
    for number in range(len(document)):
        text = document[number].get_textpage().get_text_bounded()
        text = text.replace("\r\n", "\n").replace("\ufffe", "-\n").replace("\x02", "-\n")
        end = _REFERENCES.search(text)
        body = text[: end.start()] if end else text
        flat = re.sub(r"(?<!\n)\n(?!\n)", "\x00", body)  # a line's end is no end of a sentence
        cuts = [0, *boundaries.sentences(flat.replace("\x00", " ")), len(flat)]
        for a, b in pairwise(cuts):
            part = flat[a:b].replace("\x00", "\n").strip()
            words = part.split()
            letters = sum(word.strip(".,;:()").isalpha() for word in words)
            is_prose = _PROSE.fullmatch(part) and letters >= 0.8 * len(words)
            if FEWEST <= len(words) <= MOST and is_prose:
                yield Pasted(part, path.name, number + 1)
        if end:
            return


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", re.sub(r"-\n", "", text).casefold())
    return set(zip(*(words[at:] for at in range(RUN)), strict=False))


def stands_in(one: Pasted, papers: Mapping[str, set[tuple[str, ...]]]) -> bool:
    """Whether one of these papers has a sentence, with few words changed."""
    runs = _runs(one.text)
    return any(len(runs & others) >= BOILERPLATE * len(runs) for others in papers.values())


def edited(text: str, share: float, random: Random, others: list[str]) -> str:
    words = text.split(" ") if share == 0 else text.split()
    count = round(share * len(words))
    for at in sorted(random.sample(range(len(words)), count), reverse=True):
        chance = random.random()
        if chance < 0.6:
            words[at] = random.choice(others)
        elif chance < 0.8:
            del words[at]
        else:
            words.insert(at, random.choice(others))
    return " ".join(words)


def main() -> None:
    given = arguments(
        __doc__,
        "data",
        sentences=1000,
        papers=(int, "only the first so many"),
        more=(Path, "folder with more PDF files"),
        failures=False,
    )
    papers = sorted((given.data / "documents" / "papers").glob("*.pdf"))[: given.papers]
    papers += sorted(given.more.glob("*.pdf")) if given.more else []
    read = {path: list(sentences(path)) for path in papers}
    foreign = [one for at, path in enumerate(papers) if at % LEFT_OUT == 0 for one in read[path]]
    own = [one for at, path in enumerate(papers) if at % LEFT_OUT for one in read[path]]
    known = {
        path.name: set().union(*(_runs(one.text) for one in read[path]))
        for at, path in enumerate(papers)
        if at % LEFT_OUT
    }
    boilerplate = [one for one in foreign if stands_in(one, known)]
    foreign = [one for one in foreign if one not in boilerplate]
    often = Counter(" ".join(one.text.split()) for one in own)
    own = [one for one in own if often[" ".join(one.text.split())] == 1]
    random = Random(SEED)
    own = random.sample(own, min(given.sentences, len(own)))
    foreign = random.sample(foreign, min(given.sentences, len(foreign)))
    if not own or not foreign:
        print(f"{len(papers)} papers hold too few sentences to measure.")
        return
    others = [word for one in foreign for word in one.text.split() if word.isalpha()]
    with tempfile.TemporaryDirectory() as folder:
        # Finding a quotation needs no embedding model, so none is loaded.
        backend = open_embedded(Path(folder) / "quote")
        with Library(backend, TOY, load().settings) as library:
            library.add([str(path) for at, path in enumerate(papers) if at % LEFT_OUT])
            chunks = sum(one.chunks for one in library.documents.all())
            print(f"{len(papers)} papers, {chunks} passages")
            print(f"{len(own)} sentences, {len(foreign)} foreign ones")
            print(f"{len(boilerplate)} sentences of papers left out stand in another one too")
            report(library, own, foreign, others, failures=given.failures)


def report(
    library: Library, own: list[Pasted], foreign: list[Pasted], others: list[str], *, failures: bool
) -> None:
    print("| words edited | document | document and page | goal | not found | ms (processor) |")
    print("|---|---|---|---|---|---|")
    for share, goal in zip(SHARES, GOALS, strict=True):
        random, right, there, none = Random(SEED), 0, 0, 0
        began = process_time()
        for one in own:
            told = edited(one.text, share, random, others)
            places = library.quote(told, 1).places
            none += not places
            is_right = bool(places) and Path(places[0].uri).name == one.paper
            there += is_right
            on_page = is_right and one.page in places[0].pages and len(places[0].pages) <= 2
            right += on_page
            if failures and not on_page:
                found = [(Path(p.uri).name, p.pages, p.kept) for p in places]
                print(f"  {share:.0%} {one.paper} p. {one.page}: {told!r} -> {found}")
        took = 1000 * (process_time() - began) / len(own)
        print(
            f"| {share:.0%} | {there / len(own):.1%} | {right / len(own):.1%} | {goal:.0%}"
            f" | {none / len(own):.1%} | {took:.0f} |",
            flush=True,
        )
    false = [(one, q.places[0]) for one in foreign if (q := library.quote(one.text, 1)).places]
    print(f"Foreign sentences with a claimed source: {len(false) / len(foreign):.2%} (goal 1 %)")
    for one, place in false if failures else ():
        print(f"  {place.kept} {one.text!r} -> {place.text!r}")


if __name__ == "__main__":
    main()
