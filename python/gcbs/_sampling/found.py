"""An order of all rows and what goes with it: how it is computed, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._api import arrange, plan
from .._errors import InputError
from .judge import has_margins
from .rows import Units, as_numpy, equal_row_ids, unit_rows
from .state import pack, unpack

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
    extra_fits: bool = True
    """every line is of exactly the rows of its unit"""

    @cached_property
    def place(self) -> Ids:
        """Of each row in the order."""
        return np.argsort(self.order)

    def packed(self, units: bool) -> dict[str, Any]:
        """For a state; ``units``: with what margins are judged by."""
        return {
            "order": pack(self.order),
            "extra": pack(self.extra),
            "extra_fits": self.extra_fits,
            "equal": [pack(ids) for ids in self.equal],
            "units": [pack(side) for side in self.units] if units and self.units is not None else None,
        }

    @classmethod
    def unpacked(cls, state: Mapping[str, Any]) -> Found:
        return cls(
            unpack(state["order"]),
            unpack(state["extra"]),
            tuple(unpack(ids) for ids in state["equal"]),
            None if state["units"] is None else tuple(unpack(side) for side in state["units"]),
            state["extra_fits"],
        )


def joined(parts: Sequence[tuple[Ids, Any, Any]], rows: int) -> Source:
    """Embeddings that came in parts, in the sequence of the rows; of a row in several parts the last."""
    shapes = {(x.shape[1], None if y is None else y.shape[1]) for _, x, y in parts}
    if len(shapes) > 1:
        raise InputError(
            "input",
            "parts of the embeddings do not fit together",
            "some have y and others not, or they differ in width",
            "give the same kind of embeddings on every rank",
        )
    ids = np.concatenate([at for at, _, _ in parts])
    at = np.unique(ids)
    place = np.full(rows, -1, dtype=np.int64)
    place[at] = np.arange(len(at))

    def side(values: list[Any]) -> Any:
        whole = np.empty((len(at), values[0].shape[1]), dtype=np.result_type(*values))
        whole[place[ids]] = np.concatenate(values)
        return whole

    x = side([x for _, x, _ in parts])
    y = None if parts[0][2] is None else side([y for _, _, y in parts])
    return Source(x, y, None if len(at) == rows else at)


def find(
    source: Source,
    rows: int,
    unit_size: int,
    lists: list[Any],
    options: Mapping[str, Any],
    start: Ids | None,
    keep_units: bool,
) -> Found:
    """Order by the embeddings of ``source``. ``lists``: groups, the word duplicates among them perhaps;
    ``options``: the other ones of ``gcbs.plan``. Rows without embeddings stand at the end, shuffled."""
    ids = source.ids
    _check_count(source, rows)
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
    equal = _equal(source, rows, ids) if any(isinstance(of, str) for of in lists) else ()
    units = _units(source, rows, ids, options) if keep_units and has_margins(options) else None
    if ids is None:
        return Found(made.order, made.extra, equal, units)
    numbers = [of for of in lists if not isinstance(of, str)] + list(equal)
    order = _with_the_rest(ids[made.order], rows, unit_size, numbers, options)
    return Found(order, _widened(made.extra, ids, -(-rows // unit_size)), equal, units, extra_fits=False)


def _check_count(source: Source, rows: int) -> None:
    given = source.x.shape[0] if getattr(source.x, "shape", ()) else len(source.x)
    if source.ids is None and given != rows:
        raise InputError(
            "input",
            f"x has {given} rows",
            f"the sampler has {rows}",
            "give one row for each row of the data set",
        )


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
