"""A library of an older Trivium opens in this one."""

from pathlib import Path

from sqlalchemy import create_engine, text

from trivium.store.embedded.store import EmbeddedStore
from trivium.store.sql.migrations import SCHEMA
from trivium.testing.samples import TOY, sample
from trivium.types import OWNER


def test_a_library_without_token_vectors_gains_their_table(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    store.put([sample("a.md", "Amber bell.")], TOY.fingerprint)
    store.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'library.db'}")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE token_vectors"))
        connection.execute(text("UPDATE settings SET value = '1' WHERE name = 'schema'"))
    engine.dispose()
    store = EmbeddedStore(tmp_path)
    assert store.manifest().schema == SCHEMA
    assert store.token_vectors([1], OWNER, TOY.fingerprint) == {}
    assert [d.uri for d in store.documents(OWNER)] == ["a.md"]
    store.close()
