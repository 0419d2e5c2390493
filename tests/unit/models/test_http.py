"""The client against a real server that misbehaves in every way we know of. Nothing sleeps: the
pauses between attempts are recorded instead."""

import gzip
import logging
import time
from email.utils import formatdate

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint import HANG, RESET, Reply, ScriptedEndpoint, closed_port

from trivium.core.errors import (
    BadSetting,
    ModelBusy,
    ModelError,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
)
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client, retry_after
from trivium.models.retrying import ATTEMPTS, Clock

KEY = "sk-very-secret"


class Pauses:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def wait(self, seconds: float) -> None:
        self.taken.append(seconds)

    def now(self) -> float:
        return sum(self.taken)


def client(url: str, *, pauses: Pauses | None = None, seconds: float = 60.0, **more: int) -> Client:
    endpoint = Endpoint("embed", url, "small", KEY, seconds=seconds, patience=60.0)
    pauses = pauses or Pauses()
    return Client(endpoint, clock=Clock(pauses.wait, pauses.now), **more)


def test_a_question_and_its_answer() -> None:
    with ScriptedEndpoint(lambda seen: Reply({"asked": seen.body})) as server:
        answer = client(server.url).post("/embeddings", {"input": "Öl \ud800"})
        [seen] = server.requests
    assert answer == {"asked": {"input": "Öl \ufffd"}}
    assert seen.path == "/v1/embeddings"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int) -> None:
    pauses = Pauses()
    with ScriptedEndpoint(lambda seen: Reply({}, status if seen.number < 4 else 200)) as server:
        assert client(server.url, pauses=pauses).post("/x", {}) == {}
    for number, pause in enumerate(pauses.taken):
        assert 0.5 <= pause / (0.5 * 2**number) <= 1.0
    assert len(pauses.taken) == 3


def test_every_third_call_fails() -> None:
    with ScriptedEndpoint(lambda seen: Reply({}, 500 if seen.number % 3 == 0 else 200)) as server:
        asking = client(server.url)
        for _ in range(9):
            asking.post("/x", {})
        assert len(server.requests) == 13


@pytest.mark.parametrize(("status", "kind"), [(429, ModelBusy), (500, ModelFailing)])
def test_in_the_end_it_gives_up(status: int, kind: type[ModelError]) -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply({"error": {"message": "no"}}, status)) as server,
        pytest.raises(kind, match=rf"\({status}\). It says: no\. That was attempt 5"),
    ):
        client(server.url).post("/x", {})
    assert len(server.requests) == ATTEMPTS


def test_a_server_that_says_when() -> None:
    pauses = Pauses()
    replies = [Reply({}, 429, {"Retry-After": "7"}), Reply({})]
    with ScriptedEndpoint(lambda seen: replies[seen.number - 1]) as server:
        client(server.url, pauses=pauses).post("/x", {})
    assert pauses.taken == [7.0]


def test_a_server_that_says_much_later() -> None:
    pauses = Pauses()
    busy = Reply({}, 429, {"Retry-After": "3600"})
    with (
        ScriptedEndpoint(lambda seen: busy) as server,
        pytest.raises(ModelBusy, match="asks to wait 3,600 seconds"),
    ):
        client(server.url, pauses=pauses).post("/x", {})
    assert pauses.taken == []


def test_all_attempts_together_are_bounded() -> None:
    pauses = Pauses()
    with (
        ScriptedEndpoint(lambda seen: Reply({}, 503, {"Retry-After": "2"})) as server,
        pytest.raises(ModelBusy),
    ):
        client(server.url, pauses=pauses).post("/x", {}, patience=5.0)
    assert pauses.taken == [2.0, 2.0]


@given(st.floats(0, 1e6))
def test_retry_after_in_seconds(seconds: float) -> None:
    assert retry_after(f"{seconds}") == pytest.approx(seconds)


def test_retry_after_as_date_or_nonsense() -> None:
    assert 50 < retry_after(formatdate(time.time() + 60, usegmt=True)) <= 61
    assert retry_after(formatdate(0, usegmt=True)) == 0.0
    assert [retry_after(text) for text in ("", "soon", "-5", "nan")] == [0.0] * 4


@pytest.mark.parametrize(
    ("status", "said", "fix"),
    [
        (400, "refuses the request", "embed.model"),
        (401, "refuses the key", "TRIVIUM_EMBED_KEY"),
        (403, "refuses the key", "embed.key_file"),
        (404, "was not found", "embed.url"),
        (422, "refuses the request", "embed.model"),
        (501, "refuses the request", "embed.model"),
    ],
)
def test_what_cannot_pass_is_asked_once(status: int, said: str, fix: str) -> None:
    reply = Reply({"error": {"message": "model 'small' not found", "code": 1}}, status)
    with (
        ScriptedEndpoint(lambda seen: reply) as server,
        pytest.raises(ModelRefused) as caught,
    ):
        client(server.url).post("/x", {})
    assert len(server.requests) == 1
    assert f"{said} ({status}). It says: model 'small' not found" in caught.value.message
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": "bad"}', "It says: bad."),
        (b'{"message": "bad"}', "It says: bad"),
        (b'{"detail": [{"loc": ["model"]}]}', 'It says: [{"loc": ["model"]}]'),
        (b"<html>\n\x1b[31mgateway</html>", "It says: <html> [31mgateway</html>"),
        (b"x" * 200_000, "…"),
        (b"\xff", "It says: \ufffd"),
        (b"[" * 100_000, "It says: [["),
        (b"", "(400)."),
    ],
)
def test_whatever_a_refusal_says_is_one_readable_line(body: bytes, said: str) -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply(body, 400)) as server,
        pytest.raises(ModelRefused) as e,
    ):
        client(server.url).post("/x", {})
    assert said in e.value.message
    assert e.value.message.isprintable()
    assert len(e.value.message) < 500


def test_no_key_is_given_and_one_is_wanted() -> None:
    with ScriptedEndpoint(lambda seen: Reply({}, 401)) as server:
        asking = Client(Endpoint("rerank", server.url, "small"))
        with pytest.raises(ModelRefused, match=r"requires a key.*TRIVIUM_RERANK_KEY"):
            asking.post("/x", {})
        assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize("cut", [HANG, Reply({}, then="hang"), Reply(b" ", 500, then="hang")])
def test_a_server_that_hangs(cut: Reply) -> None:
    with ScriptedEndpoint(lambda seen: cut) as server:
        with pytest.raises(ModelTimeout, match="small"):
            client(server.url, seconds=0.02).post("/x", {})
        server.wait_for(ATTEMPTS)
    assert len(server.requests) == ATTEMPTS


def test_a_server_that_drips_for_ever_is_late() -> None:
    """Each piece comes in time; all of them together do not."""
    now = iter(range(1000))
    endpoint = Endpoint("embed", "http://127.0.0.1", "small", seconds=2.0, patience=4.0)
    with ScriptedEndpoint(lambda seen: Reply(b" " * 5_000_000 + b"{}")) as server:
        object.__setattr__(endpoint, "url", server.url)
        asking = Client(endpoint, clock=Clock(lambda seconds: None, lambda: float(next(now))))
        with pytest.raises(ModelTimeout):
            asking.post("/x", {})


@pytest.mark.parametrize("cut", [RESET, Reply({"a": 1}, then="reset"), Reply({}, then="close")])
def test_a_connection_that_breaks(cut: Reply) -> None:
    with ScriptedEndpoint(lambda seen: cut if seen.number < 3 else Reply([1])) as server:
        expected = {} if cut.then == "close" else [1]  # without a length, its end is the end
        assert client(server.url).post("/x", {}) == expected


def test_nobody_listens() -> None:
    with pytest.raises(ModelUnreachable, match=r"attempt 5.*embed\.url"):
        client(f"http://127.0.0.1:{closed_port()}").post("/x", {})


def test_a_host_that_does_not_exist() -> None:
    with pytest.raises(ModelUnreachable, match=r"embed\.url") as failed:
        client("http://no-such-host.invalid/v1").post("/x", {})
    assert "no-such-host" not in str(failed.value)


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".invalid", "☃.invalid", "ho\x00st", "a b"])
def test_a_host_that_cannot_exist(host: str) -> None:
    with pytest.raises(ModelUnreachable, match=r"embed\.url"):
        client(f"http://{host}/v1").post("/x", {})


def test_every_error_of_the_library_is_mapped() -> None:
    """What is not under HTTPError is named in the client, or cannot come from a request."""
    kinds = {kind for kind in vars(httpx2).values() if isinstance(kind, type)}
    errors = {kind for kind in kinds if issubclass(kind, Exception)}
    apart = {kind.__name__ for kind in errors if not issubclass(kind, httpx2.HTTPError)}
    misuse = {"StreamError", "StreamConsumed", "StreamClosed", "ResponseNotRead", "RequestNotRead"}
    other = {kind for kind in apart if "WebSocket" in kind or "SSE" in kind or "Warning" in kind}
    assert apart - misuse - other == {"InvalidURL", "CookieConflict"}


def test_no_tls_where_it_is_expected() -> None:
    with ScriptedEndpoint(lambda seen: Reply({})) as server, pytest.raises(ModelUnreachable):
        client(server.url.replace("http:", "https:")).post("/x", {})


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_json(body: bytes) -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply(body)) as server,
        pytest.raises(ModelNonsense, match="something other than JSON"),
    ):
        client(server.url).post("/x", {})
    assert len(server.requests) == 1


def test_what_says_to_be_packed_and_is_not() -> None:
    reply = Reply(b"{}", headers={"Content-Encoding": "gzip"})
    with (
        ScriptedEndpoint(lambda seen: reply) as server,
        pytest.raises(ModelNonsense, match="can't be unpacked"),
    ):
        client(server.url).post("/x", {})


def test_a_packed_answer_counts_unpacked() -> None:
    bomb = Reply(gzip.compress(b" " * 10_000_000), headers={"Content-Encoding": "gzip"})
    with (
        ScriptedEndpoint(lambda seen: bomb) as server,
        pytest.raises(ModelNonsense, match="more than 100,000 bytes"),
    ):
        client(server.url, max_bytes=100_000).post("/x", {})


def test_a_huge_answer_is_not_read_to_its_end() -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply(b" " * 200_000, then="hang")) as server,
        pytest.raises(ModelNonsense, match="more than 100,000 bytes"),
    ):
        client(server.url, max_bytes=100_000).post("/x", {})


def test_a_redirect_is_not_followed_and_the_key_stays_here() -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply({})) as other,
        ScriptedEndpoint(lambda seen: Reply({}, 307, {"Location": other.url})) as server,
    ):
        with pytest.raises(ModelRefused, match=r"redirects to another address \(307\)"):
            client(server.url).post("/x", {})
        assert other.requests == []


def test_an_address_in_full_with_a_query_and_a_header_of_its_own() -> None:
    with ScriptedEndpoint(lambda seen: Reply({})) as server:
        root = server.url.removesuffix("/v1")
        full = f"{root}/openai/deployments/d/embeddings?api-version=2024-10-21"
        for url in (full, full.replace("/embeddings", "")):
            Client(Endpoint("embed", url, "m", KEY, "api-key")).post("/embeddings", {})
        for seen in server.requests:
            assert seen.path == "/openai/deployments/d/embeddings?api-version=2024-10-21"
            assert seen.headers["api-key"] == KEY
            assert "Authorization" not in seen.headers


@pytest.mark.parametrize(
    "url", ["", "localhost:80", "ftp://x/", "http://", "http://x:port/", "http://[::1/", "//x/v1"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(BadSetting, match=r"`embed.url` isn't the address"):
        Endpoint("embed", url, "m")


def test_settings_that_make_no_sense() -> None:
    for arguments in (
        {"model": ""},
        {"key_header": "X: y\r\nHost"},
        {"seconds": 0.0},
        {"key": "two words"},
        {"key": "line\nbreak"},
    ):
        with pytest.raises(BadSetting) as caught:
            Endpoint(**{"role": "embed", "url": "http://x", "model": "m", **arguments})  # type: ignore[arg-type]
        assert str(arguments.get("key", "nothing")) not in str(caught.value)


def answers() -> list[Reply]:
    """Every kind of failure, each with the key in it where a server can put it."""
    echo = {"error": {"message": f"wrong key {KEY}!"}}
    return [
        *(Reply(echo, status) for status in (400, 401, 404, 429, 500)),
        Reply({}, 302, {"Location": "http://elsewhere.invalid/"}),
        Reply(KEY.encode()),
        RESET,
        HANG,
    ]


@pytest.mark.parametrize("reply", answers(), ids=lambda reply: str(reply.status))
def test_the_key_is_nowhere_to_be_seen(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedEndpoint(lambda seen: reply) as server:
        asking = client(server.url, seconds=0.02 if reply == HANG else 60.0)
        with pytest.raises(ModelError) as caught:
            asking.post("/x", {})
        server.wait_for(1)
    error: BaseException | None = caught.value
    shown = [caplog.text, repr(asking.endpoint), str(asking.endpoint), repr(asking)]
    while error is not None:
        shown += [str(error), repr(error), repr(getattr(error, "fix", ""))]
        error = error.__cause__ or error.__context__
    assert caplog.text
    assert KEY not in "\n".join(shown)
    assert server.requests[0].headers["Authorization"].endswith(KEY)


SAID = (
    "upstream http://10.0.0.7:8080/v1 is down",
    "no route to 10.0.0.7:8080",
    "certificate is not valid for 'models.corp.internal'",
    "MODELS.corp.internal:8443 refused",
)


@pytest.mark.parametrize("said", SAID)
def test_no_error_tells_where_the_model_is(said: str) -> None:
    """They become notes for everyone who searches."""
    place = Endpoint("rerank", "https://models.corp.internal:8443/v1", "big", KEY)
    body = f'{{"error": "{said}"}}'.encode()
    errors = [place.refusal(status, body) for status in (302, 401, 404, 422, 429, 500)]
    errors += [place.unreachable(said), place.late(1.0), place.nonsense("lies")]
    for error in (*errors, place.failing(said)):
        shown = f"{error} {error!r}".lower()
        assert "big (`rerank.url`)" in shown
        for hidden in ("corp", "internal", "10.0.0.7", "8443", "8080"):
            assert hidden not in shown


def test_the_log_tells_where_the_model_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "trivium")
    with (
        ScriptedEndpoint(lambda seen: Reply({}, 404)) as server,
        pytest.raises(ModelRefused),
    ):
        client(server.url).post("/x", {})
    assert server.url in caplog.text


def test_no_socket_is_left_open() -> None:
    """Warnings are errors here: a socket that is not closed would be one."""
    with ScriptedEndpoint(lambda seen: Reply({})) as server:
        asking = client(server.url)
        asking.post("/x", {})
        opened = asking._opened
        del asking
        assert opened is not None
        assert opened.is_closed


def test_a_proxy_of_the_environment_is_not_asked_about_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    with ScriptedEndpoint(lambda seen: Reply({})) as server:
        assert client(server.url).post("/x", {}) == {}
