import pytest
from tests.property.documents import summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Nobody should think that the sample documents were read when they were not there."""
    terminalreporter.write_line(summary())
