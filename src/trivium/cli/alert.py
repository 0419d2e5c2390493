"""`trivium alert`: saved searches that notify you when something new matches."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, shared_options, with_shell

if TYPE_CHECKING:
    from trivium.core.queries import Alert, AlertHit
    from trivium.core.types import Document

SHOWN = 20  # hits


@click.group("alert", invoke_without_command=True)
@shared_options
@click.pass_context
def alert_command(ctx: click.Context) -> None:
    """List alerts and what matched them; add, check and remove them.

    An alert is a saved search. When you add or change a document that matches it well (above
    search.floor), `trivium serve` records it, shows it on the page and calls the webhook.

    \b
    trivium alert
    trivium alert add crown of the drowned kings
    trivium alert add --webhook https://example.org/hook quarterly revenue
    trivium alert check
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.ensure_object(Shell))


def _list(shell: Shell) -> None:
    with shell.library() as library:
        alerts, hits = library.alerts.all(), library.alerts.hits(SHOWN)
    if shell.json:
        rows = [asdict(hit) | {"title": document.title} for hit, document in hits]
        shell.emit({"alerts": [asdict(alert) for alert in alerts], "hits": rows})
        return
    if not alerts:
        shell.note("No alerts; `trivium alert add QUERY` saves one.")
        return
    shell.table(("alert", "query", "webhook"), [(a.id, a.query, a.webhook) for a in alerts])
    for hit, document in hits:
        shell.say(f"{hit.at[:10]}  {hit.alert}  {hit.match:.0%}  {document.title}")


@alert_command.command("add")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("--webhook", default="", metavar="URL", help="Also send each match here, as JSON.")
@with_shell
def add_command(shell: Shell, query: tuple[str, ...], webhook: str) -> None:
    """Save a search.

    \b
    trivium alert add crown of the drowned kings
    """
    with shell.library() as library:
        made = library.alerts.add(" ".join(query), webhook=webhook)
    shell.tell({"alert": asdict(made)}, f"Alert {made.id}: {made.query}")


@alert_command.command("remove")
@click.argument("alert")
@with_shell
def remove_command(shell: Shell, alert: str) -> None:
    """Delete an alert and the matches it recorded.

    \b
    trivium alert remove 3f9c2ab1
    """
    with shell.library() as library:
        library.alerts.remove(alert)
    shell.tell({"removed": alert}, f"Removed alert {alert}.")


@alert_command.command("check")
@with_shell
def check_command(shell: Shell) -> None:
    """Check documents added since the last check. `trivium serve` does this by itself.

    \b
    trivium alert check
    """

    def tell(alert: Alert, hit: AlertHit, document: Document) -> None:
        if not shell.json:
            shell.say(f"{alert.query}: {document.title} ({hit.match:.0%})")

    with shell.library() as library:
        hits = library.alerts.check(tell)
    if shell.json:
        shell.emit({"hits": [asdict(hit) for hit in hits]})
    elif not hits:
        shell.say("Nothing new matches.")
