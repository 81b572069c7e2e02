"""From embeddings to an order: at once or beside the training, alone or for all ranks.

Under torch.distributed rank 0 computes and keeps embeddings; the others keep what they observed until it
asks. What goes wrong on one rank is raised on all of them: every rank passes through the same collectives.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._progress import Progress
from .background import Job
from .distributed import Link, Outcome, connect
from .found import Found, Source, find, joined
from .observed import Observed, Store, row_ids
from .rows import as_numpy

Ids = NDArray[np.int64]
Part = tuple[Ids, Any, Any]


class Refresher:
    """Owns the observed embeddings and the work in the background."""

    def __init__(
        self,
        rows: int,
        unit_size: int,
        groups: list[Any],
        options: Mapping[str, Any],
        store: Store | None,
        world_size: int,
    ) -> None:
        """``options``: those of ``gcbs.plan``, without groups."""
        self._rows, self._unit_size, self._groups, self._world_size = rows, unit_size, groups, world_size
        self._options = dict(options)
        self._progress = self._options.pop("progress", None)
        self.observed = None if store is None else Observed(rows, store)
        self.pending = False  # a refresh that has been started and not been taken
        self._job: Job[Found] | None = None  # it, on the rank that computes
        self._lock = threading.Lock()

    def observe(self, ids: Any, x: Any, y: Any) -> None:
        if self.observed is None:
            raise _keeps_nothing("embeddings cannot be kept")
        with self._lock:
            self.observed.put(ids, x, y)

    def now(self, x: Any, y: Any, last: Found | None) -> Found:
        """By embeddings of all rows, or by those that were observed."""
        link = connect()
        return self._run(link, self._source(link, x, y), last)

    def now_sharded(self, ids: Any, x: Any, y: Any, last: Found | None) -> Found:
        """By embeddings that each rank has some of."""
        link = self._linked_or_alone(connect())
        mine = Outcome.of(lambda: self._part(ids, x, y))
        parts = [mine] if link is None else link.gather(mine)
        self._forget_elsewhere(link)
        whole = Outcome.of(lambda: self._keep(joined([part.get() for part in parts], self._rows)))
        return self._run(link, whole, last)

    def start(self, x: Any, y: Any, last: Found | None) -> None:
        """``now`` in the background."""
        link = connect()
        source = self._source(link, x, y)
        self.stop()
        if link is None or link.rank == 0:
            self._job = Job(self._finder(source, last), self._progress or False)
        self.pending = True

    def restart(self, found: Found | None) -> None:
        """As if one had been started that finds this; None: another rank has it."""
        self.stop()
        self._job = None if found is None else Job(lambda tick: found)
        self.pending = True

    def take(self) -> Found | None:
        """What the background work found, or the exception that it raised. Waits for it."""
        job, self._job, self.pending = self._job, None, False
        link = connect()
        if link is not None:
            return link.result_of(job)
        return None if job is None else job.result()

    def peek(self) -> Outcome[Found | None]:
        """The same on this rank alone, without taking it."""
        job = self._job
        return Outcome() if job is None else Outcome.of(job.result)

    def stop(self) -> None:
        job, self._job, self.pending = self._job, None, False
        if job is not None:
            job.stop()

    @property
    def keeps(self) -> bool:
        """Embeddings, beyond a refresh."""
        return self.observed is not None

    def seen(self) -> Part:
        """The rows that this process has embeddings of, and these; None before the first."""
        if self.observed is None:
            raise _keeps_nothing("there are no embeddings")
        with self._lock:
            return self.observed.copy()

    def load(self, ids: Any, x: Any, y: Any) -> None:
        """Take back what ``seen`` gave."""
        if self.observed is None:
            raise _keeps_nothing("embeddings cannot be kept")
        with self._lock:
            if x is None:
                self.observed.forget()
            else:
                self.observed.put(ids, x, y, normalised=True, anew=True)

    def __getstate__(self) -> dict[str, Any]:
        job = self._job
        done = None if job is None else Outcome.of(job.result)
        return self.__dict__ | {"_lock": None, "_job": done}

    def __setstate__(self, state: dict[str, Any]) -> None:
        done = state["_job"]
        self.__dict__.update(state, _lock=threading.Lock(), _job=None)
        if done is not None:
            self._job = Job(lambda tick: done.get())

    def _run(self, link: Link | None, source: Outcome[Source], last: Found | None) -> Found:
        self.stop()
        if link is None:
            return self._finder(source, last)(self._progress)
        job = Job(self._finder(source, last), self._progress) if link.rank == 0 else None
        try:
            return link.result_of(job)
        except BaseException:
            if job is not None:
                job.stop()
            raise

    def _finder(self, source: Outcome[Source], last: Found | None) -> Callable[[Any], Found]:
        start, seed = None, int(self._options.get("seed", 0))
        if last is not None:  # what is drawn at random is drawn anew, and the same again after a resume
            start, seed = last.order, seed ^ zlib.crc32(last.order.tobytes())

        def run(progress: bool | Progress | None) -> Found:
            wanted = self._options | {"progress": progress, "seed": seed}
            return find(source.get(), self._rows, self._unit_size, self._groups, wanted, start, self.keeps)

        return run

    def _source(self, link: Link | None, x: Any, y: Any) -> Outcome[Source]:
        """What to order by, on the rank that computes. Rank 0 says whether it is given."""
        given = x is not None
        if link is not None:
            given = link.share(given)
        if given:
            self._forget_elsewhere(link)
            return Outcome.of(lambda: self._keep(Source(x, y)))
        link = self._linked_or_alone(link)
        mine = Outcome.of(self.seen)
        parts = [mine] if link is None else link.gather(mine)
        self._forget_elsewhere(link)
        return Outcome.of(lambda: self._merged(parts))

    def _merged(self, parts: list[Outcome[Part]]) -> Source:
        """What all ranks observed; the first part is this one's own, and may be older."""
        for part in parts:
            ids, x, y = part.get()
            if part is not parts[0] and len(ids) and self.observed is not None:
                with self._lock:
                    self.observed.put(ids, x, y, normalised=True)
        ids, x, y = self.seen()
        if x is None:
            raise InputError(
                "usage",
                "refresh has nothing to order by",
                "it was given no embeddings, and observe has seen none",
                "give x and y, or call observe(ids, x, y) in every step",
            )
        return Source(x, y, ids)

    def _part(self, ids: Any, x: Any, y: Any) -> Part:
        at = row_ids(ids, self._rows)
        sides = [None if side is None else as_numpy(side) for side in (x, y)]
        for name, side in zip("xy", sides, strict=True):
            if side is not None and (side.ndim != 2 or len(side) != len(at)):
                shape = " x ".join(map(str, side.shape))
                raise InputError(
                    "input", f"{name} does not fit", f"it is {shape}, for {len(at)} ids", "give a row an id"
                )
        return at, sides[0], sides[1]

    def _keep(self, source: Source) -> Source:
        """For rows that will not be observed. What is wrong with it, the library says better."""
        if self.observed is not None:
            with self._lock:
                ids = np.arange(self._rows) if source.ids is None else source.ids
                try:
                    self.observed.put(ids, source.x, source.y, anew=True)
                except InputError:
                    pass
        return source

    def _forget_elsewhere(self, link: Link | None) -> None:
        if link is not None and link.rank != 0 and self.observed is not None:
            with self._lock:
                self.observed.forget()

    def _linked_or_alone(self, link: Link | None) -> Link | None:
        if link is None and self._world_size > 1:
            raise InputError(
                "usage",
                "ranks cannot tell each other what they saw",
                f"there are {self._world_size}, and torch.distributed is not initialised",
                "initialise it, or give every rank the same x and y of all rows",
            )
        return link


def _keeps_nothing(problem: str) -> InputError:
    return InputError("usage", problem, "the sampler was made with store=None", "use store='float16'")
