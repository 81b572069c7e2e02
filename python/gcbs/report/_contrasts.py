"""Similarities of some rows with others, and which of them the loss counts.

The engine decides which pairs are edges and what the losses are. What is here serves the pictures: float32
products of a few rows at a time, in memory that does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._options import MARGINS

Index = NDArray[np.int64]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Side = Literal["x", "y"]

CHUNK = 2048  # rows that are unpacked at a time
SMALL = 1 << 25  # multiplications


class Rows:
    """An embedding matrix whose rows come out as unit vectors."""

    def __init__(self, values: Any, normalised: bool = False) -> None:
        self._values = values
        self._normalised = normalised

    def __len__(self) -> int:
        return int(self._values.shape[0])

    @property
    def width(self) -> int:
        return int(self._values.shape[1])

    def __getitem__(self, rows: Index) -> Floats:
        taken = self._values[rows]
        if hasattr(taken, "float"):  # torch, whose bfloat16 numpy does not know
            taken = taken.float().numpy()
        if self._normalised:
            return np.asarray(taken, dtype=np.float32)
        wide = np.asarray(taken, dtype=np.float64)
        wide = wide / np.abs(wide).max(axis=1, keepdims=True)  # squares neither overflow nor vanish
        unit: Floats = (wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]).astype(np.float32)
        return unit

    def ids(self) -> Index:
        """Equal numbers for rows that are equal byte for byte."""
        known: dict[bytes, int] = {}
        found = np.empty(len(self), dtype=np.int64)
        for rows in chunks(len(self)):
            taken = self._values[int(rows[0]) : int(rows[-1]) + 1]
            if hasattr(taken, "float"):
                taken = taken.float().numpy()
            for row, values in zip(rows, np.ascontiguousarray(taken), strict=True):
                found[row] = known.setdefault(values.tobytes(), len(known))
        return found


def chunks(count: int) -> Iterator[Index]:
    """All row numbers, a few at a time."""
    for first in range(0, count, CHUNK):
        yield np.arange(first, min(first + CHUNK, count))


def positives(x: Rows, y: Rows) -> Floats:
    """s(i,i) of every pair."""
    return np.concatenate([np.einsum("ij,ij->i", x[rows], y[rows]) for rows in chunks(len(x))])


def products(left: Floats, right: Floats) -> Floats:
    """Every row with every row. BLAS wakes its threads for each call; on a busy machine that costs a hundred
    times as much as a small product."""
    if len(left) * right.size <= SMALL:
        return np.asarray(np.einsum("ik,jk->ij", left, right))
    return left @ right.T


class Contrasts:
    """What anchors are contrasted with: other rows, less those of their group and those that are suspect."""

    def __init__(self, x: Rows, y: Rows, words: Mapping[str, Any]) -> None:
        self.x, self.y = x, y
        self.positives = positives(x, y)
        self.temperature = float(words.get("temperature") or 0.05)
        sides: dict[str, tuple[Side, ...]] = {"x": ("x",), "y": ("y",)}
        self.sides = sides.get(words.get("direction") or "both", ("x", "y"))
        self._both_views = words.get("form") == "simclr"
        self._ids = _ids_of(words.get("groups") or [], x, y)
        self._symmetric = bool(words.get("symmetric"))
        self._judge = (x, y)
        self._judged_positives = self.positives
        if words.get("guide_x") is not None:
            self._judge = (Rows(words["guide_x"]), Rows(words["guide_y"]))
            self._judged_positives = positives(*self._judge)
        self._margins = {name: words[name] for name in MARGINS if words.get(name) is not None}

    def __len__(self) -> int:
        return len(self.x)

    def similarities(self, rows: Index, columns: Index) -> Floats:
        """s(x_i, y_j)."""
        return products(self.x[rows], self.y[columns])

    def counted(self, rows: Index, columns: Index) -> Mask:
        """Which of rows x columns are negatives that the loss counts."""
        allowed: Mask = rows[:, None] != columns
        for ids in self._ids:
            allowed &= ids[rows][:, None] != ids[columns]
        if self._margins:
            allowed &= ~self._suspect(rows, columns)
        return allowed

    def _suspect(self, rows: Index, columns: Index) -> Mask:
        x, y = self._judge
        x_rows, y_rows, x_columns, y_columns = x[rows], y[rows], x[columns], y[columns]
        similar = np.maximum(products(x_rows, y_columns), products(y_rows, x_columns))
        if self._symmetric:
            similar = np.maximum(
                similar, np.maximum(products(x_rows, x_columns), products(y_rows, y_columns))
            )
        positive = np.minimum(self._judged_positives[rows][:, None], self._judged_positives[columns])
        limit = np.full_like(similar, np.inf)
        for name, value in self._margins.items():
            if name == "relative_margin":
                limit = np.minimum(limit, positive - value * np.abs(positive))
            elif name == "absolute_margin":
                limit = np.minimum(limit, positive - value)
            else:
                limit = np.minimum(limit, value)
        return np.asarray(similar > limit)

    def terms(self, side: Side, rows: Index, columns: Index) -> tuple[Floats, Mask]:
        """Similarities of the anchors of one side with the columns, and which of them count."""
        anchors, others = (self.x, self.y) if side == "x" else (self.y, self.x)
        vectors = anchors[rows]
        values, counted = products(vectors, others[columns]), self.counted(rows, columns)
        if self._both_views:
            values = np.hstack([values, products(vectors, anchors[columns])])
            counted = np.hstack([counted, counted])
        return values, counted


def _ids_of(groups: list[Any], x: Rows, y: Rows) -> list[Index]:
    found: list[Index] = []
    for entry in groups:
        found += [x.ids(), y.ids()] if isinstance(entry, str) else [entry]
    return found
