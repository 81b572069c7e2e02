"""The embeddings that training shows anyway, collected row by row."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_integers
from ._errors import InputError
from ._rows import as_numpy, unit_rows

Store = Literal["float16", "float32"]
Rows = NDArray[Any]


class Observed:
    """The last embedding of every row, L2-normalised."""

    def __init__(self, rows: int, store: Store) -> None:
        self.seen: NDArray[np.bool_] = np.zeros(rows, dtype=bool)
        self.x: Rows | None = None
        self.y: Rows | None = None
        self._type = np.dtype(store)

    def put(self, ids: Any, x: Any, y: Any = None) -> None:
        """Row ``ids[i]`` of the data has the embeddings ``x[i]`` and ``y[i]``. All or nothing."""
        at = row_ids(ids, len(self.seen))
        sides = [("x", self.x, x)] if y is None else [("x", self.x, x), ("y", self.y, y)]
        if self.x is not None and (y is None) != (self.y is None):
            raise InputError(
                "usage",
                "y is given in some calls and not in others",
                "without y, x is both sides of a pair",
                "always give y, or never",
            )
        found = [self._checked(name, at, as_numpy(values), kept) for name, kept, values in sides]
        if self.x is None:
            self.x = self._room(found[0])
            self.y = self._room(found[1]) if len(found) > 1 else None
        for kept, rows in zip((self.x, self.y), found, strict=False):
            if kept is not None:
                kept[at] = rows
        self.seen[at] = True

    def _room(self, rows: Rows) -> Rows:
        return np.zeros((len(self.seen), rows.shape[1]), dtype=self._type)

    def _checked(self, name: str, at: NDArray[np.int64], values: Rows, kept: Rows | None) -> Rows:
        width = None if kept is None else kept.shape[1]
        if values.ndim != 2 or len(values) != len(at) or (width or values.shape[1]) != values.shape[1]:
            raise InputError(
                "input",
                f"{name} does not fit the ids",
                f"it is {' x '.join(map(str, values.shape))}, there are {len(at)} ids"
                + (f", and earlier rows have {width} columns" if width else ""),
                "give one row of the same width for each id",
            )
        with np.errstate(all="ignore"):
            rows = unit_rows(values)
        wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if wrong.size:
            raise InputError(
                "input",
                f"{name} of row {at[wrong[0]]} has no direction",
                "it is zero, or holds a value that is not finite",
                "look at the loss: training may have diverged",
            )
        return rows.astype(self._type)

    def copy(self) -> tuple[NDArray[np.int64], Rows, Rows | None]:
        """The rows that have been seen, and their embeddings."""
        if self.x is None:
            raise InputError(
                "usage",
                "there is nothing to order by",
                "refresh was given no embeddings, and observe has seen none",
                "give x and y, or call observe(ids, x, y) in every step",
            )
        at = np.flatnonzero(self.seen)
        return at, self.x[at], None if self.y is None else self.y[at]


def row_ids(ids: Any, rows: int) -> NDArray[np.int64]:
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
