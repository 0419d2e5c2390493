"""Files: sent in by others under their own labels, given back, drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.recordings.making import encoded, samples
from tests.serving.shelf import client, shelve
from tests.unit.extract.test_pdf_maker import PdfMaker, column

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.types import OWNER
from trivium.library import Library
from trivium.library.uploads import safe_name
from trivium.sources.web import Fetched


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("files") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def adder(shelf: Library) -> Iterator[TestClient]:
    _, token = shelf.tokens.create(
        audiences=["player"], collections=["rules"], rights=["search", "add"]
    )
    with client(shelf, token) as opened:
        yield opened


@pytest.fixture(scope="module")
def keeper(shelf: Library) -> Iterator[TestClient]:
    with client(shelf) as opened:
        yield opened


def send(caller: TestClient, name: str, data: bytes, **labels: str) -> dict[str, object]:
    answer = caller.post("/v1/documents", files={"file": (name, data)}, data=labels)
    assert answer.status_code in (200, 201), answer.text
    (outcome,) = answer.json()["outcomes"]
    return dict(outcome)


def test_a_locked_file_is_sent_with_its_password(adder: TestClient) -> None:
    locked = PdfMaker()
    locked.page().lines(72, 100, column("cormorants", 10, 60))
    file = {"file": ("locked.pdf", locked.build(password="heron-7"))}
    for password, told in (
        ({}, "protected by a password"),
        ({"password": "x"}, "isn't the password"),
    ):
        refused = adder.post("/v1/documents", files=file, data=password)
        assert told in refused.text
        assert "heron-7" not in refused.text
    outcome = send(adder, "locked.pdf", file["file"][1], password="heron-7")
    assert outcome["fate"] == "added"
    (found, *_) = adder.post("/v1/search", json={"query": "cormorants"}).json()["results"]
    assert found["document"]["uri"] == outcome["uri"]


def test_what_a_token_adds_its_audience_sees(adder: TestClient) -> None:
    outcome = send(adder, "notes.md", b"---\naudience: dm-only\n---\n# Notes\n\nGriffins nest.")
    assert outcome["fate"] == "added"
    document = outcome["document"]
    assert isinstance(document, dict)
    assert (document["audience"], document["collection"]) == ("player", "rules")
    (found, *_) = adder.post("/v1/search", json={"query": "griffins"}).json()["results"]
    assert found["document"]["id"] == document["id"]
    again = send(adder, "notes.md", b"# Notes\n\nGriffins nest no more.")
    assert (again["fate"], again["uri"]) == ("updated", outcome["uri"])
    text = adder.get(f"/v1/documents/{document['id']}/text").text
    assert text.endswith("no more.")
    original = adder.get(f"/v1/documents/{document['id']}/original")
    assert original.content == b"# Notes\n\nGriffins nest no more."
    assert original.headers["content-disposition"] == "attachment; filename*=UTF-8''notes.md"
    told = adder.get(f"/v1/documents/{document['id']}/diff").json()
    assert (told["old"], told["new"], told["added"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("labels", "status"),
    [
        ({"audience": "dm-only"}, 403),
        ({"collection": "vault"}, 403),
        ({"audience": ""}, 422),
        ({"metadata": "[1]"}, 422),
        ({"metadata": '{"a": {"b": 1}}'}, 422),
        ({"nonsense": "1"}, 422),
    ],
)
def test_labels_of_others_are_refused(
    adder: TestClient, shelf: Library, labels: dict[str, str], status: int
) -> None:
    before = len(shelf.documents.all())
    answer = adder.post("/v1/documents", files={"file": ("a.md", b"text")}, data=labels)
    assert answer.status_code == status, answer.text
    assert len(shelf.documents.all()) == before


def test_two_tokens_do_not_share_names(shelf: Library, adder: TestClient) -> None:
    mine = send(adder, "same.md", b"# Mine")
    _, token = shelf.tokens.create(audiences=["dm-only"], collections=["rules"], rights=["add"])
    with client(shelf, token) as other:
        theirs = send(other, "same.md", b"# Theirs")
    assert theirs["fate"] == "added"
    assert theirs["uri"] != mine["uri"]
    assert isinstance(theirs["document"], dict)


def test_a_document_that_was_taken_away_is_not_replaced(shelf: Library, adder: TestClient) -> None:
    outcome = send(adder, "taken.md", b"# Taken")
    document = shelf.documents.get(str(outcome["uri"]))
    with shelf.backend.writer.writing():
        shelf.backend.writer.relabel(document.id, category="", audience="dm-only", metadata={})
    answer = adder.post("/v1/documents", files={"file": ("taken.md", b"# Back")})
    assert (answer.status_code, answer.json()["code"]) == (409, "document.exists")
    assert shelf.documents.text(document.id) == "Taken"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/abs/olute.md", "olute.md"),
        ("C:\\x\\y.md", "y.md"),
        ("..", "upload"),
        ("", "upload"),
        (".bashrc", "bashrc"),
        ("a\x00b\n.md", "ab.md"),
        ("\u202egnp.exe", "gnp.exe"),
        ("x" * 500 + ".md", "x" * 130 + ".md"),
    ],
)
def test_names_lose_their_tricks(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_an_upload_above_the_limit_is_refused_early(keeper: TestClient) -> None:
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(1 << 30),
    }
    answer = keeper.post("/v1/documents", content=b"--x", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "request.too_large")


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"--x", "multipart/form-data"),
        (b"{}", "application/json"),
        (b"file=1", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_no_form_is_refused(keeper: TestClient, body: bytes, type_: str) -> None:
    answer = keeper.post("/v1/documents", content=body, headers={"Content-Type": type_})
    assert (answer.status_code, answer.json()["code"]) == (422, "request.invalid")


def test_a_file_that_cannot_be_read_is_an_error(keeper: TestClient) -> None:
    answer = keeper.post("/v1/documents", files={"file": ("bad.pdf", b"%PDF-1.4 broken")})
    assert (answer.status_code, answer.json()["code"]) == (422, "file.damaged")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8420/v1/settings",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "http://user:password@example.org/",
        "gopher://x",
        "http://",
        "nonsense",
        "http://a:99999/",
    ],
)
def test_private_addresses_are_not_fetched(keeper: TestClient, url: str) -> None:
    answer = keeper.post("/v1/documents/url", json={"url": url})
    assert (answer.status_code, answer.json()["code"]) == (422, "url.refused")


def test_what_stands_at_an_address_is_added(shelf: Library) -> None:
    page = Fetched("page.html", b"<h1>Kraken</h1><p>It sleeps below.</p>", "https://e.org/page")
    report = shelf.uploads.receive_url(LOCAL_OWNER, "https://e.org/page", fetcher=lambda url: page)
    (outcome,) = report.outcomes
    assert outcome.document is not None
    assert outcome.document.uri == "https://e.org/page"
    assert "It sleeps below." in shelf.documents.text(outcome.document.id)


def test_a_page_is_drawn_with_a_passage_marked(keeper: TestClient, shelf: Library) -> None:
    maker = PdfMaker()
    maker.page().lines(72, 100, column("lantern", 6, 60))
    maker.page().lines(72, 400, column("harbour", 6, 60))
    outcome = send(keeper, "two.pdf", maker.build())
    document = outcome["document"]
    assert isinstance(document, dict)
    url = f"/v1/documents/{document['id']}/pages"
    (marked,) = [
        p.chunk.index
        for p in shelf.documents.passages(document["id"], OWNER)
        if "harbour" in p.chunk.text
    ]
    plain = keeper.get(f"{url}/2", params={"width": 306})
    assert plain.headers["content-type"] == "image/png"
    picture = Image.open(io.BytesIO(plain.content)).convert("RGB")
    assert picture.size == (306, 396)
    with_marks = keeper.get(f"{url}/2", params={"width": 306, "passage": marked})
    drawn = Image.open(io.BytesIO(with_marks.content)).convert("RGB")
    places = [(x, y) for x in range(306) for y in range(396)]
    yellow = [at for at in places if drawn.getpixel(at)[2] < 200]
    dark = [at for at in places if min(picture.getpixel(at)) < 200]
    assert len(yellow) > len(dark) + 500
    assert all(36 <= x <= 270 and 185 <= y <= 240 for x, y in yellow), "where the passage stands"
    etag = plain.headers["etag"]
    again = keeper.get(f"{url}/2", params={"width": 306}, headers={"If-None-Match": etag})
    assert again.status_code == 304
    missing = keeper.get(f"{url}/3")
    assert (missing.status_code, missing.json()["code"]) == (404, "page.not_found")


def test_only_pdf_files_have_pages(keeper: TestClient) -> None:
    outcome = send(keeper, "plain.md", b"# Plain")
    document = outcome["document"]
    assert isinstance(document, dict)
    answer = keeper.get(f"/v1/documents/{document['id']}/pages/1")
    assert (answer.status_code, answer.json()["code"]) == (404, "page.not_found")


def test_without_its_file_there_is_no_page(keeper: TestClient, tmp_path: Path) -> None:
    answer = keeper.get("/v1/documents/1/pages/1")
    assert (answer.status_code, answer.json()["code"]) == (404, "document.original_missing")


def test_an_archive_that_hangs_is_named(shelf: Library, keeper: TestClient) -> None:
    """A pipe that nobody writes to is read for ever, as a file of a network disk that is away."""
    document = send(keeper, "hanging.md", b"# Hanging\n\nGardens.")["document"]
    assert isinstance(document, dict)
    kept = shelf.documents.get(document["id"], OWNER).original
    assert shelf.backend.folder is not None
    (file,) = [
        path for path in shelf.backend.folder.rglob("*") if path.is_file() and path.name in kept
    ]
    file.unlink()
    os.mkfifo(file)
    with client(shelf, settings=Settings(serve_seconds=2.0)) as hurried:
        answer = hurried.get(f"/v1/documents/{document['id']}/original")
        file.open("wb").close()  # whoever reads goes on
    assert (answer.status_code, answer.json()["code"]) == (503, "archive.away")
    assert "results" not in answer.json()["detail"]
    shelf.remove([document["id"]])


def test_a_recording_is_given_in_parts_to_who_may_see_it(
    shelf: Library, adder: TestClient, tmp_path: Path
) -> None:
    lines = [(1.0, 2.0, "The quay is wet.")]
    data = encoded("matroska", "flac", samples(), subtitles=lines)
    for name, audience in (("seen.mkv", "all"), ("hidden.mkv", "dm-only")):
        (tmp_path / name).write_bytes(data + name.encode())
        shelf.add(tmp_path / name, collection="rules", audience=audience)
    ids = {Path(d.uri).name: d.id for d in shelf.documents.all() if d.uri.endswith(".mkv")}
    address = f"/v1/documents/{ids['seen.mkv']}/original"
    whole = adder.get(address)
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-type"] == "audio/x-matroska"
    for asked, start, end in (("10-19", 10, 20), ("90-", 90, None), ("5-999999999", 5, None)):
        part = adder.get(address, headers={"Range": f"bytes={asked}"})
        assert (part.status_code, part.content) == (206, whole.content[start:end])
        last = (end or len(whole.content)) - 1
        told = part.headers["content-range"]
        assert told == f"bytes {start}-{last}/{len(whole.content)}"
    behind = adder.get(address, headers={"Range": f"bytes={len(whole.content)}-"})
    assert behind.status_code == 416
    hidden = f"/v1/documents/{ids['hidden.mkv']}/original"
    assert adder.get(hidden, headers={"Range": "bytes=0-9"}).status_code == 404
    # Other files come whole, as before.
    other = next(d for d in shelf.documents.all() if d.uri.endswith(".md"))
    assert adder.get(
        f"/v1/documents/{other.id}/original", headers={"Range": "bytes=0-3"}
    ).status_code in (200, 404)
