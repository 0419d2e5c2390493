"""Routes for watched folders on the server's machine."""

import os
from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path

from trivium.core.work import WatchedFolder
from trivium.http.answers import Answered, ForgottenSourceAnswer, SourceAnswer, SourcesAnswer
from trivium.http.asked import Here, Owner, Server
from trivium.http.problems import responses
from trivium.operations.adding import WatchFolder

router = APIRouter(prefix="/v1", tags=["sources"])


@router.get("/sources", response_model=SourcesAnswer, responses=responses())
async def list_folders(server: Here, caller: Owner) -> Answered:
    found = await server.read(server.library.folders.all)
    return Answered(SourcesAnswer([_told(server, folder) for folder in found]))


@router.post(
    "/sources", response_model=SourceAnswer, status_code=201, responses=responses(408, 413)
)
async def watch_folder(server: Here, caller: Owner, body: WatchFolder) -> Answered:
    """Watch a folder on the server's machine: the server adds its files and keeps up as they
    change."""
    call = partial(
        server.library.folders.add,
        body.path,
        collection=body.collection,
        category=body.category,
        audience=body.audience,
        ignore=body.ignore,
    )
    return Answered(_told(server, await server.read(call)), 201)


@router.delete("/sources/{id}", response_model=ForgottenSourceAnswer, responses=responses(404))
async def unwatch_folder(
    server: Here, caller: Owner, id: Annotated[str, Path(min_length=1, max_length=50)]
) -> Answered:
    """Stop watching a folder. Its documents stay."""
    await server.read(server.library.folders.remove, id)
    return Answered(ForgottenSourceAnswer(id))


def _told(server: Server, folder: WatchedFolder) -> SourceAnswer:
    state, message = server.background.state_of(folder.id) if server.background else ("", "")
    there = os.path.isdir(folder.path)
    return SourceAnswer(**asdict(folder), kind="folder", there=there, state=state, message=message)
