"""What a conversation said of a removed document is not only hidden: its rows are gone."""

import sqlite3
from pathlib import Path

from trivium.answers import KeptTurn, Turn
from trivium.store.embedded.store import EmbeddedStore
from trivium.testing.samples import TOY, sample
from trivium.types import OWNER


def rows(folder: Path, table: str) -> int:
    with sqlite3.connect(folder / "library.db") as database:
        found = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    database.close()
    return int(found)


def test_turns_leave_the_database_with_their_documents(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    amber, copper = store.put(
        [sample("a.md", "Amber."), sample("b.md", "Copper.")], TOY.fingerprint
    )
    for used in ({amber.id}, {amber.id, copper.id}, {copper.id}):
        store.keep_turn("talk", KeptTurn(Turn("what?", "that"), None, frozenset(used)))
    store.remove([amber.id])
    assert (rows(tmp_path, "turns"), rows(tmp_path, "turn_documents")) == (1, 1)
    assert store.forget_conversation("talk", OWNER) == 1
    assert (rows(tmp_path, "turns"), rows(tmp_path, "turn_documents")) == (0, 0)
    store.close()


def test_a_turn_is_kept_while_another_process_writes(tmp_path: Path) -> None:
    writer, reader = EmbeddedStore(tmp_path), EmbeddedStore(tmp_path, wait=0)
    with writer.writing():
        reader.keep_turn("talk", KeptTurn(Turn("what?", "that"), None))
        assert len(writer.turns("talk", OWNER)) == 1
    writer.close()
    reader.close()
