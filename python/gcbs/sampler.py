"""Batches for a training loop: torch's protocol for batch samplers, without torch."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._api import arrange
from ._arrays import as_groups
from ._background import Done, Job
from ._errors import InputError
from ._found import Found, Source, find
from ._judge import Judge
from ._layout import make_layout
from ._observed import Observed, Store, row_ids
from ._options import OrderOptions, words_of
from ._separate import separate_tail

if TYPE_CHECKING:
    from typing_extensions import Unpack

Ids = NDArray[np.int64]


class BatchSampler:
    """Batches full of hard negatives, for ``DataLoader(data, batch_sampler=sampler)`` and any other loop.

    ``n``: rows of the data set, or the data set. Options are those of ``gcbs.order``.

    The first epoch is random unless ``refresh`` has been called before; ``warmup``: so are that many epochs.
    Call ``set_epoch`` before each epoch, as with torch's DistributedSampler.

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> sampler = gcbs.BatchSampler(1000, 64, seed=1)
    >>> sampler.refresh(x)
    >>> sampler.set_epoch(1)
    >>> len(sampler), sum(len(batch) for batch in sampler)
    (16, 1000)
    """

    def __init__(
        self,
        n: int | Sized,
        batch_size: int,
        *,
        drop_last: bool = False,
        warmup: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        gathered: bool = False,
        store: Store | None = "float16",
        **options: Unpack[OrderOptions],
    ) -> None:
        """``store``: how embeddings are kept for rows that ``observe`` does not see; None: not at all."""
        words_of("BatchSampler", options, OrderOptions)
        for name in ("epoch", "start"):
            if name in options:
                raise TypeError(f"gcbs.BatchSampler() has no option {name!r}: it finds that itself")
        self.rows = n if isinstance(n, int) else len(n)
        self.batch_size, self.drop_last, self.warmup = batch_size, drop_last, warmup
        self.seed = int(options.get("seed", 0))
        self.rank, self.world_size, self.gathered = rank or 0, world_size or 1, gathered
        self._options: dict[str, Any] = {
            name: value
            for name, value in options.items()
            if name not in ("groups", "progress", "extra", "block")
        }
        self._progress = options.get("progress")
        self._columns = int(options.get("extra", 0))
        self._block = options.get("block")
        self._lists: list[Any] = as_groups(options.get("groups")) or []
        self._layout = make_layout(self.rows, batch_size, self.world_size, gathered, drop_last)
        self._found: Found | None = None  # in force
        self._next: Found | None = None  # in force from the next epoch on
        self._job: Job[Found] | Done[Found] | None = None  # as soon as it is done
        self._observed = None if store is None else Observed(self.rows, store)
        self._epoch, self._position = 0, 0
        self._goes_on = False  # the next iterator starts at the position
        self._newest: object = None  # iterator
        self._arranged: tuple[int, Found | None, Ids] | None = None
        self._lock = threading.RLock()
        self._rows_of_epoch()

    def __len__(self) -> int:
        return self._layout.steps

    def __iter__(self) -> Iterator[list[int]]:
        with self._lock:
            if not self._goes_on:
                self._start_epoch()
            self._goes_on = False
            self._newest = newest = object()
            return self._batches(self._rows_of_epoch(), self._position, newest)

    def _batches(self, rows: Ids, first: int, me: object) -> Iterator[list[int]]:
        for step in range(first, self._layout.steps):
            with self._lock:
                if self._newest is me:
                    self._position = step + 1
            yield rows[self._layout.batch(step, self.rank)].tolist()

    def set_epoch(self, epoch: int) -> None:
        """Another sequence of batches for each epoch, from it and the seed alone."""
        with self._lock:
            if epoch == self._epoch and (self._goes_on or 0 < self._position < len(self)):
                return
            self._epoch, self._goes_on = int(epoch), False
            self._start_epoch()

    def _start_epoch(self) -> None:
        self._position = 0
        if self._job is not None:
            job, self._job = self._job, None
            self._next = job.result()
        if self._next is not None:
            self._found, self._next = self._next, None

    def _rows_of_epoch(self) -> Ids:
        """The rows of all ranks, in the sequence of the epoch."""
        found = None if self._epoch < self.warmup else self._found
        if self._arranged is None or self._arranged[:2] != (self._epoch, found):
            self._arranged = (self._epoch, found, self._arrange(found))
        return self._arranged[2]

    def _arrange(self, found: Found | None) -> Ids:
        size, groups = self._layout.unit_size, self._groups(found)
        own_seed = seed_of_epoch(self.seed, self._epoch)
        if found is None:
            natural = np.arange(self.rows, dtype=np.int64)
            rows = arrange(natural, batch_size=size, random_share=1.0, groups=groups or None, seed=own_seed)
        elif self._block and self._block < size and size % self._block == 0 and not self._columns:
            rows = arrange(
                found.order, batch_size=size, block=self._block, groups=groups or None, seed=own_seed
            )
        else:
            rows = arrange(found.order, batch_size=size, epoch=self._epoch, seed=self.seed)
        layout = self._layout
        if layout.ranks == 1:
            return rows
        return separate_tail(rows, layout.unit_bounds, layout.first_tail_unit, groups)

    def _groups(self, found: Found | None) -> list[Ids]:
        lists = [ids for ids in self._lists if not isinstance(ids, str)]
        return lists if found is None else lists + list(found.equal)

    def refresh(self, x: Any = None, y: Any = None) -> None:
        """Order by embeddings of all rows, or by what ``observe`` has seen; from the next epoch on."""
        if self._job is not None:
            self._job.stop()
        source = self._source(x, y)
        found = self._find(source, self._progress)
        with self._lock:
            self._next, self._job = found, None

    def refresh_async(self, x: Any = None, y: Any = None) -> None:
        """The same beside the training. The next epoch's start waits for it; an error is raised there."""
        if self._job is not None:
            self._job.stop()
        source = self._source(x, y)
        job = Job(lambda tick: self._find(source, tick))
        with self._lock:
            self._job = job

    def _source(self, x: Any, y: Any) -> Source:
        if x is not None:
            if self._observed is not None:
                self._observed.put(np.arange(self.rows), x, y)
            return Source(x, y)
        if self._observed is None:
            raise InputError("usage", "refresh needs x", "store=None keeps no embeddings", "give x and y")
        with self._lock:
            ids, x, y = self._observed.copy()
        return Source(x, y, ids)

    def _find(self, source: Source, progress: Any) -> Found:
        size = self._layout.unit_size
        options = self._options | {"seed": self.seed, "progress": progress, "extra": self._columns}
        if self._block and size % self._block == 0:
            options["block"] = self._block
        last = self._next or self._found
        return find(source, self.rows, size, self._lists, options, None if last is None else last.order)

    def observe(self, ids: Any, x: Any, y: Any = None) -> None:
        """Keep the embeddings of this step's rows for the next ``refresh()``."""
        if self._observed is None:
            raise InputError(
                "usage", "observe keeps embeddings", "the sampler has store=None", "leave store out"
            )
        with self._lock:
            self._observed.put(ids, x, y)

    def mask(self, batch: Any) -> NDArray[np.bool_]:
        """k x k: True where a pair of the batch must not be contrasted."""
        at = row_ids(batch, self.rows)
        with self._lock:
            found = self._next or self._found
        x, y = (None, None) if found is None or found.units is None else found.units
        return Judge(self._options, self._groups(found), x, y).blocked(at, at)

    @property
    def order(self) -> Ids | None:
        """The newest order: new position -> old row. None before the first refresh."""
        found = self._next or self._found
        return None if found is None else found.order

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed run needs to go on with the same batches."""
        with self._lock:
            after = self._job.result() if self._job is not None else self._next
            return self._identity() | {
                "epoch": self._epoch,
                "position": self._position,
                "found": None if self._found is None else self._found.packed(),
                "next": None if after is None else after.packed(),
            }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where the state was."""
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise InputError(
                    "input",
                    "the state is of another run",
                    f"its {name} is {state.get(name)}, this sampler's is {value}",
                    "make the sampler as it was",
                )
        with self._lock:
            self._epoch, self._position, self._goes_on = state["epoch"], state["position"], True
            self._found = None if state["found"] is None else Found.unpacked(state["found"])
            self._next = None if state["next"] is None else Found.unpacked(state["next"])
            self._job = self._newest = None

    def _identity(self) -> dict[str, Any]:
        groups = 0
        for ids in self._groups(None):
            groups = zlib.crc32(ids.tobytes(), groups)
        return {
            "n": self.rows,
            "batch_size": self.batch_size,
            "seed": self.seed,
            "world_size": self.world_size,
            "gathered": self.gathered,
            "drop_last": self.drop_last,
            "block": self._block,
            "groups": groups,
        }


def seed_of_epoch(seed: int, epoch: int) -> int:
    """Seeds that differ for every epoch of every seed: splitmix64's finaliser."""
    mixed = (seed * 0x9E3779B97F4A7C15 + epoch * 0xD1B54A32D192ED03 + 1) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31
