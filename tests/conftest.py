"""What all tests share: one place for model files, so that the graph is built once a run; and how
Hypothesis looks for examples."""

import gc
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.cache import CACHE
from tests.costs import Costs
from tests.kept import kept
from tests.language_model import serving
from tests.once import add_samples, made_once, shared_folder
from tests.quick import pytest_addoption, pytest_collection_modifyitems  # noqa: F401
from xdist.remote import Producer
from xdist.scheduler.loadfile import LoadFileScheduling

from trivium.ingest import embedding
from trivium.store.embedded import database

ROOT = Path(__file__).parent.parent

# No limit of time: a machine that stalls for the .2 s that Hypothesis allows an example must not
# fail a change that has nothing to do with it.
settings.register_profile(
    "daily", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("daily")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """New examples every day, and the same ones in all runs of a day. `--hypothesis-seed` repeats
    a day that failed; `make explore` looks for more."""
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = f"{datetime.now(UTC):%Y%m%d}"
    config.pluginmanager.register(Costs())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    seed = config.getoption("--hypothesis-seed")
    terminalreporter.line(f"Property tests ran with --hypothesis-seed={seed}.")
    skipped = terminalreporter.stats.get("skipped", [])
    citus = sum("test_citus" in report.nodeid for report in skipped)
    if citus:
        terminalreporter.line(
            f"{citus} tests need a Citus cluster and did not run: set TRIVIUM_TEST_CITUS to the"
            " address of a coordinator."
        )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`-n auto`: two more than cores. Workers also wait, for a process that starts, for a browser:
    with three, two cores did 1,200 s of work in 751. No test goes by the clock, so none minds the
    company. Quick tests don't wait, and each worker takes 4 s to load them."""
    return (os.cpu_count() or 1) + (0 if config.getoption("--quick") else 2)


class Scheduling(LoadFileScheduling):
    """A worker takes a file at a time, and of `tests/browser` all: they share a server, a library
    with the real model and a browser."""

    def _split_scope(self, nodeid: str) -> str:
        whole = "tests/browser/"
        return whole if nodeid.startswith(whole) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """What is loaded by now stays loaded, so collections of garbage leave it out. They walked
    through thousands of tests and all of their libraries: almost 4 % of the processor time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shared_folder(tmp_path_factory) / "cache"  # several may build the graph at once
    folder.mkdir(exist_ok=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def environment(cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the machine reaches a test, nor does a test reach the user's files."""
    patch = pytest.MonkeyPatch()
    for name in [name for name in os.environ if name.startswith("TRIVIUM_")]:
        patch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    patch.setenv("TRIVIUM_CACHE", str(cache_folder))
    patch.setenv("TRIVIUM_CONFIG", str(home / "config.toml"))
    patch.setenv("TRIVIUM_LIBRARY", str(home / "library"))
    # Two threads prepare documents. One that comes .25 s after a later one is in a later batch and
    # has the higher number, which on a busy machine is chance; within a batch the order is that of
    # the offers, which tests go by.
    patch.setattr(embedding, "_LULL", 60.0)
    # No test cuts the power, and what a killed process wrote the system has: nobody waits for the
    # disk, which took .1 of the .4 s of a test that makes a library.
    patch.setattr(os, "fsync", lambda file: None)
    patch.setattr(database, "_PRAGMAS", (*database._PRAGMAS, "PRAGMA synchronous = OFF"))
    # Programs that tests start keep their bytecode: otherwise each compiles all of Trivium again,
    # .3 s of the 1.3 that it takes to start.
    patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    # As the program has it for itself: threads of OpenBLAS sleep until they are needed. Otherwise
    # they spin for .1 s when numpy starts, in each process that tests start in another way.
    patch.setenv("OPENBLAS_THREAD_TIMEOUT", "4")
    with kept():
        yield
    patch.undo()


@pytest.fixture(scope="module")
def sample_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the sample documents with the real model, for one file of tests to change."""
    return made_once(tmp_path_factory, "samples", add_samples)


@pytest.fixture(scope="session")
def language_model() -> Iterator[str]:
    """Address of a real small model's server: chat and embeddings."""
    with serving() as address:
        yield address
