"""Sends hostile requests to a real server and counts faults: a table for docs/security.md.

    python -m bench.attack [--requests 5000] [--seed 1] [--minutes 60]

`trivium serve` on loopback, over a library in which some documents are hidden from the callers.
Each request picks a caller (nobody, a token that may search, one that may add, one that may change
everything but sees little, one that was revoked), a route of the API's own description, and values
that broke things before: NaN, 1e400, halves of surrogate pairs, hundreds of digits, NUL, deep
nesting, long names, odd cursors. It checks that:

- every answer is typed: JSON with a stable code for what is refused, never `internal`;
- no answer holds a word that only hidden documents hold;
- no answer to a caller without a token is a success, except where everyone may ask;
- afterwards the server is ready, finds what it found before, and adds a new document.

With `--minutes` it goes on in rounds over one library, each with a new seed, and adds to each:
clients that drip their headers and bodies meanwhile, a token of one collection whose answers must
not move by a digit while hidden documents and another collection grow, and `kill -9` of the server
during uploads: what it had answered for is there after the next start.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from bench.harness import arguments
from bench.serving import served
from trivium.library import Library

_OPEN = ("/healthz", "/readyz", "/openapi.json", "/metrics")  # who asks there needs no token
SECRET = "xylophonist"  # a word that only hidden documents have
DOCUMENTS = {
    "harbour.md": "# Harbour\n\nThe harbour of Port Amble has seven cranes and one bell.",
    "bell.md": "# Bell\n\nThe bell is rung when fog comes in from the sea.",
    "secret.md": f"---\naudience: council\n---\n# Accounts\n\nThe {SECRET} was paid in silver.",
}
NASTY: tuple[Any, ...] = (
    *(
        float("nan"),
        float("inf"),
        1e308,
        -0.0,
        2**63,
        2**64,
        10**400,
        -(10**400),
        0,
        -1,
        True,
        None,
    ),
    *("", " ", "\x00", "\ud83d", "\ude00\ud83d", "𝒳", "9" * 400, "a" * 20_000, "../../etc/passwd"),
    *("'; DROP TABLE documents;--", "<script>alert(1)</script>", "%00", "{{7*7}}", "\u202e", "*"),
    *(
        "year>=" + "9" * 400,
        "(" * 300,
        "a OR " * 200,
        '"' * 99,
        f"{SECRET[:5]}*",
        "#1",
        "#3",
        "1e400",
    ),
    *([], {}, [[[[[[[[[[]]]]]]]]]], {"a": {"a": {"a": {}}}}, [None] * 100, {"": ""}, ["x"] * 5_000),
)
FIELDS = ("query", "question", "where", "limit", "metadata", "url", "number", "name", "weights")


@dataclass
class Attack:
    address: str
    tokens: Mapping[str, str]
    chance: random.Random

    def run(self, requests: int) -> Counter[tuple[str, str]]:
        """How often each kind of answer came, by caller."""
        import httpx2

        counts: Counter[tuple[str, str]] = Counter()
        with httpx2.Client(base_url=self.address, timeout=120) as client:
            described = client.get("/openapi.json", headers=self._as("reader")).json()
            routes = [
                (method, path, told)
                for path, methods in sorted(described["paths"].items())
                for method, told in sorted(methods.items())
            ]
            for number in range(requests):
                caller = self.chance.choice(sorted(self.tokens))
                method, path, told = self.chance.choice(routes)
                if (caller, method) == ("keeper", "delete"):
                    continue  # it is allowed to, and then nothing would be left to find
                request = self._request(client, method, path, told, caller)
                try:
                    answer = client.send(request)
                except httpx2.HTTPError as error:
                    counts[caller, f"NO ANSWER: {type(error).__name__}"] += 1
                    continue
                outcome = judge(caller, path, answer.status_code, answer.text)
                counts[caller, outcome] += 1
                if outcome.split(":")[0].isupper():
                    print(f"{number} {caller} {method} {request.url}: {outcome}", file=sys.stderr)
        return counts

    def _as(self, caller: str) -> dict[str, str]:
        token = self.tokens[caller]
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _request(self, client: Any, method: str, path: str, told: Any, caller: str) -> Any:
        url = re.sub(r"\{[^}]*\}", lambda _: self._in_path(), path)
        query = {
            one["name"]: self._as_text()
            for one in told.get("parameters", ())
            if one["in"] == "query" and self.chance.random() < 0.5
        }
        headers = self._as(caller)
        if "requestBody" not in told:
            return client.build_request(method.upper(), url, params=query, headers=headers)
        if "multipart/form-data" in told["requestBody"]["content"]:
            file = (self._as_text()[:300] or "a.md", self._as_text().encode())
            labels = {name: self._as_text() for name in ("metadata", "category", "audience")}
            sent = {"files": {"file": file}, "data": labels}
            return client.build_request(method.upper(), url, params=query, headers=headers, **sent)
        content = json.dumps(self._body()).encode("utf-8", "surrogatepass")
        headers["Content-Type"] = "application/json"
        return client.build_request(
            method.upper(), url, params=query, headers=headers, content=content
        )

    def _body(self) -> Any:
        """Fields that routes take, with values that none of them does."""
        if self.chance.random() < 0.1:
            return self.chance.choice(NASTY)
        body: dict[str, Any]
        body = {name: self.chance.choice(NASTY) for name in FIELDS if self.chance.random() < 0.4}
        if self.chance.random() < 0.6:
            body |= {"query": "harbour bell"}
        return body

    def _in_path(self) -> str:
        from urllib.parse import quote

        return quote(self._as_text()[:2_000] or "0", safe="")

    def _as_text(self) -> str:
        one = self.chance.choice((*NASTY, 1, 2, 3))
        text = one if isinstance(one, str) else json.dumps(one)
        return text.encode("utf-8", "replace").decode()[:4_000]


def judge(caller: str, path: str, status: int, text: str) -> str:
    if SECRET in text:
        return "HIDDEN WORD TOLD"
    if status >= 500 and status not in (503, 507):
        return f"FAULT: {status}"
    if status < 400:
        guarded = path not in _OPEN and caller in ("nobody", "revoked")
        return "LET IN" if guarded else "answered"
    try:
        code = json.loads(text).get("code", "")
    except ValueError:
        return f"UNTYPED: {status}"
    return f"refused with {status}" if code else f"UNTYPED: {status}"


def tokens_of(library: Library) -> dict[str, str]:
    """A token for each kind of caller; the empty one is nobody's."""
    reader = library.tokens.create(audiences=[], rights=["search"])[1]
    adder = library.tokens.create(audiences=[], rights=["search", "add"])[1]
    keeper = library.tokens.create(audiences=[], rights=["search", "add", "manage"])[1]
    gone, revoked = library.tokens.create(audiences=[], rights=["search", "add", "manage"])
    library.tokens.revoke(gone.id)
    return {"reader": reader, "adder": adder, "keeper": keeper, "revoked": revoked, "nobody": ""}


def main() -> None:
    told = arguments(__doc__, requests=5_000, seed=1, minutes=0.0)
    with tempfile.TemporaryDirectory() as place:
        siege = Siege(Path(place))
        held = siege.round(told.requests, told.seed)
        until = monotonic() + 60 * told.minutes
        while monotonic() < until:
            held += siege.round(told.requests, told.seed + len(siege.uploads))
    for (caller, outcome), count in sorted(held.items()):
        print(f"| {caller} | {outcome} | {count:,} |")
    if any(outcome.split(":")[0].isupper() for _, outcome in held):
        raise SystemExit(1)


class Siege:
    """Round after round against one library, with a new server each."""

    def __init__(self, place: Path) -> None:
        files = place / "files"
        files.mkdir()
        for name, text in DOCUMENTS.items():
            (files / name).write_text(text)
        self._library = place / "library"
        with Library.open(self._library) as library:
            library.add(files)
            self._tokens = tokens_of(library)
            apart = library.tokens.create(audiences=[], collections=["apart"], rights=["search"])
            self._tokens |= {"apart": apart[1]}
            library.add(files / "bell.md", collection="apart")
        self._told: list[object] = []  # what the caller of one collection got first
        self.uploads: list[str] = []  # words of uploads that a server had answered for

    def round(self, requests: int, seed: int) -> Counter[tuple[str, str]]:
        quiet = ("--set", "serve.rate=1000000", "--set", "serve.seconds=60")
        with served(self._library, quiet) as (address, pid):
            slow = [Dripping(address) for _ in range(20)]
            counts = Attack(address, self._tokens, random.Random(seed)).run(requests)
            for client in slow:
                client.close()
            counts[("afterwards", _afterwards(address, self._tokens))] += 1
            counts[("one collection", self._differential(address))] += 1
            counts[("killed", self._killed(address, pid))] += 1
        return counts

    def _differential(self, address: str) -> str:
        """What a token of one collection gets, whatever was added elsewhere."""
        got: list[object] = []
        with _client(address, self._tokens["apart"]) as client:
            for query in ("bell", "fog sea", "harbor", "lighthouse", SECRET):
                answer = client.post("/v1/search", json={"query": query, "explain": True}).json()
                got.append([(one["score"], one["match"]) for one in answer["results"]])
        if not self._told:
            self._told = got
        return "same answers to the digit" if got == self._told else f"MOVED: {got} {self._told}"

    def _killed(self, address: str, pid: int) -> str:
        """Uploads that were answered for survive a kill; earlier ones are all still found."""
        with _client(address, self._tokens["adder"]) as client:
            lost = [word for word in self.uploads if not _finds(client, word)]
            for _ in range(3):
                word = f"quay{len(self.uploads)}x"
                file = {"file": (f"{word}.md", f"# {word}\n\nA note on {word}.".encode())}
                if client.post("/v1/documents", files=file).status_code < 300:
                    self.uploads.append(word)
        os.kill(pid, signal.SIGKILL)
        return f"LOST: {lost}" if lost else "all that was answered for is found"


class Dripping:
    """A client that begins a request and never ends it."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
        self._socket = socket.create_connection((host, int(port)))
        head = f"POST /v1/search HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 999\r\n"
        self._socket.sendall(head.encode())

    def close(self) -> None:
        self._socket.close()


def _client(address: str, token: str) -> Any:
    import httpx2

    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=address, timeout=120, headers=headers)


def _finds(client: Any, word: str) -> bool:
    answer = client.post("/v1/search", json={"query": word, "mode": "keyword"}).json()
    return any(word in result["document"]["title"] for result in answer["results"])


def _afterwards(address: str, tokens: Mapping[str, str]) -> str:
    """Whether it still serves, finds and adds documents."""
    import httpx2

    reader, adder = ({"Authorization": f"Bearer {tokens[name]}"} for name in ("reader", "adder"))
    with httpx2.Client(base_url=address, timeout=120) as client:
        ready = client.get("/readyz").status_code == 200
        found = client.post("/v1/search", json={"query": "seven cranes"}, headers=reader).json()
        name = {"file": ("new.md", b"# Lighthouse\n\nA lighthouse was added after the attack.")}
        added = client.post("/v1/documents?wait=true", files=name, headers=adder)
        again = client.post("/v1/search", json={"query": "lighthouse"}, headers=reader).json()
    titles = [one["results"][0]["document"]["title"] for one in (found, again) if one["results"]]
    held = ready and added.status_code < 300 and titles == ["Harbour", "Lighthouse"]
    return "ready, finds, adds" if held else f"BROKEN: {ready} {added.status_code} {titles}"


if __name__ == "__main__":
    main()
