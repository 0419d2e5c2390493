"""How many clean queries are changed, and how many misspelled words come out right, on judged sets.

    python -m bench.corrections --show

Looks at words alone: a set's documents are its chunks, and nothing is embedded, so all sets take
some two minutes. `--show` prints what was changed in clean queries: many of those are misspelled.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import click

from bench.heard import SETS
from trivium.config import load
from trivium.core.types import Spelled
from trivium.library.assembly import local_embedder_for
from trivium.search.correct import Corrected, Taught, correct
from trivium.text.misspelling import spell
from trivium.text.normalise import words
from trivium.text.query import parse
from trivium.text.trigrams import Vocabulary

MISSPELLED = ("misspelled", "misspelled3")  # one word of each query, three


class Words:
    """The words of a judged set, and which documents hold them."""

    def __init__(self, folder: Path) -> None:
        self.languages = ["de" if folder.name.endswith("_de") else "en"]
        self.vocabulary = Vocabulary()
        self.holders: dict[tuple[str, ...], set[int]] = defaultdict(set)
        for number, row in enumerate(_rows(folder / "corpus.jsonl")):
            held = words(f"{row.get('title') or ''}\n{row['text']}")
            self.vocabulary.add(held)
            for run in {*zip(held), *pairwise(held)}:
                self.holders[run].add(number)
        self._known: dict[str, tuple[Spelled, ...]] = {}

    def spellings(self, asked: Sequence[str]) -> Mapping[str, tuple[Spelled, ...]]:
        new = [word for word in asked if word not in self._known]
        self._known.update(spell(new, self.vocabulary, self.languages, self._holding))
        return {word: self._known[word] for word in asked}

    def _holding(self, run: tuple[str, ...], most: int) -> int:
        return min(most, len(self.holders.get(run, ())))

    def corrected(self, text: str, taught: Taught) -> Corrected:
        return correct(parse(text), self.spellings, lambda: taught, lambda: self.languages)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def restored(
    held: Words, taught: Taught, clean: Mapping[str, str], typed: Mapping[str, str]
) -> str:
    """Of the words that were misspelled and that the set holds: right, left and made wrong."""
    right = left = wrong = 0
    for query, text in typed.items():
        meant, written = words(clean[query]), words(text)
        if len(meant) != len(written):
            continue
        found = held.corrected(text, taught).query.words
        for before, between, after in zip(meant, written, found, strict=False):
            if before != between and (before,) in held.holders:
                right += after == before
                left += after == between
                wrong += after not in (before, between)
    total = max(1, right + left + wrong)
    return (
        f"{right / total:.1%} right, {left / total:.1%} left, {wrong / total:.1%} wrong ({total})"
    )


@click.command()
@click.option(
    "--data",
    "folder",
    default="../shared/data/retrieval",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the judged sets.",
)
@click.option("--sets", default=",".join(SETS), show_default=True, help="Which, with commas.")
@click.option("--show", is_flag=True, help="Print what is changed in clean queries.")
def main(folder: Path, sets: str, show: bool) -> None:
    embedder = local_embedder_for(load().settings)
    for name in sets.split(","):
        held = Words(folder / name)
        clean = {row["_id"]: row["text"] for row in _rows(folder / name / "queries.jsonl")}
        ask = partial(held.corrected, taught=embedder.knows)
        made = [[c for c in ask(text).corrections if c.applied] for text in clean.values()]
        print(
            f"{name}: {sum(map(bool, made)) / len(clean):.2%} of {len(clean)} clean queries changed"
        )
        if show:
            print("  " + ", ".join(f"{c.typed} → {c.meant}" for found in made for c in found))
        for variant in MISSPELLED:
            path = folder / name / f"queries.{variant}.jsonl"
            if path.exists():
                typed = {row["_id"]: row["text"] for row in _rows(path)}
                print(f"  {variant}: {restored(held, embedder.knows, clean, typed)}")


if __name__ == "__main__":
    main()
