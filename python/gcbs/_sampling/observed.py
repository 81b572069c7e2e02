"""The embeddings that training shows anyway, collected row by row."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_integers
from .._errors import InputError
from .rows import as_numpy, unit_rows

Store = Literal["float16", "float32"]
Ids = NDArray[np.int64]
Rows = NDArray[Any]


class Observed:
    """The last embedding of every row that has one, L2-normalised; memory only for those."""

    def __init__(self, rows: int, store: Store) -> None:
        self._type = np.dtype(store)
        self._slot: Ids = np.full(rows, -1, dtype=np.int64)  # where a row's embeddings are
        self._used = 0
        self._sides: list[Rows] = []  # x, and y if it is given

    def put(self, ids: Any, x: Any, y: Any = None, *, normalised: bool = False, anew: bool = False) -> None:
        """Row ``ids[i]`` of the data has the embeddings ``x[i]`` and ``y[i]``. All or nothing. ``anew``: what
        was kept before is forgotten, and need not have been of the same width."""
        at = row_ids(ids, len(self._slot))
        given = [("x", as_numpy(x))] + ([] if y is None else [("y", as_numpy(y))])
        before = [] if anew else self._sides
        if before and len(before) != len(given):
            raise InputError(
                "usage",
                "y is given in some calls and not in others",
                "without y, x is both sides of a pair",
                "always give y, or never",
            )
        width = before[0].shape[1] if before else given[0][1].shape[-1]
        units = [self._checked(name, at, values, width, normalised) for name, values in given]
        if anew:
            self.forget()
        slots = self._slots_of(at, units)
        for side, rows in zip(self._sides, units, strict=True):
            side[slots] = rows

    @staticmethod
    def _checked(name: str, at: Ids, values: Rows, width: int, normalised: bool) -> Rows:
        if values.ndim != 2 or values.shape != (len(at), width):
            raise InputError(
                "input",
                f"{name} does not fit",
                f"it is {' x '.join(map(str, values.shape))}, for {len(at)} ids and rows of {width} values",
                "give one row of the same width for each id",
            )
        with np.errstate(all="ignore"):
            units = unit_rows(values, normalised)
        wrong = np.flatnonzero(~np.isfinite(units).all(axis=1))
        if wrong.size:
            raise InputError(
                "input",
                f"{name} of row {at[wrong[0]]} has no direction",
                "it is zero, or holds a value that is not finite",
                "look at the loss: training may have diverged",
            )
        return units

    def _slots_of(self, at: Ids, units: list[Rows]) -> Ids:
        new = np.unique(at[self._slot[at] < 0])
        self._slot[new] = self._used + np.arange(len(new))
        self._used += len(new)
        if not self._sides or self._used > len(self._sides[0]):
            room = min(max(2 * self._used, 1024), len(self._slot))
            old = self._sides
            self._sides = [np.empty((room, rows.shape[1]), dtype=self._type) for rows in units]
            for side, before in zip(self._sides, old, strict=False):
                side[: len(before)] = before
        return self._slot[at]

    def copy(self) -> tuple[Ids, Rows | None, Rows | None]:
        """The rows that have embeddings, and these."""
        at = np.flatnonzero(self._slot >= 0)
        sides = [side[self._slot[at]] for side in self._sides]
        return at, sides[0] if sides else None, sides[1] if len(sides) > 1 else None

    def forget(self) -> None:
        """Every row."""
        self._slot[:] = -1
        self._used = 0
        self._sides = []


def row_ids(ids: Any, rows: int) -> Ids:
    """Checked: one-dimensional, whole, from 0 up to ``rows``."""
    at = as_integers(ids, "ids")
    outside = np.flatnonzero((at < 0) | (at >= rows))
    if outside.size:
        raise InputError(
            "input",
            f"row {at[outside[0]]} does not exist",
            f"the data has {rows} rows",
            f"ids are rows of the data set, from 0 to {rows - 1}",
        )
    return at
