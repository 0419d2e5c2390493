"""`trivium judge`: asks you which results are relevant, or generates queries that need no judge."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trivium.cli.judged import SYNTHETIC, own_set
from trivium.cli.output import Shell, printable, with_shell

if TYPE_CHECKING:
    from trivium.core.results import Result
    from trivium.evaluate.judging import Judgments
    from trivium.library import Library

_LINES = 8  # of a passage on a screen: enough to judge by
KEYS = "0 not relevant   1 relevant   2 exactly right   s skip   u undo   q quit"


@dataclass(frozen=True)
class _Task:
    """One document to judge for one query."""

    query: str  # its id
    text: str
    result: Result
    place: str  # "query 2 of 5, document 3 of 17"


@click.command("judge")
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@click.option(
    "--queries",
    "file",
    type=click.Path(path_type=Path),
    help="Judge the queries in this file (JSON lines, columns, topics).",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    help="Folder for the judgments, or the name of a set in the library."
    "  [judgments; with --synthetic: synthetic]",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="How many top documents to judge from each signal, the fused and the reranked list.",
)
@click.option(
    "--synthetic",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Judge nothing yourself: generate N queries from the documents, marked synthetic.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for --synthetic.")
@with_shell
def judge_command(
    shell: Shell,
    queries: tuple[str, ...],
    file: Path | None,
    to: Path | None,
    depth: int,
    synthetic: int | None,
    seed: int,
) -> None:
    """Judge results from your own library, for `trivium eval` and `tune`.

    For each QUERY (put quotes around several words) you see the top documents of all signals in
    random order, without the signal that found them. Every answer is saved at once. Run it again,
    with or without a QUERY, to continue where you stopped. You can pipe answers in, one per line.

    \b
    trivium judge "who stole the crown" "battle axe"
    trivium judge --queries questions.tsv --to judged/rules
    trivium judge
    trivium eval judgments
    trivium judge --synthetic 100 && trivium eval synthetic
    """
    to = None if to is None else own_set(shell, to)
    if synthetic is not None:
        if queries or file:
            raise click.UsageError("--synthetic generates its own queries; leave yours out.")
        _make(shell, to or Path("synthetic"), synthetic, seed)
        return
    from trivium.evaluate.judging import Judgments

    with shell.library() as library:
        judgments = Judgments(to or Path("judgments"))
        unjudged = _queries(judgments, queries, file)
        left = _Session(shell, library, judgments, unjudged, depth).run()
    counts = judgments.counts()
    if shell.json:
        shell.emit({"folder": str(judgments.folder), **counts, "finished": not left})
        return
    shell.say(
        f"{counts['judged']:,} judgments of {counts['queries']:,} queries in {judgments.folder},"
        f" {counts['relevant']:,} relevant; {counts['skipped']:,} skipped."
    )
    unanswered = counts["queries"] - counts["answered"]
    if unanswered:
        shell.note(f"{unanswered:,} queries have no relevant result yet, so they don't count.")
    if left:
        where = f" --to {to}" if to else ""
        shell.note(f"`trivium judge{where}` continues where you stopped.")
    if counts["answered"]:
        shell.note(f"`trivium eval {judgments.folder}` measures search with them.")


def _make(shell: Shell, folder: Path, count: int, seed: int) -> None:
    from trivium.evaluate.synthetic import synthesise, write_synthetic

    with shell.library() as library:
        made = synthesise(library, count, seed)
    write_synthetic(folder, made, seed)
    if shell.json:
        kinds = [query.kind for query in made]
        shell.emit(
            {
                "folder": str(folder),
                "synthetic": True,
                "queries": len(made),
                "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
            }
        )
        return
    shell.table(("kind", "query"), [[query.kind, query.text] for query in made[:10]])
    shell.say(f"{len(made):,} synthetic queries in {folder}.")
    if len(made) < count:
        shell.note(f"Your documents only yielded {len(made):,} different queries.")
    shell.note(SYNTHETIC)


def _queries(
    judgments: Judgments, texts: tuple[str, ...], file: Path | None
) -> list[tuple[str, str]]:
    """Ids and texts: the ones given, or those in the folder to continue."""
    wanted = [("", text.strip()) for text in texts if text.strip()]
    if file is not None:
        from trivium.evaluate.topics import read_queries

        wanted = [*read_queries(file).items(), *wanted]
    queries = judgments.ask(wanted) if wanted else judgments.queries
    if not queries:
        raise click.UsageError("Give a query, or a file of queries with --queries.")
    return list(queries.items())


class _Session:
    """One session: the documents left to judge, and the judgments so far."""

    def __init__(
        self,
        shell: Shell,
        library: Library,
        judgments: Judgments,
        queries: list[tuple[str, str]],
        depth: int,
    ) -> None:
        self._shell = shell
        self._library = library
        self._judgments = judgments
        self._queries = deque(enumerate(queries, start=1))
        self._count = len(queries)
        self._depth = depth
        self._waiting: deque[_Task] = deque()
        self._done: list[_Task] = []

    def run(self) -> bool:
        """Ask until everything is judged or the person quits; returns whether something is left."""
        from trivium.evaluate.judging import named

        while task := self._next():
            self._show(task)
            key = self._key()
            if key == "q":
                return True
            if key == "u":
                self._undo()
                continue
            grade = None if key == "s" else int(key)
            self._judgments.judge(task.query, named(task.result.found.document), grade)
            self._done.append(self._waiting.popleft())
        return False

    def _next(self) -> _Task | None:
        from trivium.evaluate.judging import named, pool

        while not self._waiting and self._queries:
            number, (query, text) = self._queries.popleft()
            results = {named(r.found.document): r for r in pool(self._library, text, self._depth)}
            if not results:
                self._shell.note(f"No results for “{text}”.")
            left = self._judgments.open(query, results)
            for at, name in enumerate(left, start=len(results) - len(left) + 1):
                place = f"query {number} of {self._count}, document {at} of {len(results)}"
                self._waiting.append(_Task(query, text, results[name], place))
        return self._waiting[0] if self._waiting else None

    def _undo(self) -> None:
        if not self._done:
            self._shell.note("Nothing to undo.")
            return
        self._judgments.undo()
        self._waiting.appendleft(self._done.pop())

    def _show(self, task: _Task) -> None:
        from rich.padding import Padding
        from rich.text import Text

        from trivium.cli.results import highlighted, title_and_place
        from trivium.text.query import parse

        err, passage = self._shell.err, task.result.found
        words = parse(task.text).words
        err.print()
        err.print(Text.assemble((printable(task.text), "bold cyan"), f"   {task.place}"))
        err.print(title_and_place(passage))
        err.print(Padding(highlighted(err, passage, words, _LINES), (0, 0, 0, 4)))
        err.print(Text(printable(passage.document.uri), style="dim"))

    def _key(self) -> str:
        """A key on a terminal; otherwise the first character of a line; end of input quits."""
        self._shell.err.print(KEYS, style="yellow")
        while True:
            if sys.stdin.isatty():
                key = click.getchar()
            else:
                line = sys.stdin.readline()
                if not line:
                    return "q"
                key = line.strip()
            key = key[:1].lower()
            if key in ("0", "1", "2", "s", "u", "q"):
                return key
            if key:
                self._shell.note(f"{key} isn't one of the keys: {KEYS}")
