"""The stranger's protocol of docs/stranger.md: 100 mixed files, 40 searches, 30 questions.

`python -m bench.stranger --folder FOLDER` builds files and library there (once), then prints what
came first for each search and the answer to each question, with a verdict by plain comparison, and
writes all of it on one page, FOLDER/judge.md, for a person who didn't build it.
`--files everyday_files` takes another set: 56 questions over the small files of a family.
`--counts` prints figures only, for a set whose mistakes nobody should learn from (`harbour_files`).
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.harness import arguments
from trivium import Library
from trivium.core.answers import Turn
from trivium.text.query import parse
from trivium.text.snippet import snip

HERE = Path(__file__).parent
REFUSED = "(refused)"


def build(folder: Path, files: Path, data: Path, *, own: bool) -> None:
    """Our texts with their folders, and the open files that `open_files.txt` names, if wanted."""
    texts = folder / "own"
    shutil.copytree(files / "texts", texts)
    for sample in texts.rglob("*.sample"):
        sample.rename(sample.with_suffix(""))
    corpora: dict[str, dict[str, str]] = {}
    opened = [] if own else (files / "open_files.txt").read_text().splitlines()
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


def _rows(file: Path, most: int) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))[:most]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person saw first, and what plain comparison says of it."""

    asked: str
    expected: str
    text: str
    file: str
    note: str
    is_right: bool
    is_weak: bool = False

    def line(self) -> str:
        verdict = ("right" if self.is_right else "WRONG") + (" weak" if self.is_weak else "")
        return f"{verdict:<10} {self.asked} → {self.note or self.text[:160]} {self.file}"

    def row(self, number: int) -> str:
        cells = (self.asked, self.text, self.file, self.expected, self.note)
        told = " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        return f"| {number} | {told} | {'right' if self.is_right else 'wrong'} |   |"


def searches(library: Library, rows: Sequence[Mapping[str, str]]) -> Iterator[Shown]:
    for row in rows:
        results = library.search(row["query"])
        if not results.items:
            yield Shown(row["query"], row["document"], "", "", "nothing", False, True)
            continue
        first = results.items[0]
        uri = first.found.document.uri
        weak = results.weak or results.is_folded(first)
        note = f"{first.match:.0%}" + (", shown as weak" if weak else "")
        text = snip(first.found.chunk.text, parse(row["query"]).words, "en", 400).text
        right = row["document"] in uri
        yield Shown(row["query"], row["document"], text, _file(uri), note, right, weak)


def questions(library: Library, rows: Sequence[Mapping[str, str]]) -> Iterator[Shown]:
    """A row may have the question that was asked before it (`after`)."""
    for row in rows:
        before = row.get("after")
        history = [Turn(before, library.ask(before).text)] if before else []
        answer = library.ask(row["question"], history=history)
        said = REFUSED if answer.refused else answer.text
        files = () if answer.refused else {_file(cited.uri) for cited in answer.citations}
        right = any(part in said for part in row["answer"].split("|"))
        expected = row["answer"].replace("|", " or ")
        yield Shown(row["question"], expected, said, ", ".join(sorted(files)), "", right)


def _verdicts(answers: Sequence[Shown]) -> Iterator[str]:
    able = [one for one in answers if one.expected != REFUSED]
    right = sum(one.is_right for one in able)
    refused = sum(one.text == REFUSED for one in able)
    yield (
        f"with an answer: {right} right, {len(able) - right - refused} wrong, {refused} refused"
        f" of {len(able)}"
    )
    others = [one.is_right for one in answers if one.expected == REFUSED]
    yield f"without one: {sum(others)} refused of {len(others)}"


def _file(uri: str) -> str:
    """The folder and the file: two notes are told apart."""
    return "/".join(Path(uri).parts[-2:])


JUDGING = """# To judge: a search engine over 100 files

You need to know nothing about the program. Each row is one thing that a person typed, and the
first thing that the program showed. Write **right** or **wrong** into the last column.

- A search is right if the text shown is about what was typed: the person would stop looking.
  *match* is how well the program itself thinks that it fits, *expected* the file that the author
  of the test had in mind. Another file that says it as well is right too.
- An answer is right if it says what was asked, in whatever words. `(refused)` means that the
  program said it found no answer; that is right only where `(refused)` was expected, because no
  file says it.

*compared* is a computer's verdict: the expected file or words are there, or not. Overrule it where
it errs. Goals: 36 of 40 searches right, at most one wrong and not shown as weak, 24 of 30 answers.
"""


def page(found: list[Shown], answers: list[Shown]) -> str:
    """Everything on one page, for somebody who did not build it."""
    parts = [JUDGING]
    for heading, told, names in (
        ("Searches", found, "typed | shown first"),
        ("Questions", answers, "asked | answer"),
    ):
        rows = [shown.row(number) for number, shown in enumerate(told, 1)]
        table = f"| | {names} | file | expected | match | compared | you |\n|{'---|' * 8}"
        parts.append("\n".join([f"## {heading}\n", table, *rows, ""]))
    return "\n".join(parts)


def main() -> None:
    given = arguments(
        __doc__,
        "data",
        folder=({"type": Path, "required": True}, "where files and library are"),
        files=("stranger_files", "texts, searches and questions"),
        own=(False, "only the texts written for this"),
        most=(100, "searches and questions"),
        counts=(False, "print only the figures"),
    )
    files = HERE / given.files
    if not given.folder.exists():
        build(given.folder / "files", files, given.data, own=given.own)
        with Library.open(given.folder / "library") as made:
            made.add(given.folder / "files")
    with Library.open(given.folder / "library") as library:
        found = list(searches(library, _rows(files / "searches.tsv", given.most)))
        answers = list(questions(library, _rows(files / "questions.tsv", given.most)))
    for shown in () if given.counts else (*found, *answers):
        print(shown.line())
    wrong = sum(not shown.is_right and not shown.is_weak for shown in found)
    right = sum(shown.is_right for shown in found)
    print(f"right first: {right} of {len(found)}; wrong and not weak: {wrong}")
    print("\n".join(_verdicts(answers)))
    (given.folder / "judge.md").write_text(page(found, answers), encoding="utf-8")
    print(f"To judge: {given.folder / 'judge.md'}")


if __name__ == "__main__":
    main()
