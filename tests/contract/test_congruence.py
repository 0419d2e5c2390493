"""Random histories on a store and on the reference give the same answers."""

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from tests import postgres
from tests.contract.backend_machine import BackendMachine

from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres


class EmbeddedMachine(BackendMachine):
    @staticmethod
    def make() -> Backend:
        return open_embedded(Path(tempfile.mkdtemp(prefix="trivium-")))


class PostgresMachine(BackendMachine):
    """A library that two processes have open: nothing that one remembers of words, documents and
    models survives a change by the other."""

    @staticmethod
    def make() -> tuple[Backend, Backend]:
        opened = ExitStack()
        address = parse(opened.enter_context(postgres.library()))
        first, second = open_postgres(address), open_postgres(address)

        def close() -> None:
            second.close()
            opened.close()

        return first, replace(second, close=close)


_SETTINGS = settings(
    max_examples=15,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEmbedded = EmbeddedMachine.TestCase
TestEmbedded.settings = _SETTINGS
TestPostgres = PostgresMachine.TestCase
TestPostgres.settings = _SETTINGS
