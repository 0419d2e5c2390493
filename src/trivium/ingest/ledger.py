"""Records the progress of tasks in the queue, several at a time.

A thousand unchanged files are a thousand tasks that end within seconds: written one by one, they
would take a thousand commits of several milliseconds. Knows nothing of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import monotonic

from trivium.ports import Queue
from trivium.work import JobId, Offered, TaskEnd, TaskId, TaskProgress

# Seconds between two looks at what others want, and two entries on progress. A look is 10 ms of
# processor time: four a second would be 4 % of what embedding has.
OFTEN = 1.0
MOST = 256  # ended tasks that wait to be written: after a kill, a worker looks at these again
_NUMBERS = 64  # task numbers taken at a time


class Ledger:
    """For the thread that writes to the store. Without a queue it keeps nothing."""

    def __init__(self, queue: Queue | None, worker: str = "") -> None:
        self._queue = queue
        self._worker = worker
        self._met: list[tuple[TaskId, JobId, TaskId, Offered]] = []
        self._ends: list[TaskEnd] = []
        self._numbers = range(0)
        self._written = self._looked = monotonic()
        self._noted: dict[TaskId, TaskProgress] = {}

    def meet(self, job: JobId, parent: TaskId, offered: Offered) -> TaskId:
        """A document that nobody knew of when the job was made; its number comes back."""
        if self._queue is None or not job:
            return 0
        if not self._numbers:
            self._numbers = self._queue.reserve(_NUMBERS)
        task, self._numbers = self._numbers[0], self._numbers[1:]
        self._met.append((task, job, parent, offered))
        return task

    def signed(self, end: TaskEnd) -> TaskEnd:
        """With the name of the worker, so that it ends nothing that another has by now."""
        return replace(end, worker=self._worker)

    def end(self, end: TaskEnd) -> None:
        if end.task:
            self._ends.append(self.signed(end))

    def settle(self, *, now: bool = False) -> None:
        """Write what is waiting, if it is enough or has waited long enough."""
        due = now or len(self._ends) >= MOST or monotonic() - self._written > OFTEN
        if self._queue is not None and due:
            met, self._met = self._met, []
            ends, self._ends = self._ends, []
            self._queue.extend(self._worker, met)
            self._queue.end(ends)
            self._written = monotonic()

    def is_due(self) -> bool:
        """Whether it is time to `look`."""
        return self._queue is not None and monotonic() - self._looked >= OFTEN

    def look(self, progress: Mapping[TaskId, TaskProgress], jobs: Iterable[JobId]) -> set[JobId]:
        """Tell those who watch how far the documents are; which of the jobs were cancelled comes
        back."""
        if self._queue is None:
            return set()
        self._looked = monotonic()
        self.settle(now=True)
        changed = {t: now for t, now in progress.items() if t and self._noted.get(t) != now}
        self._queue.note_progress(changed)
        self._noted = dict(progress)
        asked = sorted({job for job in jobs if job})
        return self._queue.cancelled(asked) if asked else set()

    def release(self, tasks: Iterable[TaskId], *, lost: bool = False) -> None:
        """Give up tasks that were started and won't be finished here. `lost`: nobody knows why."""
        if self._queue is not None:
            self.settle(now=True)
            self._queue.release([task for task in tasks if task], lost=lost)
