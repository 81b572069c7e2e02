"""Which places of an order make up which batch of which rank: sizes only, no rows.

Step s consists of one batch a rank, and they lie beside each other in the order. All batches have
``batch_size`` rows but those of the tail, the last steps, which share what remains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError


@dataclass(frozen=True)
class Layout:
    """``rows`` cut into steps of ``ranks`` batches."""

    rows: int
    batch_size: int
    ranks: int
    gathered: bool
    """negatives of all ranks are contrasted, so that a step is what a batch is otherwise: a unit"""
    drop_last: bool
    steps: int
    """batches of every rank"""
    head_steps: int
    """those before the tail"""
    unit_size: int
    """rows that orders are made for: a batch, or all of a step"""
    full_unit_size: int
    """the same where there is a full step"""
    bounds: NDArray[np.int64]
    """batch b has the places ``bounds[b]`` up to ``bounds[b + 1]``; it is one of rank b mod ranks"""

    @property
    def unit_bounds(self) -> NDArray[np.int64]:
        """The same for units."""
        return self.bounds[:: self.ranks] if self.gathered else self.bounds

    @property
    def first_tail_unit(self) -> int:
        return self.head_steps * (1 if self.gathered else self.ranks)

    def batch(self, step: int, rank: int) -> slice:
        """The places of a rank's batch."""
        at = step * self.ranks + rank
        return slice(int(self.bounds[at]), int(self.bounds[at + 1]))

    def unit(self, step: int, rank: int) -> slice:
        """The places of the rows that a rank's batch is contrasted with."""
        if not self.gathered:
            return self.batch(step, rank)
        at = step * self.ranks
        return slice(int(self.bounds[at]), int(self.bounds[at + self.ranks]))


def make_layout(rows: int, batch_size: int, ranks: int, gathered: bool, drop_last: bool) -> Layout:
    """Raises InputError where some rank would have to go without a row."""
    if batch_size < 1 or (batch_size == 1 and not (gathered and ranks > 1)):
        raise InputError(
            "usage",
            f"a batch of {batch_size} has no negatives",
            "every sample is contrasted with the others of its batch",
            "use a batch size of 2 or more",
        )
    if rows < 2:
        raise InputError("input", "too little data", f"{rows} rows", "at least 2 rows are needed")
    step_rows = batch_size * ranks
    full, rest = divmod(rows, step_rows)
    tail_steps = 0 if drop_last or rest == 0 else _tail_steps(full, rest, batch_size, ranks)
    head_steps = full - max(tail_steps - 1, 0)
    sizes = np.full((head_steps + tail_steps, ranks), batch_size, dtype=np.int64)
    if tail_steps:
        least, larger = divmod(rows - head_steps * step_rows, tail_steps * ranks)
        # One more for rank 0 of every step, then for rank 1, ...: steps differ by one row at most, too.
        turn = np.arange(ranks)[None, :] * tail_steps + np.arange(tail_steps)[:, None]
        sizes[head_steps:] = least + (turn < larger)
    full_unit_size = unit_size = step_rows if gathered else batch_size
    if full == 0:  # what there is, is the tail
        unit_size = rows if gathered else -(-rows // ranks)
    return Layout(
        rows=rows,
        batch_size=batch_size,
        ranks=ranks,
        gathered=gathered,
        drop_last=drop_last,
        steps=head_steps + tail_steps,
        head_steps=head_steps,
        unit_size=unit_size,
        full_unit_size=full_unit_size,
        bounds=np.concatenate([[0], np.cumsum(sizes.reshape(-1))]).astype(np.int64),
    )


def _tail_steps(full: int, rest: int, batch_size: int, ranks: int) -> int:
    """The fewest last steps that share what remains so that every batch has two rows, or at least one."""
    if ranks == 1:
        return 1
    for least in (2, 1):
        for steps in range(1, min(full, 2) + 2):
            if (steps - 1) * batch_size * ranks + rest >= least * steps * ranks:
                return steps
    raise InputError(
        "input",
        f"{full * batch_size * ranks + rest} rows cannot be shared out",
        f"some of {ranks} ranks would get a batch without rows",
        "use drop_last=True, fewer ranks or larger batches",
    )
