import pytest
from tests.property.documents import summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so if the sample documents are missing, so that nobody thinks they were read."""
    terminalreporter.write_line(summary())
