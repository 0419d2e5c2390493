"""A model hub on loopback that speaks the real one's protocol: a list of files, resolve addresses,
redirects to large files, ETags, ranges. Misbehaves if a test says so.

>>> with Hub(Path("model"), "owner/model") as hub:   # doctest: +SKIP
...     fetch(model, cache, hub.url)
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is no fault of the hub."""


class Hub:
    def __init__(self, folder: Path, repository: str) -> None:
        self.files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        self.repository = repository
        self.commit = COMMIT
        self.requests: list[tuple[str, str]] = []  # path, and range
        self.statuses: dict[str, int] = {}  # instead of the file's own
        self.altered: set[str] = set()  # files whose bytes are others than announced
        self.cut: dict[str, int] = {}  # files that break off once, after so many bytes
        self.silent: set[str] = set()  # files without an ETag
        self.onward = "/cdn/{name}"
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Hub":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def asked(self, end: str) -> list[str]:
        """The ranges of the requests for what ends so."""
        return [range_ for path, range_ in self.requests if path.endswith(end)]


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub = self.hub
        hub.requests.append((self.path, self.headers.get("Range", "")))
        listing = f"/api/models/{hub.repository}/revision/"
        resolve = f"/{hub.repository}/resolve/{hub.commit}/"
        if self.path.startswith(listing):
            names = [{"rfilename": name} for name in [*hub.files, "README.md", "onnx/model.onnx"]]
            return self._send(json.dumps({"sha": hub.commit, "siblings": names}).encode(), {})
        name = self.path.removeprefix(resolve).removeprefix("/cdn/")
        data = hub.files.get(name)
        if name in hub.statuses or data is None:
            return self._send(b"", {}, hub.statuses.get(name, 404))
        large = name.endswith(".safetensors")
        if large and self.path.startswith(resolve):  # as the hub does: elsewhere, with its hash
            sha256 = hashlib.sha256(data).hexdigest()
            headers = {"Location": hub.onward.format(name=name)}
            if name not in hub.silent:
                headers |= {"X-Linked-ETag": f'"{sha256}"', "X-Linked-Size": str(len(data))}
            return self._send(b"", headers, 302)
        git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        etag = {"ETag": '"of-the-cdn"' if large else f'"{git}"'}
        return self._file(name, data, {} if name in hub.silent else etag)

    def _file(self, name: str, data: bytes, headers: dict[str, str]) -> None:
        if name in self.hub.altered:
            data = data[:-1] + bytes([data[-1] ^ 1])
        status, start = 200, 0
        asked = self.headers.get("Range", "")
        if asked:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                return self._send(b"", headers, 416)
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return self._send(data[start:], headers, status, self.hub.cut.pop(name, None))

    def _send(
        self, data: bytes, headers: dict[str, str], status: int = 200, most: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[:most])
        if most is not None:
            self.wfile.flush()
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass
