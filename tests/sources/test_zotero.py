"""Zotero as a program and as a website: where files are, and what counts as a change.

The program's API answers `/file` with a redirect to `file:` and names the place in
`links.enclosure` (zotero/zotero, chrome/content/zotero/xpcom/server/server_localAPI.js); its
Last-Modified-Version is that of the last sync. The website's items have an `md5` only if it has
their file (urschrei/pyzotero, tests/api_responses).
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.server import Server, serving
from tests.sources.zotero_server import SCHEMA, Zotero

from trivium.core.errors import UrlFailed
from trivium.core.types import Extraction
from trivium.ports import Put, SyncSource
from trivium.sources.service import Service
from trivium.sources.zotero import ZoteroApi, ZoteroFile, ZoteroSource
from trivium.testing.source_contract import State, apply


@pytest.fixture
def zotero() -> Zotero:
    made = Zotero()
    made.put("PAPER", itemType="journalArticle", title="On fog", abstractNote="Fog is wet.")
    made.put("FILE", itemType="attachment", parentItem="PAPER", linkMode="imported_file",
             contentType="text/plain", filename="fog.txt")  # fmt: skip
    return made


@pytest.fixture
def server(zotero: Zotero) -> Iterator[Server]:
    with serving(zotero.answer) as made:
        yield made


def api(server: Server, *, local: bool, base: Path | None = None) -> ZoteroSource:
    service = Service("Zotero", server.url, {"Authorization": "Bearer good"})
    return ZoteroSource(ZoteroApi(service, base=base, local=local))


def paper(source: SyncSource) -> bytes | str:
    (put,) = [one for one in source.changes("") if isinstance(one, Put) and one.id == "PAPER"]
    return put.content.text if isinstance(put.content, Extraction) else put.content()


@pytest.mark.parametrize("encloses", [True, False])
def test_the_program_says_where_a_file_is(
    zotero: Zotero, server: Server, tmp_path: Path, encloses: bool
) -> None:
    place = tmp_path / "100% fog.txt"
    place.write_bytes(b"Thick fog.")
    zotero.places["FILE"] = place.as_uri()
    zotero.encloses = encloses
    assert paper(api(server, local=True)) == b"Thick fog."
    place.unlink()  # it keeps what is known of it
    assert paper(api(server, local=True)) == "Fog is wet."


def test_a_website_cannot_make_us_read_our_own_files(
    zotero: Zotero, server: Server, tmp_path: Path
) -> None:
    place = tmp_path / "secret.txt"
    place.write_bytes(b"Secret.")
    zotero.places["FILE"] = place.as_uri()
    zotero.files["FILE"] = b""
    with pytest.raises(UrlFailed):
        paper(api(server, local=False))


def test_the_website_sends_files_without_the_key(zotero: Zotero, server: Server) -> None:
    zotero.files["FILE"] = b"Thick fog."
    assert paper(api(server, local=False)) == b"Thick fog."


def test_a_paper_without_its_file_keeps_what_is_known(zotero: Zotero, server: Server) -> None:
    assert paper(api(server, local=False)) == "Fog is wet."
    zotero.items["FILE"]["linkMode"] = "linked_file"
    zotero.items["FILE"]["path"] = "/home/somebody/fog.txt"
    assert paper(api(server, local=False)) == "Fog is wet."


def test_edits_that_were_not_synced_are_noticed(zotero: Zotero, server: Server) -> None:
    state: State = {}
    cursor = apply(state, api(server, local=True).changes(""))
    assert cursor is not None
    zotero.items["PAPER"]["abstractNote"] = "Fog is dry."  # without another version
    zotero.items["NEW"] = {"itemType": "book", "title": "On rain"}
    apply(state, api(server, local=True).changes(cursor))
    assert "Fog is dry." in state["PAPER"]
    assert "NEW" in state


@pytest.mark.parametrize("from_file", [True, False])
def test_linked_attachments_are_read(
    zotero: Zotero, server: Server, tmp_path: Path, from_file: bool
) -> None:
    base = tmp_path / "papers"
    base.mkdir()
    (base / "fog.txt").write_bytes(b"Linked fog.")
    (tmp_path / "secret.txt").write_bytes(b"Secret.")

    def opened(path: str) -> SyncSource:
        zotero.items["FILE"] |= {"linkMode": "linked_file", "path": path}
        if not from_file:
            return api(server, local=True, base=base)
        place = tmp_path / "zotero.sqlite"
        place.unlink(missing_ok=True)
        with sqlite3.connect(place) as db:
            db.executescript(SCHEMA.replace("PAPER1", "PAPER"))
            db.execute("UPDATE itemAttachments SET path = ?", (path,))
            value = "(7, 'Fog is wet.')"
            db.executescript(f"INSERT INTO itemDataValues VALUES {value};"
                             "INSERT INTO itemData VALUES (1, 4, 7);")  # fmt: skip
        db.close()
        return ZoteroSource(ZoteroFile(place, base))

    assert paper(opened("attachments:fog.txt")) == b"Linked fog."
    assert paper(opened(str(base / "fog.txt"))) == b"Linked fog."
    assert paper(opened("attachments:../secret.txt")) == "Fog is wet."
    assert paper(opened("attachments:none.txt")) == "Fog is wet."
