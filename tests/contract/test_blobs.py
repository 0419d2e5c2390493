"""Originals in a folder, in PostgreSQL and in a real object store."""

import os
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen
from uuid import uuid4

import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from tests import azure, objects, postgres
from tests.contract.beside_contract import SpoolContract
from tests.contract.blobs_contract import BlobsContract
from tests.endpoint import HANG, Reply, ScriptedEndpoint

from trivium.config import Settings
from trivium.core.errors import (
    ArchiveAway,
    ArchiveRefused,
    BadSetting,
    OriginalDamaged,
    TriviumError,
)
from trivium.http.app import create_app
from trivium.http.asked import COOKIE
from trivium.library import Library
from trivium.ports import Backend, Blobs
from trivium.store.blobs import FolderBlobs
from trivium.store.objects import ObjectBlobs, ObjectSpool
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.database import open_database
from trivium.store.postgres.files import RowBlobs
from trivium.testing.samples import TOY
from trivium.web.site import furnish


class TestFolder(BlobsContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> Blobs:
        return FolderBlobs(tmp_path)


class TestPostgres(BlobsContract):
    @pytest.fixture
    def blobs(self) -> Iterator[Blobs]:
        with postgres.library() as address:
            open_postgres(parse(address)).close()  # makes the tables
            engine = open_database(parse(address))
            yield RowBlobs(engine)
            engine.dispose()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of the test's own in a bucket, with the owner's key in the environment."""
    _keys(monkeypatch, objects.OWNER)
    place = f"s3://trivium/{uuid4().hex[:8]}"
    ObjectBlobs(place).put(b"")  # this server makes a bucket with its first object
    return place


def _keys(monkeypatch: pytest.MonkeyPatch, key: tuple[str, str], endpoint: str = "") -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key[1])
    monkeypatch.setenv("AWS_ENDPOINT", endpoint or objects.endpoint())
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


class TestObjects(BlobsContract):
    @pytest.fixture
    def blobs(self, bucket: str) -> Blobs:
        return ObjectBlobs(bucket)

    def test_an_original_has_an_address_in_the_bucket(self, bucket: str) -> None:
        blobs = ObjectBlobs(bucket)
        address = blobs.put(b"amber")
        digest = address.removeprefix("sha256:")
        assert blobs.place(address) == f"{bucket}/{digest[:2]}/{digest}"


@pytest.mark.skipif(azure.is_missing(), reason="Azurite is not installed; npm has it")
class TestAzure(BlobsContract):
    @pytest.fixture
    def container(self, monkeypatch: pytest.MonkeyPatch) -> str:
        """Its address, with the key in the environment."""
        container = azure.container()
        for name, value in container.environment.items():
            monkeypatch.setenv(name, value)
        return container.address

    @pytest.fixture
    def blobs(self, container: str) -> Blobs:
        blobs = ObjectBlobs(f"{container}/{uuid4().hex[:8]}")
        blobs.check()
        return blobs

    def test_a_link_opens_the_bytes(self, blobs: Blobs) -> None:
        link = blobs.link(blobs.put(b"kept"), 60)
        assert link is not None
        with urlopen(link) as answer:
            assert answer.read() == b"kept"
            assert answer.headers["Content-Disposition"] == "attachment"

    def test_a_large_file_comes_back_whole(self, blobs: Blobs) -> None:
        large = os.urandom(12_000_000)  # above 5 MB it goes in blocks
        assert blobs.get(blobs.put(large)) == large

    def test_what_waits_can_lie_there(self, container: str) -> None:
        spool = ObjectSpool(f"{container}/{uuid4().hex[:8]}", 100)
        name = spool.keep(BytesIO(b"sent in"))
        spool.put_back(name, b"later")
        assert (spool.sizes(), spool.read(name)) == ({name: 7}, b"sent in")
        assert spool.sweep([], -1) == 1

    def test_a_wrong_key_and_a_missing_container(
        self, container: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(ArchiveRefused):
            ObjectBlobs("az://nowhere").check()
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", b64encode(b"wrong" * 8).decode())
        with pytest.raises(ArchiveRefused):
            ObjectBlobs(container).check()


class TestObjectSpool(SpoolContract):
    @pytest.fixture
    def backend(self, bucket: str, tmp_path: Path) -> Iterator[Backend]:
        backend = open_backend(tmp_path, BackendOptions(incoming=100, incoming_folder=bucket))
        assert isinstance(backend.spool, ObjectSpool)
        yield backend
        backend.close()


def test_a_link_opens_the_bytes_for_a_while_and_nothing_else_does(bucket: str) -> None:
    blobs = ObjectBlobs(bucket)
    link = blobs.link(blobs.put(b"<script>"), 60)
    assert link is not None
    with urlopen(link) as answer:
        assert answer.read() == b"<script>"
        assert answer.headers["Content-Disposition"] == "attachment"
    with pytest.raises(HTTPError):
        urlopen(link.partition("?")[0])


def test_a_server_sends_whoever_may_read_an_original_to_the_store(
    bucket: str, tmp_path: Path
) -> None:
    settings = Settings(
        library=tmp_path / "library", archive_folder=bucket, archive_link_seconds=60
    )
    backend = open_backend(tmp_path / "library", BackendOptions(archive=bucket))
    (tmp_path / "secret.md").write_text("# Secret\n\nThe lantern burns.")
    with Library(backend, TOY, settings) as library:
        library.add([tmp_path / "secret.md"], audience="finance")
        _, other = library.tokens.create(audiences=["player"], name="player")
        _, reader = library.tokens.create(audiences=["finance"], name="reader")
        app = create_app(library, settings, furnish=furnish)
        with TestClient(app, "http://localhost:8420", follow_redirects=False) as caller:

            def ask(token: str) -> Response:
                told = {"Authorization": f"Bearer {token}"}
                return caller.get("/v1/documents/1/original", headers=told)

            assert ask(other).status_code == 404
            answer = ask(reader)
            caller.cookies.set(COOKIE, reader)  # as the page keeps it
            page = caller.get("/documents/1").text
            assert 'href="/v1/documents/1/original"' in page
            clicked = caller.get("/v1/documents/1/original")
        assert (clicked.status_code, clicked.headers["cache-control"]) == (307, "no-store")
        assert (answer.status_code, answer.headers["cache-control"]) == (307, "no-store")
        with urlopen(answer.headers["location"]) as original:
            assert original.read().startswith(b"# Secret")


def test_a_large_file_goes_in_parts(bucket: str) -> None:
    import obstore
    from obstore.store import from_url

    large = os.urandom(12_000_000)
    blobs = ObjectBlobs(bucket)
    address = blobs.put(large)
    digest = address.removeprefix("sha256:")
    told = obstore.head(from_url(bucket), f"{digest[:2]}/{digest}")["e_tag"]
    assert told is not None
    assert told.strip('"').endswith("-3")  # S3's mark of an object that was put in three parts
    assert blobs.get(address) == large


def _azure_keys(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", b64encode(b"key" * 8).decode())
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", endpoint)
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")


HELD = {"Last-Modified": "Mon, 16 Nov 2026 10:00:00 GMT", "ETag": '"a"'}


@pytest.mark.parametrize("place", ["s3://trivium/faults", "az://trivium/faults"])
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(b"half", headers=HELD, then="reset"), ArchiveAway),
        (Reply(b"half", headers=HELD, then="hang"), ArchiveAway),
        (HANG, ArchiveAway),
        (Reply(b"other bytes", headers=HELD), OriginalDamaged),
        (Reply(b"<Error><Code>AccessDenied</Code></Error>", 403), ArchiveRefused),
    ],
    ids=["half a body", "slow", "no answer", "wrong checksum", "denied"],
)
def test_a_store_that_answers_badly(
    monkeypatch: pytest.MonkeyPatch, place: str, reply: Reply, error: type[TriviumError]
) -> None:
    with ScriptedEndpoint(lambda seen: reply) as endpoint:
        _keys(monkeypatch, objects.OWNER, endpoint.url)
        _azure_keys(monkeypatch, endpoint.url)
        blobs = ObjectBlobs(place, seconds=0.3)
        with pytest.raises(error):
            blobs.get(blobs.address(b"these bytes"))


@pytest.mark.parametrize("place", ["s3://trivium/403/404", "az://trivium/403/404"])
@pytest.mark.parametrize("reply", [HANG, Reply(b"<RequestId>403404</RequestId>", 503)])
def test_a_number_in_a_name_is_no_status(
    monkeypatch: pytest.MonkeyPatch, place: str, reply: Reply
) -> None:
    with ScriptedEndpoint(lambda seen: reply) as endpoint:
        _keys(monkeypatch, objects.OWNER, endpoint.url)
        _azure_keys(monkeypatch, endpoint.url)
        with pytest.raises(ArchiveAway):
            ObjectBlobs(place, seconds=0.3).put(b"these bytes")


def test_a_bucket_that_is_not_there_is_known_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    missing = Reply(b"<Error><Code>NoSuchBucket</Code></Error>", 404)
    with ScriptedEndpoint(lambda seen: missing) as endpoint:
        _keys(monkeypatch, objects.OWNER, endpoint.url)
        _azure_keys(monkeypatch, endpoint.url)
        for options in (
            BackendOptions(archive="s3://nowhere"),
            BackendOptions(incoming_folder="s3://nowhere"),
            BackendOptions(archive="az://nowhere"),
            BackendOptions(incoming_folder="az://nowhere"),
        ):
            with pytest.raises(ArchiveRefused):
                open_backend(tmp_path / "library", options)


def test_changed_bytes_are_noticed(bucket: str) -> None:
    import obstore
    from obstore.store import from_url

    blobs = ObjectBlobs(bucket)
    address = blobs.put(b"as it was")
    digest = address.removeprefix("sha256:")
    obstore.put(from_url(bucket), f"{digest[:2]}/{digest}", b"as it is!")
    with pytest.raises(OriginalDamaged):
        blobs.get(address)


def test_a_key_that_may_not_write_is_known_at_the_start(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = ObjectBlobs(bucket).put(b"kept")
    _keys(monkeypatch, objects.READER)
    with pytest.raises(ArchiveRefused):
        _ = BackendOptions(archive=bucket).blobs
    assert ObjectBlobs(bucket).get(address) == b"kept"


def test_a_wrong_key_is_refused(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _keys(monkeypatch, (objects.OWNER[0], "wrong"))
    with pytest.raises(ArchiveRefused) as refused:
        ObjectBlobs(bucket).check()
    assert "wrong" not in str(refused.value)


def test_a_store_that_does_not_answer(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _keys(monkeypatch, objects.OWNER, "http://127.0.0.1:9")
    with pytest.raises(ArchiveAway):
        ObjectBlobs(bucket).check()


def test_a_place_that_names_no_store() -> None:
    with pytest.raises(BadSetting):
        ObjectBlobs("ftp://somewhere/else")


def test_a_library_keeps_its_originals_there(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe lantern burns.")
    settings = Settings(library=tmp_path / "library", archive_folder=bucket)
    options = BackendOptions(archive=bucket)
    with Library(open_backend(tmp_path / "library", options), TOY, settings) as library:
        library.add([tmp_path / "note.md"])
        (document,) = library.documents.all()
        assert ObjectBlobs(bucket).get(document.original).startswith(b"# Note")
        assert not (tmp_path / "library" / "archive").exists()
        library.remove([document.id])
        with pytest.raises(TriviumError):
            ObjectBlobs(bucket).get(document.original)
