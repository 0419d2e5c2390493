"""Access tokens, for the owner: made, listed, revoked. A secret is shown once, by its maker."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path

from trivium.http.answers import Answered, NewTokenAnswer, RevokedAnswer, TokensAnswer
from trivium.http.asked import Here, Owner, Server
from trivium.http.problems import responses
from trivium.http.requests import TokenBody
from trivium.shapes import TokenAnswer

router = APIRouter(prefix="/v1", tags=["tokens"])


@router.get("/tokens", response_model=TokensAnswer, responses=responses())
async def tokens(server: Here, caller: Owner) -> Answered:
    """What each token may see and do. Their secrets are not known."""
    found = await server.read(server.library.tokens.all)
    return Answered(TokensAnswer([TokenAnswer.of(token) for token in found], _needed(server)))


@router.post(
    "/tokens", response_model=NewTokenAnswer, status_code=201, responses=responses(408, 413)
)
async def create(server: Here, caller: Owner, body: TokenBody) -> Answered:
    """Make a token. Its text is in this answer and nowhere else."""
    b = body
    call = partial(
        server.library.tokens.create,
        audiences=None if b.all_audiences else b.audiences,
        collections=b.collections,
        rights=b.rights,
        expires=b.expires,
        name=b.name,
    )
    kept, text = await server.read(call)
    told = NewTokenAnswer.of(kept, token=text, needed=_needed(server))
    return Answered(told, 201, headers={"Cache-Control": "no-store"})


@router.delete("/tokens/{id}", response_model=RevokedAnswer, responses=responses(404))
async def revoke(
    server: Here,
    caller: Owner,
    id: Annotated[str, Path(min_length=1, max_length=50)],  # noqa: A002
) -> Answered:
    """Revoke a token: from the next request on it is refused, by every process."""
    await server.read(partial(server.library.tokens.revoke, id))
    return Answered(RevokedAnswer(id))


def _needed(server: Server) -> bool:
    return not server.door.open_to_all
