"""Traces for OpenTelemetry, if the package is there: a span for each request, below the caller's
own if it sends one. Whoever sets up OpenTelemetry's SDK gets them; without it they cost nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def span(headers: Mapping[bytes, str]) -> Iterator[Any]:
    """A span, or None without OpenTelemetry. Not of the kind SERVER: FastAPI makes that one."""
    try:
        from opentelemetry import propagate, trace
    except ModuleNotFoundError:
        yield None
        return
    parent = propagate.extract({key.decode("latin-1"): value for key, value in headers.items()})
    with trace.get_tracer("trivium").start_as_current_span(
        "trivium.request", context=parent
    ) as begun:
        yield begun


def describe(begun: Any, fields: Mapping[str, object]) -> None:
    """What became of a request; never what was searched for."""
    if begun is not None and begun.is_recording():
        begun.set_attributes({f"trivium.{key}": value for key, value in fields.items()})


def stages(milliseconds: Mapping[str, float]) -> None:
    """How long each stage of a search took, as attributes of the request's span."""
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return
    current = trace.get_current_span()
    if current.is_recording():
        current.set_attributes({f"trivium.search.{k}_ms": ms for k, ms in milliseconds.items()})
