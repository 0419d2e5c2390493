"""Requests that no well-behaved client sends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.config import Settings
from trivium.core.advice import ON_PAGE, advice
from trivium.core.errors import DeadlinePassed, RateExceeded, ServerBusy
from trivium.http.app import create_app
from trivium.http.callers import Buckets, Callers
from trivium.http.guard import BODY_BYTES, Guard, GuardRules
from trivium.http.leaving import while_there
from trivium.http.limiter import Limiter, asker
from trivium.http.metrics import Metrics
from trivium.library import Library
from trivium.sources.web import Fetched


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "a b", "[::2]"])
def test_a_name_of_someone_s_own_making_is_refused(owner: TestClient, host: str) -> None:
    answer = owner.get("/v1/caller", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "request.refused")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8420", "[::1]:9", "LOCALHOST"])
def test_its_own_names_are_fine(owner: TestClient, host: str) -> None:
    assert owner.get("/v1/caller", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9999"])
def test_pages_of_others_may_not_ask(owner: TestClient, origin: str) -> None:
    answer = owner.post("/v1/search", json={"query": "x"}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "request.refused")
    assert "access-control-allow-origin" not in answer.headers


ELSEWHERE = {"Sec-Fetch-Site": "cross-site"}
LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    "made",
    [
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
def test_a_page_of_another_site_cannot_probe(
    owner: TestClient, site: str, made: dict[str, str]
) -> None:
    """A picture of a page told which documents exist; another port of this machine is the same
    site to a browser. Only the library's own pages sent an Origin, or none."""
    headers = {"Sec-Fetch-Site": site, **made}
    for path in ("/v1/documents/1/pages/1", "/v1/documents/999/pages/1", "/v1/caller", "/healthz"):
        answer = owner.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "request.refused")
    for own in ("same-origin", "none"):
        headers["Sec-Fetch-Site"] = own
        assert owner.get("/v1/caller", headers=headers).status_code == 200


def test_a_link_on_another_site_is_followed_and_a_named_one_may_ask(library: Library) -> None:
    settings = Settings(serve_origins="https://notes.example")
    with client(library, settings=settings) as opened:
        assert opened.get("/v1/caller", headers=ELSEWHERE | LINK).status_code == 200
        posted = opened.post("/v1/search", json={"query": "x"}, headers=ELSEWHERE | LINK)
        assert posted.status_code == 403
        named = ELSEWHERE | {"Origin": "https://notes.example", "Sec-Fetch-Mode": "cors"}
        assert opened.get("/v1/caller", headers=named).status_code == 200


def test_no_other_site_embeds_an_answer(owner: TestClient) -> None:
    for path in ("/v1/caller", "/v1/nothing", "/healthz", "/metrics"):
        headers = owner.get(path).headers
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_its_own_pages_and_named_ones_may(library: Library, owner: TestClient) -> None:
    own = owner.get("/v1/caller", headers={"Origin": "http://localhost:8420"})
    assert own.status_code == 200
    settings = Settings(serve_origins="https://notes.example", serve_hosts="search.example")
    with client(library, settings=settings) as opened:
        named = {"Origin": "https://notes.example", "Host": "search.example"}
        answer = opened.get("/v1/caller", headers=named)
        assert answer.headers["access-control-allow-origin"] == "https://notes.example"
        other = opened.get("/v1/caller", headers={"Origin": "https://evil.example"})
        assert other.status_code == 403


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "request.invalid"),
        (b"{", "request.invalid"),
        (b"[]", "request.invalid"),
        (b'{"query": 5}', "request.invalid"),
        (b'{"query": "a", "limit": 0}', "request.invalid"),
        (b'{"query": "a", "limit": 101}', "request.invalid"),
        (b'{"query": "a", "k": NaN}', "request.invalid"),
        (b'{"query": "a", "nonsense": 1}', "request.invalid"),
        (b'{"query": ""}', "query.empty"),
        (b'{"query": "a", "where": "(("}', "filter.bad"),
        (b'{"query": "a", "k": 0}', "setting.bad"),
        (b"\xff\xfe", "request.invalid"),
        (b"[" * 100_000, "request.invalid"),
    ],
)
def test_wrong_bodies_are_explained(owner: TestClient, body: bytes, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = owner.post("/v1/search", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


def test_a_large_body_is_refused_before_it_is_read(owner: TestClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": str(1 << 30)}
    answer = owner.post("/v1/search", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "request.too_large")


def test_a_body_that_hides_its_size_is_cut_off(owner: TestClient) -> None:
    sent = 0

    def pieces() -> Any:
        nonlocal sent
        for _ in range(10_000):
            sent += 1 << 16
            yield b" " * (1 << 16)

    answer = owner.post(
        "/v1/search", content=pieces(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"


def test_a_silent_client_is_given_up() -> None:
    """Half a body, then nothing."""
    sent: list[Any] = []

    async def scene() -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            while (await receive()).get("more_body"):
                pass

        messages = [{"type": "http.request", "body": b"{", "more_body": True}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        guard = Guard(app, GuardRules(silent_seconds=0.01), Metrics())
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "headers": [(b"host", b"localhost")],
        }
        await guard(scope, receive, send)

    asyncio.run(scene())
    assert sent[0]["status"] == 408


def test_request_ids_go_through(owner: TestClient) -> None:
    given = owner.get("/healthz", headers={"X-Request-ID": "abc-1"})
    assert given.headers["x-request-id"] == "abc-1"
    odd = owner.get("/healthz", headers={"X-Request-ID": "a b\tc"})
    assert odd.headers["x-request-id"] not in ("", "a b\tc")


def test_a_fault_says_nothing_of_itself(library: Library) -> None:
    app = create_app(library, Settings(), open_to_all=True)

    @app.get("/broken")
    async def broken() -> None:
        raise ZeroDivisionError("the secret is 42")

    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as opened:
        answer = opened.get("/broken")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text


def test_who_asks_too_often_waits() -> None:
    now = [0.0]
    buckets = Buckets(2.0, lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0] * 4, "two seconds' worth at once"
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0.0, "each has its own"
    now[0] = 0.5
    assert buckets.take("a") == 0.0


RARELY = 0.001  # a second: the next may come after a quarter of an hour, however slow we are


def test_a_token_that_asks_too_often_is_told_when(library: Library) -> None:
    _, token = library.tokens.create(audiences=())
    with client(library, token, settings=Settings(serve_rate=RARELY)) as caller:
        answers = [caller.get("/v1/caller") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["code"] == "server.rate_exceeded"
    callers = Callers(library, open_to_all=False, rate=RARELY)
    callers.enter(f"Bearer {token}")
    with pytest.raises(RateExceeded):
        callers.enter(f"Bearer {token}")


def test_the_gate_sends_away_whom_it_cannot_serve() -> None:
    async def scene() -> None:
        gate, go = Limiter(1, 1, 120.0), threading.Event()
        first = asyncio.create_task(gate.run(go.wait))
        while not gate.at_work:
            await asyncio.sleep(0)
        second = asyncio.create_task(gate.run(lambda: 2))
        while not gate.waiting:
            await asyncio.sleep(0)
        with pytest.raises(ServerBusy):
            await gate.run(lambda: 3)
        go.set()
        assert await first
        assert await second == 2
        gate.close()

    asyncio.run(scene())


def test_what_takes_too_long_keeps_its_place() -> None:
    async def scene() -> None:
        gate, go = Limiter(1, 5, 120.0), threading.Event()
        with pytest.raises(DeadlinePassed) as late:
            await gate.run_within(0.05, go.wait)
        assert (late.value.fix, advice(late.value)) == (
            DeadlinePassed.fix,
            ON_PAGE[DeadlinePassed],
        )
        assert gate.at_work == 1, "the thread is still at it"
        with pytest.raises(ServerBusy):
            await gate.run_within(0.05, lambda: 2)
        go.set()
        while gate.at_work:
            await asyncio.sleep(0.001)
        assert await gate.run(lambda: 3) == 3
        gate.close()

    asyncio.run(scene())


def test_the_gate_is_fair_to_callers() -> None:
    """One token's slow requests took every place, and everyone else waited for them."""

    async def scene() -> None:
        gate, go = Limiter(4, 2, 120.0, share=2), threading.Event()

        async def as_(who: str, call: Callable[[], object]) -> object:
            asker.set(who)
            return await gate.run(call)

        slow = [asyncio.create_task(as_("slow", go.wait)) for _ in range(4)]
        while gate.waiting < 2:
            await asyncio.sleep(0)
        assert gate.at_work == 2, "its share"
        assert await asyncio.create_task(as_("other", lambda: "at once")) == "at once"
        others = [asyncio.create_task(as_("other", go.wait)) for _ in range(2)]
        while gate.at_work < 4:
            await asyncio.sleep(0)
        third = asyncio.create_task(as_("third", lambda: "in the place of one of the four"))
        with pytest.raises(ServerBusy):
            await slow[-1]
        go.set()
        assert await third
        assert all(await asyncio.gather(*slow[:-1], *others))
        while gate.at_work:
            await asyncio.sleep(0)
        gate.close()

    asyncio.run(scene())


def test_a_place_in_the_queue_ends_with_its_caller() -> None:
    async def scene() -> None:
        gate, go = Limiter(1, 5, 120.0), threading.Event()
        first = asyncio.create_task(gate.run(go.wait))
        while not gate.at_work:
            await asyncio.sleep(0)
        second = asyncio.create_task(gate.run(lambda: 2))
        while not gate.waiting:
            await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert gate.waiting == 0
        go.set()
        assert await first
        assert await gate.run(lambda: 3) == 3
        gate.close()

    asyncio.run(scene())


def test_what_is_done_for_a_client_that_left_is_told_so() -> None:
    async def scene() -> None:
        gate, left = Limiter(1, 5, 120.0), asyncio.Event()

        async def receive() -> dict[str, str]:
            await left.wait()
            return {"type": "http.disconnect"}

        request = Request({"type": "http"}, receive)
        waiting = asyncio.create_task(while_there(request, lambda gone: gate.run(gone.wait)))
        while not gate.at_work:
            await asyncio.sleep(0)
        left.set()
        with pytest.raises(ClientDisconnect):
            await waiting
        while gate.at_work:
            await asyncio.sleep(0)  # the thread heard of it, and its place is free
        left.clear()
        assert await while_there(Request({"type": "http"}, receive), lambda _: gate.run(int)) == 0
        gate.close()

    asyncio.run(scene())


def test_slow_addresses_keep_no_upload_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two addresses that never answered took both places for writing."""
    go, asked = threading.Event(), threading.Semaphore(0)

    def slowly(url: str, **_: object) -> Fetched:
        asked.release()
        go.wait()
        return Fetched("slow.md", b"# Slow", url)

    monkeypatch.setattr("trivium.library.uploads.fetch", slowly)
    with shelve(tmp_path / "library") as library:
        _, slow = library.tokens.create(audiences=(), rights=["add"])
        _, token = library.tokens.create(audiences=(), rights=["add"])
        with client(library, slow, tend=True) as app, ThreadPoolExecutor(4) as pool:
            body = {"url": "https://slow.example/"}
            answers = [pool.submit(app.post, "/v1/documents/url", json=body) for _ in range(4)]
            for _ in range(2):
                asked.acquire()
            other = {"Authorization": f"Bearer {token}"}
            sent = {"file": ("a.md", b"# At once")}
            assert app.post("/v1/documents", files=sent, headers=other).status_code == 201
            go.set()
            assert {one.result().status_code for one in answers} <= {200, 201}


def test_limits_are_what_they_are_said_to_be() -> None:
    assert GuardRules().body_bytes == BODY_BYTES == 1 << 20


def test_null_is_as_good_as_nothing(owner: TestClient) -> None:
    body = {"query": "crown", "collection": None, "source": None, "limit": None, "where": ""}
    assert owner.post("/v1/search", json=body).status_code == 200
