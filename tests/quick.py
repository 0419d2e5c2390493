"""What `make test-quick` leaves to the whole suite: two thirds of the processor time of its
folders, in tests of processes, servers, scans, recordings and thousands of rows. By the beginning
of a test's name."""

from __future__ import annotations

import pytest

SLOW = (
    # A server beside us.
    *("contract/test_backends.py::TestPostgres", "contract/test_postgres_vectors.py"),
    *("contract/test_citus.py", "contract/test_blobs.py"),
    # Another pytest, and libraries that change at random.
    *("contract/test_extractors.py::test_the_example", "contract/test_sources.py"),
    "contract/test_congruence.py",
    # Processes that are limited and killed.
    *("unit/extract/test_sandbox.py", "unit/ingest/test_file_chunker.py"),
    # Scans are recognised, talks are heard, sets are evaluated, files of a deployment are run.
    *("unit/extract/test_pdf_files.py", "unit/extract/test_picture.py"),
    *("unit/extract/test_recordings.py", "unit/models/test_ocr.py"),
    *("unit/evaluate/test_tune.py", "unit/test_deploy.py"),
    # 20,000 vectors; models of every layout; the samples with the real model.
    *("unit/store/test_lists.py", "unit/store/test_vectors.py", "unit/models/test_local.py"),
    *("unit/models/test_layouts.py", "unit/search/test_coverage_definition.py"),
    # Many examples, and megabytes of text.
    *("unit/search/test_run.py", "unit/chunk/test_huge.py", "unit/extract/test_pdf_reports.py"),
    *("unit/extract/test_xlsx.py::test_hostile_sheets", "unit/evaluate/test_statistics.py"),
    "unit/chunk/test_recursive.py::test_markdown_like_documents",
    # Services behind an address, answers' own reader, and libraries beside other processes.
    *("unit/models/test_bedrock.py", "unit/models/test_hub.py", "unit/models/test_reader.py"),
    *("unit/models/test_token_processes.py", "unit/answer/test_reading.py"),
    *("unit/store/test_spool.py", "unit/store/test_private.py", "unit/store/test_direct.py"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what tests/quick.py names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    slow = [item for item in items if item.nodeid.removeprefix("tests/").startswith(SLOW)]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]
