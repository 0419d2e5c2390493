"""The real server in processes of its own: it starts, shares work, refuses, and ends well."""

from __future__ import annotations

import re
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

import httpx2
import pytest
from tests.serving.running import PATIENCE, serving
from tests.serving.shelf import shelve

from trivium.config import Settings
from trivium.core.errors import BadSetting, UnsafeServing
from trivium.http.serve import is_loopback, plan, workers_for
from trivium.library import Library


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("processes") / "library"
    shelve(place).close()
    return place


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Of a server in one process."""
    with serving(folder) as (address, _):
        yield address


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[str]:
    """Of a server in two processes."""
    with serving(folder, "--workers", "2") as (address, _):
        yield address


def test_it_answers_and_ends_by_itself(folder: Path) -> None:
    with serving(folder) as (address, process), httpx2.Client(trust_env=False) as client:
        found = client.post(f"{address}/v1/search", json={"query": "crown"}, timeout=PATIENCE)
        assert found.json()["results"][0]["document"]["title"] == "The Crown"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)


def test_what_was_begun_is_finished(folder: Path, tmp_path: Path) -> None:
    with serving(folder, "--until", str(tmp_path / "go")) as (address, process):
        with ThreadPoolExecutor() as pool:
            begun = pool.submit(httpx2.get, f"{address}/slow", timeout=PATIENCE, trust_env=False)
            _until_at_work(address)
            process.send_signal(signal.SIGTERM)
            _until_nobody_comes_in(address)
            (tmp_path / "go").touch()
            assert begun.result().json()["done"]
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)


def _until_at_work(address: str) -> None:
    until = monotonic() + PATIENCE
    with httpx2.Client(trust_env=False) as client:
        while not any(
            line.startswith("trivium_at_work ") and float(line.split()[-1]) >= 1
            for line in client.get(f"{address}/metrics", timeout=PATIENCE).text.splitlines()
        ):
            assert monotonic() < until


def _until_nobody_comes_in(address: str) -> None:
    """It has heard that it is to end."""
    host, _, port = address.removeprefix("http://").partition(":")
    until = monotonic() + PATIENCE
    with suppress(OSError):
        while True:
            socket.create_connection((host, int(port)), PATIENCE).close()
            assert monotonic() < until


def test_overload_is_said_at_once(folder: Path, tmp_path: Path) -> None:
    options = ("--until", str(tmp_path / "go"), "--parallel", "1", "--waiting", "1")
    with serving(folder, *options) as (address, _), ThreadPoolExecutor(8) as pool:
        begun = as_completed(
            pool.submit(httpx2.get, f"{address}/slow", timeout=PATIENCE, trust_env=False)
            for _ in range(8)
        )
        refusals = [next(begun).result() for _ in range(6)]  # while the others wait
        (tmp_path / "go").touch()
        served = [one.result() for one in begun]
    assert [answer.status_code for answer in served] == [200, 200]
    assert [answer.status_code for answer in refusals] == [503] * 6
    refused = refusals[0]
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["code"] == "server.busy"


def test_several_processes_share_the_work(shared: str) -> None:
    counted = re.compile(
        r'^trivium_requests_total\{method="GET",route="/slow",status="200"\} (\d+)\.0$', re.M
    )

    def asked_so_far() -> int:
        told = httpx2.get(f"{shared}/metrics", timeout=PATIENCE, trust_env=False).text
        return sum(map(int, counted.findall(told)))

    before = asked_so_far()
    workers: set[int] = set()
    asked, until = 0, monotonic() + PATIENCE
    while len(workers) < 2:
        answer = httpx2.get(f"{shared}/slow", timeout=PATIENCE, trust_env=False)
        workers.add(answer.json()["worker"])
        asked += 1
        assert monotonic() < until
    assert asked_so_far() == before + asked, "over all processes"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't fork safely")
def test_processes_share_the_memory_of_what_they_import(shared: str) -> None:
    answer = httpx2.get(f"{shared}/slow", timeout=PATIENCE, trust_env=False)
    told = Path(f"/proc/{answer.json()['worker']}/smaps_rollup").read_text()
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in told.splitlines()[1:]}
    assert kilobytes["Shared_Dirty:"] > 30_000


@pytest.mark.parametrize(("server", "workers"), [("address", 1), ("shared", 2)])
def test_answers_leave_without_waiting_for_an_acknowledgement(
    server: str, workers: int, request: pytest.FixtureRequest
) -> None:
    """Every connection has TCP_NODELAY set, whichever process accepted it."""
    address = request.getfixturevalue(server)
    seen: dict[int, bool] = {}
    until = monotonic() + PATIENCE
    while len(seen) < workers:
        answer = httpx2.get(f"{address}/delay", timeout=PATIENCE, trust_env=False).json()
        seen[answer["worker"]] = answer["no_delay"]
        assert monotonic() < until
    assert all(seen.values())


def test_half_a_request_holds_up_nobody(address: str) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    halves = [socket.create_connection((host, int(port))) for _ in range(50)]
    try:
        for half in halves:
            half.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n")
        halves[0].sendall(b"Content-Type: application/json\r\n\r\n{")
        halves[0].shutdown(socket.SHUT_WR)
        answer = httpx2.get(f"{address}/healthz", timeout=PATIENCE, trust_env=False)
        assert answer.status_code == 200
    finally:
        for half in halves:
            half.close()


def test_idle_connections_make_room(folder: Path) -> None:
    """The oldest idle ones are closed, so they can neither shut others out nor use up the files
    that a process may open."""
    with serving(folder, "--connections", "8") as (address, _):
        host, _, port = address.removeprefix("http://").partition(":")
        idle = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(40)]
        try:
            for _ in range(3):
                answer = httpx2.get(f"{address}/healthz", timeout=PATIENCE, trust_env=False)
                assert answer.status_code == 200
            for oldest in idle[:30]:
                with suppress(ConnectionResetError):
                    assert oldest.recv(1) == b"", "the server closed it"
        finally:
            for one in idle:
                one.close()


def test_a_folder_that_was_moved_away_is_reported_and_not_made_again(tmp_path: Path) -> None:
    place, away = tmp_path / "library", tmp_path / "moved"
    shelve(place).close()
    with (
        serving(place) as (address, _),
        httpx2.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client,
    ):
        assert client.get("/readyz").status_code == 200
        place.rename(away)
        gone = client.get("/readyz")
        assert (gone.status_code, gone.json()["code"]) == (503, "library.not_found")
        for wait in ("true", "false"):
            sent = {"file": ("new.md", b"# New\n\nManticores prowl.")}
            refused = client.post(f"/v1/documents?wait={wait}", files=sent)
            assert (refused.status_code, refused.json()["code"]) == (503, "library.not_found")
        judged = {"query": "crown", "document": 1, "relevance": 1}
        assert client.post("/v1/evaluations/mine/judgments", json=judged).status_code >= 400
        assert client.get("/healthz").status_code == 200
        assert not place.exists()
        away.rename(place)
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    "changed", [{"serve_workers": 10**30}, {"serve_workers": -1}, {"serve_connections": 0}]
)
def test_numbers_that_no_server_can_have_are_refused(folder: Path, changed: dict[str, int]) -> None:
    with pytest.raises(BadSetting):
        plan(Settings(library=folder, **changed))


@pytest.mark.parametrize(
    ("processors", "gigabytes", "workers"),
    [
        (1, 8, 1),
        (2, 8, 1),
        (1.5, 64, 1),
        (4, 8, 2),
        (3, 8, 1),
        (16, 64, 8),
        (64, 256, 8),
        (16, 3, 3),
    ],
)
def test_a_server_picks_its_number_of_processes(
    processors: float, gigabytes: int, workers: int
) -> None:
    assert workers_for(processors, gigabytes << 30) == workers
    assert workers_for(processors, 1) == 1


def test_a_plan_has_a_number_of_processes(tmp_path: Path) -> None:
    here = Settings(library=tmp_path / "library")
    assert plan(here).settings.serve_workers >= 1
    assert plan(replace(here, serve_workers=3)).settings.serve_workers == 3


def test_others_are_let_in_with_tokens_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    Library.open(place).close()
    here = Settings(library=place)
    everywhere = Settings(library=place, serve_host="0.0.0.0")
    named = Settings(library=place, serve_hosts="search.example")
    assert plan(here).open_to_all
    for settings in (everywhere, named):
        with pytest.raises(UnsafeServing, match="no token"):
            plan(settings)
        assert plan(settings, without_tokens=True).open_to_all
        assert not plan(settings, without_tokens=True).any_host
    with Library.open(place) as library:
        library.tokens.create(audiences=())
    assert not plan(here).open_to_all, "who makes a token wants to be asked for it"
    assert plan(everywhere).any_host
    assert not plan(everywhere).open_to_all
    with pytest.raises(BadSetting):
        plan(Settings(library=place, serve_port=99999))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_which_addresses_are_this_machine_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_file_that_was_taken_outlives_a_kill(tmp_path: Path) -> None:
    place = tmp_path / "library"
    shelve(place).close()
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        with serving(place) as (address, process):
            sent = {"file": ("taken.md", b"# Taken\n\nManticores prowl.")}
            taken = client.post(f"{address}/v1/documents?wait=false", files=sent)
            process.kill()
            process.wait(PATIENCE)
        assert taken.status_code == 202
        with serving(place) as (address, _):
            job = taken.json()["job"]["id"]
            *_, last = client.get(f"{address}/v1/jobs/{job}/events").text.strip().splitlines()
            assert '"state": "done"' in last
            found = client.post(f"{address}/v1/search", json={"query": "manticores"}).json()
            assert found["results"][0]["document"]["uri"] == "upload:taken.md"
