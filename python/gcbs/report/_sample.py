"""What a sample of anchors sees: among all rows, in its batch of an order, in a random batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._progress import Progress
from ._contrasts import CHUNK, Contrasts, Floats, Index, Side, chunks

ANCHORS = 2048
BINS = 400  # of similarities, from -1 to 1

Doubles = NDArray[np.float64]


def sample_rows(count: int, most: int, seed: int) -> Index:
    """At most ``most`` of ``count`` rows, drawn at random but always the same, ascending."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, count]).choice(count, most, replace=False))


@dataclass
class Seen:
    """The negatives that the anchors met: a histogram of similarities, and sums for each anchor and side."""

    contrasts: Contrasts
    anchors: Index
    counts: Index = field(init=False)
    hardest: dict[Side, Floats] = field(init=False)
    _sums: dict[Side, Doubles] = field(init=False)

    def __post_init__(self) -> None:
        shape, sides = len(self.anchors), self.contrasts.sides
        self.counts = np.zeros(BINS, dtype=np.int64)
        self.hardest = {side: np.full(shape, -np.inf, dtype=np.float32) for side in sides}
        self._sums = {side: np.full(shape, -np.inf) for side in sides}

    def meet(self, slots: Index, columns: Index, extra: bool = False) -> None:
        """The anchors at these slots are contrasted with the columns; only x meets extra ones."""
        for first in range(0, len(columns), CHUNK):
            part = columns[first : first + CHUNK]
            for side in self.contrasts.sides:
                if extra and side == "y":
                    continue
                values, counted = self.contrasts.terms(side, self.anchors[slots], part)
                self._add(side, slots, values, counted)

    def _add(self, side: Side, slots: Index, values: Floats, counted: NDArray[np.bool_]) -> None:
        bins = np.clip((values[counted] + 1) * (BINS / 2), 0, BINS - 1).astype(np.int64)
        self.counts += np.bincount(bins, minlength=BINS)
        values = np.where(counted, values, -np.inf)
        top = values.max(axis=1)
        self.hardest[side][slots] = np.maximum(self.hardest[side][slots], top)
        finite = np.where(np.isfinite(top), top, 0)[:, None]
        tau = self.contrasts.temperature
        with np.errstate(divide="ignore"):  # an anchor without negatives: log 0
            sums = np.log(np.exp((values - finite) / tau).sum(axis=1, dtype=np.float64)) + finite[:, 0] / tau
        self._sums[side][slots] = np.logaddexp(self._sums[side][slots], sums)

    def positive_probabilities(self) -> Doubles:
        """What the softmax gives to the positive, for each anchor of each side."""
        own = self.contrasts.positives[self.anchors] / self.contrasts.temperature
        return np.concatenate([np.exp(own - np.logaddexp(own, sums)) for sums in self._sums.values()])

    def margins(self) -> Doubles:
        """The hardest negative less the positive, for each anchor of each side that has one."""
        own = self.contrasts.positives[self.anchors]
        margins = np.concatenate([hardest - own for hardest in self.hardest.values()])
        return np.asarray(margins[np.isfinite(margins)], dtype=np.float64)


def among_all(contrasts: Contrasts, anchors: Index, tick: Progress | None = None) -> Seen:
    """What the anchors see among all rows."""
    seen = Seen(contrasts, anchors)
    slots = np.arange(len(anchors))
    for columns in chunks(len(contrasts)):
        if tick is not None:
            tick("sample", int(columns[0]), len(contrasts))
        seen.meet(slots, columns)
    return seen


def in_batches(
    contrasts: Contrasts, anchors: Index, order: Index, batch_size: int, extra: Index | None = None
) -> Seen:
    """What the anchors see in their batches of an order, and, for x, among the batch's extra columns."""
    seen = Seen(contrasts, anchors)
    batch = np.empty(len(order), dtype=np.int64)
    batch[order] = np.arange(len(order)) // batch_size
    mine = batch[anchors]
    by_batch = np.argsort(mine, kind="stable")
    starts = np.flatnonzero(np.diff(mine[by_batch], prepend=-1))
    for slots in np.split(by_batch, starts[1:]):
        at = int(mine[slots[0]])
        seen.meet(slots, order[at * batch_size : (at + 1) * batch_size])
        if extra is not None:
            seen.meet(slots, extra[at][extra[at] >= 0], extra=True)
    return seen
