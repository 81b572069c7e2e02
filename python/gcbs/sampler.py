"""Batches for a training loop: torch's protocol for batch samplers, without torch."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._api import arrange
from ._errors import InputError
from ._options import OrderOptions, words_of
from ._sampling.distributed import own_place
from ._sampling.extra_rows import extra_rows, fill_up
from ._sampling.found import Found
from ._sampling.judge import Judge, has_margins
from ._sampling.layout import make_layout
from ._sampling.negatives import ExtraNegatives
from ._sampling.observed import Store, row_ids
from ._sampling.refresh import Refresher
from ._sampling.separate import separate_tail
from ._sampling.state import check_run, checksum, pack, unpack

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["BatchSampler", "ExtraNegatives"]

Ids = NDArray[np.int64]


class BatchSampler:
    """Batches full of hard negatives, for ``DataLoader(data, batch_sampler=sampler)`` and any other loop.

    ``n``: rows of the data set, or the data set. Options beside those below are those of ``gcbs.order``
    (``help(gcbs.OrderOptions)``), ``seed`` among them.

    Batches are random until ``refresh`` has been called, and in any case in the first ``warmup`` epochs. Call
    ``set_epoch`` before each epoch: it gives the batches another sequence (with ``block``, mixes the blocks
    anew), from it and the seed alone. Iterating changes nothing but ``position``.

    ``rank`` and ``world_size`` are torch.distributed's if it is initialised when the sampler is made. Every
    rank has equally many batches, each row of the data set is in one of them, and all ranks call the same
    methods. ``gathered``: the loss gathers negatives of all ranks, so that a step's batches together are one
    of the order. ``drop_last``: leave out what does not fill a step. A loader that deals batches out to
    ranks itself, as accelerate's does, wants ``rank=0, world_size=1``, or ``all_ranks()``.

    ``store``: how embeddings are kept for rows that ``observe`` does not see and for ``mask``: "float16",
    "float32", or None, not at all.

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
        for name in ("epoch", "start"):
            if name in options:
                raise TypeError(f"gcbs.BatchSampler() has no option {name!r}: it keeps that itself")
        words = words_of("BatchSampler", options, OrderOptions)
        self.rows = len(n) if isinstance(n, Sized) else operator.index(n)
        self.batch_size, self.drop_last, self.warmup, self.gathered = batch_size, drop_last, warmup, gathered
        self.seed = int(options.get("seed", 0))
        self.rank, self.world_size = own_place(rank, world_size)
        self._layout = make_layout(self.rows, batch_size, self.world_size, gathered, drop_last)
        self._options: dict[str, Any] = {**options, **words}
        self._lists: list[Any] = self._options.pop("groups", None) or []
        self._block = self._options.pop("block", None) or 0
        self._columns = int(self._options.get("extra", 0)) * (self.world_size if gathered else 1)
        self._options["extra"] = self._columns
        share = options.get("random_share", 0.0)
        arrange([0], batch_size=self._layout.full_unit_size, block=self._block or None, random_share=share)
        if self._mixes():
            self._options["block"] = self._block
        self._refresher = Refresher(
            self.rows, self._layout.unit_size, self._lists, self._options, store, self.world_size
        )
        self._found: Found | None = None  # in force
        self._next: Found | None = None  # in force from the next epoch on
        self._epoch, self._position = 0, 0
        self._goes_on = False  # the next iterator starts at the position
        self._newest: object = None  # iterator
        self._arranged: tuple[int, Found | None, Ids] | None = None
        self._lock = threading.RLock()
        self._rows_of_epoch()  # says at once if groups cannot be kept apart

    def __len__(self) -> int:
        """Batches of this rank in an epoch."""
        return self._layout.steps

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of this epoch: from the first, or from where a loaded state was."""
        numbered = self.steps()
        return (batch for _, batch in numbered)

    def steps(self) -> Iterator[tuple[int, list[int]]]:
        """The same, each with its number, which ``extra`` takes."""
        rows, numbers = self._begin()
        return ((step, rows[self._layout.batch(step, self.rank)].tolist()) for step in numbers)

    def all_ranks(self) -> Iterator[list[int]]:
        """The batches of all ranks, those of a step beside each other, for loaders that deal them out."""
        rows, numbers = self._begin()
        batch, ranks = self._layout.batch, range(self.world_size)
        return (rows[batch(step, rank)].tolist() for step in numbers for rank in ranks)

    def _begin(self) -> tuple[Ids, Iterator[int]]:
        """The rows of the epoch, and the steps to come, which move the position."""
        with self._lock:
            if not self._goes_on:
                self._start_epoch()
            self._newest = newest = object()
            return self._rows_of_epoch(), self._count(self._position, newest)

    def _count(self, first: int, me: object) -> Iterator[int]:
        # Not before a batch is asked for: torch's loader with workers makes two iterators, uses one.
        self._goes_on = False
        for step in range(first, len(self)):
            with self._lock:
                if self._newest is me:
                    self._position = step + 1
            yield step

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def position(self) -> int:
        """Batches that the newest iterator has handed out."""
        return self._position

    @property
    def order(self) -> Ids | None:
        """The newest order: new position -> old row. None before the first refresh."""
        found = self._last()
        return None if found is None else found.order

    @property
    def sampler(self) -> BatchSampler:
        """Itself: accelerate looks here for ``set_epoch``."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next one is. Naming the present one changes nothing."""
        epoch = operator.index(epoch)
        if epoch < 0:
            raise InputError("usage", f"epoch {epoch} is out of range", "", "count epochs from 0")
        with self._lock:
            if epoch != self._epoch:
                self._epoch, self._goes_on, self._newest = epoch, False, None
                self._start_epoch()

    def _start_epoch(self) -> None:
        self._position = 0
        if self._refresher.pending:
            self._next = self._refresher.take() or self._next
        if self._next is not None:
            self._found, self._next = self._next, None

    def _last(self) -> Found | None:
        return self._next or self._found

    def _in_force(self) -> Found | None:
        return None if self._epoch < self.warmup else self._found

    def _rows_of_epoch(self) -> Ids:
        """The rows of all ranks, in the sequence of the epoch."""
        found = self._in_force()
        if self._arranged is None or self._arranged[:2] != (self._epoch, found):
            self._arranged = (self._epoch, found, self._arrange(found))
        return self._arranged[2]

    def _arrange(self, found: Found | None) -> Ids:
        size, groups, layout = self._layout.unit_size, self._groups(found), self._layout
        fresh = _seed_of_epoch(self.seed, self._epoch)
        if found is None:
            natural = np.arange(self.rows, dtype=np.int64)
            rows = arrange(natural, batch_size=size, random_share=1.0, groups=groups or None, seed=fresh)
        elif self._mixes() and not self._columns:
            rows = arrange(found.order, batch_size=size, block=self._block, groups=groups or None, seed=fresh)
        else:
            rows = arrange(found.order, batch_size=size, epoch=self._epoch, seed=self.seed)
        if layout.ranks == 1:
            return rows
        return separate_tail(rows, layout.unit_bounds, layout.first_tail_unit, groups)

    def _mixes(self) -> bool:
        """Batches are made of several blocks; never where all the data is less than a step."""
        return 0 < self._block < self._layout.unit_size and self._layout.unit_size % self._block == 0

    def _groups(self, found: Found | None) -> list[Ids]:
        lists = [ids for ids in self._lists if not isinstance(ids, str)]
        return lists if found is None else lists + list(found.equal)

    def refresh(self, x: Any = None, y: Any = None) -> None:
        """Order by these embeddings of all rows, or by what ``observe`` has seen; from the next epoch on.

        ``pack`` starts from the last order. Rows without an embedding stand in random batches at the end.
        Under torch.distributed rank 0 computes, by its x and y or by what all ranks have observed.
        """
        found = self._refresher.now(x, y, self._last())
        with self._lock:
            self._next = found

    def refresh_sharded(self, ids: Any, x: Any, y: Any = None) -> None:
        """``refresh`` by embeddings that each rank has some of: row ``ids[i]`` has ``x[i]`` and ``y[i]``."""
        found = self._refresher.now_sharded(ids, x, y, self._last())
        with self._lock:
            self._next = found

    def refresh_async(self, x: Any = None, y: Any = None) -> None:
        """``refresh`` in a thread beside the training. The next epoch's start waits for it, so that runs
        repeat, and raises what it raised. ``x`` and ``y`` are read meanwhile: leave them as they are."""
        self._refresher.start(x, y, self._last())

    def observe(self, ids: Any, x: Any, y: Any = None) -> None:
        """Keep the embeddings of these rows (torch on any device, numpy) for the next ``refresh()``, which
        then needs no pass of its own over the data."""
        self._refresher.observe(ids, x, y)

    def observed(self) -> tuple[Ids, Any, Any]:
        """The rows that this process has embeddings of, their x and y, as they are kept."""
        return self._refresher.seen()

    def load_observed(self, ids: Any, x: Any, y: Any = None) -> None:
        """Take back what ``observed`` gave, to the bit."""
        self._refresher.load(ids, x, y)

    def mask(self, batch: Any) -> NDArray[np.bool_]:
        """k x k, True where two rows of a batch must not be contrasted: they are of one group, or suspected,
        by the margins and the embeddings of the last refresh, to be positives of each other."""
        at = row_ids(batch, self.rows)
        return self._judge(self._last()).blocked(at, at)

    def _judge(self, found: Found | None) -> Judge:
        x, y = (None, None) if found is None or found.units is None else found.units
        lacking = x is None and found is not None and self._options.get("guide_x") is None
        if lacking and has_margins(self._options):
            if not self._refresher.keeps:
                raise InputError(
                    "usage",
                    "mask has no embeddings to judge suspects by",
                    "the sampler was made with store=None",
                    "use store='float16', or suspect nothing: relative_margin=None",
                )
            warnings.warn(
                "gcbs: until the next refresh, mask knows groups only: the loaded state has no embeddings "
                "(state_dict(embeddings=True) keeps them)",
                stacklevel=3,
            )
        return Judge(self._options, self._groups(found), x, y)

    def extra(self, batch_index: int, *, fill: bool = False) -> Ids:
        """With ``extra=E``: at most E rows whose y all x of this rank's batch are contrasted with as well.

        ``fill``: make up for those that are missing, all of them while batches are random, by random rows.
        Gathered batches: each rank has rows of its own, to be gathered too.
        """
        with self._lock:
            rows, found = self._rows_of_epoch(), self._in_force()
        places = self._layout.unit(range(len(self))[batch_index], self.rank)
        unit, groups = rows[places], self._groups(found)
        chosen = np.empty(0, dtype=np.int64)
        if found is not None:
            chosen = extra_rows(found, unit, self._layout.unit_size, groups)
        if fill and self._columns:
            chosen = fill_up(chosen, self._columns, unit, rows, places.stop, groups)
        return chosen[self.rank :: self.world_size] if self.gathered else chosen

    def state_dict(self, *, position: int | None = None, embeddings: bool = False) -> dict[str, Any]:
        """All that a run needs to go on with the same batches, above all the order; rank 0's is for all.

        ``position``: batches that training has consumed, where a loader fetches ahead of it. ``embeddings``:
        those that ``observe`` and the last refresh left, too; without them the next ``refresh()`` knows only
        what is observed after loading. Waits for a refresh in the background.
        """
        with self._lock:
            pending = self._refresher.peek()
            after = self._next if pending.value is None else pending.value
            return self._identity() | {
                "epoch": self._epoch,
                "position": self._position if position is None else position,
                "found": None if self._found is None else self._found.packed(embeddings),
                "next": None if after is None else after.packed(embeddings),
                "refreshing": self._refresher.pending and pending.error is None,
                "observed": [pack(of) for of in self.observed()] if embeddings else None,
            }

    def load_state_dict(self, state: Mapping[str, Any], *, position: int | None = None) -> None:
        """Go on where the state was. ``position``: 0 for trainers that skip batches themselves."""
        check_run(state, self._identity())
        with self._lock:
            self._epoch = int(state["epoch"])
            self._position = int(state["position"] if position is None else position)
            self._goes_on, self._newest = True, None
            self._found, after = (
                None if state[name] is None else Found.unpacked(state[name]) for name in ("found", "next")
            )
            self._refresher.stop()
            self._next = None if state["refreshing"] else after
            if state["refreshing"]:
                self._refresher.restart(after)
            if state["observed"] is not None:
                self.load_observed(*map(unpack, state["observed"]))

    def _identity(self) -> dict[str, Any]:
        return {
            "n": self.rows,
            "batch_size": self.batch_size,
            "seed": self.seed,
            "world_size": self.world_size,
            "drop_last": self.drop_last,
            "gathered": self.gathered,
            "warmup": self.warmup,
            "block": self._block,
            "extra": self._columns,
            "groups": checksum(self._groups(None)),
        }

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles wait for a refresh in the background."""
        return self.__dict__ | {"_lock": None, "_newest": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())


def _seed_of_epoch(seed: int, epoch: int) -> int:
    """Another one for every epoch of every seed: splitmix64."""
    mixed = (seed * 0x9E3779B97F4A7C15 + epoch * 0xD1B54A32D192ED03 + 1) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31
