"""Mail on an IMAP server: as much of RFC 3501 as reading needs."""

from __future__ import annotations

import base64
import re
import socketserver
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread


@dataclass
class Mail:
    """Folders by name, their UIDVALIDITY and messages by UID."""

    folders: dict[str, dict[int, bytes]] = field(default_factory=dict)
    validity: int = 7
    given: int = 0  # the last UID: none is ever given twice
    capabilities: str = "IMAP4rev1 AUTH=PLAIN"  # after signing in
    flags: dict[str, str] = field(default_factory=dict)  # of folders, such as \\All
    labels: dict[int, str] = field(default_factory=dict)  # of Gmail, as it writes them
    tls: ssl.SSLContext | None = None  # after STARTTLS
    heard: list[tuple[str, bool]] = field(default_factory=list)  # commands; whether encrypted
    drafts: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)  # UIDs that the server can't give
    closed: set[str] = field(default_factory=set)  # folders that nobody may open
    uid_last: bool = False  # as some servers write an answer
    largest: int = 0  # bytes of the largest answer to one request
    # What goes wrong with a command: `cut` ends the connection, `page` answers as a web server
    # does, `hang` not at all, everything else says no.
    trouble: Callable[[str], str] = lambda command: ""

    def deliver(self, folder: str, subject: str, text: str = "") -> int:
        self.given += 1
        head = f"From: ada@example.org\r\nSubject: {subject}\r\n\r\n"
        self.folders[folder][self.given] = f"{head}{text or subject}\r\n".encode()
        return self.given


class Handler(socketserver.StreamRequestHandler):
    mail: Mail
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer in one piece

    def _encrypt(self, tag: str) -> bool:
        """False: the client doesn't trust us."""
        assert self.mail.tls
        self.wfile.write(f"{tag} OK begin\r\n".encode())
        self.wfile.flush()
        try:
            self.connection = self.mail.tls.wrap_socket(self.connection, server_side=True)
        except OSError:
            return False
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb")
        return True

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def handle(self) -> None:  # noqa: C901 (one loop, one story)
        self.wfile.write(b"* OK ready\r\n")
        self.wfile.flush()
        chosen = ""
        while line := self.rfile.readline():
            tag, _, rest = line.decode().strip().partition(" ")
            verb, _, told = rest.partition(" ")
            self.mail.heard.append((verb.upper(), self.request is not self.connection))
            if verb.upper() == "STARTTLS" and self.mail.tls:
                if not self._encrypt(tag):
                    return
                continue
            if verb.upper() == "EXAMINE":
                chosen = told.strip().removeprefix('"').removesuffix('"')
                chosen = re.sub(r"\\(.)", r"\1", chosen)
            if verb.upper() == "AUTHENTICATE":
                self.wfile.write(b"+ \r\n")
                self.wfile.flush()
                told = f"{told} {base64.b64decode(self.rfile.readline()).decode()}"
                if told.startswith("XOAUTH2") and not told.endswith("Bearer good\1\1"):
                    self.wfile.write(b"+ " + base64.b64encode(b'{"status":"400"}') + b"\r\n")
                    self.wfile.flush()
                    assert not self.rfile.readline().strip(), "an empty answer is due"
            trouble = self.mail.trouble(f"{verb.upper()} {told} {chosen}")
            if trouble in ("cut", "hang"):
                self.rfile.read(1 if trouble == "hang" else 0)
                return
            if trouble == "page":
                self.wfile.write(b"HTTP/1.1 400 Bad Request\r\n\r\n<!DOCTYPE html>\r\n")
                return
            out, done = self._answer(verb.upper(), told, chosen)
            out, done = ([], "NO try again later") if trouble else (out, done)
            self.mail.largest = max(self.mail.largest, sum(map(len, out)))
            for one in out:
                self.wfile.write(one + b"\r\n")
            self.wfile.write(f"{tag} {done}\r\n".encode())
            self.wfile.flush()
            if verb.upper() == "LOGOUT":
                return

    def _answer(self, verb: str, told: str, chosen: str) -> tuple[list[bytes], str]:
        match verb:
            case "CAPABILITY":
                starts = " STARTTLS" if self.mail.tls else ""
                return [f"* CAPABILITY {self.mail.capabilities}{starts}".encode()], "OK done"
            case "AUTHENTICATE":
                known = ("PLAIN \0ada\0geheim ö", "XOAUTH2 user=ada\1auth=Bearer good\1\1")
                return [], "OK in" if told in known else "NO AUTHENTICATE failed."
            case "LOGIN":
                return [], "OK in" if told.endswith('"secret"') else "NO wrong password"
            case "LIST":
                names = [
                    self._listed(name, self.mail.flags.get(name, "\\HasNoChildren"))
                    for name in self.mail.folders
                ]
                return [*names, b'* LIST (\\HasNoChildren \\Trash) "/" "Bin"'], "OK done"
            case "EXAMINE":
                if chosen not in self.mail.folders or chosen in self.mail.closed:
                    return [], "NO there is none"
                validity = f"* OK [UIDVALIDITY {self.mail.validity}] valid".encode()
                count = f"* {len(self.mail.folders[chosen])} EXISTS".encode()
                return [count, validity], "OK [READ-ONLY] chosen"
            case "UID":
                if "BODY.PEEK[]" in told and self._asked(told) & self.mail.broken:
                    return [], "NO [SERVERBUG] Internal error occurred."
                return self._uid(told, self.mail.folders.get(chosen, {})), "OK done"
        return [b"* BYE"], "OK done"

    def _uid(self, told: str, held: dict[int, bytes]) -> list[bytes]:
        if told.startswith("SEARCH"):
            return [self._search(told.split()[1:], sorted(held))]
        _, some, what = told.split(" ", 2)
        assert "BODY[]" not in what, "it would be marked as read"
        found = []
        for number, uid in enumerate((u for u in map(int, some.split(",")) if u in held), start=1):
            data = held[uid]
            if "BODY.PEEK[]" in what:
                first, last = ("", f" UID {uid}") if self.mail.uid_last else (f"UID {uid} ", "")
                head = f"* {number} FETCH ({first}BODY[] {{{len(data)}}}\r\n".encode()
                found.append(head + data + f"{last})".encode())
            else:
                labels = f" X-GM-LABELS ({self.mail.labels.get(uid, '')})" if "GM" in what else ""
                told = f"* {number} FETCH (UID {uid} RFC822.SIZE {len(data)}{labels})"
                found.append(told.encode())
        return found

    def _asked(self, told: str) -> set[int]:
        return {int(one) for one in told.split()[1].split(",")}

    def _search(self, keys: list[str], uids: list[int]) -> bytes:
        extended = keys[:2] == ["RETURN", "(ALL)"]
        assert not extended or "ESEARCH" in self.mail.capabilities
        keys = keys[2:] if extended else keys
        if ":" in keys[0]:
            first, last = map(int, keys.pop(0).split(":"))
            uids = uids[first - 1 : last]
        assert keys in (["ALL"], ["UNDRAFT"])
        if keys == ["UNDRAFT"]:
            uids = [uid for uid in uids if uid not in self.mail.drafts]
        line = " ".join(map(str, uids))
        if not extended:
            return f"* SEARCH {line}".encode()
        some = line.replace(" ", ",")
        return f'* ESEARCH (TAG "A1") UID{f" ALL {some}" if some else ""}'.encode()

    def _listed(self, name: str, flags: str) -> bytes:
        """As RFC 3501 wants it: with escapes, or as a literal where a name has quotes."""
        if '"' in name:
            return f'* LIST ({flags}) "/" {{{len(name)}}}\r\n{name}'.encode()
        escaped = name.replace("\\", "\\\\")
        return f'* LIST ({flags}) "/" "{escaped}"'.encode()


@contextmanager
def serving_mail(mail: Mail) -> Iterator[tuple[type[Handler], int]]:
    """Its handler, whose `mail` may be replaced, and its port."""
    handler = type("Serving", (Handler,), {"mail": mail})
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield handler, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
