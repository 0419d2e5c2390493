"""Routes for synced sources: add, run, verify, pause, remove."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import Path

from trivium.core.advice import retold
from trivium.core.shapes import (
    CheckedSyncAnswer,
    DifferenceAnswer,
    SyncAnswer,
    SyncFailureAnswer,
    SyncKindAnswer,
)
from trivium.core.work import KeptSource
from trivium.http.answers import (
    RemovedSyncAnswer,
    SyncDetailAnswer,
    SyncKindsAnswer,
    SyncsAnswer,
    VerifiedAnswer,
)
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.problems import responses
from trivium.http.routing import Routes
from trivium.operations.adding import AddSync, RunSync
from trivium.operations.listing import RemoveSync, VerifySync
from trivium.sources import kinds as known

router = Routes(prefix="/v1", tags=["sync"], dependencies=OWNERS)
LONGEST_WAIT = 10.0  # seconds that a request waits for a service; a terminal has more time
Name = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/sync")
async def list_syncs(server: Here) -> SyncsAnswer:
    """List the synced sources with their state and last run."""
    sync = server.library.sync
    answers = await server.read(lambda: [sync.told(source) for source in sync.all()])
    return SyncsAnswer(answers)


@router.get("/sync-kinds")
async def list_sync_kinds(server: Here) -> SyncKindsAnswer:
    kinds = await server.read(lambda: [known.kind_of(name) for name in known.entries()])
    return SyncKindsAnswer([SyncKindAnswer.of(kind) for kind in kinds])


@router.post("/sync", status_code=201, responses=responses(404, 409, 502))
async def add_sync(server: Here, body: AddSync) -> SyncAnswer:
    """Add a source to sync. Its first run reads everything."""
    source = KeptSource(
        body.name,
        body.kind,
        body.options,
        body.secrets,
        body.collection,
        body.category,
        body.audience,
        body.every,
    )
    added = await server.read(server.library.sync.receive, source)
    return await server.read(server.library.sync.told, added)


@router.get("/sync/{name}")
async def show_sync(server: Here, name: Name) -> SyncDetailAnswer:

    def look() -> SyncDetailAnswer:
        sync = server.library.sync
        failures = [
            SyncFailureAnswer.of(replace(failure, message=retold(failure.message)))
            for failure in sync.failures(name)
        ]
        return SyncDetailAnswer(sync.told(sync.get(name)), failures)

    return await server.read(look)


@router.post("/sync/{name}/run", status_code=202, responses=responses(409))
async def run_sync(server: Here, name: Name, body: RunSync) -> SyncAnswer:
    """Start a run now; the answer doesn't wait for it."""
    return await _changed(server, partial(server.library.sync.ask, name, full=body.full))


@router.post("/sync/{name}/pause")
async def pause_sync(server: Here, name: Name) -> SyncAnswer:
    """Pause a source: stop the current run and start no new one."""
    return await _changed(server, partial(server.library.sync.pause, name))


@router.post("/sync/{name}/resume")
async def resume_sync(server: Here, name: Name) -> SyncAnswer:
    return await _changed(server, partial(server.library.sync.resume, name))


@router.get("/sync/{name}/check", responses=responses(502))
async def check_sync(server: Here, name: Name) -> CheckedSyncAnswer:
    """Read the source's first item, to check its options, token and permissions. Changes
    nothing."""
    sync = server.library.sync
    return CheckedSyncAnswer.of(await server.read(lambda: sync.check(sync.get(name))))


@router.get("/sync/{name}/verify", responses=responses(502))
async def verify_sync(server: Here, name: Name, options: VerifySync) -> VerifiedAnswer:
    """Compare the source with the library item by item. Changes nothing."""
    verified = await server.read(
        server.library.sync.verify, name, ids_only=options.ids, longest_wait=LONGEST_WAIT
    )
    rows = [DifferenceAnswer.of(difference) for difference in verified.differences]
    return VerifiedAnswer(name, verified.compared, rows)


@router.delete("/sync/{name}")
async def remove_sync(server: Here, name: Name, options: RemoveSync) -> RemovedSyncAnswer:
    count = await server.read(
        server.library.sync.remove, name, keep_documents=options.keep_documents
    )
    return RemovedSyncAnswer(name, count)


async def _changed(server: Server, act: partial[KeptSource]) -> SyncAnswer:
    return await server.read(lambda: server.library.sync.told(act()))
