"""Fetching from a real server on loopback, which is allowed here by name and nowhere else."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread, Timer

import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen

from trivium.core.errors import FileTooLarge, UrlFailed, UrlRefused
from trivium.sources.web import Address, Fetched, fetch, is_public


def anywhere(_: Address) -> bool:
    return True


def get(url: str, **changes: object) -> Fetched:
    options = {"max_bytes": 10_000, "seconds": 5.0, "allows": anywhere, **changes}
    return fetch(url, **options)  # type: ignore[arg-type]


def test_bytes_and_name_of_what_stands_there() -> None:
    page = Reply(b"<p>hello</p>", headers={"Content-Type": "text/html; charset=utf-8"})
    with ScriptedEndpoint(lambda seen: page) as endpoint:
        found = get(f"{endpoint.url}/some%20page")
    assert (found.name, found.data) == ("some page.html", b"<p>hello</p>")


def test_a_redirect_is_followed_and_looked_at_again() -> None:
    def answer(seen: Seen) -> Reply:
        if seen.path.endswith("/first"):
            return Reply(status=302, headers={"Location": "/v1/second.txt"})
        return Reply(b"second")

    asked: list[Address] = []

    def allows(address: Address) -> bool:
        asked.append(address)
        return len(asked) == 1

    with ScriptedEndpoint(answer) as endpoint:
        assert get(f"{endpoint.url}/first").name == "second.txt"
        with pytest.raises(UrlRefused):
            get(f"{endpoint.url}/first", allows=allows)
    assert len(endpoint.requests) == 3, "the second step was not taken"


def test_endless_redirects_end() -> None:
    again = Reply(status=301, headers={"Location": "/v1/again"})
    with (
        ScriptedEndpoint(lambda seen: again) as endpoint,
        pytest.raises(UrlFailed, match="5 times"),
    ):
        get(f"{endpoint.url}/again")


def test_a_redirect_to_another_scheme_is_refused() -> None:
    away = Reply(status=302, headers={"Location": "file:///etc/passwd"})
    with ScriptedEndpoint(lambda seen: away) as endpoint, pytest.raises(UrlRefused):
        get(f"{endpoint.url}/")


def test_too_much_is_cut_off() -> None:
    large = Reply(b"x" * 20_000)
    with ScriptedEndpoint(lambda seen: large) as endpoint, pytest.raises(FileTooLarge):
        get(f"{endpoint.url}/")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404),
        Reply(b"x", then="reset"),
        Reply(b"half", headers={"Content-Length": "8"}, then="close"),
        Reply(status=500),
    ],
)
def test_failures_have_a_reason(reply: Reply) -> None:
    with ScriptedEndpoint(lambda seen: reply) as endpoint, pytest.raises(UrlFailed):
        get(f"{endpoint.url}/")


def test_what_may_be_missing_is_missing_only_where_the_server_says_so() -> None:
    for status, is_fine in ((404, True), (403, True), (429, False), (500, False)):
        reply = Reply(status=status)
        with ScriptedEndpoint(lambda seen, reply=reply: reply) as endpoint:  # type: ignore[misc]
            if is_fine:
                assert get(f"{endpoint.url}/robots.txt", optional=True).data == b""
            else:
                with pytest.raises(UrlFailed):
                    get(f"{endpoint.url}/robots.txt", optional=True)


def test_a_server_that_hangs_is_given_up() -> None:
    slow = Reply(b"x" * 10, then="hang")
    with ScriptedEndpoint(lambda seen: slow) as endpoint, pytest.raises(UrlFailed):
        get(f"{endpoint.url}/", seconds=0.2)


def test_a_host_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The world's name service, not ours, is what is played here."""
    both = [(2, 1, 6, "", (address, 80)) for address in ("93.184.216.34", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: both)
    with pytest.raises(UrlRefused):
        fetch("http://rebinding.example/", max_bytes=10, seconds=1)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False),
        ("2002:5db8:d822::", False),  # a gateway to a public address is a gateway
        ("64:ff9b:1::a00:1", False),
        ("64:ff9b::5db8:d822", False),
        ("2001::7f00:1", False),  # Teredo
        ("2001:20::1", False),
        ("::7f00:1", False),  # IPv4-compatible
        ("::5db8:d822", False),
        ("::ffff:0:7f00:1", False),  # IPv4-translated
        ("::ffff:93.184.216.34", True),
        ("::ffff:127.0.0.1", False),
        ("::ffff:192.88.99.1", False),
        ("fec0::1", False),  # site-local
        ("feff::1", False),
        ("ff02::1", False),
        ("ff0e::1", False),
        ("100::1", False),
        ("2001:db8::1", False),
        ("3fff::1", False),
        ("3fff:fff::1", False),
        ("3fff:1000::1", True),  # behind the block for documentation
        ("5f00::1", False),
        ("4000::1", False),  # nobody has these yet
        ("2a00:1450:4001::1", True),
        ("2001:4860:4860::8888", True),
        ("2620:fe::fe", True),
        ("192.0.0.9", False),
        ("192.88.99.1", False),
        ("192.0.2.1", False),
        ("198.18.0.1", False),
        ("198.51.100.1", False),
        ("203.0.113.1", False),
        ("240.0.0.1", False),
        ("239.1.1.1", False),
        ("8.8.8.8", True),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


@contextmanager
def dripping(most: int, then: bytes = b"") -> Iterator[str]:
    """A server that sends its headers byte by byte, `most` of them, and then the rest."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Pad: " + b"x" * most
    over = Event()

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                sock, _ = listening.accept()
                with sock, suppress(OSError):
                    for byte in head:
                        sock.sendall(bytes([byte]))
                        if over.wait(0.01):
                            return
                    sock.sendall(b"\r\n\r\n" + then)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/page.txt"
        over.set()


def test_one_deadline_holds_while_headers_drip() -> None:
    """Each byte came within the limit of one read, so the whole answer was waited for: 6 s with a
    limit of a second."""
    with dripping(600, b"ok") as url, pytest.raises(UrlFailed, match="too long"):
        get(url, seconds=1.0)
    with dripping(1, b"ok") as url:
        assert get(url, seconds=60.0).data == b"ok"


def test_nobody_fetches_for_someone_who_has_gone() -> None:
    gone = Event()
    with dripping(100_000) as url:
        Timer(0.05, gone.set).start()
        with pytest.raises(UrlFailed):
            get(url, seconds=600.0, stop=gone)


def test_a_slow_look_up_ends_with_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    over = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait() and [])
    with pytest.raises(UrlFailed, match="in time"):
        get("http://slow.example/", seconds=0.05)
    over.set()
