"""Real processes that crash, hang, swell and lie: each costs one typed error, and no other."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest

from trivium.core import errors
from trivium.core.errors import (
    DocumentFailed,
    FileDamaged,
    FileEmpty,
    FileTooLarge,
    ReadError,
    TriviumError,
)
from trivium.core.types import Extraction
from trivium.extract.box import available, readable
from trivium.extract.cleaning import cleaned
from trivium.extract.detect import read
from trivium.extract.sandbox import FileTimeout, Sandbox
from trivium.ports import Blob

FUZZ = Path(__file__).parents[2] / "fuzz"
MEMORY = 400 << 20
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps this limit")


@pytest.fixture(autouse=True, scope="module")
def nasty() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FUZZ)
        yield


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One process reads for all tests that don't end it."""
    with nasty_sandbox() as made:
        yield made


def nasty_sandbox(
    workers: int = 1, *, seconds: float = 120, output: int = 8 << 20, per_worker: int = 500
) -> Sandbox:
    return Sandbox(
        workers,
        seconds,
        MEMORY,
        output,
        extractors="nasty:EXTRACTORS",
        documents_per_worker=per_worker,
        isolated=False,  # some commands write files, so that tests see how far they are
    )


def told(command: str) -> Blob:
    return Blob("told.txt", command.encode())


def failure(sandbox: Sandbox, command: str) -> ReadError:
    with pytest.raises(ReadError) as caught:
        sandbox.read(told(command))
    return caught.value


def until(condition: Callable[[], bool], seconds: float = 240) -> None:
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "it never came about"
        sleep(0.005)


def is_alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith(b"Z")


def exists(pid: int) -> bool:
    """Also as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_in(file: Path) -> int:
    until(file.exists)
    return int(file.read_text())


# --- what comes back ---------------------------------------------------------------------------


def test_the_built_in_extractors_give_the_same_as_without_a_sandbox() -> None:
    blobs = [
        Blob("a.md", b"---\ntags: [a, b]\nyear: 2001\n---\n# One\n\n| a | b |\n|-|-|\n| 1 | 2 |"),
        Blob("b.txt", "Grüße\n\nund mehr".encode("utf-16")),
    ]
    with Sandbox(1) as sandbox:
        assert [sandbox.read(blob) for blob in blobs] == [read(blob) for blob in blobs]


def test_every_field_survives_the_way_back(sandbox: Sandbox) -> None:
    from nasty import RICH  # type: ignore[import-not-found]

    back = sandbox.read(told("rich"))
    assert back == replace(cleaned(RICH), reader="Nasty-nasty/1")
    assert back.text == RICH.text.replace("\ud800", "\ufffd")  # as any store can keep it
    assert [type(value) for value in back.metadata.values()] == [int, float, bool, tuple, str]
    assert type(back.kind) is type(RICH.kind)


def test_an_error_of_the_extractor_comes_back_as_it_was(sandbox: Sandbox) -> None:
    error = failure(sandbox, "refuse it has 7 heads")
    assert (type(error), error.code) == (FileTooLarge, "file.too_large")
    assert (error.message, error.fix) == ("it has 7 heads", "Cut it.")
    assert str(error) == "it has 7 heads Cut it."
    pid = sandbox.read(told("pid")).text
    assert type(failure(sandbox, "own x")) is FileEmpty  # the nearest that everybody knows
    assert sandbox.read(told("pid")).text == pid  # a reason is no reason for a new process


def test_settings_reach_the_extractors() -> None:
    with Sandbox(1, extractors="nasty:configured", settings={"mark": "here"}) as sandbox:
        assert sandbox.read(told("say look")).text == "look here"


def test_the_size_limit_holds_inside() -> None:
    with Sandbox(1, max_bytes=10) as sandbox, pytest.raises(FileTooLarge, match="limit is 10"):
        sandbox.read(Blob("a.txt", b"x" * 11))


def test_a_large_file_passes_through_the_pipes_both_ways(sandbox: Sandbox) -> None:
    text = "y" * 5_000_000
    assert sandbox.read(told(f"say {text}")).text == text


def test_what_a_parser_prints_is_no_answer(
    sandbox: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    assert sandbox.read(told("print noise")).text == "printed"
    assert sandbox.read(told("say next")).text == "next"
    assert capfd.readouterr() == ("", "")


# --- what goes wrong ---------------------------------------------------------------------------

FAILURES = [
    ("crash", FileDamaged, "crashed its reader"),
    (f"kill {int(signal.SIGTERM)}", FileDamaged, "crashed its reader"),
    ("exit", FileDamaged, "crashed its reader"),
    ("bug 1/0", DocumentFailed, r"because of a fault in Trivium \(ZeroDivisionError: 1/0\)"),
    ("recurse", DocumentFailed, "RecursionError"),
    ("none", DocumentFailed, "gave NoneType"),
    ("strange", DocumentFailed, "lock is no part of an extraction"),
    ("nest", DocumentFailed, "returned an invalid answer"),
    ("garbage", DocumentFailed, "returned an invalid answer"),
    ("flood 9000000", FileTooLarge, "unpacks to more than 8 MiB"),
    ("many 200000", FileTooLarge, "unpacks to more than 8 MiB"),
    ("lie", FileTooLarge, "unpacks to more than 8 MiB"),
    pytest.param("allocate", FileTooLarge, "more than 400 MiB of memory", marks=LINUX),
    (f"kill {int(signal.SIGKILL)}", FileTooLarge, "of memory"),  # as the system does when short
    ("write 100000000", DocumentFailed, "OSError"),
]


@pytest.mark.parametrize(("command", "kind", "sentence"), FAILURES)
def test_a_failure_is_one_typed_error_and_the_batch_goes_on(
    sandbox: Sandbox, command: str, kind: type[ReadError], sentence: str
) -> None:
    assert sandbox.read(told("say before")).text == "before"
    with pytest.raises(kind, match=sentence) as caught:
        sandbox.read(told(command))
    assert "told.txt" in str(caught.value)
    assert caught.value.code
    assert sandbox.read(told("say after")).text == "after"


@pytest.mark.parametrize("command", ["hang", "wait", "huge_promise"])
def test_a_hang_ends_at_the_limit_and_the_process_is_replaced(command: str) -> None:
    # Two seconds, though a tenth would do: in the same time the sound ones must have answered.
    with nasty_sandbox(seconds=2) as sandbox:
        pid = int(sandbox.read(told("pid")).text)
        error = failure(sandbox, command)
        assert type(error) is FileTimeout
        assert "told.txt took longer than 2 seconds to read." in str(error)
        assert not exists(pid)
        assert int(sandbox.read(told("pid")).text) != pid


def test_work_that_moves_may_take_longer() -> None:
    with nasty_sandbox(seconds=4) as sandbox:
        assert sandbox.read(told("steps 22")).text == "22"  # 4.4 seconds


def test_work_that_moves_for_ever_ends_too() -> None:
    with Sandbox(1, 5, longest_seconds=0.5, extractors="nasty:EXTRACTORS") as sandbox:
        assert "longer than 0.5 seconds" in str(failure(sandbox, "endless_steps"))


def test_time_has_its_own_error_once_it_exists() -> None:
    assert FileTimeout is getattr(errors, "FileTimeout", FileDamaged)


def test_processor_time_is_a_second_clock(sandbox: Sandbox) -> None:
    assert type(failure(sandbox, f"kill {int(signal.SIGXCPU)}")) is FileTimeout


def test_a_crash_leaves_its_stack_as_a_note(sandbox: Sandbox) -> None:
    assert "do_crash" in "".join(failure(sandbox, "crash").__notes__)
    assert "do_bug" in "".join(failure(sandbox, "bug x").__notes__)


def test_a_document_does_not_pay_for_the_one_before(sandbox: Sandbox) -> None:
    assert sandbox.read(told("spoil")).text == "spoilt"
    assert sandbox.read(told("say innocent")).text == "innocent"


def test_a_worker_that_dies_while_idle_is_replaced_unseen(sandbox: Sandbox) -> None:
    pid = int(sandbox.read(told("pid")).text)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    assert int(sandbox.read(told("pid")).text) != pid
    assert not exists(pid)


def test_programs_that_a_parser_started_go_with_it(tmp_path: Path) -> None:
    with nasty_sandbox(seconds=5) as sandbox:
        assert type(failure(sandbox, f"start {tmp_path / 'pid'}")) is FileTimeout
        until(lambda: not is_alive(pid_in(tmp_path / "pid")))


def test_extractors_that_cannot_be_imported_are_not_the_documents_fault() -> None:
    with Sandbox(1, extractors="nowhere:NOTHING") as sandbox:
        with pytest.raises(TriviumError, match="nowhere") as caught:
            sandbox.read(told("say x"))
        assert not isinstance(caught.value, ReadError)


# --- processes ---------------------------------------------------------------------------------


def test_a_worker_reads_many_documents_then_retires() -> None:
    with nasty_sandbox(per_worker=3) as sandbox:
        pids = [sandbox.read(told("pid")).text for _ in range(7)]
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]
    assert not any(exists(int(pid)) for pid in pids)


def test_a_worker_that_grew_large_retires(sandbox: Sandbox) -> None:
    pid = sandbox.read(told("pid")).text
    assert sandbox.read(told("pid")).text == pid
    assert sandbox.read(told(f"swell {MEMORY * 5 // 8}")).text
    assert sandbox.read(told("pid")).text != pid


def test_a_large_parent_does_not_make_its_workers_look_large() -> None:
    ballast = b"x" * (MEMORY * 3 // 4)
    with nasty_sandbox() as sandbox:
        pids = {sandbox.read(told("pid")).text for _ in range(3)}
    del ballast
    assert len(pids) == 1


def test_many_threads_share_a_few_workers() -> None:
    with nasty_sandbox(2) as sandbox, ThreadPoolExecutor(8) as threads:
        commands = [f"say {n}" if n % 10 else "crash" for n in range(30)]

        def outcome(command: str) -> str:
            try:
                return f"say {sandbox.read(told(command)).text}"
            except FileDamaged:
                return "crash"

        assert list(threads.map(outcome, commands)) == commands
        pids = set(threads.map(lambda _: sandbox.read(told("pid")).text, range(20)))
        assert 1 <= len(pids) <= 2


def test_workers_outlive_the_thread_that_asked_first() -> None:
    pids: list[str] = []
    with nasty_sandbox() as sandbox:
        for _ in range(2):
            thread = threading.Thread(target=lambda: pids.append(sandbox.read(told("pid")).text))
            thread.start()
            thread.join()
    assert len(pids) == 2
    assert pids[0] == pids[1]


def test_several_files_are_read_in_one_request(sandbox: Sandbox) -> None:
    outcomes = sandbox.read_all([told("pid"), told("refuse it"), told("pid"), told("say x")])
    first, refused, again, last = outcomes
    assert isinstance(first, Extraction)
    assert isinstance(last, Extraction)
    assert type(refused) is FileTooLarge
    assert again == first
    assert last.text == "x"
    assert sandbox.read(told("pid")) == first  # nothing is left of the answers
    assert sandbox.read_all([]) == []


def test_long_answers_among_short_ones_come_in_order(sandbox: Sandbox) -> None:
    texts = ["a", "b" * 100_000, "c", "d" * 60_000, "e" * 10_000, "f"]
    outcomes = sandbox.read_all([told(f"say {text}") for text in texts])
    assert [outcome.text for outcome in outcomes if isinstance(outcome, Extraction)] == texts


@pytest.mark.parametrize("number", [0, 3, 7])
def test_a_file_that_ends_its_reader_takes_no_other_with_it(sandbox: Sandbox, number: int) -> None:
    commands = [f"say {n}" for n in range(8)]
    commands[number] = "crash"
    outcomes = sandbox.read_all([told(command) for command in commands])
    assert type(outcomes[number]) is FileDamaged
    texts = [outcome.text for outcome in outcomes if isinstance(outcome, Extraction)]
    assert texts == [str(n) for n in range(8) if n != number]


def test_closing_ends_reads_under_way(tmp_path: Path) -> None:
    sandbox = nasty_sandbox(1)
    caught: list[BaseException] = []

    def ask(command: str) -> None:
        try:
            sandbox.read(told(command))
        except BaseException as error:
            caught.append(error)

    threads = [
        threading.Thread(target=ask, args=(command,))
        for command in (f"hang {tmp_path / 'pid'}", "wait")
    ]
    threads[0].start()
    pid = pid_in(tmp_path / "pid")
    threads[1].start()
    sandbox.close()
    sandbox.close()
    for thread in threads:
        thread.join()
    assert [type(error) for error in caught] == [RuntimeError, RuntimeError]
    assert not exists(pid)
    with pytest.raises(RuntimeError, match="closed"):
        sandbox.read(told("say x"))


PARENT = """
import sys
from trivium.extract.sandbox import Sandbox
from trivium.ports import Blob
sandbox = Sandbox(2, extractors="nasty:EXTRACTORS", isolated=False)
idle = sandbox.read(Blob("a", b"pid")).text
print(idle, flush=True)
sandbox.read(Blob("a", sys.argv[1].encode()))
"""


@pytest.mark.parametrize("command", ["hang", "wait"])
def test_no_worker_outlives_a_killed_parent(command: str, tmp_path: Path) -> None:
    if command == "hang" and sys.platform != "linux":
        pytest.skip("a parser that never lets go of the interpreter dies only on Linux")
    file = tmp_path / "pid"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FUZZ), *sys.path])}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, f"{command} {file}"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert parent.stdout is not None
    with parent.stdout as said:
        worker = int(said.readline())
    if command == "hang":
        assert pid_in(file) == worker
    parent.kill()
    parent.wait()
    until(lambda: not is_alive(worker))


def test_the_parents_secrets_and_files_stay_outside(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIVIUM_TEST_SECRET", "hunter2")
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        assert "hunter2" not in sandbox.read(told("environment")).text
        # The three standard ones, a null device, two pipes, and the listing itself.
        assert len(sandbox.read(told("descriptors")).text.split()) <= 7


@pytest.mark.skipif(sys.platform != "linux", reason="a thing of Linux")
def test_the_system_takes_a_parser_first_when_memory_runs_out(sandbox: Sandbox) -> None:
    assert sandbox.read(told("oom")).text == "1000"


def test_a_parser_that_aborts_for_want_of_memory() -> None:
    """In a small parent: a child's peak starts at its parent's, and a large one hides it."""
    code = (
        "from trivium.extract.sandbox import Sandbox\n"
        "from trivium.ports import Blob\n"
        "try:\n"
        f"    Sandbox(1, 60, {MEMORY}, extractors='nasty:EXTRACTORS')"
        ".read(Blob('told.txt', b'abort_full'))\n"
        "except Exception as error:\n"
        "    print(type(error).__name__)\n"
    )
    paths = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": paths, "PATH": os.defpath},
    )
    assert done.stdout.strip() == "FileTooLarge", done.stderr


@LINUX
@pytest.mark.skipif(not available().is_closed, reason="this kernel has no Landlock")
def test_a_parser_that_is_taken_over_reaches_nothing(tmp_path: Path) -> None:
    """It could read the user's files and open connections."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the key")
    with (
        Sandbox(1, extractors="nasty:EXTRACTORS") as closed,
        Sandbox(1, extractors="nasty:EXTRACTORS", isolated=False) as opened,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        port = server.getsockname()[1]
        tries = [
            f"open {secret}", f"write {tmp_path / 'new'}", f"list {tmp_path}",
            f"connect {port}", f"run cat {secret}", f"open /proc/{os.getpid()}/environ",
        ]  # fmt: skip
        for one in tries:
            assert closed.read(told(f"try {one}")).text.startswith("refused: "), one
            assert opened.read(told(f"try {one}")).text.startswith("done: "), one
        assert closed.read(told("try write scratch.txt")).text.startswith("done: ")
        assert closed.read(told("try run ls /usr")).text.startswith("done: ")


def test_the_folder_someone_works_in_is_not_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    home = os.path.realpath(Path.home())
    monkeypatch.setattr(sys, "path", [*sys.path, "", os.getcwd(), home, "/"])
    assert not {os.getcwd(), home, "/", ""} & {os.path.realpath(one) for one in readable()}
