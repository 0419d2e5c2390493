"""What the tests cost in processor time, their child processes included: a figure that means the
same on a busy machine. The end of a run shows the sum and the dearest files."""

from __future__ import annotations

import os
import resource
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from bench.timing import processor_seconds_of

_SHOWN = 12


def spent(*whose: int) -> float:
    """Of this process, and of its children that have ended."""
    uses = map(resource.getrusage, whose or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def spent_so_far() -> float:
    """The same with children that still run: a process that a session keeps, such as one that reads
    files, would count for the test after which it ends."""
    return processor_seconds_of(os.getpid()) or spent()


class Costs:
    """Of one process; with several workers, the sum of what each sends at its end."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = spent_so_far()
        yield
        cost = spent_so_far() - before
        self.files[item.nodeid.partition("::")[0]] += cost  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["costs"] = dict(self.files) | {"": spent()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.files.update(getattr(node, "workeroutput", {}).get("costs", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        workers = self.files.pop("", 0)  # by now children that have ended
        whole = workers + spent(resource.RUSAGE_SELF) if workers else spent()
        dearest = [f"{name} {cost:.0f} s" for name, cost in self.files.most_common(_SHOWN)]
        terminalreporter.line(f"Processor time: {whole:.0f} s. Most: {', '.join(dearest)}.")
