"""Fetches a document from a public address, and from no other.

People who may name an address could name one behind the firewall. So every address of a host name
must be public, the connection goes to the very address that was checked, and a redirect is checked
again. Proxies of the environment aren't used: they would look up the name themselves.

One deadline covers everything: looking up the name, connecting, and each byte of a slow server,
headers included.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import mimetypes
import selectors
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from posixpath import basename
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from trivium.core.errors import FileTooLarge, UrlFailed, UrlRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MOST_REDIRECTS = 5
LONGEST = 2_000  # characters of an address
_PIECE = 1 << 16
_LOOK = 0.25  # seconds between two looks whether anyone still wants it
_REDIRECTS = (301, 302, 303, 307, 308)
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# IANA hands out IPv6 addresses of the public internet from this block alone. So site-local
# (fec0::/10), IPv4-compatible (::/96), NAT64 (64:ff9b::/96 and 64:ff9b:1::/48) and segment routing
# (5f00::/16) addresses need no entry of their own.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# Special blocks that Python 3.11's `is_global` takes for public, or did in some of its releases.
_SPECIAL: tuple[_Network, ...] = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # relays of 6to4
            "2001::/23",  # protocol assignments, including Teredo: contains an IPv4 address
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: contains an IPv4 address that a gateway would forward to
            "3fff::/20",  # documentation
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer of an address."""

    name: str  # as a file name
    data: bytes
    url: str  # that gave it, after redirects
    media_type: str = ""  # as announced


def is_public(address: Address) -> bool:
    """Whether it is the address of one machine on the public internet, in whatever form it is
    written. Refuses addresses that contain an IPv4 address for a gateway, whatever that one is."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST:
            return False
    special = any(address in block for block in _SPECIAL if block.version == address.version)
    return address.is_global and not address.is_multicast and not special


def fetch(
    url: str,
    *,
    max_bytes: int,
    seconds: float,
    allows: Callable[[Address], bool] = is_public,
    optional: bool = False,
    stop: Event | None = None,
) -> Fetched:
    """The bytes at an address; empty if it is `optional` and the server answers with 4xx. `stop`:
    once set, nobody wants them. Raises UrlRefused, UrlFailed or FileTooLarge."""
    deadline = _Deadline(monotonic() + seconds, stop or Event())
    for _ in range(MOST_REDIRECTS + 1):
        parts = _checked(url)
        connection = _connect(parts, deadline, allows)
        try:
            response = _ask(connection, parts)
            if response.status in _REDIRECTS:
                url = urljoin(url, response.getheader("Location", ""))
                continue
            if optional and 400 <= response.status < 500 and response.status != 429:
                return Fetched("", b"", url)
            if response.status != 200:
                raise UrlFailed(f"{url} answers {response.status} {response.reason}.")
            data = _read(response, url, max_bytes)
            announced = response.getheader("Content-Type", "")
            return Fetched(_name(parts, response), data, url, announced)
        except TimeoutError as reason:
            raise UrlFailed(f"{url} takes too long.") from reason
        except (OSError, http.client.HTTPException) as reason:
            raise UrlFailed(f"Couldn't fetch {url}: {reason or type(reason).__name__}.") from (
                reason
            )
        finally:
            connection.close()
    raise UrlFailed(f"{url} redirects more than {MOST_REDIRECTS} times.")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        port_is_fine = False
    if (
        not port_is_fine
        or len(url) > LONGEST
        or not url.isprintable()
        or parts.scheme not in ("http", "https")
        or not parts.hostname
    ):
        raise UrlRefused(f"{url[:200]!r} isn't the address of a web page.")
    if "@" in parts.netloc:
        raise UrlRefused("The address contains a user name.")
    return parts


class _Deadline:
    """The time that is left for a whole fetch."""

    def __init__(self, until: float, stop: Event) -> None:
        self._until = until
        self._stop = stop

    def left(self) -> float:
        """Seconds. Raises TimeoutError."""
        left = self._until - monotonic()
        if left <= 0 or self._stop.is_set():
            raise TimeoutError
        return left

    def wait_for(self, sock: socket.socket) -> None:
        """Until there is something to read. Raises TimeoutError."""
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ)
            while not selector.select(min(_LOOK, self.left())):
                pass


class _TimedSocket:
    """A socket as `http.client` uses one: every call gets what is left of the time."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._deadline.left())
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        raw = self._sock.makefile(mode, buffering=0)  # type: ignore[call-overload]
        return io.BufferedReader(_TimedReader(raw, self._sock, self._deadline))

    def close(self) -> None:
        self._sock.close()


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: _Deadline) -> None:
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._deadline.wait_for(self._sock)
        self._sock.settimeout(self._deadline.left())
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _connect(
    parts: SplitResult, deadline: _Deadline, allows: Callable[[Address], bool]
) -> http.client.HTTPConnection:
    host, encrypted = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if encrypted else 80)
    try:
        address = _resolved(host, port, allows, deadline)
        sock = socket.create_connection((str(address), port), timeout=deadline.left())
    except TimeoutError as reason:
        raise UrlFailed(f"Couldn't reach {host} in time.") from reason
    except OSError as reason:
        raise UrlFailed(f"Couldn't reach {host}: {reason.strerror or reason}.") from reason
    connection = http.client.HTTPConnection(host, port)
    try:
        if encrypted:
            sock.settimeout(deadline.left())
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
        connection.sock = _TimedSocket(sock, deadline)
    except (OSError, ValueError) as reason:
        sock.close()
        raise UrlFailed(f"Couldn't talk to {host}: {reason}.") from reason
    return connection


def _resolved(
    host: str, port: int, allows: Callable[[Address], bool], deadline: _Deadline
) -> Address:
    """The first address of a host, if we may connect to all of them: a name with both a public and
    a private address is a trick."""
    listed = _looked_up(host, port, deadline)
    addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in listed]
    if not addresses or not all(allows(address) for address in addresses):
        raise UrlRefused(f"{host} isn't on the public internet.")
    return addresses[0]


def _looked_up(host: str, port: int, deadline: _Deadline) -> list[str]:
    """In a thread: a look-up has no time limit of its own, and its server may be the attacker's."""
    answer: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def look_up() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.put([str(info[4][0]) for info in infos])
        except Exception as reason:
            answer.put(reason)

    Thread(target=look_up, name="trivium-look-up", daemon=True).start()
    while True:
        with suppress(Empty):
            outcome = answer.get(timeout=min(_LOOK, deadline.left()))
            break
    if isinstance(outcome, OSError | UnicodeError):
        raise UrlFailed(f"Unknown host {host}.") from outcome
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _ask(connection: http.client.HTTPConnection, parts: SplitResult) -> http.client.HTTPResponse:
    way = parts.path or "/"
    target = f"{way}?{parts.query}" if parts.query else way
    headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "trivium"}
    connection.request("GET", target.encode("utf-8", "replace").decode("latin-1"), headers=headers)
    response = connection.getresponse()
    if response.getheader("Content-Encoding", "identity") != "identity":
        raise UrlFailed(f"{parts.hostname} sent compressed data, which we did not ask for.")
    return response


def _read(response: http.client.HTTPResponse, url: str, max_bytes: int) -> bytes:
    data = bytearray()
    while piece := response.read1(_PIECE):
        data += piece
        if len(data) > max_bytes:
            raise FileTooLarge(f"{url} has more than {max_bytes:,} bytes.")
    if response.length:  # the server promised more bytes than it sent: nothing else reports it
        raise UrlFailed(f"{url} broke off in the middle.")
    return bytes(data)


def _name(parts: SplitResult, response: http.client.HTTPResponse) -> str:
    name = unquote(basename(parts.path)) or (parts.hostname or "page")
    if "." not in basename(parts.path):
        media_type = response.getheader("Content-Type", "").partition(";")[0].strip()
        name += mimetypes.guess_extension(media_type) or ".html"
    return name
