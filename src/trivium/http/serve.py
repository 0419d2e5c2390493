"""Starts the server: checks that this is safe, binds the address, runs one process or several.

Each process opens the library itself; they share only the library and the address.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors.multiprocess import Multiprocess

from trivium.config import Settings
from trivium.core.errors import BadSetting, LibraryNotFound, UnsafeServing
from trivium.core.machine import collect_rarely, memory
from trivium.http.app import create_app
from trivium.http.logs import log_to_stderr
from trivium.http.metrics import shared
from trivium.http.signin import Provider
from trivium.library import Library

if TYPE_CHECKING:
    from fastapi import FastAPI

GRACE_SECONDS = 30  # for requests under way, once the server is stopped
_BACKLOG = 2048
# Each loads a model and opens the library: with no bound, a slip of the finger starts processes
# until the machine stands still.
_MOST_WORKERS = 256
# By themselves: 8 answer 84 % of what 16 do, on 16 cores (docs/performance.md).
_MOST_BY_THEMSELVES = 8
_MEMORY = 1 << 30  # bytes of the machine for each: twice what one takes at 100,000 passages
# For a worker to import and open everything: 2 s, and 20 on a machine with ten others at work.
# One that takes longer is killed and started again, for ever with uvicorn's 5.
_START_SECONDS = 180


@dataclass(frozen=True)
class ServingPlan:
    """How to serve. Sent to worker processes, so it holds plain values only."""

    settings: Settings
    open_to_all: bool
    any_host: bool
    allow_write: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)  # of settings, by name
    furnish: Callable[[FastAPI], None] | None = None  # a function of a module, so it can be sent
    made: bool = False  # there was no library, so `plan` made an empty one

    @property
    def address(self) -> str:
        host = self.settings.serve_host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.settings.serve_port}"

    def __call__(self) -> FastAPI:
        """The application with its own library, for the calling process."""
        if self.settings.serve_workers > 1:  # this process is one of them, and new
            log_to_stderr(self.settings)
        library = self._library()
        app = create_app(
            library,
            self.settings,
            open_to_all=self.open_to_all,
            any_host=self.any_host,
            allow_write=self.allow_write,
            origins=self.origins,
            tend=True,
            on_close=library.close,
            furnish=self.furnish,
        )
        _end_streams_first(app)
        collect_rarely()  # what is imported and opened stays
        return app

    def _library(self) -> Library:
        return Library.open(settings=self.settings, create=False)


def plan(
    settings: Settings,
    *,
    without_tokens: bool = False,
    allow_write: bool = False,
    origins: Mapping[str, str] | None = None,
    furnish: Callable[[FastAPI], None] | None = None,
) -> ServingPlan:
    """Decide who gets access. Raises UnsafeServing rather than serve strangers by accident.

    On this machine's own address and name nobody needs a token until the first one is created, or
    people sign in; everywhere else everyone does. Creates an empty library if there is none.
    """
    workers = settings.serve_workers or workers_for(_processors(), memory())
    s = replace(settings, log_queries=settings.log_queries or "counts", serve_workers=workers)
    if not 0 <= s.serve_port <= 65535:
        raise BadSetting(f"`serve.port` can't be {s.serve_port}.", fix="Give 1 to 65535.")
    if not 1 <= s.serve_workers <= _MOST_WORKERS:
        raise BadSetting(
            f"`serve.workers` can't be {s.serve_workers}.",
            fix=f"Give 1 to {_MOST_WORKERS}, or auto.",
        )
    if s.serve_connections < 1:
        raise BadSetting(
            f"`serve.connections` can't be {s.serve_connections}.", fix="Give 1 or more."
        )
    signs_in = bool(s.signin_issuer and Provider(s))  # raises BadSetting before anything starts
    private = is_loopback(s.serve_host) and not s.serve_hosts.strip()
    has_tokens, made = _tokens(s), False
    if not private and not has_tokens and not without_tokens and not signs_in:
        raise UnsafeServing(
            f"Other machines can reach {s.serve_host}, and you have no tokens yet.",
            fix="Create one with `trivium token create`. To let everyone see and change"
            " everything, use --insecure-without-tokens.",
        )
    if has_tokens is None:
        Library.open(settings=s).close()
        made = True
    open_to_all = without_tokens or (private and not has_tokens and not signs_in)
    everywhere = s.serve_host in ("0.0.0.0", "::", "")
    any_host = everywhere and not open_to_all
    return ServingPlan(s, open_to_all, any_host, allow_write, dict(origins or {}), furnish, made)


def workers_for(processors: float, memory: int) -> int:
    """How many processes a server starts by itself. On two cores a second one gives a tenth more
    answers for 150 MB, so there it is up to you."""
    wanted = int(processors / 2) if processors > 2 else 1
    return max(1, min(wanted, _MOST_BY_THEMSELVES, memory // _MEMORY))


def _processors() -> float:
    """Those that this process may use. Without Linux one: elsewhere the first process that wakes
    takes all connections."""
    if sys.platform != "linux":
        return 1
    allowed = float(len(os.sched_getaffinity(0)))
    with suppress(OSError, ValueError):  # a container's limit
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        allowed = min(allowed, int(limit) / int(period))
    return allowed


def _tokens(settings: Settings) -> bool | None:
    """Whether the library has access tokens; None if there is no library yet."""
    try:
        with Library.open(settings=settings, create=False) as library:
            return bool(library.tokens.all())
    except LibraryNotFound:
        return None


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def run(plan: ServingPlan, *, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until stopped, then finish requests in progress."""
    s = plan.settings
    bound = _bind(s.serve_host, s.serve_port, s.serve_workers > 1 and sys.platform == "linux")
    port = int(bound.getsockname()[1])  # port 0 asks for any that is free
    plan = replace(plan, settings=replace(plan.settings, serve_port=port))
    config = uvicorn.Config(
        plan,
        factory=True,
        log_config=None,  # whoever runs the program decides about logs
        access_log=False,  # the guard writes it, with request ids
        server_header=False,
        proxy_headers=False,  # an address that a client can write is no address
        timeout_graceful_shutdown=GRACE_SECONDS,
        workers=plan.settings.serve_workers,
        timeout_worker_healthcheck=_START_SECONDS,
        ws="none",
        http=Connections(_most_connections(s.serve_connections)),  # type: ignore[arg-type]
        backlog=_BACKLOG,
    )
    if plan.settings.serve_workers == 1:
        bound.listen(_BACKLOG)  # who comes while the library is opened waits, and is not refused
    if on_ready:
        on_ready(plan.address)
    if plan.settings.serve_workers == 1:
        uvicorn.Server(config).run(sockets=[bound])
    else:
        _fork_from_one()
        with shared():
            Multiprocess(config, sockets=[bound]).run()


def _fork_from_one() -> None:
    """Have uvicorn make its processes from one that has imported everything, and opened nothing. A
    release of uvicorn that starts them differently keeps its own way."""
    with suppress(ImportError):
        from uvicorn import _subprocess

        if sys.platform != "linux" or not hasattr(_subprocess, "spawn"):
            return
        processes = multiprocessing.get_context("forkserver")
        processes.set_forkserver_preload(["trivium.http.preloaded"])
        _subprocess.spawn = processes  # type: ignore[assignment]


def _most_connections(wanted: int) -> int:
    """At most half of the files a process may open: the library needs the others, and asyncio logs
    every connection it has no file for (24 MB in 10 s)."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft // 2))


class Connections:
    """Makes uvicorn's protocols, with a limit: one connection more than `most` closes the oldest
    idle one, or is closed itself if none is idle. Each worker process gets its own copy."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: list[H11Protocol] = []  # oldest first

    def __call__(self, **options: Any) -> H11Protocol:
        return _Counted(self, **options)

    def enter(self, connection: H11Protocol) -> None:
        self._open.append(connection)
        if len(self._open) > self._most:
            idle = next((protocol for protocol in self._open if _is_idle(protocol)), connection)
            self._open.remove(idle)
            idle.transport.abort()

    def leave(self, connection: H11Protocol) -> None:
        if connection in self._open:
            self._open.remove(connection)


class _Counted(H11Protocol):
    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        self._connections = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._connections.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._connections.leave(self)


def _is_idle(connection: H11Protocol) -> bool:
    return connection.cycle is None or connection.cycle.response_complete


def _end_streams_first(app: FastAPI) -> None:
    """Stop streams before the server: one that waits for news would delay the shutdown."""
    if threading.current_thread() is not threading.main_thread():
        return
    closing: Event = app.state.server.closing

    def before(then: Any) -> Callable[[int, FrameType | None], None]:
        def on_signal(number: int, frame: FrameType | None) -> None:
            closing.set()
            if callable(then):
                then(number, frame)

        return on_signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, before(signal.getsignal(number)))


class _Shared(socket.socket):
    """An address that worker processes share. Each process gets its own socket at the same
    address, so that the kernel spreads connections evenly. With a single socket the first process
    to wake takes all that wait (64 clients, 2 workers: 64 to 0)."""

    def __reduce__(self) -> tuple[Any, ...]:
        host, port = self.getsockname()[:2]
        return _bind, (host, port, True)


def _bind(host: str, port: int, shared: bool) -> socket.socket:
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Connections get the protocol from this socket, and asyncio sets TCP_NODELAY only where it is
    # IPPROTO_TCP. Without, the second part of every answer waits 40 ms for the client's
    # acknowledgement (/healthz over a kept connection: 44 ms, with it under 1).
    kind = _Shared if shared else socket.socket
    bound = kind(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        bound.bind((host, port))
    except OSError as reason:
        bound.close()
        raise BadSetting(
            f"Couldn't listen at {host}:{port}: {_why(reason)}.",
            fix="Choose another port with --port, or stop the program that uses this one.",
        ) from reason
    bound.set_inheritable(True)
    return bound


def _why(reason: OSError) -> str:
    if reason.errno == errno.EADDRINUSE:
        return "the port is already in use"
    return reason.strerror or str(reason)
