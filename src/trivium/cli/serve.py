"""`trivium serve`: the library in a browser, over HTTP, and to AI assistants over MCP."""

from __future__ import annotations

import click

from trivium.cli.extras import needs
from trivium.cli.output import Shell, pass_shell, shared_options


@click.command("serve")
@click.option("--host", help="Address to serve at.  [setting serve.host: 127.0.0.1]")
@click.option("--port", type=int, help="Port; 0: any that is free.  [setting serve.port: 8420]")
@click.option("--workers", type=int, help="Processes that serve.  [setting serve.workers: 1]")
@click.option(
    "--insecure-without-tokens",
    "without_tokens",
    is_flag=True,
    help="Let in everyone who reaches it, as the owner.",
)
@click.option(
    "--allow-write", is_flag=True, help="Let assistants at /mcp write, as far as their token may."
)
@shared_options
@pass_shell
def serve_command(
    shell: Shell,
    host: str | None,
    port: int | None,
    workers: int | None,
    without_tokens: bool,
    allow_write: bool,
) -> None:
    """Serve the library: a page for people at /, /v1 for programs, /mcp for AI assistants.

    On this machine alone nobody needs a token until you make one. Everywhere else everyone does.
    /openapi.json describes the API. It works off jobs and follows the folders of /v1/sources.
    Ctrl-C stops after what was begun is done.

    \b
    trivium serve
    trivium serve --port 9000 --workers 2
    trivium token create --audience player && trivium serve --host 0.0.0.0
    """
    asked = {"serve.host": host, "serve.port": port, "serve.workers": workers}
    shell.given.update({name: str(value) for name, value in asked.items() if value is not None})
    with needs("serve"):
        from trivium.http.serve import plan, run
        from trivium.web.site import furnish
    effective = shell.settings()
    chosen = plan(
        effective.settings,
        without_tokens=without_tokens,
        allow_write=allow_write,
        origins=effective.origins,
        furnish=furnish,
    )
    _log()

    def ready(address: str) -> None:
        if shell.json:
            shell.emit({"address": address, "tokens": not chosen.open_to_all})
        else:
            shell.say(f"Serving at {address}")
            shell.note(_who(chosen.open_to_all, chosen.settings.serve_host))

    run(chosen, on_ready=ready)


def _who(open_to_all: bool, host: str) -> str:
    from trivium.http.serve import is_loopback

    if not open_to_all:
        return "Every request needs a token; `trivium token list` shows them."
    if is_loopback(host):
        return "Whoever uses this machine may see and change everything; a token changes that."
    return "EVERYONE who reaches this address may see and change everything."


def _log() -> None:
    """A server's log goes to standard error; who wants another sets it up before."""
    import logging

    root = logging.getLogger("trivium")
    if not logging.getLogger().handlers and not root.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        root.addHandler(handler)
        root.setLevel(logging.INFO)
