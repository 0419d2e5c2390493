"""How well a quotation finds its source: sentences of real PDF files, pasted as a viewer copies
them, with none, a tenth, a fifth and three tenths of their words edited.

    python -m bench.quote --data ../shared/data [--more FOLDER] [--sentences 1000] [--failures]

The sentences are read from the pages by pdfium, not by Trivium's own reader, so line breaks,
hyphens and ligatures are in them as in a paste. Lines that are printed on several pages (running
heads) are left out: they are no part of the sentence that goes on below them. Every fifth paper is
left out of the library: its sentences are foreign, and a source claimed for one is false.
Boilerplate isn't foreign: a paper of the library has it too, perhaps with a few words changed (six
tenths of its runs of four words). A right answer has the right document and the page; where a
paragraph runs over two pages, both may be named. A sentence that stands word for word on several
pages or in several papers comes from each of them, and counts once. An edit replaces a word by one
of another paper (six in ten), leaves it out, or adds one.
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
from trivium.text.normalise import fold

SEED = 21
SHARES = (0.0, 0.1, 0.2, 0.3)
GOALS = (0.99, 0.98, 0.95, 0.90)
FEWEST, MOST = 8, 45  # words of a sentence
LEFT_OUT = 5  # every fifth paper
RUNNING, SHORTEST_HEAD = 3, 10  # pages that a running head is on; its letters
RUN, BOILERPLATE = 4, 0.6  # words of a run; share of a sentence's runs that another paper has
_REFERENCES = re.compile(r"^\s*(?:references|bibliography)\s*$", re.I | re.M)
_PROSE = re.compile(r"[A-Z][^|{}\\=<>]+[.!?]$", re.S)


@dataclass(frozen=True, slots=True)
class Pasted:
    text: str
    paper: str  # file name
    page: int


def pages(path: Path) -> list[str]:
    """The text of a paper's pages up to its references, without running heads."""
    document = pypdfium2.PdfDocument(path)
    texts = [page.get_textpage().get_text_bounded() for page in document]
    texts = [re.sub("[\ufffe\x02]", "-\n", text.replace("\r\n", "\n")) for text in texts]
    often = Counter(key for text in texts for key in {_key(line) for line in text.split("\n")})
    del often[""]
    kept = []
    for text in texts:
        end = _REFERENCES.search(text)
        lines = text[: end.start() if end else None].split("\n")
        kept.append("\n".join(line for line in lines if often[_key(line)] < RUNNING))
        if end:
            break
    return kept


def _key(line: str) -> str:
    """What running heads have in common: all but the page's number. Empty for what is too short."""
    letters = re.sub(r"[\W\d_]", "", line)
    return letters if len(letters) >= SHORTEST_HEAD else ""


def sentences(path: Path) -> Iterator[Pasted]:
    """Sentences of a paper's pages up to its references."""
    for number, body in enumerate(pages(path), start=1):
        flat = re.sub(r"(?<!\n)\n(?!\n)", "\x00", body)  # a line's end is no end of a sentence
        cuts = [0, *boundaries.sentences(flat.replace("\x00", " ")), len(flat)]
        for a, b in pairwise(cuts):
            part = flat[a:b].replace("\x00", "\n").strip()
            words = part.split()
            letters = sum(word.strip(".,;:()").isalpha() for word in words)
            is_prose = _PROSE.fullmatch(part) and letters >= 0.8 * len(words)
            if FEWEST <= len(words) <= MOST and is_prose:
                yield Pasted(part, path.name, number)


def letters_of(text: str) -> str:
    """Letters and digits alone: hyphens, blanks and signs differ from page to page."""
    return re.sub(r"[\W_]", "", fold(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", re.sub(r"-\n", "", text).casefold())
    return set(zip(*(words[at:] for at in range(RUN)), strict=False))


def stands_in(one: Pasted, papers: Mapping[str, set[tuple[str, ...]]]) -> bool:
    """Whether one of these papers has a sentence, with few words changed."""
    runs = _runs(one.text)
    return any(len(runs & others) >= BOILERPLATE * len(runs) for others in papers.values())


def sources_of(one: Pasted, printed: Mapping[tuple[str, int], str]) -> set[tuple[str, int]]:
    """Every paper and page where a sentence stands word for word."""
    letters = letters_of(one.text)
    return {(one.paper, one.page), *(place for place, text in printed.items() if letters in text)}


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
    # The first of those that are printed several times.
    own = list({letters_of(one.text): one for one in reversed(own)}.values())
    foreign = list({letters_of(one.text): one for one in reversed(foreign)}.values())
    known = {
        path.name: set().union(*(_runs(one.text) for one in read[path]))
        for at, path in enumerate(papers)
        if at % LEFT_OUT
    }
    boilerplate = [one for one in foreign if stands_in(one, known)]
    foreign = [one for one in foreign if one not in boilerplate]
    random = Random(SEED)
    own = random.sample(own, min(given.sentences, len(own)))
    printed = {
        (path.name, number): letters_of(text)
        for at, path in enumerate(papers)
        if at % LEFT_OUT
        for number, text in enumerate(pages(path), start=1)
    }
    sources = [(one.text, sources_of(one, printed)) for one in own]
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
            report(library, sources, foreign, others, failures=given.failures)


def report(
    library: Library,
    own: list[tuple[str, set[tuple[str, int]]]],
    foreign: list[Pasted],
    others: list[str],
    *,
    failures: bool,
) -> None:
    print("| words edited | document | document and page | goal | not found | ms (processor) |")
    print("|---|---|---|---|---|---|")
    for share, goal in zip(SHARES, GOALS, strict=True):
        random, right, there, none = Random(SEED), 0, 0, 0
        began = process_time()
        for text, sources in own:
            told = edited(text, share, random, others)
            places = library.quote(told, 1).places
            none += not places
            claimed = [(Path(p.uri).name, page) for p in places for page in p.pages]
            there += any(name == paper for name, _ in claimed[:1] for paper, _ in sources)
            on_page = not sources.isdisjoint(claimed) and len(claimed) <= 2
            right += on_page
            if failures and not on_page:
                found = [(Path(p.uri).name, p.pages, p.kept, p.text) for p in places]
                print(f"  {share:.0%} {sorted(sources)}: {told!r} -> {found}")
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
