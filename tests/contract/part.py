"""What a suite about a part of a backend inherits."""

import pytest

from trivium.ports import Backend


class PartContract:
    @pytest.fixture
    def backend(self) -> Backend:
        raise NotImplementedError("give the suite a backend")
