"""`trivium slack`: answers questions in a Slack workspace."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, with_shell
from trivium.core.plugins import needs


@click.command("slack")
@click.option(
    "--token",
    default="env:TRIVIUM_SLACK_TOKEN",
    show_default=True,
    metavar="PLACE",
    help="Where to find the bot's token (xoxb-): env:NAME or file:PATH.",
)
@click.option(
    "--app-token",
    default="env:TRIVIUM_SLACK_APP_TOKEN",
    show_default=True,
    metavar="PLACE",
    help="The same for the app-level token (xapp-).",
)
@click.option("--url", default="", help="Address of the Web API, if not Slack's own.")
@with_shell
def slack_command(shell: Shell, token: str, app_token: str, url: str) -> None:
    """Answer questions in Slack until Ctrl-C.

    Anyone who mentions the app or writes to it gets an answer in the thread, with citations, from
    documents that everyone in the thread can see.

    \b
    trivium slack
    trivium slack --token file:~/bot.key --app-token file:~/app.key
    """
    with needs("slack"):
        import websockets  # noqa: F401

    from threading import Event

    from trivium.config.secrets import secret
    from trivium.integrations.slack_bot import SlackBot
    from trivium.sources.service import Service
    from trivium.sources.slack import URL

    stop = Event()

    def service(name: str, place: str) -> Service:
        headers = {"Authorization": f"Bearer {secret(name, place)}"}
        return Service("Slack", url or URL, headers)

    bot, app = service("bot's token", token), service("app-level token", app_token)
    with shell.library() as library:
        shell.note("Answering in Slack. Ctrl-C stops it.")
        try:
            SlackBot(library, bot, app, stop.wait).run(stop)
        except KeyboardInterrupt:
            stop.set()  # the way to end it, so no failure
