"""Mail on an IMAP server: as much of RFC 3501 as reading needs."""

from __future__ import annotations

import socketserver
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Mail:
    """Folders by name, their UIDVALIDITY and messages by UID."""

    folders: dict[str, dict[int, bytes]] = field(default_factory=dict)
    validity: int = 7
    given: int = 0  # the last UID: none is ever given twice
    # What goes wrong with a command: `cut` ends the connection, `refused` says no.
    trouble: Callable[[str], str] = lambda verb: ""

    def deliver(self, folder: str, subject: str, text: str = "") -> int:
        self.given += 1
        head = f"From: ada@example.org\r\nSubject: {subject}\r\n\r\n"
        self.folders[folder][self.given] = f"{head}{text or subject}\r\n".encode()
        return self.given


class Handler(socketserver.StreamRequestHandler):
    mail: Mail
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer in one piece

    def handle(self) -> None:
        self.wfile.write(b"* OK ready\r\n")
        self.wfile.flush()
        chosen = ""
        for line in self.rfile:
            tag, _, rest = line.decode().strip().partition(" ")
            verb, _, told = rest.partition(" ")
            if verb.upper() == "EXAMINE":
                chosen = told.strip('"')
            trouble = self.mail.trouble(verb.upper())
            if trouble == "cut":
                return
            out, done = self._answer(verb.upper(), told, chosen)
            out, done = ([], "NO try again later") if trouble else (out, done)
            for one in out:
                self.wfile.write(one + b"\r\n")
            self.wfile.write(f"{tag} {done}\r\n".encode())
            self.wfile.flush()
            if verb.upper() == "LOGOUT":
                return

    def _answer(self, verb: str, told: str, chosen: str) -> tuple[list[bytes], str]:
        match verb:
            case "CAPABILITY":
                return [b"* CAPABILITY IMAP4rev1"], "OK done"
            case "LOGIN":
                return [], "OK in" if told.endswith('"secret"') else "NO wrong password"
            case "LIST":
                names = [f'* LIST (\\HasNoChildren) "/" "{n}"'.encode() for n in self.mail.folders]
                return [*names, b'* LIST (\\HasNoChildren \\Trash) "/" "Bin"'], "OK done"
            case "EXAMINE":
                if chosen not in self.mail.folders:
                    return [], "NO there is none"
                validity = f"* OK [UIDVALIDITY {self.mail.validity}] valid".encode()
                return [b"* 1 EXISTS", validity], "OK [READ-ONLY] chosen"
            case "UID":
                return self._uid(told, self.mail.folders.get(chosen, {})), "OK done"
        return [b"* BYE"], "OK done"

    def _uid(self, told: str, held: dict[int, bytes]) -> list[bytes]:
        if told.startswith("SEARCH"):
            return [b"* SEARCH " + " ".join(map(str, sorted(held))).encode()]
        _, some, what = told.split(" ", 2)
        assert "BODY[]" not in what, "it would be marked as read"
        found = []
        for number, uid in enumerate((u for u in map(int, some.split(",")) if u in held), start=1):
            data = held[uid]
            if "BODY.PEEK[]" in what:
                head = f"* {number} FETCH (UID {uid} BODY[] {{{len(data)}}}\r\n".encode()
                found.append(head + data + b")")
            else:
                found.append(f"* {number} FETCH (UID {uid} RFC822.SIZE {len(data)})".encode())
        return found
