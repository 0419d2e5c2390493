"""Access tokens in the registry: hashes of secrets, and what each may see and do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from trivium.core.access import AccessToken, Quota, Right
from trivium.store.sql.rows import noun_of
from trivium.store.sql.tables import access_tokens


class SqlTokens:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, token: AccessToken) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(access_tokens).where(access_tokens.c.id == token.id))
            connection.execute(insert(access_tokens).values(**_values(token)))

    def get(self, id_: str) -> AccessToken | None:
        query = select(access_tokens).where(access_tokens.c.id == id_)
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        return _token(row) if row else None

    def all(self) -> list[AccessToken]:
        query = select(access_tokens).order_by(access_tokens.c.created_at, access_tokens.c.id)
        with self._engine.connect() as connection:
            return [_token(row) for row in connection.execute(query).mappings()]

    def forget(self, id_: str) -> bool:
        gone = delete(access_tokens).where(access_tokens.c.id == id_)
        with self._engine.begin() as connection:
            return connection.execute(gone).rowcount > 0


def _values(token: AccessToken) -> dict[str, Any]:
    return asdict(token) | {
        "audiences": None if token.audiences is None else sorted(token.audiences),
        "collections": None if token.collections is None else sorted(token.collections),
        "rights": sorted(token.rights),
        "quota": None if token.quota == Quota() else asdict(token.quota),
    }


def _token(row: Any) -> AccessToken:
    return noun_of(
        AccessToken,
        row,
        audiences=None if row["audiences"] is None else frozenset(row["audiences"]),
        collections=None if row["collections"] is None else frozenset(row["collections"]),
        rights=frozenset(map(Right, row["rights"])),
        quota=Quota(**(row["quota"] or {})),
    )
