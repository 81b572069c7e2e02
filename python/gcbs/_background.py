"""One piece of work in a thread beside the training loop, which the interpreter's exit ends."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ._progress import Progress

Result = TypeVar("Result")


class _Stopped(BaseException):
    """Ends a run from inside its progress callback."""


class Job(Generic[Result]):
    """Runs ``work(tick)`` in a daemon thread; ``tick`` is what it gives the library for progress."""

    def __init__(self, work: Callable[[Progress], Result]) -> None:
        self._stop = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name="gcbs refresh", daemon=True)
        _running.add(self)
        self._thread.start()

    def _run(self, work: Callable[[Progress], Result]) -> None:
        try:
            self._result = work(self._tick)
        except BaseException as error:  # it belongs to whoever asks for the result
            self._error = error

    def _tick(self, stage: str, done: float, total: float) -> None:
        if self._stop.is_set():
            raise _Stopped

    def result(self) -> Result:
        """Waits. What the work returned, or the exception that it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        self._stop.set()
        self._thread.join()


class Done(Generic[Result]):
    """Looks like a job whose work is done."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def result(self) -> Result:
        return self._result

    def stop(self) -> None:
        pass


_running: weakref.WeakSet[Job[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """The library must not run while the interpreter is taken apart."""
    for job in list(_running):
        job.stop()
