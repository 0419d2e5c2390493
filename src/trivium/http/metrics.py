"""Metrics for Prometheus: counts, never contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from trivium.core.work import QueueState

# Seconds. A search takes 10 ms, an upload some seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Metrics of this process; with several workers each has its own, labelled `worker`."""

    def __init__(self, worker: int) -> None:
        self._registry = CollectorRegistry()
        self._worker = str(worker)
        names = ("worker", "method", "route")
        self._requests = Counter(
            "trivium_requests", "Requests answered.", (*names, "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "trivium_request_seconds",
            "Time from request to answer.",
            names,
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._errors = Counter(
            "trivium_errors", "Requests that failed.", ("worker", "code"), registry=self._registry
        )
        self._stages = Histogram(
            "trivium_search_stage_seconds",
            "Time of each stage of a search.",
            ("worker", "stage"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        # Of the library, so every process says the same: take the maximum, not the sum.
        self._jobs = Gauge(
            "trivium_jobs", "Jobs with work left.", ("state",), registry=self._registry
        )
        self._left = Gauge(
            "trivium_documents_left", "Documents that wait or are read.", registry=self._registry
        )
        self._age = Gauge(
            "trivium_queue_age_seconds", "Age of the oldest open job.", registry=self._registry
        )
        self._workers = Gauge(
            "trivium_workers_alive", "Workers that have a job.", registry=self._registry
        )
        self._lag = Gauge(
            "trivium_sync_lag_seconds",
            "Time since the last run of a source ended.",
            ("source",),
            registry=self._registry,
        )
        self._failing = Gauge(
            "trivium_sync_failed",
            "1 if the last run of a source failed.",
            ("source",),
            registry=self._registry,
        )

    def searched(self, milliseconds: Mapping[str, float]) -> None:
        for stage, spent in milliseconds.items():
            self._stages.labels(self._worker, stage).observe(spent / 1000)

    def synced(self, lags: Mapping[str, tuple[float, bool]]) -> None:
        """As of this request; sources that are gone are gone."""
        self._lag.clear()
        self._failing.clear()
        for source, (seconds, failed) in lags.items():
            self._lag.labels(source).set(seconds)
            self._failing.labels(source).set(failed)

    def queued(self, queue: QueueState) -> None:
        """As of this request."""
        for state, count in queue.jobs.items():
            self._jobs.labels(state).set(count)
        self._left.set(queue.documents_left)
        self._age.set(queue.age_seconds)
        self._workers.set(queue.workers)

    def failed(self, code: str) -> None:
        self._errors.labels(self._worker, code).inc()

    def watch(self, name: str, help_: str, value: Callable[[], float]) -> None:
        """A gauge that reads its value on every request."""
        gauge = Gauge(name, help_, ("worker",), registry=self._registry)
        gauge.labels(self._worker).set_function(value)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "OTHER"  # anyone may make one up
        self._requests.labels(self._worker, method, route, str(status)).inc()
        self._seconds.labels(self._worker, method, route).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)
