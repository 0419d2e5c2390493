"""Routes for watched folders on the server's machine."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated

from fastapi import Path

from trivium.core.work import WatchedFolder
from trivium.http.answers import ForgottenSourceAnswer, SourceAnswer, SourcesAnswer
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.routing import Routes
from trivium.operations.adding import WatchFolder

router = Routes(prefix="/v1", tags=["sources"], dependencies=OWNERS)


@router.get("/sources")
async def list_folders(server: Here) -> SourcesAnswer:
    folders = await server.read(server.library.folders.all)
    return SourcesAnswer([_told(server, folder) for folder in folders])


@router.post("/sources", status_code=201)
async def watch_folder(server: Here, body: WatchFolder) -> SourceAnswer:
    """Watch a folder on the server's machine: the server adds its files and keeps up as they
    change."""
    folder = await server.read(
        server.library.folders.add,
        body.path,
        collection=body.collection,
        category=body.category,
        audience=body.audience,
        ignore=body.ignore,
    )
    return _told(server, folder)


@router.delete("/sources/{id}")
async def unwatch_folder(
    server: Here, id: Annotated[str, Path(min_length=1, max_length=50)]
) -> ForgottenSourceAnswer:
    """Stop watching a folder. Its documents stay."""
    await server.read(server.library.folders.remove, id)
    return ForgottenSourceAnswer(id)


def _told(server: Server, folder: WatchedFolder) -> SourceAnswer:
    state, message = server.background.state_of(folder.id) if server.background else ("", "")
    there = os.path.isdir(folder.path)
    return SourceAnswer(**asdict(folder), kind="folder", there=there, state=state, message=message)
