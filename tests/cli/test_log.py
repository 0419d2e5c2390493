"""`trivium log` and `trivium alert`: what people searched for, and alerts about new documents."""

from __future__ import annotations

import json
import shutil
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.cli.program import Program, call

FULL = ("--set", "log.queries=full")


@pytest.fixture
def trivium(library: Path, tmp_path: Path) -> Program:
    """On a copy: other tests look at the library."""
    own = tmp_path / "own.library"
    shutil.copytree(library, own)
    return lambda *arguments: call("--library", own, *arguments)


def test_queries_are_logged_only_where_it_is_wanted(trivium: Program) -> None:
    trivium("search", "crown")
    assert trivium("log", "--json").json == {"queries": []}
    assert "The log is empty" in trivium("log").err
    for query in ("crown", "zzyzx qqq", "crown"):
        trivium("search", query, *FULL)
    first, second = trivium("log", "--json").json["queries"]
    assert (first["text"], first["asked"], first["empty"]) == ("crown", 2, 0)
    assert (second["text"], second["empty"]) == ("zzyzx qqq", 1)
    assert "zzyzx qqq" in trivium("log", "--not-found").out
    assert "crown" not in trivium("log", "--not-found").out
    assert trivium("log", "--delete", "--older-than", "30d", "--json").json == {"deleted": 0}
    assert trivium("log", "--delete", "--json").json == {"deleted": 3}
    assert trivium("log", "--older-than", "30d").code == 2
    assert trivium("search", "x", "--set", "log.queries=always").code == 2


def test_an_alert_tells_of_what_is_new_and_fits(trivium: Program, tmp_path: Path) -> None:
    heard: list[dict[str, object]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        hook = f"http://127.0.0.1:{server.server_port}/"
        made = trivium("alert", "add", "the lamp burns whale oil", "--webhook", hook, "--json")
        assert trivium("alert", "check").out == "Nothing new matches.\n"
        (tmp_path / "lamp.md").write_text("# The lamp\n\nThe lamp burns whale oil all night.")
        (tmp_path / "bread.md").write_text("# Bread\n\nFlour, water, salt.")
        trivium("add", tmp_path / "lamp.md", tmp_path / "bread.md")
        checked = trivium("alert", "check").out
        assert "The lamp" in checked
        assert "Bread" not in checked
        server.shutdown()
    (told,) = heard
    assert told["document"]["title"] == "The lamp"  # type: ignore[index]
    assert trivium("alert", "check").out == "Nothing new matches.\n", "told once"
    listed = trivium("alert", "--json").json
    assert [hit["title"] for hit in listed["hits"]] == ["The lamp"]
    assert "The lamp" in trivium("alert").out
    trivium("remove", "lamp.md", "--yes")
    assert trivium("alert", "--json").json["hits"] == [], "a removed document leaves nothing"
    number = made.json["alert"]["id"]
    assert trivium("alert", "remove", number).code == 0
    assert trivium("alert", "remove", number, "--json").error["code"] == "alert.not_found"
    assert trivium("alert", "add", "crown", "--webhook", "ftp://x").code == 2
