"""Vector search in PostgreSQL where a filter passes many chunks, all far from the query."""

import numpy as np
from sqlalchemy import text
from tests import postgres

from trivium.store.postgres.address import parse
from trivium.store.postgres.database import open_database
from trivium.store.postgres.schema import prepare
from trivium.store.postgres.vectors import ServedModel, VectorTables
from trivium.store.sql.feed import Feed
from trivium.store.sql.rows import IndexedChunk

NEAR, FAR = 24_000, 12_000  # more near chunks than any depth of the graph, too many far ones to
# compare all of them without a look at the graph


def test_finds_chunks_that_pass_however_many_others_are_nearer() -> None:
    with postgres.library() as place:
        address = parse(place)
        engine = open_database(address)
        prepare(engine, address, create=True)
        tables = VectorTables(engine, Feed(engine), lambda: None)
        first = IndexedChunk(1, 1, "en", "", np.array([1, 0], dtype=np.float32))
        with engine.begin() as connection:
            tables.add(connection, "a model", [first])
            # A scan gives what a perfect graph would, and takes no time to build.
            connection.execute(text("DROP INDEX vectors_1_graph"))
            connection.execute(
                text(
                    "INSERT INTO vectors_1 SELECT i, CAST(CASE WHEN i <= :near THEN '[1,0]'"
                    " ELSE '[0,1]' END AS halfvec(2)) FROM generate_series(2, :all) AS i"
                ),
                {"near": NEAR, "all": NEAR + FAR},
            )
        passing = np.arange(NEAR + FAR + 1) > NEAR
        hits = tables.nearest(
            ServedModel("a model", 1),
            np.array([0.9, 0.1], dtype=np.float32),
            5,
            passing,
            NEAR + FAR,
        )
        # Another process replaces the table: the remembered one is gone.
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE vectors_1 RENAME TO vectors_2"))
            connection.execute(text("UPDATE vector_tables SET number = 2"))
        again = tables.nearest(
            ServedModel("a model", 1), np.array([0.9, 0.1], np.float32), 5, passing, NEAR + FAR
        )
        engine.dispose()
    assert again == hits
    assert [hit.chunk_id for hit in hits] == [NEAR + 1, NEAR + 2, NEAR + 3, NEAR + 4, NEAR + 5]
