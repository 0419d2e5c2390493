"""What a conversation said of a removed document is not only hidden: its rows are gone."""

import sqlite3
from pathlib import Path

from trivium.core.answers import KeptTurn, Turn
from trivium.core.types import OWNER
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample


def rows(folder: Path, table: str) -> int:
    with sqlite3.connect(folder / "library.db") as database:
        found = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    database.close()
    return int(found)


def test_turns_leave_the_database_with_their_documents(tmp_path: Path) -> None:
    store = open_embedded(tmp_path)
    amber, copper = store.writer.put(
        [sample("a.md", "Amber."), sample("b.md", "Copper.")], TOY.fingerprint
    )
    for used in ({amber.id}, {amber.id, copper.id}, {copper.id}):
        store.conversations.keep("talk", KeptTurn(Turn("what?", "that"), None, frozenset(used)))
    store.writer.remove([amber.id])
    assert (rows(tmp_path, "turns"), rows(tmp_path, "turn_documents")) == (1, 1)
    assert store.conversations.forget("talk", OWNER) == 1
    assert (rows(tmp_path, "turns"), rows(tmp_path, "turn_documents")) == (0, 0)
    store.close()


def test_a_turn_is_kept_while_another_process_writes(tmp_path: Path) -> None:
    writer, reader = open_embedded(tmp_path), open_embedded(tmp_path, wait=0)
    with writer.writer.writing():
        reader.conversations.keep("talk", KeptTurn(Turn("what?", "that"), None))
        assert len(writer.conversations.turns("talk", OWNER)) == 1
    writer.close()
    reader.close()
