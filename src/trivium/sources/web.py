"""Fetches a document from a public address, and from no other.

Whoever may name an address could name one behind the firewall. So every address that a host name
stands for must be public, the connection goes to the very one that was looked at, and a redirect
begins anew. Proxies of the environment are not used: they would look for themselves.
"""

from __future__ import annotations

import http.client
import ipaddress
import mimetypes
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from posixpath import basename
from time import monotonic
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from trivium.errors import FileTooLarge, UrlFailed, UrlRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MOST_REDIRECTS = 5
LONGEST = 2_000  # characters of an address
_PIECE = 1 << 16
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
) -> Fetched:
    """The bytes at an address; empty if it is `optional` and the server answers with 4xx. Raises
    UrlRefused, UrlFailed or FileTooLarge."""
    until = monotonic() + seconds
    for _ in range(MOST_REDIRECTS + 1):
        parts = _checked(url)
        connection = _connect(parts, until, allows)
        try:
            response = _ask(connection, parts)
            if response.status in _REDIRECTS:
                url = urljoin(url, response.getheader("Location", ""))
                continue
            if optional and 400 <= response.status < 500 and response.status != 429:
                return Fetched("", b"", url)
            if response.status != 200:
                raise UrlFailed(f"{url} answers {response.status} {response.reason}.")
            data = _read(response, url, max_bytes, until)
            return Fetched(_name(parts, response), data, url)
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


def _connect(
    parts: SplitResult, until: float, allows: Callable[[Address], bool]
) -> http.client.HTTPConnection:
    """A connection to the one address that was checked; the host name is sent, but not looked up
    again."""
    host = parts.hostname or ""
    encrypted = parts.scheme == "https"
    port = parts.port or (443 if encrypted else 80)
    address = _resolved(host, port, allows)
    left = max(0.001, until - monotonic())
    try:
        plain = socket.create_connection((str(address), port), timeout=left)
    except OSError as reason:
        raise UrlFailed(f"Couldn't reach {host}: {reason.strerror or reason}.") from reason
    connection = http.client.HTTPConnection(host, port, timeout=left)
    try:
        if encrypted:
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(plain, server_hostname=host)
        else:
            connection.sock = plain
    except (OSError, ValueError) as reason:
        plain.close()
        raise UrlFailed(f"Couldn't talk to {host}: {reason}.") from reason
    return connection


def _resolved(host: str, port: int, allows: Callable[[Address], bool]) -> Address:
    """The first address of a host, if we may connect to all of them: a name with both a public and
    a private address is a trick."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as reason:
        raise UrlFailed(f"Unknown host {host}.") from reason
    addresses = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    if not addresses or not all(allows(address) for address in addresses):
        raise UrlRefused(f"{host} isn't on the public internet.")
    return addresses[0]


def _ask(connection: http.client.HTTPConnection, parts: SplitResult) -> http.client.HTTPResponse:
    way = parts.path or "/"
    target = f"{way}?{parts.query}" if parts.query else way
    headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "trivium"}
    connection.request("GET", target.encode("utf-8", "replace").decode("latin-1"), headers=headers)
    response = connection.getresponse()
    if response.getheader("Content-Encoding", "identity") != "identity":
        raise UrlFailed(f"{parts.hostname} sent compressed data, which we did not ask for.")
    return response


def _read(response: http.client.HTTPResponse, url: str, max_bytes: int, until: float) -> bytes:
    data = bytearray()
    while piece := response.read1(_PIECE):
        data += piece
        if len(data) > max_bytes:
            raise FileTooLarge(f"{url} has more than {max_bytes:,} bytes.")
        if monotonic() > until:
            raise UrlFailed(f"{url} takes too long.")
    if response.length:  # the server promised more bytes than it sent: nothing else reports it
        raise UrlFailed(f"{url} broke off in the middle.")
    return bytes(data)


def _name(parts: SplitResult, response: http.client.HTTPResponse) -> str:
    name = unquote(basename(parts.path)) or (parts.hostname or "page")
    if "." not in basename(parts.path):
        media_type = response.getheader("Content-Type", "").partition(";")[0].strip()
        name += mimetypes.guess_extension(media_type) or ".html"
    return name
