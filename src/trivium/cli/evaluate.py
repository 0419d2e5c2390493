"""`trivium eval`: measures the search on a judged set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.judged import SYNTHETIC, judged_files, judged_options, own_library, writing_files
from trivium.cli.output import Shell, with_shell
from trivium.cli.progress import stages

if TYPE_CHECKING:
    from trivium.evaluate.run import Evaluation
    from trivium.evaluate.saved import Change, Comparison
    from trivium.evaluate.statistics import RunDifference

_PATH = click.Path(path_type=Path)
RUNS = ("vector", "keyword", "trigram", "hybrid", "reranked")


def _exports(
    _ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Path]:
    """`FILE` is for the fused run; `NAME=FILE` for another."""
    paths: dict[str, Path] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if equals and name not in RUNS:
            raise click.BadParameter(
                f"unknown run {name}; choose from {', '.join(RUNS)}.", param=param
            )
        paths[name if equals else "hybrid"] = Path(path if equals else value)
    return paths


@click.command("eval")
@judged_options
@click.option(
    "--only", type=click.Choice(RUNS), multiple=True, help="Run only this. Repeatable.  [all]"
)
@click.option(
    "--measure-run",
    "foreign",
    type=_PATH,
    multiple=True,
    help="Also measure another program's TREC run file. Repeatable.",
)
@click.option("--against", type=_PATH, help="Compare with a saved evaluation.")
@click.option("--save", type=_PATH, help="Save this evaluation, with the values of every query.")
@click.option(
    "--run",
    "exports",
    metavar="[NAME=]FILE",
    multiple=True,
    callback=_exports,
    help="Write a run in trec_eval's format; hybrid unless you name one. Repeatable.",
)
@click.option("--report", type=_PATH, help="Write a page with charts (HTML).")
@with_shell
def eval_command(
    shell: Shell,
    /,
    only: tuple[str, ...],
    foreign: tuple[Path, ...],
    against: Path | None,
    save: Path | None,
    exports: dict[str, Path],
    report: Path | None,
    **judged: Any,
) -> None:
    """Measure each signal, the fused ranking and the reranked one on a judged set.

    DIR has BEIR's layout (corpus.jsonl, queries.jsonl, qrels.tsv) or TREC's (documents, topics,
    qrels). Trivium indexes its documents once, in a separate library that it keeps. If DIR has no
    corpus, as the ones `trivium judge` writes, your own library is measured. For a set kept in the
    library, give just its name. Brackets show 95% confidence intervals.

    \b
    trivium eval data/scifact
    trivium eval data/scifact --set fusion.method=rrf --save rrf.json
    trivium eval data/scifact --against rrf.json --report scifact.html
    trivium eval data/scifact --run hybrid.run --measure-run peer.run
    trivium eval --library notes.library --queries topics.txt --qrels qrels.txt
    """
    from trivium.core.shapes import as_json
    from trivium.evaluate import saved
    from trivium.evaluate.run import evaluate
    from trivium.evaluate.trec_run import write_run

    files = judged_files(shell, **judged)
    before = saved.load(against) if against else None  # a wrong file is said before the work
    unrun = [name for name in exports if only and name not in only]
    if unrun:
        raise click.UsageError(f"--run {unrun[0]} needs --only {unrun[0]}.")
    with stages(shell) as on_progress:
        evaluation = evaluate(
            files,
            shell.settings().settings,
            own_library=own_library(shell),
            only=only or RUNS,
            foreign=foreign,
            on_progress=on_progress,
        )
    comparison = saved.compared(evaluation, before) if before else None
    with writing_files():
        for name, path in exports.items():
            write_run(path, evaluation.runs[name].ranking, f"trivium-{name}")
        if save:
            saved.save(save, evaluation)
        if report:
            from trivium.evaluate.report import page

            report.write_text(page(evaluation, comparison), encoding="utf-8")
    if shell.json:
        payload = as_json(saved.EvaluationAnswer.of(evaluation))
        if comparison:
            payload["against"] = saved.ComparisonAnswer.of(comparison)
        shell.emit(payload)
        return
    _show(shell, evaluation)
    if comparison:
        _show_comparison(shell, comparison)
    for written in filter(None, (save, *exports.values(), report)):
        shell.note(f"Wrote {written}")


def _show(shell: Shell, evaluation: Evaluation) -> None:

    from trivium.evaluate.run import FUSED, beside

    queries = f"{len(evaluation.queries):,} queries"
    text = f"{evaluation.dataset}: {evaluation.documents:,} documents, {queries}"
    shell.say(f"{text}, synthetic" if evaluation.synthetic else text, style="bold")
    measures = list(dict.fromkeys(name for run in evaluation.runs.values() for name in run.each))
    rows = []
    for name, run in evaluation.runs.items():
        cells = [
            f"{run.means[m]:.4f} [{run.intervals[m].low:.3f}, {run.intervals[m].high:.3f}]"
            if at < 2
            else f"{run.means[m]:.4f}"
            for at, m in enumerate(measures)
        ]
        took = run.latency_ms
        rows.append(
            [_named(name), *cells, *(f"{took[p]:.1f}" if took else "" for p in ("p50", "p95"))]
        )
    columns = ["run", *(f">{measure}" for measure in measures), ">p50 ms", ">p95 ms"]
    shell.table(columns, rows, [*columns[:2:-1]])
    ahead = beside(evaluation)
    if ahead:
        shell.say("", f"{_named(FUSED)} against the others, nDCG@10", style="bold")
        shell.table(_DIFFERENCE, [_difference(name, d) for name, d in ahead.items()])
    for note in evaluation.notes:
        shell.note(note)
    if evaluation.synthetic:
        shell.note(SYNTHETIC)


def _named(run: str) -> str:
    """What a run searches by, and its name in options."""
    from trivium.evaluate.run import run_title

    return f"{run_title(run)} ({run})" if run_title(run) != run else run


_DIFFERENCE = ("run", ">difference", ">95%", ">p", ">better", ">worse", ">same", "")


def _difference(name: str, difference: RunDifference) -> list[str]:
    return [
        _named(name),
        f"{difference.gain:+.4f}",
        f"[{difference.interval.low:+.3f}, {difference.interval.high:+.3f}]",
        f"{difference.p:.4f}",
        str(difference.wins),
        str(difference.losses),
        str(difference.ties),
        "real" if difference.real else "may be chance",
    ]


def _show_comparison(shell: Shell, comparison: Comparison) -> None:

    from trivium.evaluate.metrics import MAIN
    from trivium.evaluate.saved import SHOWN, ends_of

    before = f"the saved evaluation of {comparison.dataset}"
    title = f"against {before}, {comparison.common:,} queries, nDCG@10"
    shell.say("", title, style="bold")
    shell.table(_DIFFERENCE, [_difference(n, d[MAIN]) for n, d in comparison.differences.items()])
    for name, (then, now) in comparison.settings.items():
        shell.say(f"{name}: {then or 'none'} before, {now or 'none'} now")
    for name, changes in comparison.changes.items():
        if name not in ("hybrid", "reranked"):
            continue
        wins, losses = ends_of(changes, SHOWN)
        if wins or losses:
            shell.say("", f"{_named(name)}: biggest gains and losses", style="bold")
            shell.table((">before", ">now", ">gain", "query"), [_row(c) for c in wins + losses])
    for note in comparison.notes:
        shell.note(note)


def _row(change: Change) -> list[str]:
    values = (f"{change.theirs:.3f}", f"{change.ours:.3f}", f"{change.gain:+.3f}")
    return [*values, f"{change.query}: {change.text}"]
