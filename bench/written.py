"""Answers without a language model over documents of everyday life and work that we wrote, by
language and kind: right, wrong and refused.

    python -m bench.written --folder FOLDER [--part held_out] [--every 4] [--show]

The library of a part is built in FOLDER once. Nothing is trained on `held_out`, or fitted to it.
An answer is right if it has every place that answers, as it stands in the document; of a list
half of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.harness import arguments
from bench.reader.documents import DOCUMENTS, HELD_OUT, Asked, Written, documents
from trivium import Library
from trivium.core.answers import Answer

_SIGNS = re.compile(r"[*_`#|•]|\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Judged:
    document: Written
    asked: Asked
    answer: Answer

    @property
    def verdict(self) -> str:
        if self.answer.refused:
            return "refused"
        return "right" if self.asked.answers and holds(self.answer.text, self.asked) else "wrong"

    def line(self) -> str:
        expected = " / ".join(self.asked.answers) or "(refused)"
        said = " ".join(self.answer.text.split())[:200]
        return f"{self.verdict:<8}{self.asked.text} → {said} ({self.document.name}: {expected})"


def holds(text: str, asked: Asked) -> bool:
    """Whether a text has the places that answer, or half of several."""
    said, wanted = _plain(text), [_plain(one) for one in asked.answers]
    return 2 * sum(one in said for one in wanted) >= len(wanted)


def _plain(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).casefold().split())


def opened(folder: Path, some: Iterable[Written]) -> Library:
    """A library of documents, built there once."""
    if not folder.exists():
        for document in some:
            file = folder / "files" / document.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{document.text}\n", "utf-8")
        with Library.open(folder / "library") as made:
            made.add(folder / "files")
    return Library.open(folder / "library")


def judged(library: Library, some: Sequence[Written], every: int) -> Iterator[Judged]:
    pairs = [(document, asked) for document in some for asked in document.questions]
    for document, asked in pairs[::every]:
        yield Judged(document, asked, library.ask(asked.text))


def figures(some: Sequence[Judged]) -> str:
    able = [one for one in some if one.asked.answers]
    others = [one for one in some if not one.asked.answers]
    right, wrong = (percent(able, verdict) for verdict in ("right", "wrong"))
    return f"{right} right, {wrong} wrong; without an answer: {percent(others, 'refused')} refused"


def percent(some: Sequence[Judged], verdict: str) -> str:
    count = sum(one.verdict == verdict for one in some)
    return f"{count} of {len(some)} ({count / max(1, len(some)):.0%})"


def main() -> None:
    given = arguments(
        __doc__,
        folder={"type": Path, "required": True},
        part=(HELD_OUT, "a file of bench/reader/documents"),
        every=(1, "ask every so many questions"),
        most=(1000, "documents"),
        show=(False, "print each answer"),
    )
    written = list(documents(DOCUMENTS / f"{given.part}.txt"))[: given.most]
    some = []
    with opened(given.folder / given.part, written) as library:
        for one in judged(library, written, given.every):
            some.append(one)
            if given.show:
                print(one.line(), flush=True)
    for language in sorted({one.document.language for one in some}):
        print(language, figures([one for one in some if one.document.language == language]))
    print("all", figures(some))


if __name__ == "__main__":
    main()
