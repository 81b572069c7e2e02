"""An order of all rows and what goes with it: how it is computed, and how it is written down."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._api import arrange, plan
from ._errors import InputError
from ._judge import has_margins
from ._rows import Units, as_numpy, equal_row_ids, unit_rows

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Source:
    """Embeddings to order by: of all rows, or of those named in ``ids``."""

    x: Any
    y: Any = None
    ids: Ids | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a refresh."""

    order: Ids
    extra: Ids | None = None
    """a line for each unit of the order; -1 where there is nothing"""
    equal: tuple[Ids, ...] = ()
    """ids of equal rows, where groups has the word duplicates"""
    units: tuple[Units, Units | None] | None = field(default=None, repr=False)
    """what margins are judged by; NaN for rows without embeddings"""

    def packed(self) -> dict[str, Any]:
        """Plain values that pickle, torch.save and torch.load take: arrays as the bytes of .npy files."""
        return {
            "order": _npy(self.order),
            "extra": None if self.extra is None else _npy(self.extra),
            "equal": [_npy(ids) for ids in self.equal],
        }

    @classmethod
    def unpacked(cls, state: Mapping[str, Any]) -> Found:
        extra = state["extra"]
        return cls(
            _array(state["order"]),
            None if extra is None else _array(extra),
            tuple(_array(ids) for ids in state["equal"]),
        )


def _npy(values: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def _array(written: bytes) -> Any:
    return np.load(io.BytesIO(written), allow_pickle=False)


def find(
    source: Source, rows: int, unit_size: int, lists: list[Any], options: Mapping[str, Any], start: Ids | None
) -> Found:
    """Order by the embeddings of ``source``. ``lists``: groups, the word duplicates among them perhaps;
    ``options``: the other ones of ``gcbs.plan``. Rows without embeddings stand at the end, shuffled."""
    ids = source.ids
    if ids is not None and len(ids) < unit_size:
        raise InputError(
            "input",
            f"{len(ids)} rows of {rows} have embeddings",
            f"batches have {unit_size} rows",
            "observe more rows before refresh",
        )
    if ids is not None and len(ids) == rows:
        ids = None
    wanted = dict(options)
    if lists:
        wanted["groups"] = [of if isinstance(of, str) or ids is None else of[ids] for of in lists]
    if ids is not None:
        for guide in ("guide_x", "guide_y"):
            if wanted.get(guide) is not None:
                wanted[guide] = wanted[guide][ids]
    if start is not None and wanted.get("method") == "pack":
        wanted["start"] = start if ids is None else _among(start, ids, rows)
    made = plan(source.x, source.y, batch_size=unit_size, verdict=False, **wanted)
    if len(made.order) != (rows if ids is None else len(ids)):
        raise InputError(
            "input",
            f"there are embeddings of {len(made.order)} rows",
            f"the sampler has {rows}",
            "give one row for each row of the data set",
        )
    equal = _equal(source, rows, ids) if any(isinstance(of, str) for of in lists) else ()
    units = _units(source, rows, ids, options) if has_margins(options) else None
    if ids is None:
        return Found(made.order, made.extra, equal, units)
    numbers = [of for of in lists if not isinstance(of, str)] + list(equal)
    order = _with_the_rest(ids[made.order], rows, unit_size, numbers, options)
    return Found(order, _widened(made.extra, ids, -(-rows // unit_size)), equal, units)


def _among(order: Ids, ids: Ids, rows: int) -> Ids:
    """The order of ``ids`` alone, by their place among them."""
    place = np.full(rows, -1, dtype=np.int64)
    place[ids] = np.arange(len(ids))
    kept = place[order]
    return kept[kept >= 0]


def _with_the_rest(
    order: Ids, rows: int, unit_size: int, groups: list[Ids], options: Mapping[str, Any]
) -> Ids:
    seed = int(options.get("seed", 0))
    rest = np.setdiff1d(np.arange(rows, dtype=np.int64), order)
    shuffled = arrange(np.arange(len(rest)), batch_size=unit_size, random_share=1.0, seed=seed)
    order = np.concatenate([order, rest[shuffled]])
    return arrange(order, batch_size=unit_size, groups=groups) if groups else order


def _widened(extra: Ids | None, ids: Ids, units: int) -> Ids | None:
    if extra is None:
        return None
    wide = np.full((units, extra.shape[1]), -1, dtype=np.int64)
    wide[: len(extra)] = np.where(extra >= 0, ids[extra], -1)
    return wide


def _equal(source: Source, rows: int, ids: Ids | None) -> tuple[Ids, ...]:
    """Rows without embeddings equal no other."""
    sides = [source.x] if source.y is None or source.y is source.x else [source.x, source.y]
    found = []
    for side in sides:
        numbers = equal_row_ids(as_numpy(side))
        if ids is not None:
            wide = np.arange(rows, dtype=np.int64) + rows
            wide[ids] = numbers
            numbers = wide
        found.append(numbers)
    return tuple(found)


def _units(
    source: Source, rows: int, ids: Ids | None, options: Mapping[str, Any]
) -> tuple[Units, Units | None] | None:
    if options.get("guide_x") is not None:
        return None  # the guide judges

    def wide(side: Any) -> Units:
        units = unit_rows(as_numpy(side), bool(options.get("normalised")))
        if ids is None:
            return units
        all_rows = np.full((rows, units.shape[1]), np.nan, dtype=np.float32)
        all_rows[ids] = units
        return all_rows

    return wide(source.x), None if source.y is None else wide(source.y)
