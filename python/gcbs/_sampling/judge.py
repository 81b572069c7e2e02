"""Which pairs of a batch must not be contrasted: rows of one group, and suspected positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._options import MARGINS
from .rows import Units, as_numpy, unit_rows

Ids = NDArray[np.int64]
Blocked = NDArray[np.bool_]


def has_margins(options: Mapping[str, Any]) -> bool:
    return any(options.get(name) is not None for name in MARGINS)


class Judge:
    """Contract of the margins: the larger of s(i,j), s(j,i) may not exceed what either positive allows."""

    def __init__(
        self,
        options: Mapping[str, Any],
        groups: Sequence[Ids],
        x: Units | None = None,
        y: Units | None = None,
    ) -> None:
        """``x``, ``y``: unit rows of all the data, NaN where a row has none. A guide takes their place."""
        self._options = options
        self._groups = groups
        if options.get("guide_x") is not None:
            guide_y = options.get("guide_y")
            self._x: Any = options["guide_x"]
            self._y: Any = self._x if guide_y is None else guide_y
            self._unit = False
        else:
            self._x, self._y, self._unit = x, x if y is None else y, True
        self._margins = has_margins(options) and self._x is not None

    def blocked(self, rows: Ids, columns: Ids) -> Blocked:
        """len(rows) x len(columns); a row is never blocked from itself."""
        found = np.zeros((len(rows), len(columns)), dtype=bool)
        for ids in self._groups:
            found |= ids[rows][:, None] == ids[columns][None, :]
        if self._margins:
            found |= self._suspect(rows, columns)
        return np.asarray(found & (rows[:, None] != columns[None, :]))

    def _suspect(self, rows: Ids, columns: Ids) -> Blocked:
        x_rows, y_rows = self._take(self._x, rows), self._take(self._y, rows)
        x_columns, y_columns = self._take(self._x, columns), self._take(self._y, columns)
        similarity = np.maximum(x_rows @ y_columns.T, y_rows @ x_columns.T)
        if self._options.get("symmetric"):
            similarity = np.maximum(similarity, np.maximum(x_rows @ x_columns.T, y_rows @ y_columns.T))
        limit = np.minimum(self._limit(x_rows, y_rows)[:, None], self._limit(x_columns, y_columns)[None, :])
        return np.asarray(similarity > limit)  # NaN, a row without embeddings, is never suspect

    def _take(self, side: Any, at: Ids) -> NDArray[np.float64]:
        if self._unit:
            return np.asarray(side[at], dtype=np.float64)
        return unit_rows(as_numpy(side[at])).astype(np.float64)

    def _limit(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        positive = np.einsum("ij,ij->i", x, y)
        limit = np.full(len(x), np.inf)
        if (margin := self._options.get("relative_margin")) is not None:
            limit = np.minimum(limit, positive - margin * np.abs(positive))
        if (margin := self._options.get("absolute_margin")) is not None:
            limit = np.minimum(limit, positive - margin)
        if (most := self._options.get("max_score")) is not None:
            limit = np.minimum(limit, most)
        return limit
