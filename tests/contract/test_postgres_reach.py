"""Which shard a row is on, computed as PostgreSQL and Citus do."""

import numpy as np
from sqlalchemy import text
from tests import postgres

from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.reach import hashed

IDS = [0, 1, 2, 3, 1000, 2**31 - 1, 2**31, 2**32 + 5, 2**40 + 17, 2**62, -1, -5, -(2**40)]


def test_hashes_are_those_of_the_database() -> None:
    query = text("SELECT hashint8(id) FROM unnest(CAST(:ids AS bigint[])) AS id")
    with postgres.as_owner() as connection:
        told = connection.scalars(query, {"ids": IDS}).all()
    assert hashed(np.array(IDS, dtype=np.int64)).tolist() == told


def test_one_server_has_no_rest() -> None:
    with postgres.library() as place:
        backend = open_postgres(parse(place))
        assert backend.nodes is not None
        assert backend.nodes.rest(look=True) is None
        backend.close()
