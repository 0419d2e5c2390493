"""Routes about the server: the caller, settings, health, metrics."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from trivium import __version__
from trivium.config import Effective, config_file, listed
from trivium.config.presets import PRESETS
from trivium.core.errors import TriviumError
from trivium.http.answers import (
    Answered,
    CallerAnswer,
    HealthAnswer,
    PresetsAnswer,
    SettingsAnswer,
)
from trivium.http.asked import Anyone, Here, Owner
from trivium.http.problems import responses
from trivium.http.routing import Routes

router = Routes(prefix="/v1", tags=["about"])
health = APIRouter(tags=["health"], generate_unique_id_function=lambda route: route.name)


@router.get("/caller")
async def show_caller(caller: Anyone) -> CallerAnswer:
    """Show who you are: what your token may see and do."""
    return CallerAnswer(
        name=caller.name,
        audiences=None if caller.audiences is None else sorted(caller.audiences),
        collections=None if caller.collections is None else sorted(caller.collections),
        rights=sorted(caller.rights),
    )


@router.get("/settings")
async def list_settings(server: Here, caller: Owner) -> SettingsAnswer:
    """List every setting, its value and where it comes from. Keys are not settings, so they are
    never shown."""
    settings = listed(Effective(server.settings, server.origins))
    return SettingsAnswer(str(config_file()), settings)


@router.get("/presets")
async def list_presets(caller: Anyone) -> PresetsAnswer:
    """List the presets: settings of known systems, by name."""
    return PresetsAnswer({name: dict(sets) for name, sets in PRESETS.items()})


@health.get("/healthz", response_model=HealthAnswer)
async def healthz() -> Answered:
    """Check that the process is alive."""
    return Answered(HealthAnswer("ok", __version__))


@health.get("/readyz", response_model=HealthAnswer, responses={503: responses()[503]})
async def readyz(server: Here) -> Answered:
    """Check that the library can be read."""
    await server.read(server.library.upkeep.check_there)
    await server.read(server.library.models.manifest)
    return Answered(HealthAnswer("ready", __version__))


@health.get("/metrics", response_class=PlainTextResponse, responses=responses())
async def metrics(server: Here, caller: Owner) -> PlainTextResponse:
    """Metrics for Prometheus: of all processes of this server, and of the library's queue."""
    with suppress(TriviumError):  # the library is away: the rest still counts
        queue = await server.read(server.library.jobs.queue_state)
        server.metrics.read(queue, await server.read(server.library.sync.lags))
    return PlainTextResponse(
        server.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
