"""How well tables, running heads, reading order and titles of PDF files come through.

    python -m bench.reports [--json] [--reports 24] [--peers PYTHON] [--save FOLDER]

The files are made by `bench.made_pdfs`, so every row, header and head is known.

own line      of all rows of tables, those whose label and values, and nothing else, are one line of
              the text. Blanks, bars, dollar signs, dots that lead and kinds of dashes do not count.
together      those whose label and values stand together in the text, lines or not.
wrong header  of the tables found that have a header, those whose header is a row of figures.
no header     of the tables printed with a header, those where none of their rows has one.
under name    of the values in rows under a header, those that stand below the name of their column.
kept          of the lines that look like running heads or page numbers but are text, those found.
not repeated  of the running heads, those found once (beside the heading of the same words).
numbers dropped  of the feet with page numbers, those that are no line of the text.
ordered       of the stretches of text that must be read in one go, those that stand in the text.
sections      of the sections of a made contract, those found as headings with their whole title.
titles        of the reports, those whose title names the company.
CPU ms a page of the extraction alone, and with chunks.

`--peers` is a Python with kreuzberg and markitdown: both read the same files; they have no headers.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import arguments
from bench.made_pdfs import Made, made_files
from trivium.chunk.recursive import RecursiveChunker
from trivium.core.types import Extraction
from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

_DROPPED = re.compile(r"[\s|$*#_]+|\.{2,}")
_DASHES = str.maketrans(dict.fromkeys("–—−-", ""))
_PEER = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[2])
if sys.argv[1] == "kreuzberg":
    import kreuzberg
    read = lambda path: kreuzberg.extract_file_sync(str(path)).content
else:
    import markitdown
    reader = markitdown.MarkItDown()
    read = lambda path: reader.convert(str(path)).text_content
paths = sorted(folder.glob("*.pdf"))
read(paths[0])
start = time.process_time()
texts = {path.name: read(path) for path in paths}
print(json.dumps({"cpu": time.process_time() - start, "texts": texts}))
"""


def bare(text: str) -> str:
    """Without what programs print differently."""
    return _DROPPED.sub("", text.translate(_DASHES)).casefold()


class Counts:
    """Found and expected, by measure, and what was missed."""

    def __init__(self) -> None:
        self.found: dict[str, list[int]] = {}
        self.missed: list[str] = []

    def add(self, measure: str, good: bool, what: str = "") -> None:
        pair = self.found.setdefault(measure, [0, 0])
        pair[0] += good
        pair[1] += 1
        if not good and what:
            self.missed.append(f"{measure}: {what}")

    def shares(self) -> dict[str, float]:
        return {name: round(100 * good / of, 2) for name, (good, of) in self.found.items()}


def judge_text(made: Made, text: str, counts: Counts) -> None:
    """Measures that need only a program's text."""
    lines = {bare(line) for line in text.split("\n")}
    whole = bare(text)
    for grid in made.grids:
        for row in grid.rows:
            wanted = bare(row.printed)
            counts.add("own line", wanted in lines, f"{made.name} {row.printed}")
            counts.add("together", wanted in whole, f"{made.name} {row.printed}")
    for line in made.kept:
        wanted = bare(line)
        times = made.kept.count(line)
        counts.add("kept", whole.count(wanted) >= times, f"{made.name} {line}")
    for line in made.once:
        counts.add("not repeated", whole.count(bare(line)) <= 2, f"{made.name} {line}")
    printed = {line.strip() for line in text.split("\n")}
    for line in made.numbers[1:]:
        counts.add("numbers dropped", line not in printed, f"{made.name} {line}")
    flat = " ".join(text.split())
    for stretch in made.ordered:
        counts.add("ordered", stretch in flat, f"{made.name} {stretch}")


def judge_tables(made: Made, read: Extraction, counts: Counts) -> None:
    """Headers, and the names above values."""
    truth = {bare(row.printed): (row, grid) for grid in made.grids for row in grid.rows}
    headed: set[int] = set()
    for element in read.elements:
        if element.kind not in ("table", "row"):
            continue
        header = element.header
        counts.add(
            "right header", bare(header) not in truth, f"{made.name} {header}"
        ) if header else 0
        names = [name.strip() for name in header.split(" | ")]
        for line in read.text[element.start : element.end].split("\n"):
            if (known := truth.get(bare(line))) is None or not header:
                continue
            row, grid = known
            headed.add(id(grid))
            cells = [cell.strip() for cell in line.split(" | ")]
            if grid.names:
                _judge_values(made, row.values, grid.names, cells, names, counts)
    for grid in made.grids:
        if grid.names and len(grid.rows) > 2:
            counts.add("has header", id(grid) in headed, f"{made.name} {grid.rows[0].printed}")
    headings = [read.text[e.start : e.end] for e in read.elements if e.kind == "heading"]
    for section in made.sections:
        counts.add("sections", section in headings, f"{made.name} {section} of {headings}")
    if made.title:
        named = bare(made.title) in bare(read.title)
        counts.add("titles", named, f"{made.name} {read.title}")


def _judge_values(
    made: Made,
    values: Sequence[str],
    wanted: Sequence[str],
    cells: Sequence[str],
    names: Sequence[str],
    counts: Counts,
) -> None:
    at = 1
    for value, name in zip(values, wanted, strict=True):
        place = next((i for i in range(at, len(cells)) if bare(cells[i]) == bare(value)), None)
        at = at if place is None else place + 1
        good = place is not None and place < len(names) and name in names[place]
        counts.add(
            "under name", good, f"{made.name} {value} of {cells} not under {name} of {names}"
        )


def judge(files: Sequence[Made]) -> dict[str, Any]:
    """Our reading of every file, with its time."""
    counts = Counts()
    extractor, chunker = PdfExtractor(), RecursiveChunker(Cl100kTokens())
    extractor.extract(Blob(files[0].name, files[0].data))
    spent = chunked = 0.0
    for made in files:
        start = time.process_time()
        try:
            read = extractor.extract(Blob(made.name, made.data))
        except Exception as reason:
            counts.add("read", False, f"{made.name}: {reason}")
            judge_text(made, "", counts)
            continue
        middle = time.process_time()
        chunker.chunk(read)
        spent += middle - start
        chunked += time.process_time() - start
        counts.add("read", True)
        judge_text(made, read.text, counts)
        judge_tables(made, read, counts)
    pages = sum(made.pages for made in files)
    return {
        "measures": counts.shares(),
        "counts": counts.found,
        "cpu_ms_per_page": round(1000 * spent / pages, 1),
        "cpu_ms_per_page_with_chunks": round(1000 * chunked / pages, 1),
        "missed": counts.missed,
    }


def judge_peers(python: str, files: Sequence[Made]) -> dict[str, dict[str, Any]]:
    """kreuzberg's and markitdown's reading of the same files."""
    return {name: judge_peer(name, python, files) for name in ("kreuzberg", "markitdown")}


def judge_peer(name: str, python: str, files: Sequence[Made]) -> dict[str, Any]:
    """A peer's reading of the same files, in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        for made in files:
            (Path(folder) / made.name).write_bytes(made.data)
        command = [python, "-c", _PEER, name, folder]
        done = subprocess.run(command, capture_output=True, check=True, timeout=600)
    found = json.loads(done.stdout)
    counts = Counts()
    for made in files:
        judge_text(made, found["texts"].get(made.name, ""), counts)
    return {
        "measures": counts.shares(),
        "cpu_ms_per_page": round(1000 * found["cpu"] / sum(made.pages for made in files), 1),
        "missed": counts.missed,
    }


def main() -> None:
    asked = arguments(
        __doc__,
        json=(False, "also lists what was missed"),
        reports=24,
        peers=("", "a Python with kreuzberg and markitdown"),
        save=(Path, "write the files here, to look at them"),
    )
    files = made_files(asked.reports)
    if asked.save:
        asked.save.mkdir(parents=True, exist_ok=True)
        for made in files:
            (asked.save / made.name).write_bytes(made.data)
    found = {"trivium": judge(files)}
    if asked.peers:
        found |= judge_peers(asked.peers, files)
    print(json.dumps(found, indent=1) if asked.json else table(found))


def table(found: dict[str, Any]) -> str:
    lines = [f"{'':28}" + "".join(f"{name:>12}" for name in found)]
    measures = list(dict.fromkeys(m for one in found.values() for m in one["measures"]))
    for measure in measures:
        cells = (one["measures"].get(measure) for one in found.values())
        lines.append(f"{measure:28}" + "".join(f"{'' if c is None else c:>12}" for c in cells))
    for name in ("cpu_ms_per_page", "cpu_ms_per_page_with_chunks"):
        cells = (one.get(name, "") for one in found.values())
        lines.append(f"{name.replace('_', ' '):28}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
