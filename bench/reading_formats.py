"""How many words of office files, web pages and texts are read, at what cost, compared with others.

    python -m bench.reading_formats [--json] [--folder FOLDER] [--peers PYTHON] [--charsets]
    python -m bench.reading_formats --outcomes --folder FOLDER

text F1      of a file's words (as a bag; runs of letters and digits, casefolded) those that were
             read, and of what was read those that are the file's. What a file's words are is taken
             from its bytes by a few lines here that know no structure: the text nodes of the main
             parts of DOCX, PPTX and XLSX, of the body of a page, and of plain files all they have.
             Of workbooks only words with a letter count: figures and dates are shown in many ways.
             Running heads, slide numbers and the words of hidden parts count as the file's, so 1 is
             out of reach for whoever leaves them out. Means over the files of a format.
CPU ms       processor time of one reading in one process, the best of three, after one that does
             not count; start and imports excluded.
--peers      the interpreter of an environment with kreuzberg and markitdown, which are then asked
             the same in the same run.
--charsets   texts of the Declaration of Human Rights in 24 languages, cut to four words, to a
             paragraph and to several, written in the tables of their language and in UTF-16 without
             a mark: how many are read exactly, by us, by charset-normalizer alone, and as
             Windows-1252.
--outcomes   what becomes of each file of a folder, of whatever kind, read in the sandbox: read,
             refused (by the code of the error), crashed (an exception of ours, or a reader that
             died), and raw (read, but its first text is markup or has characters of control).
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from lxml import etree

from bench.harness import arguments
from trivium.core.errors import DocumentFailed, ReadError
from trivium.extract.charsets import decode_text
from trivium.extract.detect import read
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import FACTORY, extractors
from trivium.ports import Blob

DOCUMENTS = Path(__file__).parents[2] / "shared" / "data" / "documents"
DECLARATION = Path(__file__).with_name("declaration.json")
ROUNDS = 3
TABLES = {
    "ru": ("cp1251", "koi8_r", "iso8859_5", "cp866"), "uk": ("cp1251", "koi8_u"),
    "bg": ("cp1251",), "sr": ("cp1251",), "el": ("cp1253", "iso8859_7"), "tr": ("cp1254",),
    "pl": ("cp1250", "iso8859_2"), "cs": ("cp1250", "iso8859_2"), "hu": ("cp1250", "iso8859_2"),
    "hr": ("cp1250",), "de": ("cp1252",), "fr": ("cp1252",), "es": ("cp1252",), "pt": ("cp1252",),
    "sv": ("cp1252",), "ja": ("cp932", "euc_jp", "iso2022_jp"), "zh": ("gbk",),
    "zh-tw": ("big5",), "ko": ("cp949",), "he": ("cp1255",), "ar": ("cp1256",), "lt": ("cp1257",),
    "lv": ("cp1257",), "th": ("cp874",),
}  # fmt: skip
_WORD = re.compile(r"\w+")
_RAW = re.compile(
    r"(?:<(?:\?xml|/?[a-zA-Z][\w:.-]*)[^<>]*>\s*){2}|[\x00-\x08\x0e-\x1a\x7f-\x9f]|bplist0"
)
_MAIN = re.compile(
    r"word/document\.xml|ppt/slides/slide\d+\.xml|xl/sharedStrings\.xml|xl/.*sheet[^/]*\.xml"
)
_PEERS = """
import asyncio, json, sys, time
names = json.load(sys.stdin)
def kreuzberg():
    from kreuzberg import extract_file_sync
    return lambda path: extract_file_sync(path).content
def markitdown():
    from markitdown import MarkItDown
    reader = MarkItDown()
    return lambda path: reader.convert(path).text_content
found = {}
for make in (kreuzberg, markitdown):
    read = make()
    told = found[make.__name__] = {}
    for name in names:
        best, text = None, ""
        for _ in range(4):
            begin = time.process_time()
            try:
                text = read(name)
            except Exception:
                text = ""
            took = time.process_time() - begin
            best = took if best is None or took < best else best
        told[name] = [text, best]
json.dump(found, sys.stdout)
"""


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def wanted(path: Path) -> Counter[str] | None:
    """The words of a file, from its bytes; None for formats that these lines can't read."""
    suffix, data = path.suffix.lower(), path.read_bytes()
    if suffix in (".docx", ".pptx", ".xlsx"):
        return _office(data)
    if suffix in (".html", ".htm"):
        root = etree.fromstring(data, etree.HTMLParser())
        for hidden in root.xpath("//script|//style|//head|//noscript|//template"):
            hidden.getparent().remove(hidden)
        return words(" ".join(root.itertext()))
    if suffix in (".csv", ".md", ".txt"):
        return words(decode_text(data))
    return None


def _office(data: bytes) -> Counter[str]:
    found: list[str] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {n: archive.read(n) for n in archive.namelist() if _MAIN.fullmatch(n)}
    roots = {name: ElementTree.fromstring(part) for name, part in parts.items()}
    shared = [_text(item) for item in roots.pop("xl/sharedStrings.xml", [])]
    for root in roots.values():
        for element in root.iter():
            local = _local(element)
            if local == "c" and element.get("t") == "s":
                value = next((v.text for v in element if _local(v) == "v"), "") or ""
                found.append(shared[int(value)] if value.isdecimal() else "")
            elif local in ("p", "is"):
                found.append(_text(element))
    return words(" ".join(found))


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rsplit("}", 1)[-1]


def _text(element: ElementTree.Element) -> str:
    """The text nodes of a paragraph or a string; runs stand together, as they do on paper."""
    blanks = {"tab": " ", "br": " "}
    return "".join(
        (part.text or "") if _local(part) == "t" else blanks.get(_local(part), "")
        for part in element.iter()
    )


def _counted(found: Counter[str], path: Path) -> Counter[str]:
    if path.suffix.lower() != ".xlsx":
        return found
    return Counter({word: n for word, n in found.items() if not word.isnumeric()})


def f1(ours: Counter[str], given: Counter[str]) -> float:
    shared = (ours & given).total()
    return 2 * shared / max(1, ours.total() + given.total())


def read_by_all(paths: list[Path], peers: str = "") -> dict[str, dict[str, tuple[str, float]]]:
    """By system and path: the text, and the least processor time in seconds. A peer that fails
    gives no text."""
    found: dict[str, dict[str, tuple[str, float]]] = {"trivium": _ours(paths)}
    if peers:
        told = subprocess.run(
            [peers, "-c", _PEERS], input=json.dumps([str(p) for p in paths]), text=True,
            capture_output=True, check=True,
        ).stdout  # fmt: skip
        found |= json.loads(told[told.index("{") :])
    return found


def office(folder: Path, peers: str = "") -> dict[str, Any]:
    """By system and format: files, mean F1 and mean processor time in milliseconds."""
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    table: dict[str, Any] = {}
    for system, found in read_by_all(paths, peers).items():
        scores: dict[str, list[float]] = defaultdict(list)
        costs: dict[str, list[float]] = defaultdict(list)
        for path in paths:
            text, seconds = found[str(path)]
            given = wanted(path)
            for kind in (path.suffix.lower(), "all"):
                costs[kind].append(1000 * seconds)
                if given:
                    scores[kind].append(f1(_counted(words(text), path), _counted(given, path)))
        table[system] = {
            kind: {
                "files": len(costs[kind]),
                "text_f1": round(sum(s) / len(s), 4) if (s := scores[kind]) else None,
                "cpu_ms": round(sum(costs[kind]) / len(costs[kind]), 2),
            }
            for kind in sorted(costs)
        }
    return table


def _ours(paths: list[Path]) -> dict[str, tuple[str, float]]:
    readers = extractors({"ocr": "off"})
    found = {}
    for path in paths:
        blob, text = Blob(path.name, path.read_bytes()), ""
        costs = []
        for _ in range(ROUNDS + 1):
            begin = time.process_time()
            try:
                text = read(blob, extractors=readers).text
            except ReadError:
                text = ""
            costs.append(time.process_time() - begin)
        found[str(path)] = (text, min(costs[1:]))
    return found


def cases(limit: int | None = None) -> Iterator[tuple[str, str, bytes, str]]:
    """Size, charset, bytes and text, for every language and each of its charsets."""
    texts: dict[str, list[str]] = json.loads(DECLARATION.read_text(encoding="utf-8"))
    for language, tables in TABLES.items():
        whole = texts[language]
        for table in (*tables, "utf-16-le", "utf-16-be"):
            for size, pieces in (
                ("four words", [_few(text, language) for text in whole]),
                ("a paragraph", whole[3:]),
                ("a page", ["\n".join(whole)]),
            ):
                for text in pieces[:limit]:
                    data = text.encode(table, "ignore")
                    written = data.decode(table)
                    beyond = sum(code > 127 for code in data)
                    if beyond >= 2 or table.startswith(("utf", "iso2022")):
                        yield size, table, data, written


def _few(text: str, language: str) -> str:
    return text[:14] if language in ("ja", "zh", "zh-tw", "th") else " ".join(text.split()[:4])


def charsets(limit: int | None = None) -> dict[str, Any]:
    """By system and size: how many texts are read exactly, and milliseconds for one."""
    from charset_normalizer import from_bytes

    systems: dict[str, Callable[[bytes], str]] = {
        "trivium": decode_text,
        "charset-normalizer": lambda data: str(from_bytes(data).best() or ""),
        "windows-1252": lambda data: data.decode("cp1252", "replace"),
    }
    table: dict[str, Any] = {}
    for system, decode in systems.items():
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        begin = time.process_time()
        for size, _, data, text in cases(limit):
            counts[size][0] += decode(data) == text
            counts[size][1] += 1
        took = 1000 * (time.process_time() - begin) / sum(n for _, n in counts.values())
        table[system] = {size: f"{right}/{n}" for size, (right, n) in counts.items()}
        table[system]["ms"] = round(took, 2)
    return table


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, list[str]] = defaultdict(list)
    with Sandbox(1, extractors=FACTORY, settings={"ocr": "off"}) as sandbox:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            try:
                text = sandbox.read(Blob(path.name, path.read_bytes())).text[:300]
                found["raw" if _RAW.search(text) else "read"].append(path.name)
            except ReadError as error:
                crashed = isinstance(error, DocumentFailed) or "crashed" in error.message
                found["crashed" if crashed else error.code].append(path.name)
    named = {"raw", "crashed"}
    return {
        "files": {kind: len(names) for kind, names in sorted(found.items())},
        "names": {kind: ", ".join(found[kind]) for kind in sorted(named & found.keys())},
    }


def main(argv: list[str] | None = None) -> None:
    asked = arguments(
        __doc__,
        "json",
        argv=argv,
        folder=DOCUMENTS / "office",
        peers="",
        charsets=False,
        outcomes=False,
    )
    if asked.outcomes:
        found = outcomes(asked.folder)
    else:
        found = charsets() if asked.charsets else office(asked.folder, asked.peers)
    if asked.json:
        json.dump(found, sys.stdout, indent=2)
        return
    for system, rows in found.items():
        print(system)
        for name, row in rows.items():
            print(f"  {name:<14}{row}")


if __name__ == "__main__":
    main()
