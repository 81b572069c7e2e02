"""One piece of work in a thread beside the training loop, which the interpreter's exit ends."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .._progress import Progress, shown

Result = TypeVar("Result")


class _Stopped(BaseException):
    """Ends a run from inside its progress callback."""


class Job(Generic[Result]):
    """Runs ``work(tick)`` in a daemon thread; ``tick`` is what it gives the library for progress."""

    def __init__(self, work: Callable[[Progress], Result], progress: bool | Progress | None = False) -> None:
        self._stop = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work, progress), name="gcbs", daemon=True)
        _running.add(self)
        self._thread.start()

    def _run(self, work: Callable[[Progress], Result], progress: bool | Progress | None) -> None:
        try:
            with shown(progress) as show:
                self._result = work(lambda stage, done, total: self._tick(show, stage, done, total))
        except BaseException as error:  # it belongs to whoever asks for the result
            self._error = error

    def _tick(self, show: Progress | None, stage: str, done: float, total: float) -> None:
        if self._stop.is_set():
            raise _Stopped
        if show is not None:
            show(stage, done, total)

    def wait(self, seconds: float) -> bool:
        """Whether it is done after at most that long."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

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


_running: weakref.WeakSet[Job[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """The library must not run while the interpreter is taken apart."""
    for job in list(_running):
        job.stop()
