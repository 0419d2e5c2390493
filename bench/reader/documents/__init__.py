"""Documents of everyday life and work that a language model wrote for this, with questions; they
don't answer a third and more.

A file has many. What begins with `held_out` is never trained on or fitted to: `bench.written`
judges by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

DOCUMENTS = Path(__file__).parent
HELD_OUT = "held_out"
TO_FIT = 5  # every fifth document of the others: not trained on, but fitted to
LONGEST_TITLE = 90  # characters
NONE = "-"
_SUBJECT = re.compile(r"(?m)^(?:Subject|Betreff): (.+)")
_FIELD = re.compile(r"(\w+): ([^|]+?)(?: \||$)")


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    answers: tuple[str, ...]  # each as it stands in the document; none: it doesn't say
    line: str  # the sentence or line that has them; empty: they stand there once


@dataclass(frozen=True, slots=True)
class Written:
    name: str  # with its folder
    kind: str
    language: str
    text: str
    questions: tuple[Asked, ...]

    @property
    def title(self) -> str:
        """The subject of a mail, or the first line unless it is already text."""
        subject = _SUBJECT.search(self.text)
        first = self.text.partition("\n")[0].lstrip("# ").strip()
        is_text = len(first) > LONGEST_TITLE or first.endswith((".", "!", "?"))
        return subject[1] if subject else "" if is_text else first


def documents(path: Path) -> Iterator[Written]:
    for block in re.split(r"(?m)^=== ", path.read_text("utf-8"))[1:]:
        head, body = block.split("\n", 1)
        about = dict(_FIELD.findall(head))
        text, _, asked = body.partition("\n---\n")
        questions = tuple(_asked(part) for part in re.split(r"(?m)^Q: ", asked)[1:])
        yield Written(about["name"], about["kind"], about["lang"], text.strip("\n"), questions)


def is_to_fit(name: str) -> bool:
    return crc32(name.encode()) % TO_FIT == 0


def _asked(part: str) -> Asked:
    question, *lines = (line.strip() for line in part.strip().splitlines() if line.strip())
    answers = tuple(line[3:] for line in lines if line.startswith("A: "))
    said = next((line[3:] for line in lines if line.startswith("S: ")), "")
    return Asked(question, () if answers == (NONE,) else answers, said)
