"""The stranger's protocol of docs/stranger.md: 100 mixed files, 40 searches, 30 questions.

`python -m bench.stranger --folder FOLDER` builds files and library there (once), then prints what
came first for each search and the answer to each question, with a verdict by plain comparison.
A person reads the answers.
"""

from __future__ import annotations

import csv
import json
import shutil
from argparse import ArgumentParser
from pathlib import Path

from trivium import Library

HERE = Path(__file__).parent / "stranger_files"
DATA = Path(__file__).parents[2] / "shared" / "data"


def build(folder: Path, data: Path, *, own: bool) -> None:
    """Our texts with their folders, and the open files that `open_files.txt` names, if wanted."""
    texts = folder / "own"
    shutil.copytree(HERE / "texts", texts)
    (texts / "work/payments/retry.py.sample").rename(texts / "work/payments/retry.py")
    corpora: dict[str, dict[str, str]] = {}
    opened = [] if own else (HERE / "open_files.txt").read_text().splitlines()
    for line in opened:
        if line.startswith("retrieval/"):
            name, key = line.split(" ")
            if name not in corpora:
                rows = map(json.loads, (data / name / "corpus.jsonl").read_text().splitlines())
                corpora[name] = {r["_id"]: f"{r['title']}\n\n{r['text']}".strip() for r in rows}
            made = folder / Path(name).name / f"{key}.txt"
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(corpora[name][key])
        else:
            copied = folder / Path(line).relative_to("documents")
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(data / line, copied)


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def searches(library: Library, most: int) -> None:
    right = wrong = 0
    for row in _rows("searches.tsv")[:most]:
        results = library.search(row["query"])
        first = results.items[0] if results.items else None
        is_right = first is not None and row["document"] in first.found.document.uri
        is_weak = first is None or results.weak or results.is_folded(first)
        right += is_right
        wrong += not is_right and not is_weak
        shown = f"{first.match:.0%} {Path(first.found.document.uri).name}" if first else "nothing"
        print(
            "right" if is_right else "WRONG",
            "weak" if is_weak else "    ",
            row["query"],
            "→",
            shown,
        )
    print(f"right first: {right} of 40; wrong and not weak: {wrong}\n")


def questions(library: Library, most: int) -> None:
    right = 0
    for row in _rows("questions.tsv")[:most]:
        answer = library.ask(row["question"])
        wanted = row["answer"]
        said = "(refused)" if answer.refused else answer.text
        is_right = any(part in said for part in wanted.split("|"))
        right += is_right
        print(
            "right" if is_right else "WRONG",
            row["question"],
            "→",
            " ".join(said.split())[:160],
            f"[{wanted}]",
        )
    print(f"right answers: {right} of 30")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where files and library are")
    parser.add_argument("--data", type=Path, default=DATA, help="the shared data")
    parser.add_argument("--own", action="store_true", help="only the texts written for this")
    parser.add_argument("--most", type=int, default=40, help="searches and questions")
    given = parser.parse_args()
    if not given.folder.exists():
        build(given.folder / "files", given.data, own=given.own)
        with Library.open(given.folder / "library") as made:
            made.add(given.folder / "files")
    with Library.open(given.folder / "library") as library:
        searches(library, given.most)
        questions(library, given.most)


if __name__ == "__main__":
    main()
