"""The time left: it falls steadily, whatever documents come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import pytest

from trivium.core.pace import TimeLeft
from trivium.core.work import Job, JobState, Priority, Task, TaskState, Work, work_of

TOKEN, DOCUMENT = 0.0003, 0.005  # seconds on 2 cores: to embed one, to read and store one
PART = 16_384  # tokens that are embedded together
READ_AHEAD = 140  # documents: 32 MB of these


@dataclass(frozen=True)
class File:
    size: int
    tokens: int

    @property
    def seconds(self) -> float:
        return self.tokens * TOKEN + DOCUMENT


def mixed(seed: int) -> list[File]:
    """Files as people have them: notes, papers, slides and scans with more bytes than text, and one
    book that takes as long as all others together."""
    chance = Random(seed)
    notes = [File(chance.randint(1_000, 9_000), chance.randint(50, 900)) for _ in range(150)]
    papers = [
        File(chance.randint(200_000, 900_000), chance.randint(8_000, 20_000)) for _ in range(20)
    ]
    scans = [
        File(chance.randint(500_000, 5_000_000), chance.randint(100, 2_000)) for _ in range(10)
    ]
    book = File(1_800_000, sum(file.tokens for file in [*notes, *papers, *scans]))
    together = [*notes, *papers, *scans, book]
    chance.shuffle(together)
    return together


def seen(files: list[File], now: float) -> Job:
    """A job that adds these one after the other, at this second of it."""
    ended, tokens_done, begins = [], 0, 0.0
    for file in files:
        ends = begins + file.seconds
        if ends <= now:
            ended.append(file)
            tokens_done += file.tokens
        elif begins <= now:
            tokens_done += int((now - begins) / TOKEN) // PART * PART
        begins = ends
    read = files[: len(ended) + READ_AHEAD]
    return Job(
        1, "add", "", JobState.RUNNING, Priority.BULK, "",
        tasks=len(files), size=sum(f.size for f in files),
        ended=len(ended), ended_size=sum(f.size for f in ended),
        read=len(read), read_size=sum(f.size for f in read),
        tokens=sum(f.tokens for f in read), tokens_done=tokens_done,
    )  # fmt: skip


def by_documents(job: Job) -> Work:
    """As if a document counted only when it has ended."""
    share = (job.ended / job.tasks + job.ended_size / job.size) / 2
    return Work(share, 1 - share)


def by_tokens(job: Job) -> Work:
    return work_of([job])


Said = list[tuple[float, float]]  # seconds that are truly left, and what is said


def told(files: list[File], work: Callable[[Job], Work]) -> Said:
    """Looked at every second; without the first fifth, when nobody can know."""
    whole = sum(file.seconds for file in files)
    return [one for one in every(files, work) if one[0] < whole * 4 / 5]


def every(files: list[File], work: Callable[[Job], Work] = by_tokens) -> Said:
    """Whatever is said."""
    whole, clock, said = sum(file.seconds for file in files), TimeLeft(), []
    for now in range(int(whole)):
        found = work(seen(files, now))
        left = clock.after(float(now), found.done, found.left)
        if left is not None:
            said.append((whole - now, left))
    return said


def rises(said: Said) -> float:
    return sum(max(0.0, after - before) for (_, before), (_, after) in pairwise(said))


def error(said: Said) -> float:
    return sum(abs(left - true) for true, left in said) / len(said)


@pytest.mark.parametrize("seed", range(8))
def test_it_falls_steadily_though_one_file_is_as_long_as_all_others(seed: int) -> None:
    files = mixed(seed)
    whole = sum(file.seconds for file in files)
    said, coarse = told(files, by_tokens), told(files, by_documents)
    assert rises(said) < whole / 10
    assert error(said) < whole / 5
    both = {true for true, _ in said} & {true for true, _ in coarse}
    by_token, by_document = ([one for one in s if one[0] in both] for s in (said, coarse))
    assert error(by_token) < error(by_document), "at the moments when both say something"


def test_even_work_is_foretold_exactly() -> None:
    said = told([File(1_000, 1_000)] * 200, by_tokens)
    assert said
    assert all(abs(left - true) < 3 for true, left in said)


KINDS: dict[str, Callable[[Random], list[File]]] = {
    "notes": lambda chance: [
        File(chance.randint(500, 9_000), chance.randint(50, 900)) for _ in range(400)
    ],
    "papers": lambda chance: [
        File(chance.randint(200_000, 900_000), chance.randint(8_000, 20_000)) for _ in range(40)
    ],
    "mixed": lambda chance: mixed(chance.randrange(99)),
    "short first": lambda chance: sorted(mixed(chance.randrange(99)), key=lambda file: file.size),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_is_within_a_factor_of_two(kind: str) -> None:
    """Of what is said while at least five seconds are left, nine of ten."""
    said = [one for seed in range(5) for one in every(KINDS[kind](Random(seed))) if one[0] >= 5]
    right = sum(true / 2 <= left <= true * 2 for true, left in said)
    assert said
    assert right >= 0.9 * len(said), f"{right} of {len(said)}"


def test_little_progress_in_a_minute_says_nothing() -> None:
    """66 files on a busy machine: 33 s to read them, then 2 % in one step; it said 49 minutes for
    six."""
    clock = TimeLeft()
    for now in range(90):
        assert clock.after(now, 0.0 if now < 33 else 2.1, 100.0 if now < 33 else 97.9) is None


def test_an_early_guess_is_soon_forgotten() -> None:
    clock = TimeLeft()
    clock.after(0, 0, 1000)
    assert clock.after(3, 1, 999) is None, "nobody can say"
    assert clock.after(20, 50, 950) is None, "in two steps nobody sees a pace"
    clock.after(40, 100, 900)
    guess = clock.after(60, 150, 850)
    assert guess == pytest.approx(340)
    for now in range(61, 120):
        left = clock.after(now, 10 * now - 450, 1450 - 10 * now)
    assert left == pytest.approx(26, abs=10)


@pytest.mark.parametrize("seed", range(20))
def test_short_notes_that_are_read_before_any_is_embedded(seed: int) -> None:
    """66 dropped notes on a busy machine: 4 s until the first is read, 4 more until all are, then
    parts of two seconds. While they were read it said 127 s for 6, and then 60 for 2."""
    chance, clock, now, done, said = Random(seed), TimeLeft(), 0.0, 0.0, []
    notes, tokens = 66, 66 * chance.randint(100, 300)
    for read in [0] * 8 + list(range(0, notes + 1, 8)) + [notes] * 4:
        done = read * 10.0
        assert clock.after(now, done, notes * 20 + tokens - done) is None, "nothing is embedded"
        now += 0.5
    whole, pace = notes * 20 + tokens, tokens / chance.randint(20, 40)
    ends = now + (whole - done) / pace
    while now < ends - 5:
        now += chance.choice([1.5, 2.0, 2.5])  # a part takes two seconds
        done = min(whole, whole - (ends - now) * pace)
        if (left := clock.after(now, done, whole - done)) is not None:
            said.append((ends - now, left))
    good = [one for one in said if one[0] / 2 <= one[1] <= one[0] * 2]
    assert len(said) > 4
    assert len(good) >= 0.9 * len(said)


def test_between_two_parts_it_counts_down() -> None:
    clock = TimeLeft()
    for now in range(100):
        left = clock.after(now, now - now % 5, 100 - (now - now % 5))
        if now >= 40:
            assert left == pytest.approx(100 - now, abs=1)


def test_at_a_standstill_it_rises_in_the_end() -> None:
    clock = TimeLeft()
    for now in range(41):
        clock.after(now, now, 100 - now)
    still = [clock.after(now, 40, 60) for now in range(41, 200)]
    assert still[10] == pytest.approx(49), "a pause may be a long part"
    assert still[-1] is not None
    assert still[-1] > 60


def test_other_work_begins_again_and_more_work_counts_at_once() -> None:
    clock = TimeLeft()
    for now in (0, 2, 4, 8):
        clock.after(now, now / 2, 10 - now / 2)
    assert clock.after(10, 5, 5) == pytest.approx(10)
    clock.expect_more()
    assert clock.after(11, 5, 28) == pytest.approx(55), "by the pace so far"
    assert clock.after(12, 1, 50) is None


def test_a_page_that_was_just_opened_begins_with_the_job_s_own_estimate() -> None:
    clock = TimeLeft()
    assert clock.after(0.0, 60, 60) is None
    assert clock.expect(0.0, None) is None
    assert clock.expect(0.0, 60.0) == 60.0
    said = [clock.after(float(now), 60 + now, 60 - now) for now in range(1, 60)]
    assert said == sorted(said, reverse=True), "it falls from there"


def job(**counts: int) -> Job:
    return Job(1, "add", "", JobState.RUNNING, Priority.BULK, "", **counts)  # type: ignore[arg-type]


def test_work_counts_tokens_and_documents() -> None:
    read = job(tasks=4, size=400, ended=1, ended_size=100, read=4, read_size=400, tokens=1000)
    assert work_of([read]) == Work(50, 1000 + 3 * 10)
    half = replace(read, tokens_done=500)
    assert work_of([half]) == Work(550, 530)
    assert work_of([half]).share == pytest.approx(550 / 1080)


def test_what_is_not_read_is_expected_to_be_as_long_as_the_others() -> None:
    """Half by number (2 more of 100 tokens), half by bytes (as many bytes again)."""
    found = job(tasks=4, size=200, read=2, read_size=100, tokens=200)
    assert work_of([found]) == Work(20, 60 + 200 + 200), "two are read"
    longer = replace(found, size=300)
    assert work_of([longer]) == Work(20, 60 + 200 + (200 + 400) / 2)
    assert work_of([job(tasks=3)]) == Work(0, 60), "nothing is known of any"


def test_jobs_are_expected_to_be_like_each_other() -> None:
    """Files that were dropped on the page are a job each."""
    first = job(tasks=1, size=10, ended=1, ended_size=10, read=1, read_size=10, tokens=80)
    second = job(tasks=1, size=10)
    assert work_of([replace(first, tokens_done=80), second]) == Work(100, 100)


def test_a_document_says_how_far_it_is() -> None:
    task = Task(1, 1, "/book.pdf", "book.pdf", 9, TaskState.WORKING, passages=1200)
    assert task.passages_done == "", "nothing is embedded"
    assert replace(task, embedded=340).passages_done == "340 of 1,200 passages"
    assert replace(task, embedded=1200).passages_done == ""
    assert replace(task, passages=None).passages_done == ""
