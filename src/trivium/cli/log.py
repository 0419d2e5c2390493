"""`trivium log`: shows what people search for, what they don't find and what is slow."""

from __future__ import annotations

from dataclasses import asdict

import click

from trivium.cli.output import Shell, with_shell

MOST = 20  # rows; --json lists all


@click.command("log")
@click.option("--days", type=int, metavar="N", help="Only the last N days.")
@click.option(
    "--not-found", "empty", is_flag=True, help="Only queries that found nothing relevant."
)
@click.option(
    "--slow", is_flag=True, help="Only queries that took half a second or more, the slowest first."
)
@click.option("--delete", is_flag=True, help="Delete the log, or the part --older-than names.")
@click.option("--older-than", metavar="PERIOD", default="", help="With --delete: 12h, 30d, 8w.")
@with_shell
def log_command(
    shell: Shell, days: int | None, empty: bool, slow: bool, delete: bool, older_than: str
) -> None:
    """Show which queries people ask, the most frequent first.

    The log stays in the library. `trivium serve` counts queries by day without recording who asked.
    Set log.queries to `off`, or to `full` to keep each query with its time and token.

    \b
    trivium log
    trivium log --not-found --days 30
    trivium log --delete --older-than 90d
    """
    from trivium.core.queries import LogPage
    from trivium.library.queries import SLOW_MS

    if older_than and not delete:
        raise click.UsageError("--older-than needs --delete.")
    with shell.library() as library:
        if delete:
            gone = library.queries.forget(older_than)
            shell.tell({"deleted": gone}, f"Deleted {gone:,} entries.")
            return
        shown = None if shell.json else MOST + 1
        page = LogPage(shown, unfound=empty, slower_than=SLOW_MS if slow else 0.0)
        queries = library.queries.all(days, page)
    if shell.json:
        shell.emit({"queries": [asdict(row) for row in queries]})
        return
    if not queries:
        shell.note("The log is empty; `trivium serve` fills it, unless log.queries is off.")
        return
    rows = [
        (row.text, f"{row.asked:,}", f"{row.empty:,}", f"{row.took_ms:,.0f} ms", row.last[:10])
        for row in queries[:MOST]
    ]
    shell.table(("query", ">asked", ">nothing found", ">slowest", "last"), rows)
    if len(queries) > MOST:
        shell.say("and more; --json lists all.")
