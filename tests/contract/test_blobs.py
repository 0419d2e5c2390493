"""Originals in a folder, in PostgreSQL and in a real object store."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests import objects, postgres

from trivium.config import Settings
from trivium.errors import (
    ArchiveAway,
    ArchiveRefused,
    BadSetting,
    OriginalDamaged,
    TriviumError,
)
from trivium.library import Library
from trivium.ports import Blobs
from trivium.store.blobs import FolderBlobs
from trivium.store.object_blobs import ObjectBlobs
from trivium.store.opening import BackendOptions
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.database import open_database
from trivium.store.postgres.files import RowBlobs
from trivium.testing.blobs_contract import BlobsContract
from trivium.testing.samples import TOY


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
    from trivium.store.opening import open_backend

    with Library(open_backend(tmp_path / "library", options), TOY, settings) as library:
        library.add([tmp_path / "note.md"])
        (document,) = library.documents.all()
        assert ObjectBlobs(bucket).get(document.original).startswith(b"# Note")
        assert not (tmp_path / "library" / "archive").exists()
        library.remove([document.id])
        with pytest.raises(TriviumError):
            ObjectBlobs(bucket).get(document.original)
