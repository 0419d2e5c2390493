"""The truth of a library in SQL: documents, interpretations, chunks and vectors.

Every public method is one transaction. Made of parts, one file each: `names`, `staging`, `past`,
`removal`, `sketches`, `checks`, `models`. Knows nothing of search indexes except the `leftovers`
they have yet to drop, and nothing of which database it speaks to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import delete

from trivium.store.sql.checks import Checks
from trivium.store.sql.checksums import change
from trivium.store.sql.folders import FolderRows
from trivium.store.sql.migrations import MIGRATIONS
from trivium.store.sql.models import ModelRegistry
from trivium.store.sql.names import Names
from trivium.store.sql.past import Past
from trivium.store.sql.reader import check_schema
from trivium.store.sql.removal import Removal
from trivium.store.sql.rows import field_values, metadata_values
from trivium.store.sql.sketches import Sketches
from trivium.store.sql.staging import Staging
from trivium.store.sql.statements import insert_all, set_setting, take
from trivium.store.sql.tables import collections, documents, fields, interpretations
from trivium.store.sql.tokens import TokenRows
from trivium.store.sql.vectors import keep_vectors
from trivium.types import DocumentId, Metadata

if TYPE_CHECKING:
    from trivium.types import Vector


class Registry(
    Names, Staging, Past, Removal, Sketches, Checks, ModelRegistry, TokenRows, FolderRows
):
    def migrate(self) -> None:
        found = self.schema()
        check_schema(found)
        for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
            with self._engine.begin() as connection:
                step(connection)
                set_setting(connection, "schema", str(number))

    def set(self, name: str, value: str) -> None:
        with self._engine.begin() as connection:
            set_setting(connection, name, value)

    def set_chunker(self, collection: str, chunker: str) -> None:
        ours = collections.c.name == collection
        with self._engine.begin() as connection:
            connection.execute(delete(collections).where(ours))
            insert_all(connection, collections, [{"name": collection, "chunker": chunker}])

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        held = metadata_values(metadata)
        of, state = interpretations.c.document, interpretations.c.state
        with self._engine.begin() as connection:
            changed = take(connection, "sequence", 1).start
            labels = {"metadata": held, "audience": audience}
            set_to = {**labels, "category": category, "changed": changed}
            change(connection, documents, documents.c.id == document, set_to)
            change(connection, interpretations, (of == document) & (state == "active"), labels)
            connection.execute(delete(fields).where(fields.c.document == document))
            insert_all(connection, fields, field_values(document, metadata))

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._engine.begin() as connection:
            keep_vectors(connection, model, vectors)
