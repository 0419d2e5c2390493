"""How much of a PDF's structure and text the extractor keeps, and how fast it is.

    python -m bench.extraction [--json] [--ocr] [--languages eng] [--papers FOLDER]
                               [--reports 24] [--peers PYTHON]

Every `NAME.pdf` of the folder is compared with `NAME.pdf.json` beside it: another parser's
(science-parse's) sections, abstract and references. That parser errs too, so 100 % is out of reach.

Words are letters only, two or more, NFKC, casefolded, accents dropped; a hyphen inside a word is
dropped on both sides, because that parser joins every word that a line's end broke. A stretch of
text is *kept* word by word: a word counts when at least one of the runs of three neighbouring words
that contain it stands in our text. Parts of our text under a references heading do not count as
text: the chunker leaves them out.

headings      of the sections that have a heading, those where a heading element of ours, after the
              one matched before, has the same letters (the number may be missing on either side;
              one may be the beginning of the other from half of its length: the other parser cuts
              headings of two lines), and at least half of the section's first 12 words stand among
              the 60 words after it (a section without text needs only the match).
abstract      of the papers with an abstract, those where 90 % of its words are kept in elements
              under a heading "Abstract".
bibliography  of the references with a title of three words or more, those whose title (its letters,
              or 80 % of its words as above) stands under a references heading and, if it has four
              words or more, is not also found as an element's beginning or end elsewhere.
body          of all words of all sections with a heading, those kept. `body in order` is stricter:
              the longest common subsequence of the section's words and ours, from difflib.
pages/s       all papers, three times over, through the sandbox that `trivium add` uses, as many
              workers as cores, start of the workers excluded; packing, pipes and unpacking counted.
              `CPU ms a page` is what one process takes for the extraction alone, the least of three
              rounds, collecting garbage as the workers do; other load on the same core's caches
              and hyperthread still shows in it.
--reports     so many annual reports made for the purpose, and small files for one trouble each: see
              `bench.reports` for rows, headers, running heads, order, titles and CPU.
--peers       a Python with kreuzberg and markitdown, which read the same files in the same run: the
              papers (words kept as in `body`, references included), the made files, and the office
              files of `bench.reading_formats` (text F1 by format).
--ocr         every scan with a text file beside it: 1 - (word edit distance / words of the text),
              words as runs of two or more letters and digits, casefolded: the text beside linn
              writes every bullet as a lone 0.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from bench import reading_formats, reports
from bench.harness import Namespace, arguments
from bench.made_pdfs import made_files
from bench.scans import recognise, scans
from trivium.chunk.recursive import RecursiveChunker
from trivium.core.machine import collect_rarely
from trivium.core.types import Element, Extraction
from trivium.extract.pdf import PdfExtractor
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import FACTORY
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

DOCUMENTS = Path(__file__).parents[2] / "shared" / "data" / "documents"
ROUNDS = 3
_REFERENCES = re.compile(
    r"^\W*(?:[\dIVXA-Z]{0,4}[. ]+)?(?:references|bibliography|literatur)", re.I
)
_ABSTRACT = re.compile(r"^\W*(?:abstract|summary)\b", re.I)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*|[IVX]+)\.?\s+")


def _none() -> list[int]:
    return [0, 0]  # found, of


@dataclass(slots=True)
class Score:
    """Counts for one paper: expected and found."""

    name: str
    headings: list[int] = field(default_factory=_none)
    abstract: list[int] = field(default_factory=_none)
    bibliography: list[int] = field(default_factory=_none)
    body: list[int] = field(default_factory=_none)
    body_in_order: list[int] = field(default_factory=_none)
    missed: list[str] = field(default_factory=list)  # for a person to look at


MEASURES = ("headings", "abstract", "bibliography", "body", "body_in_order")


def main() -> None:
    asked = _arguments()
    papers = sorted(asked.papers.glob("*.pdf"))
    papers = [paper for paper in papers if Path(f"{paper}.json").exists()]
    if not papers and not asked.ocr:
        sys.exit(f"No papers with parsed JSON in {asked.papers}.")
    found: dict[str, Any] = {"load_average": os.getloadavg()}
    scores = [judge(paper) for paper in papers]
    found["papers"] = [asdict(score) for score in scores]
    found["total"] = {name: _share(scores, name) for name in MEASURES}
    if papers and not asked.no_speed:
        found["speed"] = speed(papers)
    if asked.reports:
        files = made_files(asked.reports)
        found["made"] = {"trivium": reports.judge(files)}
        if asked.peers:
            found["made"] |= reports.judge_peers(asked.peers, files)
    if asked.peers:
        found["beside"] = beside(papers, asked.peers)
        found["formats"] = reading_formats.office(asked.papers.parent / "office", asked.peers)
    if asked.ocr:
        found["ocr"] = [recognise(path, asked.languages) for path in scans(asked.scans)]
    print(json.dumps(found, indent=1) if asked.json else table(found))


def judge(paper: Path) -> Score:
    """One paper against the other parser's reading of it."""
    given = json.loads(Path(f"{paper}.json").read_text(encoding="utf-8"))["metadata"]
    read = PdfExtractor().extract(Blob(paper.name, paper.read_bytes()))
    ours = Reading(read)
    score = Score(paper.name)
    sections = [s for s in given["sections"] or [] if s["heading"]]
    _judge_headings(score, ours, sections)
    if given.get("abstractText"):
        wanted = words(given["abstractText"])
        kept = _kept(wanted, ours.trigrams(ours.abstract))
        score.abstract = [int(kept >= 0.9 * len(wanted)), 1]
        if not score.abstract[0]:
            score.missed.append(f"abstract: {kept} of {len(wanted)} words")
    _judge_bibliography(score, ours, given["references"] or [])
    body = ours.trigrams(ours.body)
    flat = [word for element in ours.body for word in element]
    for section in sections:
        wanted = words(section["text"])
        kept = _kept(wanted, body)
        score.body = [score.body[0] + kept, score.body[1] + len(wanted)]
        if len(wanted) - kept > 0.05 * len(wanted) + 5:
            score.missed.append(f"body: {kept} of {len(wanted)} words of {section['heading']!r}")
    text = [word for section in sections for word in words(section["text"])]
    blocks = SequenceMatcher(None, text, flat, autojunk=False).get_matching_blocks()
    score.body_in_order = [sum(block.size for block in blocks), len(text)]
    return score


class Reading:
    """Our extraction, as lists of words by where they stand."""

    def __init__(self, read: Extraction) -> None:
        self.headings: list[tuple[str, int]] = []  # letters, and the count of words up to its end
        self.words: list[str] = []
        self.body: list[list[str]] = []
        self.abstract: list[list[str]] = []
        self.references: list[list[str]] = []
        self.outside: list[str] = []  # letters of the elements outside the references
        for element in read.elements:
            self._take(element, read.text[element.start : element.end])

    def _take(self, element: Element, text: str) -> None:
        found = words(text)
        self.words.extend(found)
        if element.kind == "heading":
            self.headings.append((letters(text), len(self.words)))
        if any(_REFERENCES.match(heading) for heading in element.headings):
            self.references.append(found)
            return
        self.body.append(found)
        self.outside.append("".join(found))
        if any(_ABSTRACT.match(heading) for heading in element.headings):
            self.abstract.append(found)

    @staticmethod
    def trigrams(elements: list[list[str]]) -> set[tuple[str, ...]]:
        flat = [word for element in elements for word in element]
        return {tuple(flat[i : i + 3]) for i in range(len(flat))}


def _judge_headings(score: Score, ours: Reading, sections: list[dict[str, str]]) -> None:
    after = 0
    for section in sections:
        score.headings[1] += 1
        wanted = words(section["text"])[:12]
        for index in range(after, len(ours.headings)):
            text, end = ours.headings[index]
            near = set(ours.words[end : end + 60])
            if _same(text, letters(section["heading"])) and (
                sum(word in near for word in wanted) >= 0.5 * len(wanted)
            ):
                score.headings[0] += 1
                after = index + 1
                break
        else:
            score.missed.append(f"heading: {section['heading']!r}")


def _same(ours: str, theirs: str) -> bool:
    if ours == theirs:
        return True
    short, long = sorted((ours, theirs), key=len)
    return len(short) >= 0.5 * len(long) and long.startswith(short)


def _judge_bibliography(score: Score, ours: Reading, references: list[dict[str, Any]]) -> None:
    under = "".join(word for entry in ours.references for word in entry)
    trigrams = ours.trigrams(ours.references)
    for reference in references:
        title = words(reference.get("title") or "")
        if len(title) < 3:
            continue
        score.bibliography[1] += 1
        whole = "".join(title)
        inside = whole in under or _kept(title, trigrams) >= 0.8 * len(title)
        leaked = len(title) >= 4 and any(
            whole in text and len(whole) > 0.3 * len(text) for text in ours.outside
        )
        if inside and not leaked:
            score.bibliography[0] += 1
        else:
            score.missed.append(f"reference: {reference['title']!r}")


def _kept(wanted: list[str], trigrams: set[tuple[str, ...]]) -> int:
    """How many of the words stand in a run of three that is among the trigrams."""
    if len(wanted) < 3:
        known = {word for trigram in trigrams for word in trigram}
        return sum(word in known for word in wanted)
    kept = [False] * len(wanted)
    for at in range(len(wanted) - 2):
        if tuple(wanted[at : at + 3]) in trigrams:
            kept[at : at + 3] = (True, True, True)
    return sum(kept)


def words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"(?<=[^\W\d_])[-‐‑\u00ad](?=[^\W\d_])", "", plain)
    return re.findall(r"[^\W\d_]{2,}", plain)


def letters(heading: str) -> str:
    return "".join(words(_NUMBER.sub("", heading))) or heading.casefold()


def speed(papers: list[Path]) -> dict[str, float]:
    blobs = [Blob(paper.name, paper.read_bytes()) for paper in papers]
    PdfExtractor().extract(blobs[0])  # imports
    gc.collect()
    gc.freeze()
    collect_rarely()  # as the workers of `trivium add` do
    costs = []
    for _ in range(ROUNDS):
        start = time.process_time()
        read = [PdfExtractor().extract(blob) for blob in blobs]
        costs.append(time.process_time() - start)
    cpu = min(costs)
    chunker = RecursiveChunker(Cl100kTokens())
    chunker.chunk(read[0])  # its table of tokens is loaded
    start = time.process_time()
    for one in read:
        chunker.chunk(one)
    chunked = cpu + time.process_time() - start
    pages = sum(map(_pages, read))
    workers = os.cpu_count() or 1
    with Sandbox(workers, extractors=FACTORY, settings={"ocr": "off"}) as sandbox:
        _read_all(sandbox, blobs[:1] * 2 * workers)  # every worker has started
        begin = time.perf_counter()
        total = _read_all(sandbox, blobs * ROUNDS)
        wall = time.perf_counter() - begin
    return {
        "workers": workers,
        "pages_per_second": round(total / wall, 1),
        "cpu_ms_per_page": round(1000 * cpu / pages, 1),
        "cpu_ms_per_page_with_chunks": round(1000 * chunked / pages, 1),
    }


def beside(papers: list[Path], peers: str) -> dict[str, dict[str, float]]:
    """By system: the share of the papers' words that are kept, and processor time a page."""
    sections = {}
    for paper in papers:
        given = json.loads(Path(f"{paper}.json").read_text(encoding="utf-8"))["metadata"]
        headed = [one for one in given["sections"] or [] if one["heading"]]
        sections[str(paper)] = [words(one["text"]) for one in headed]
    pages = sum(
        _pages(PdfExtractor().extract(Blob(paper.name, paper.read_bytes()))) for paper in papers
    )
    table: dict[str, dict[str, float]] = {}
    for system, read in reading_formats.read_by_all(papers, peers).items():
        kept = total = 0
        for path, wanted in sections.items():
            trigrams = Reading.trigrams([words(read[path][0])])
            kept += sum(_kept(section, trigrams) for section in wanted)
            total += sum(map(len, wanted))
        cpu = sum(seconds for _, seconds in read.values())
        table[system] = {
            "words kept, %": round(100 * kept / max(1, total), 2),
            "CPU ms a page": round(1000 * cpu / pages, 1),
        }
    return table


def _read_all(sandbox: Sandbox, blobs: list[Blob]) -> int:
    """The number of pages, after reading all of them."""
    with ThreadPoolExecutor(os.cpu_count()) as readers:
        outcomes = readers.map(lambda blob: sandbox.read_all([blob])[0], blobs)
    return sum(_pages(read) for read in outcomes if isinstance(read, Extraction))


def _pages(read: Extraction) -> int:
    return int(str(read.metadata["pages"]))


def _share(scores: list[Score], name: str) -> float:
    pairs = [getattr(score, name) for score in scores]
    of = sum(pair[1] for pair in pairs)
    return round(sum(pair[0] for pair in pairs) / of, 4) if of else 0.0


def table(found: dict[str, Any]) -> str:
    lines = [f"{'':24}" + "".join(f"{name.replace('_', ' '):>15}" for name in MEASURES)]
    for score in found["papers"]:
        cells = (f"{score[name][0]}/{score[name][1]}" for name in MEASURES)
        lines.append(f"{score['name']:24}" + "".join(f"{cell:>15}" for cell in cells))
    cells = (f"{100 * found['total'][name]:.2f} %" for name in MEASURES)
    lines.append(f"{'all':24}" + "".join(f"{cell:>15}" for cell in cells))
    load = found["load_average"][0]
    for name, value in found.get("speed", {}).items():
        lines.append(f"{name.replace('_', ' ')}: {value}  (load {load:.1f})")
    if "made" in found:
        lines.append(reports.table(found["made"]))
    for system, row in found.get("beside", {}).items():
        lines.append(f"papers, {system}: {row}")
    for system, rows in found.get("formats", {}).items():
        lines += [f"{system} {kind}: {row}" for kind, row in rows.items() if row["text_f1"]]
    for scan in found.get("ocr", []):
        lines.append(
            f"{scan['name']}: {100 * scan['accuracy']:.2f} % of {scan['words']} words,"
            f" {scan['seconds']} s"
        )
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        json=(False, "also lists what was missed"),
        ocr=(False, "measure OCR on the scans too"),
        languages=("", "of OCR; else those of `trivium add`"),
        no_speed=False,
        reports=(24, "made reports; 0: none"),
        peers=("", "a Python with kreuzberg and markitdown"),
        papers=DOCUMENTS / "papers",
        scans=DOCUMENTS / "scans",
    )


if __name__ == "__main__":
    main()
