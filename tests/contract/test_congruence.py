"""Random histories on a store and on the memory store give the same answers."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from trivium.store.embedded.store import EmbeddedStore
from trivium.testing.store_machine import StoreMachine


class EmbeddedMachine(StoreMachine):
    @staticmethod
    def make() -> EmbeddedStore:
        return EmbeddedStore(Path(tempfile.mkdtemp(prefix="trivium-")))

    rebuild = staticmethod(EmbeddedStore.rebuild)


TestEmbedded = EmbeddedMachine.TestCase
TestEmbedded.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
