"""The sources that a library keeps in step with: adding, running, verifying, pausing, removing."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from threading import Event

from trivium.config import secrets as places
from trivium.core.errors import (
    BadSetting,
    LibraryBusy,
    SourceExists,
    SourceNonsense,
    SourceNotFound,
    SourcePaused,
    SourceUnreachable,
    TriviumError,
)
from trivium.core.shapes import SyncAnswer
from trivium.core.types import Extraction, Labels
from trivium.core.work import KeptSource, SyncFailure, SyncPoint, SyncRun, now
from trivium.library.model import CurrentModel
from trivium.library.sync.items import SEGMENT, age, item_uris, slices
from trivium.library.sync.putting import Putting
from trivium.library.sync.running import INCREMENTAL, WAITED, SourceRun, SyncEvent, SyncOptions
from trivium.library.sync.verifying import Verified, Verifying
from trivium.ports import Backend, Failed, Put, SourceAsked, SyncSource, Wait, Waiting
from trivium.sources import kinds
from trivium.text.values import check_labels, check_text

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_EVERY = re.compile(r"(\d{1,9})\s*(s|m|h|d)?")
_CHECKED = 500  # changes that a check looks at
_PATIENCE = 5.0  # seconds that a check waits for a service
_SECONDS: dict[str | None, int] = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, None: 1}


def seconds_of(every: str) -> int:
    """`10m`, `1h`, `90` (seconds); empty or 0: only on request. Raises BadSetting."""
    match = _EVERY.fullmatch(every.strip().lower() or "0")
    if match is None:
        raise BadSetting(f"{every!r} isn't a period.", fix="Write 90s, 10m, 1h or 1d.")
    return int(match[1]) * _SECONDS[match[2]]


def period_of(seconds: int) -> str:
    """The way `seconds_of` reads it: 10m, 1h."""
    unit = next(name for name in "dhms" if seconds % _SECONDS[name] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}" if seconds else ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of a source found."""

    source: str
    item: str = ""  # title of the first item; empty: none could be read
    message: str = ""  # why not


class Sync:
    def __init__(
        self,
        backend: Backend,
        model: CurrentModel,
        make: Callable[[KeptSource], SyncSource] | None = None,
    ) -> None:
        """`make`: opens a source; by default, by its registered kind."""
        self._backend = backend
        self._model = model
        self._make = make or self._opened

    # --- the sources

    def add(self, source: KeptSource) -> KeptSource:
        """Sync a source from now on. Its first run reads everything."""
        if not _NAME.fullmatch(source.name):
            raise BadSetting(
                f"A source can't be named {source.name[:80]!r}.",
                fix="Use small letters, digits, dots, dashes and underscores.",
            )
        check_labels(Labels(source.collection, source.category, source.audience))
        for name, value in {**source.options, **source.secrets}.items():
            check_text(name, value)
        if self._backend.sources.get(source.name) is not None:
            raise SourceExists(f"You already have a source named {source.name}.")
        self._make(source)  # raises now what its first run would
        options = kinds.absolute(source.kind, source.options)
        fresh = replace(source, options=options, cursor="", run=SyncRun(), paused=False)
        sealed = replace(_sealed(fresh), added_at=now())
        self._backend.sources.keep(sealed)
        return sealed

    def receive(self, source: KeptSource, *, check: bool = False) -> KeptSource:
        """Add a source that someone sent over HTTP. It may use secrets that come with it or that
        the operator listed, and connect to the service itself or to what the operator allows: no
        request can send the machine's own secrets anywhere. `check`: read its first item before."""
        kind = kinds.kind_of(source.kind)
        kinds.check_sent(kind, source.options, self._model.settings.sync_addresses)
        secrets = {name: _sent(name, text) for name, text in source.secrets.items()}
        sent = replace(source, secrets=secrets)
        if check and self.is_new(sent):
            self.check(sent)
        return self.add(sent)

    def lags(self) -> dict[str, tuple[float, bool]]:
        """Of each source that runs by itself: seconds since its last run ended, or since it was
        added, and whether that run failed."""
        lags = {}
        for source in self.all():
            if source.every and not source.paused:
                since = datetime.fromisoformat(source.run.ended_at or source.added_at)
                age = (datetime.now(UTC) - since).total_seconds()
                lags[source.name] = age, bool(source.run.code)
        return lags

    def all(self) -> list[KeptSource]:
        return self._backend.sources.all()

    def get(self, name: str) -> KeptSource:
        source = self._backend.sources.get(name)
        if source is None:
            raise SourceNotFound(
                f"You have no source named {name!r}.",
                fix="`trivium sync status` lists them.",
                on_page="It may have been removed. Reload the page.",
            )
        return source

    def is_new(self, source: KeptSource) -> bool:
        """Whether its name is free and well formed: `add` says what is wrong."""
        return bool(_NAME.fullmatch(source.name)) and self._backend.sources.get(source.name) is None

    def told(self, source: KeptSource) -> SyncAnswer:
        """A source and its state, for callers."""
        name = source.name
        return SyncAnswer.of(
            source,
            running=self.is_running(name),
            items=self.count(name),
            failed=len(self.failures(name)),
        )

    def is_running(self, name: str) -> bool:
        return self._backend.leases.is_held(_lease(name))

    def failures(self, name: str) -> list[SyncFailure]:
        return self._backend.sources.failures(self.get(name).name)

    def count(self, name: str) -> int:
        """How many of its items are in the library."""
        return len(item_uris(self._backend, self.get(name)))

    def pause(self, name: str) -> KeptSource:
        """A run under way finishes the documents it has started."""
        self._backend.sources.pause(self.get(name).name, True)
        return self.get(name)

    def resume(self, name: str) -> KeptSource:
        self._backend.sources.pause(self.get(name).name, False)
        return self.get(name)

    def remove(
        self, name: str, *, keep_documents: bool = False, on_wait: Waiting | None = None
    ) -> int:
        """Stop syncing it and remove its documents; returns how many."""
        source = self.pause(name)  # so that a run under way ends
        with self._backend.leases.hold(_lease(name), f"syncing {name}", waiting=on_wait):
            uris = [] if keep_documents else item_uris(self._backend, source)
            for some in slices(uris, SEGMENT):
                with self._backend.writer.writing(on_wait):
                    for uri in some:
                        self._backend.writer.forget(uri, source.collection)
            self._backend.sources.forget(name)
        return len(uris)

    def due(self) -> list[KeptSource]:
        """Sources that a server should run now: they are due, or a pause that the service asked for
        is over."""
        self._seal()
        at = now()
        return [source for source in self._backend.sources.all() if _is_due(source, at)]

    def _seal(self) -> None:
        """Encrypt the secrets that 0.1 stored as they were sent. Under the lease, because a run
        writes the same row; the next call comes to those that are syncing now, or that have no
        place for a key."""
        for source in self._backend.sources.all():
            if _sealed(source) != source:
                with suppress(TriviumError, OSError), self._leased(source.name):
                    self._backend.sources.keep(_sealed(self.get(source.name)))

    def ask(self, name: str, *, full: bool = False) -> KeptSource:
        """Ask the server of this library to run it now. `full`: read everything again."""
        source = self.get(name)
        if source.paused:
            raise SourcePaused(f"{name} is paused.")
        if full:
            self._backend.sources.advance(SyncPoint(name, ""))
        now_due = [
            replace(failure, not_before="") for failure in self._backend.sources.failures(name)
        ]
        self._backend.sources.settle(name, now_due, [])
        self._backend.sources.record(name, replace(source.run, not_before=now(), code=""))
        return self.get(name)

    def _leased(self, name: str) -> AbstractContextManager[None]:
        return self._backend.leases.hold(_lease(name), f"syncing {name}", patience=0)

    def _opened(self, source: KeptSource) -> SyncSource:
        """By its kind. Secrets are looked up now."""
        kind = kinds.kind_of(source.kind)
        for name in source.secrets:
            if name not in kind.secrets:
                choices = ", ".join(kind.secrets) or "none"
                raise BadSetting(
                    f"{kind.name} has no secret `{name}`.", fix=f"Choose from {choices}."
                )
        listed = self._model.settings.sync_secrets
        secrets = {
            name: places.usual_secret(kinds.usual_variable(kind.name, name))
            for name in kind.secrets
        }
        secrets |= {name: places.secret(name, at, listed) for name, at in source.secrets.items()}
        settings = {name: value for name, value in secrets.items() if value}
        own = [self._backend.folder] if self._backend.folder else []
        return kinds.make(kind, SourceAsked(source.options, settings, own))

    def check(self, source: KeptSource) -> Checked:
        """Try a source before its first run: read until the first item. Changes nothing. Raises
        SourceError if nothing can be read."""
        failed = ""
        with closing(self._make(source).changes("")) as changes:  # type: ignore[type-var]
            for change in islice(changes, _CHECKED):
                if isinstance(change, Put):
                    title = change.title
                    if not title and isinstance(change.content, Extraction):
                        title = change.content.title
                    return Checked(source.name, title or change.id)
                if isinstance(change, Wait) and change.seconds > _PATIENCE:
                    if change.is_failing:
                        raise SourceUnreachable(change.reason)
                    return Checked(source.name, message=change.reason)
                if isinstance(change, Failed):
                    failed = failed or change.message
        if failed:
            raise SourceNonsense(f"{source.name} gives nothing to read. {failed}")
        return Checked(source.name, message="It can be reached, but holds nothing yet.")

    # --- running

    def run(
        self,
        name: str,
        options: SyncOptions = INCREMENTAL,
        *,
        on_event: Callable[[SyncEvent], None] = lambda event: None,
        on_wait: Waiting | None = None,
        stop: Event | None = None,
    ) -> SyncRun:
        """Bring the library up to date with the source. Raises SourceError if the source can't be
        read; what was added until then stays, and the next run continues from there."""
        self._seal()
        source = self.get(name)
        if source.paused:
            raise SourcePaused(f"{name} is paused.")
        opened = self._make(source)
        if options.dry:
            verifying = Verifying(self._backend, source, opened)
            counts, rest = verifying.would_do("" if options.full else source.cursor)
            at = now()
            return SyncRun(at, at, full=options.full, counts=dict(counts), message=rest)
        with ExitStack() as stack:
            try:
                stack.enter_context(self._leased(name))
            except LibraryBusy as reason:
                raise LibraryBusy(
                    f"{name} is already syncing.", fix="Wait for it to finish."
                ) from reason
            putting = stack.enter_context(Putting(self._backend, self._model, source))
            run = SourceRun(
                self._backend,
                source,
                opened,
                options,
                putting,
                on_event=on_event,
                on_wait=on_wait,
                stop=stop,
            )
            return run.work()

    def verify(
        self,
        name: str,
        *,
        ids_only: bool = False,
        longest_wait: float | None = None,
        on_event: Callable[[SyncEvent], None] = lambda event: None,
    ) -> Verified:
        """Compare the source and the library item by item; changes nothing. `ids_only`: only which
        items exist, not what they say. `longest_wait`: seconds; raises SourceUnreachable if the
        service asks for a longer pause."""
        source = self.get(name)

        def wait(pause: Wait) -> None:
            if longest_wait is not None and pause.seconds > longest_wait:
                raise SourceUnreachable(
                    f"Couldn't verify {name}: {pause.reason}",
                    fix=f"Run `trivium sync verify {name}`, which waits as long as it takes.",
                    on_page="Try again later, or verify it in a terminal, where Trivium waits.",
                )
            on_event(SyncEvent(WAITED, message=pause.reason))
            Event().wait(pause.seconds)

        verifying = Verifying(self._backend, source, self._make(source))
        return verifying.verify(wait, ids_only=ids_only)


def _sent(name: str, text: str) -> str:
    """A secret that someone sent, as it is stored. Raises BadSetting."""
    kind, _, rest = text.partition(":")
    if kind in ("env", "file", "command"):
        raise BadSetting(
            f"Only commands on the server's machine can name its variables and files ({name}).",
            fix="Send the secret itself, or name:NAME if `sync.secrets` lists it. On the server's"
            " machine you can run `trivium sync add`.",
            on_page="Send the secret itself, or name:NAME if `sync.secrets` lists it.",
        )
    return text if kind in ("name", "value") and rest else f"value:{text}"


def _sealed(source: KeptSource) -> KeptSource:
    secrets = {name: places.sealed(place) for name, place in source.secrets.items()}
    return replace(source, secrets=secrets)


def _lease(name: str) -> str:
    return f"sync-{name}"


def _is_due(source: KeptSource, at: str) -> bool:
    run = source.run
    if source.paused:
        return False
    if run.not_before:
        return run.not_before <= at
    if not source.every:
        return False
    return not run.ended_at or age(run.ended_at) >= source.every
