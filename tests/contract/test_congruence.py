"""Random histories on a store and on the memory store give the same answers."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.testing.backend_machine import BackendMachine


class EmbeddedMachine(BackendMachine):
    @staticmethod
    def make() -> Backend:
        return open_embedded(Path(tempfile.mkdtemp(prefix="trivium-")))


TestEmbedded = EmbeddedMachine.TestCase
TestEmbedded.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
