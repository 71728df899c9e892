"""Which worker process of ``gpuasm batch`` assembles which sample, and when."""

from __future__ import annotations

import queue
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpuasm import unfinished
from gpuasm.cli.batch_ledger import Ledger, Need
from gpuasm.cli.batch_process import Answer, Setting, Task, Worker
from gpuasm.errors import ResourceError

_BUG, _OUT_OF_RESOURCES = 1, ResourceError.exit_code


class Outcome(NamedTuple):
    """How the assembly of a sample ended."""

    name: str
    exit_code: int
    message: str


class Workers:
    """Assembles samples in several processes at a time.

    A sample that fails for lack of memory is tried once more while no other is assembled. A worker that has ended, or
    whose sample showed a bug, is replaced.

    Parameters
    ----------
    settings
        How each of the workers runs.
    memory
        Bytes of host memory for all.
    on_message
        Called with the name of a sample and a line that its assembly printed.
    """

    def __init__(self, settings: Sequence[Setting], memory: int, on_message: Callable[[str, str], None]) -> None:
        self._settings, self._on_message = settings, on_message
        self._ledger = Ledger[Worker](memory)
        self._events: queue.SimpleQueue[tuple[Worker, Answer | None]] = queue.SimpleQueue()
        self._workers: list[Worker] = []
        self._waiting, self._again = deque[Task](), deque[Task]()
        self._tried_again: set[Task] = set()

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Assemble samples, and yield how each ended, in the order in which they end."""
        self._waiting.extend(tasks)
        number = unfinished.register(self._end)
        try:
            for setting in self._settings:
                self._begin(setting)
            while any(worker.tasks for worker in self._workers):
                worker, answer = self._events.get()
                with unfinished.MAKING:  # a signal that ends this process ends its workers
                    pass
                if worker in self._workers:  # and not one that has been replaced
                    yield from self._follow(worker, answer)
        finally:
            self._end()
            unfinished.forget(number)

    def _end(self) -> None:
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.end()

    def _follow(self, worker: Worker, answer: Answer | None) -> Iterator[Outcome]:
        if answer is None:
            yield from self._fail(worker, *_failure(worker.end(), worker.last_message()))
        elif answer["event"] == "message":
            self._on_message(worker.tasks[0].name, answer["text"])
        elif answer["event"] == "forecast":
            self._ledger.ask(worker, Need(device=worker.setting.common.device, **answer["need"]))
        elif answer["code"] == _BUG:
            yield from self._fail(worker, _BUG, answer["message"])
        else:
            self._ledger.release(worker)
            yield from self._outcome(worker.tasks.popleft(), answer["code"], answer["message"])
            if not worker.tasks:
                self._hand_out(worker)
        for admitted in self._ledger.admit():
            admitted.admit()
            if len(self._waiting) > len(self._workers):  # at the end the next free worker takes the next sample
                self._hand_out(admitted)

    def _fail(self, worker: Worker, code: int, message: str) -> Iterator[Outcome]:
        """Replace a worker that failed with its first sample; what it has read ahead waits again."""
        self._ledger.release(worker)
        self._workers.remove(worker)
        worker.end()
        if not worker.tasks:
            return
        failed, *others = worker.tasks
        self._waiting.extendleft(reversed(others))
        yield from self._outcome(failed, code, message)
        self._begin(worker.setting)

    def _outcome(self, task: Task, code: int, message: str) -> Iterator[Outcome]:
        if code == _OUT_OF_RESOURCES and task not in self._tried_again and len(self._settings) > 1:
            self._tried_again.add(task)
            self._again.append(task)
        else:
            yield Outcome(task.name, code, message)

    def _begin(self, setting: Setting) -> None:
        """Start a worker if there is a sample for it."""
        if task := self._next():
            with unfinished.MAKING:
                self._workers.append(Worker(setting, self._events))
            self._workers[-1].take(task)

    def _hand_out(self, worker: Worker) -> None:
        if task := self._next():
            worker.take(task)

    def _next(self) -> Task | None:
        if self._waiting:
            return self._waiting.popleft()
        is_alone = not any(worker.tasks for worker in self._workers)
        return self._again.popleft() if self._again and is_alone else None


def _failure(code: int, last_message: str) -> tuple[int, str]:
    """Return exit code and message of a sample whose process ended with a code; those below 0 are signals."""
    if code == -signal.SIGKILL:
        return _OUT_OF_RESOURCES, "the system killed the process, as for lack of memory; run with fewer --jobs"
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return _BUG, f"the process ended {how}: {last_message or 'no message'}; run gpuasm assemble on this sample"
