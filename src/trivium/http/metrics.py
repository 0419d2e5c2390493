"""Metrics for Prometheus: counts, never contents.

Several processes of one server share a folder that PROMETHEUS_MULTIPROC_DIR names (`shared`): each
writes its values there, and whichever is asked sums them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily as Gauges
from prometheus_client.core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from trivium.core.work import QueueState
from trivium.http.tracing import stages

# Seconds. A search takes 10 ms, an upload some seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the package reads it once, when it is imported


@contextmanager
def shared() -> Iterator[None]:
    """For as long as processes that are started meanwhile count together."""
    with tempfile.TemporaryDirectory(prefix="trivium-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[_FOLDER]


class Metrics:
    """Of this process, or of all that share a folder."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        names = ("method", "route")
        self._requests = Counter(
            "trivium_requests", "Requests answered.", (*names, "status"), registry=registry
        )
        self._seconds = Histogram(
            "trivium_request_seconds",
            "Time from request to answer.",
            names,
            buckets=_BUCKETS,
            registry=registry,
        )
        self._errors = Counter(
            "trivium_errors", "Requests that failed.", ("code",), registry=registry
        )
        self._stages = Histogram(
            "trivium_search_stage_seconds",
            "Time of each stage of a search.",
            ("stage",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._watched: list[tuple[Gauge, Callable[[], float]]] = []
        self._of_library: list[Metric] = []
        registry.register(self)

    def collect(self) -> list[Metric]:
        """What the database knows: the process that is asked reads it."""
        return self._of_library

    def searched(self, milliseconds: Mapping[str, float]) -> None:
        for stage, spent in milliseconds.items():
            self._stages.labels(stage).observe(spent / 1000)
        stages(milliseconds)

    def read(self, queue: QueueState, lags: Mapping[str, tuple[float, bool]]) -> None:
        """Of the library, as of this request, so every server says the same: take the maximum, not
        the sum. `lags`: by source, and whether its last run failed."""
        jobs = Gauges("trivium_jobs", "Jobs with work left.", labels=["state"])
        for state, count in queue.jobs.items():
            jobs.add_metric([state], count)
        tasks = Gauges("trivium_tasks", "Documents of these jobs.", labels=["state"])
        for state, count in queue.tasks.items():
            tasks.add_metric([state], count)
        left, age, workers = "trivium_documents_left", "trivium_queue_age_seconds", queue.workers
        lag = Gauges(
            "trivium_sync_lag_seconds", "Time since the last run of a source.", labels=["source"]
        )
        failing = Gauges("trivium_sync_failed", "1 if its last run failed.", labels=["source"])
        for source, (seconds, failed) in lags.items():
            lag.add_metric([source], seconds)
            failing.add_metric([source], failed)
        self._of_library = [
            jobs,
            tasks,
            Gauges(left, "Documents that wait or are read.", queue.documents_left),
            Gauges(age, "Age of the oldest open job.", queue.age_seconds),
            Gauges("trivium_workers_alive", "Processes that take jobs, idle or not.", workers),
            lag,
            failing,
        ]

    def failed(self, code: str) -> None:
        self._errors.labels(code).inc()

    def watch(self, name: str, help_: str, value: Callable[[], float]) -> None:
        """A gauge as of the last request; of several processes the sum."""
        gauge = Gauge(name, help_, registry=self._registry, multiprocess_mode="livesum")
        self._watched.append((gauge, value))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "OTHER"  # anyone may make one up
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)
        self._look()

    def _look(self) -> None:
        for gauge, value in self._watched:
            gauge.set(value())

    def text(self) -> bytes:
        self._look()
        folder = os.environ.get(_FOLDER)
        if folder is None:
            return generate_latest(self._registry)
        for file in Path(folder).glob("gauge_live*_*.db"):
            number = int(file.stem.rpartition("_")[2])
            try:
                os.kill(number, 0)
            except ProcessLookupError:
                mark_process_dead(number, folder)  # type: ignore[no-untyped-call]
        every = CollectorRegistry()
        MultiProcessCollector(every)  # type: ignore[no-untyped-call]
        every.register(self)
        return generate_latest(every)
