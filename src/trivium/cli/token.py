"""`trivium token`: access tokens for HTTP and MCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, shared_options, with_shell
from trivium.core.shapes import TokenAnswer, as_json
from trivium.operations.managing import CreateToken

if TYPE_CHECKING:
    from trivium.core.access import AccessToken, Quota


@click.group("token", invoke_without_command=True)
@shared_options
@click.pass_context
def token_command(ctx: click.Context) -> None:
    """List access tokens for `trivium serve`; create and revoke them.

    \b
    trivium token
    trivium token create --audience player --collection rules --expires 30d
    trivium token revoke 3f9c2ab17d04
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command)


@token_command.command("create")
@declared(CreateToken)
@with_shell
def create_command(shell: Shell, /, **options: Any) -> None:
    """Create a token. You see it once: the library keeps only a hash of it.

    \b
    trivium token create --audience player --collection rules
    trivium token create --all-audiences --right search --right manage --name me
    """
    request = CreateToken(**options)
    with shell.library(create=True) as library:
        token, text = library.tokens.create(
            audiences=request.labels,
            collections=request.collections,
            rights=request.rights,
            expires=request.expires,
            name=request.name,
            quota=request.quota,
        )
    if shell.json:
        shell.emit({"token": text, **as_json(TokenAnswer.of(token))})
        return
    shell.say(text)
    shell.note(_allows(token))
    shell.note("Save it: you won't see it again. Send it as `Authorization: Bearer TOKEN`.")


def _allows(token: AccessToken) -> str:
    """What its holder may do: nobody should give away more than they meant to."""
    labels = "documents with any label" if token.audiences is None else "public documents"
    if token.audiences:
        labels += f" and those labelled {', '.join(sorted(token.audiences))}"
    where = "all collections"
    if token.collections is not None:
        many = "s" if len(token.collections) > 1 else ""
        where = f"the collection{many} {', '.join(sorted(token.collections))}"
    return f"Allows {', '.join(sorted(token.rights))}: {labels} in {where}."


@token_command.command("list")
@with_shell
def list_command(shell: Shell) -> None:
    """List tokens and what each can see and do. The secrets are not stored."""
    with shell.library() as library:
        tokens = library.quotas.of_tokens(library.tokens.all())
    if shell.json:
        shell.emit({"tokens": [TokenAnswer.of(token, quota, use) for token, quota, use in tokens]})
        return
    if not tokens:
        shell.note("No tokens; `trivium token create` creates one.")
        return
    names = ("id", "name", "audiences", "collections", "rights", "created", "expires", "used")
    shell.table(names, [_row(*row) for row in tokens], optional=("created", "collections", "used"))


def _row(token: AccessToken, quota: Quota, use: dict[str, int]) -> tuple[str, ...]:
    from trivium.cli.documents import local_time

    answer = TokenAnswer.of(token)
    limits = {"documents": quota.documents, "bytes": quota.bytes}
    used = [
        f"{use[unit]:,}{f' of {most:,}' if most else ''} {unit}" for unit, most in limits.items()
    ]
    if quota.searches:
        used.append(f"{quota.searches:,} searches a minute")

    def listed(values: Sequence[str] | None) -> str:
        return "(all)" if values is None else ", ".join(values)

    return (
        token.id,
        token.name,
        listed(answer.audiences) or "all",
        listed(answer.collections),
        listed(answer.rights),
        local_time(token.created_at),
        local_time(token.expires_at) if token.expires_at else "never",
        ", ".join(used),
    )


@token_command.command("revoke")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@with_shell
def revoke_command(shell: Shell, ids: tuple[str, ...]) -> None:
    """Revoke tokens: the server refuses them from the next request on."""
    with shell.library() as library:
        for id_ in ids:
            library.tokens.revoke(id_)
    shell.tell({"revoked": list(ids)}, *(f"Revoked {id_}." for id_ in ids))
