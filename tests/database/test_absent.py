"""What the end of a run says about tests that had no cluster."""

from __future__ import annotations

from io import StringIO

import pytest
from tests.conftest import pytest_terminal_summary


def _report(name: str) -> pytest.TestReport:
    return pytest.TestReport(name, ("", 0, ""), {}, "skipped", None, "setup")


def test_tests_that_need_citus_are_counted(request: pytest.FixtureRequest) -> None:
    told = StringIO()
    reporter = pytest.TerminalReporter(request.config, told)
    pytest_terminal_summary(reporter, request.config)
    assert "Citus" not in told.getvalue()
    skipped = [_report(f"tests/contract/test_citus.py::test_{n}") for n in range(3)]
    reporter.stats["skipped"] = [*skipped, _report("tests/web/test_other.py::test_it")]
    pytest_terminal_summary(reporter, request.config)
    assert "3 tests need a Citus cluster and did not run: set TRIVIUM_TEST_CITUS" in told.getvalue()
