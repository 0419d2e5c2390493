"""Routes for access tokens, for the owner: create, list, revoke. A secret is shown once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from trivium.core.access import AccessToken, Quota
from trivium.core.shapes import TokenAnswer
from trivium.http.answers import Answered, NewTokenAnswer, RevokedAnswer, TokensAnswer
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.routing import Routes
from trivium.operations.managing import CreateToken

router = Routes(prefix="/v1", tags=["tokens"], dependencies=OWNERS)


@router.get("/tokens")
async def list_tokens(server: Here) -> TokensAnswer:
    """List tokens and what each may see and do. The secrets are not stored."""
    rows = await server.read(tokens_with_use, server)
    answers = [TokenAnswer.of(token, quota, use) for token, quota, use in rows]
    return TokensAnswer(answers, _needed(server))


def tokens_with_use(server: Server) -> list[tuple[AccessToken, Quota, dict[str, int]]]:
    library = server.library
    return library.quotas.of_tokens(library.tokens.all(), server.callers.searches.used())


@router.post("/tokens", response_model=NewTokenAnswer, status_code=201)
async def create_token(server: Here, body: CreateToken) -> Answered:
    """Create a token. Only this answer contains its secret."""
    created, text = await server.read(
        server.library.tokens.create,
        audiences=body.labels,
        collections=body.collections,
        rights=body.rights,
        expires=body.expires,
        name=body.name,
        quota=body.quota,
    )
    answer = NewTokenAnswer.of(created, token=text, needed=_needed(server))
    return Answered(answer, 201, headers={"Cache-Control": "no-store"})


@router.delete("/tokens/{id}")
async def revoke_token(
    server: Here, id: Annotated[str, Path(min_length=1, max_length=50)]
) -> RevokedAnswer:
    """Revoke a token: every process refuses it from the next request on."""
    await server.read(server.library.tokens.revoke, id)
    return RevokedAnswer(id)


def _needed(server: Server) -> bool:
    return not server.callers.open_to_all
