"""What operators see of servers and workers: logs, traces, health. Never what people search for."""

from __future__ import annotations

import json
import logging
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient
from tests import postgres
from tests.serving.shelf import SECRET

from trivium.cli.worker import _answering
from trivium.config import Settings
from trivium.core.errors import BadSetting, DatabaseAway
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Probe, Signal
from trivium.core.work import KeptSource, SyncRun
from trivium.http.logs import JsonLines, log_to_stderr
from trivium.library import Library
from trivium.library.background import Background
from trivium.store.opening import BackendOptions, open_backend
from trivium.testing.samples import TOY, put, sample
from trivium.text.query import parse


def test_json_logs(player: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "trivium.serve"):
        player.post("/v1/search?q=x", json={"query": SECRET}, headers={"X-Request-ID": "r-1"})
        player.get("/v1/jobs")
    place = DatabaseAddress("postgresql://me:pass@db/team?schema=one")
    ours = [one for one in caplog.records if one.name == "trivium.serve"]
    lines = [JsonLines(str(place)).format(record) for record in ours]
    assert not [line for line in lines if SECRET in line or "pass" in line]
    search, jobs = map(json.loads, lines)
    assert search["request"] == "r-1"
    assert len(search["caller"]) == 12
    assert (search["route"], search["status"], search["code"]) == ("/v1/search", 200, "")
    assert search["library"] == "postgresql://db/team?schema=one"
    assert (jobs["status"], jobs["code"]) == (403, "token.right_missing")
    assert datetime.fromisoformat(jobs["time"]) > datetime.now(UTC) - timedelta(hours=1)


def test_json_logs_of_faults() -> None:
    try:
        raise ValueError("no")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("trivium", logging.ERROR, "", 1, "a %s", ("fault",), info)
    told = json.loads(JsonLines("x").format(record))
    assert told["message"] == "a fault"
    assert "ValueError: no" in told["exception"]
    with pytest.raises(BadSetting, match=r"log\.format"):
        log_to_stderr(Settings(log_format="xml"))


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


def test_a_request_is_a_span_below_its_caller_s(
    player: TestClient, spans: InMemorySpanExporter
) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    spans.clear()
    player.post("/v1/search", json={"query": SECRET}, headers={"traceparent": parent})
    (span,) = [one for one in spans.get_finished_spans() if one.name == "trivium.request"]
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == "b7ad6b7169203331"
    told = dict(span.attributes or {})
    assert (told["trivium.route"], told["trivium.status"]) == ("/v1/search", 200)
    every = str([dict(one.attributes or {}) for one in spans.get_finished_spans()])
    assert "trivium.search.keyword_ms" in every  # of FastAPI's span, where it makes one
    assert SECRET not in every


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_health_of_a_worker(
    shelf: Library, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = f"http://127.0.0.1:{free_port}"
    with Background(shelf) as background, _answering(background, free_port):
        with urlopen(f"{at}/healthz") as answer:
            assert (answer.status, answer.read()) == (200, b"ok")
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{at}/other")

        def away() -> None:
            raise DatabaseAway("The database is away.")

        monkeypatch.setattr(shelf.upkeep, "check_there", away)
        with pytest.raises(HTTPError, match="503"):
            urlopen(f"{at}/healthz")


def test_how_long_ago_sources_were_synced(shelf: Library) -> None:
    long_ago = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    one = KeptSource("notes", "notes", every=60, added_at=long_ago)
    for source in (
        one,
        replace(one, name="failed", run=SyncRun(long_ago, long_ago, code="source.refused")),
        replace(one, name="by hand", every=0),
    ):
        shelf.backend.sources.keep(source)
    lags = shelf.sync.lags()
    assert lags.keys() == {"notes", "failed"}
    assert 7200 <= lags["notes"][0] < 7300
    assert [failed for _, failed in lags.values()].count(True) == lags["failed"][1]


def test_connections_and_cached_words_of_a_database() -> None:
    with postgres.library() as address:
        backend = open_backend(address, BackendOptions())
        put(backend, sample("a.md", "The crown lies in the harbour."))
        backend.signals.refresh()
        before = backend.upkeep.meters()
        for _ in range(2):
            backend.signals.search(Signal.KEYWORD, Probe(parse("crown")), OWNER, 5)
        after = backend.upkeep.meters()
        backend.close()
    assert after.cache_misses == before.cache_misses + 1
    assert after.cache_hits == before.cache_hits + 1
    assert after.connections_open >= 1
    assert after.connections_used == 0
    assert TOY.dimensions
