"""The quick form of every command that the documents name for a figure, and the data it reads.

`test_commands` runs them; `tests/architecture` checks that no command of a document is missing.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.unit.extract.test_pdf_maker import PdfMaker

CHUNKS = "300"
# By what the documents call them: the module and its subcommand, then the options. DATA, PLACE and
# RESULTS mean folders of the test, SERVER the address of its database.
QUICK: dict[str, tuple[str, ...]] = {
    "bench.damage": ("--flips", "2"),
    "bench.contradictions": (),
    "bench.stranger": (
        "--folder",
        "PLACE/stranger",
        "--own",
        "--files",
        "village_files",
        "--most",
        "2",
    ),
    "bench.fields": ("--data", "DATA"),
    "bench.known_items": ("--data", "DATA", "--sets", "xquad_en", "--sizes", "4,3"),
    "bench.chat": ("--queries", "2", "--data", "DATA"),
    "bench.quote": (*("--sentences", "2", "--papers", "2", "--data", "DATA", "--more", "PLACE"),),
    "bench.sync_histories": ("--histories", "5"),
    "bench.attack": ("--requests", "12", "--minutes", "0", "--seed", "2"),
    "bench.recordings": ("--minutes", "0.4"),
    "bench.search": ("--growth", CHUNKS, "--filter", "--seconds", "0.1", "--data", "DATA"),
    "bench.vectors": ("--rows", "6000", "--listed", "5000", "--data", "DATA"),
    "bench.options": ("--chunks", CHUNKS, "--queries", "5", "--data", "DATA"),
    "bench.serving": (
        *("--chunks", CHUNKS, "--seconds", "0.2", "--data", "DATA", "--server", "SERVER"),
        *("--clients", "2", "--workers", "1", "--drop"),
    ),
    "bench.scaling": (
        *("--chunks", CHUNKS, "--seconds", "0.2", "--data", "DATA", "--given"),
        *("--workers", "2"),
    ),
    "bench.page": ("--chunks", CHUNKS, "--queries", "2", "--data", "DATA"),
    "bench.dropped": ("--kinds", "notes", "--most", "2", "--data", "DATA"),
    "bench.compare": (
        *("--chunks", CHUNKS, "--systems", "trivium", "--sets", "scifact", "--data", "DATA"),
        *("--seconds", "0.1", "--client-seconds", "0.1", "--to", "RESULTS"),
    ),
    "bench.report": ("--readme", "--results", "RESULTS/results.json"),
    "bench.rerank": ("--sets", "scifact", "--seconds", "0.1", "--data", "DATA/retrieval"),
    "bench.rerank #time": ("--chunks", CHUNKS, "--seconds", "0.1", "--data", "DATA/retrieval"),
    "bench.quality": (
        *("--sets", "scifact,xquad_en", "--data", "DATA", "--cache", "PLACE"),
        *("--deep", "2", "--misspelled"),
    ),
    "bench.calibration": (
        "--sets",
        "scifact,nfcorpus,xquad_en",
        "--data",
        "DATA",
        "--cache",
        "PLACE",
    ),
    "bench.answers": (
        *("--only", "made", "--kind", "contradicted", "--failures", "--data", "DATA"),
        *("--sample", "5", "--minutes", "9", "--record", "RESULTS/answers.jsonl"),
    ),
    "bench.confidence": (
        *("--folder", "PLACE/fitted", "--parts", "work,german", "--most", "2", "--every", "6"),
    ),
    "bench.written": (
        *("--folder", "PLACE/written", "--part", "held_out"),
        *("--most", "1", "--every", "3", "--show"),
    ),
    "bench.answer_limits": (
        *("--sets", "scifact", "--questions", "3", "--documents", "8", "--data", "DATA"),
    ),
    "bench.chunking": (
        *("--only", "recursive 400/80"),
        *("--data", "DATA/retrieval/chunking_evaluation"),
    ),
    "bench.contextual": ("--data", "DATA/retrieval"),
    "bench.extraction": (
        *("--papers", "DATA/documents/papers", "--reports", "1"),
        *("--peers", "DATA/peers/python"),
    ),
    "bench.adding unchanged": ("--documents", "8", "--data", "DATA"),
    "bench.adding stages": (
        *("--documents", "8", "--words", "60", "--data", "DATA"),
        *("--device", "cpu", "--model", "DATA/model"),
    ),
    "bench.adding stages #costless": ("--documents", "8", "--data", "DATA"),
    "bench.adding edited": ("--pages", "2", "--data", "DATA"),
    "bench.adding many": (
        *("--documents", "40", "--words", "12", "--seconds", "0.2"),
        *("--data", "DATA", "--place", "PLACE"),
    ),
    "bench.embedding": (
        *("--device", "cpu", "--texts", "8", "--tokens", "16", "--rerank"),
        *("--model", "DATA/model"),
    ),
    "bench.large": (
        *("--chunks", CHUNKS, "--processes", "1", "--by-hand", "1", "--folder"),
        *("--data", "DATA", "--drop"),
    ),
    "bench.large #nodes": (
        *("--chunks", CHUNKS, "--processes", "1", "--no-graph", "--data", "DATA", "--drop"),
    ),
    "bench.postgres": (*("--chunks", CHUNKS, "--seconds", "0.1", "--data", "DATA", "--drop"),),
    "bench.team": (
        *("--server", "SERVER", "--chunks", CHUNKS, "--seconds", "0.1", "--data", "DATA"),
    ),
    "bench.team #upkeep": (
        *("--server", "SERVER", "--chunks", CHUNKS, "--seconds", "0.1"),
        *("--holds", "--upkeep", "compact,reembed"),
        *("--data", "DATA", "--drop"),
    ),
    "bench.postgres #quality": ("--quality", "scifact", "--data", "DATA"),
    "bench.citus": ("--quality", "scifact", "--shards", "2", "--data", "DATA"),
    "bench.citus #speed": (
        *("--chunks", CHUNKS, "--shards", "2", "--seconds", "0.1", "--data", "DATA"),
        *("--program", "/usr/bin/postgres"),
    ),
    "bench.citus #watch": ("--chunks", CHUNKS, "--watch", "1", "--data", "DATA"),
    "bench.scale": ("--chunks", "5000000", "--set", "queries_a_second=5"),
    "bench.quick": ("--rows", "400", "--rounds", "1"),
}
_WORDS = (
    *("river", "bridge", "copper", "lantern", "winter", "harbour", "falcon", "orchard"),
    *("granite", "market", "sailor", "velvet", "ember", "thunder", "meadow", "cellar"),
    *("anchor", "marble", "willow", "engine", "garden", "letter", "signal", "basket"),
    *("timber", "castle", "doctor", "island", "needle", "pepper", "rocket", "silver"),
    *("tunnel", "window", "yellow", "carbon", "desert", "forest", "hammer"),
)
_MODEL = Path(__file__).parents[1] / "unit" / "models" / "layouts" / "bert-dense.tar.xz"
_SETS = ("scifact", "nfcorpus", "xquad_en", "xquad_de")


def write_data(folder: Path) -> Path:
    """Judged sets, texts with questions, code and a paper, as small as the commands accept."""
    chance = random.Random(1)
    for name in _SETS:
        _judged(folder / "retrieval" / name, chance)
    _chunking(folder / "retrieval" / "chunking_evaluation", chance)
    _code(folder / "retrieval" / "anthropic_codebase", chance)
    _paper(folder / "documents" / "papers", chance)
    with tarfile.open(_MODEL) as archive:
        archive.extractall(folder / "model", filter="data")
    _peers(folder / "peers")
    _judged(folder / "retrieval" / "locomo10", chance)
    return folder


def _peers(folder: Path) -> None:
    """An interpreter with the two calls that are made of kreuzberg and markitdown: they themselves
    are installed for a comparison only."""
    folder.mkdir(parents=True)
    (folder / "kreuzberg.py").write_text(
        "from types import SimpleNamespace\n"
        "def extract_file_sync(path):\n"
        "    return SimpleNamespace(content=open(path, encoding='latin-1').read())\n"
    )
    (folder / "markitdown.py").write_text(
        "from types import SimpleNamespace\n"
        "class MarkItDown:\n"
        "    def convert(self, path):\n"
        "        return SimpleNamespace(text_content=open(path, encoding='latin-1').read())\n"
    )
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    program.chmod(0o755)


def _sentence(chance: random.Random) -> str:
    return f"{' '.join(chance.sample(_WORDS, 10)).capitalize()}."


def _text(chance: random.Random, sentences: int) -> str:
    return " ".join(_sentence(chance) for _ in range(sentences))


def _judged(folder: Path, chance: random.Random) -> None:
    """12 documents and 12 questions of each set, a document for each."""
    texts = {f"d{n}": _text(chance, 4) for n in range(12)}
    asked = {f"q{n}": " ".join(chance.sample(_WORDS, 4)) for n in range(12)}
    _lines(
        folder / "corpus.jsonl",
        [{"_id": name, "title": f"Note {name}", "text": text} for name, text in texts.items()],
    )
    _lines(folder / "queries.jsonl", [{"_id": n, "text": text} for n, text in asked.items()])
    _judgments(folder, [(query, f"d{n}") for n, query in enumerate(asked)])


def _chunking(folder: Path, chance: random.Random) -> None:
    (folder / "corpora").mkdir(parents=True)
    rows = []
    for name in ("chatlogs", "wikitexts"):
        text = _text(chance, 12)
        (folder / "corpora" / f"{name}.md").write_text(text, encoding="utf-8")
        answer = {"content": text[:40], "start_index": 0, "end_index": 40}
        rows.append((f"What of {_WORDS[0]}?", json.dumps([answer]), name))
    with (folder / "questions_df.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("question", "references", "corpus_id"), *rows])


def _code(folder: Path, chance: random.Random) -> None:
    parts = [f"def {word}():\n    return '{_sentence(chance)}'\n" for word in _WORDS[:4]]
    _lines(folder / "full_docs.jsonl", [{"uuid": "file", "content": "\n".join(parts)}])
    _lines(
        folder / "corpus.jsonl",
        [{"_id": f"file#{n}", "text": part} for n, part in enumerate(parts)],
    )
    _lines(folder / "queries.jsonl", [{"_id": "q0", "text": f"what does {_WORDS[0]} return"}])
    _judgments(folder, [("q0", "file#0")])


def _paper(folder: Path, chance: random.Random) -> None:
    folder.mkdir(parents=True)
    lines = [_sentence(chance) for _ in range(6)]
    made = PdfMaker()
    page = made.page()
    page.text(72, 80, "1 Introduction", size=16, font="bold")
    page.lines(72, 110, lines)
    (folder / "small.pdf").write_bytes(made.build())
    section = {"heading": "1 Introduction", "text": " ".join(lines)}
    read = {"metadata": {"sections": [section], "abstractText": None, "references": []}}
    (folder / "small.pdf.json").write_text(json.dumps(read), encoding="utf-8")


def _lines(path: Path, rows: Sequence[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _judgments(folder: Path, pairs: Sequence[tuple[str, str]]) -> None:
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{found}\t1" for query, found in pairs)]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
