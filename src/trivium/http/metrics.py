"""Metrics for Prometheus: counts, never contents."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

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
