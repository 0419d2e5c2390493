"""`trivium tune`: fits the fusion to judged queries and says whether it helps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.judged import SYNTHETIC, judged_files, judged_options, own_library, writing_files
from trivium.cli.output import Shell, with_shell
from trivium.cli.progress import stages

if TYPE_CHECKING:
    from trivium.evaluate.tune import Tuned

MEASURES = ("ndcg@10", "mrr@10", "success@1", "success@5", "success@10")


@click.command("tune")
@judged_options
@click.option(
    "--measure",
    type=click.Choice(MEASURES),
    default="ndcg@10",
    show_default=True,
    help="What to make as high as possible.",
)
@click.option(
    "--rerank", is_flag=True, help="Fit reranked results, including the reranker's weight."
)
@click.option(
    "--folds",
    type=click.IntRange(2, 50),
    default=5,
    show_default=True,
    help="Parts for the cross-validation.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for the folds.")
@click.option(
    "--write",
    type=click.Path(path_type=Path),
    help="Write the fitted settings to this file (TOML), if the gain is real.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Write the file even without a real gain, and overwrite an old one.",
)
@with_shell
def tune_command(
    shell: Shell,
    /,
    measure: str,
    rerank: bool,
    folds: int,
    seed: int,
    write: Path | None,
    force: bool,
    **judged: Any,
) -> None:
    """Fit fusion method, weights, k, threshold and analysis to judged queries.

    Starts from your current settings (with --set and --preset). The gain is cross-validated: it is
    measured on queries that were not used for the fit. Nothing changes until you --write a file
    and use it, as your config.toml or with TRIVIUM_CONFIG.

    \b
    trivium tune data/scifact
    trivium tune judgments --library notes.library --write tuned.toml
    trivium tune data/scifact --rerank --measure mrr@10 --json
    """
    from trivium.config import config_file
    from trivium.evaluate.dataset import load_dataset
    from trivium.evaluate.replay import Replay
    from trivium.evaluate.subject import opened
    from trivium.evaluate.tune import as_toml, tune

    files = judged_files(shell, **judged)
    if write is not None and write.exists() and not force:
        raise click.UsageError(f"{write} already exists. Name another file, or use --force.")
    settings = shell.settings().settings
    dataset = load_dataset(files, own_library=own_library(shell))
    with stages(shell) as on_progress, opened(dataset, settings, on_progress) as subject:
        tuned = tune(
            Replay.listen(subject, on_progress),
            settings,
            measure=measure,
            rerank=rerank,
            folds=folds,
            seed=seed,
            named=(dataset.name, dataset.synthetic),
            on_progress=on_progress,
        )
    written = write if write is not None and (tuned.worth_it or force) else None
    if written is not None:
        with writing_files():
            written.write_text(as_toml(tuned), encoding="utf-8")
    if shell.json:
        shell.emit(_as_json(tuned, written))
        return
    _show(shell, tuned)
    for note in (*subject.notes, *tuned.notes, *((SYNTHETIC,) if tuned.synthetic else ())):
        shell.note(note)
    if written is not None:
        use = f"Use it as {config_file()}, or set TRIVIUM_CONFIG={written}."
        shell.note(f"Wrote {written}. {use}")
    elif write is not None:
        shell.note(f"Did not write {write}; use --force to write it anyway.")


def _as_json(tuned: Tuned, written: Path | None) -> dict[str, object]:
    difference = tuned.held_out
    names = ("dataset", "synthetic", "queries", "measure", "rerank", "before", "fitted")
    return {
        **{name: getattr(tuned, name) for name in names},
        "held_out": {
            "gain": difference.gain,
            "interval": [difference.interval.low, difference.interval.high],
            "p": difference.p,
            "wins": difference.wins,
            "losses": difference.losses,
            "ties": difference.ties,
        },
        "real": tuned.worth_it,
        "verdict": tuned.verdict,
        "settings": {
            name: {"before": then, "fitted": now} for name, (then, now) in tuned.changed.items()
        },
        "folds": list(tuned.folds),
        "tried": tuned.tried,
        "written": None if written is None else str(written),
        "notes": list(tuned.notes),
    }


def _show(shell: Shell, tuned: Tuned) -> None:

    kind = "synthetic queries" if tuned.synthetic else "queries"
    text = f"{tuned.dataset}: {tuned.queries:,} {kind}, {tuned.tried:,} settings tried"
    shell.say(text, style="bold")
    difference = tuned.held_out
    shell.table(
        (tuned.measure, ">"),
        [
            ["current settings", f"{tuned.before:.4f}"],
            ["fitted, on the same queries", f"{tuned.fitted:.4f}"],
            ["fitted, on held-out queries", f"{tuned.before + difference.gain:.4f}"],
            [
                "held-out queries better, worse, same",
                f"{difference.wins}, {difference.losses}, {difference.ties}",
            ],
        ],
    )
    if tuned.changed:
        shell.say("")
        rows = [
            [name, then, now, " ".join(fold.get(name, then) for fold in tuned.folds)]
            for name, (then, now) in tuned.changed.items()
        ]
        shell.table(("setting", ">before", ">fitted", "in each fold"), rows)
    shell.say("", tuned.verdict, style="bold green" if tuned.worth_it else "bold yellow")
