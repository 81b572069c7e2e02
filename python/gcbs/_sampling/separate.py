"""Groups kept apart in the tail of an epoch, where batches have other sizes than the order was made for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError

Ids = NDArray[np.int64]


def separate_tail(rows: Ids, unit_bounds: Ids, first_unit: int, groups: Sequence[Ids]) -> Ids:
    """``rows`` with those of the units from ``first_unit`` on swapped until none holds two of one group.

    Those units differ by one row at most, and no group has more members in them than there are units. Then
    one list can always be kept apart: of the units with two members of one group take the one, A, with the
    fewest groups. Some unit B has no member of that group, and some row of B has a group that A has not: else
    B had fewer groups than A, and so two members of one. Their swap leaves fewer rows too many.

    Several lists: rows before the tail help where swaps inside are not enough; if that fails, InputError.
    """
    start, end = int(unit_bounds[min(first_unit, len(unit_bounds) - 1)]), int(unit_bounds[-1])
    if not groups or start >= end:
        return rows
    unit = np.repeat(np.arange(len(unit_bounds) - 1), np.diff(unit_bounds))
    fixed = rows.copy()
    if any(_swap(fixed, unit, groups, start, end, reach) for reach in (start, 0)):
        return fixed
    raise InputError(
        "input",
        "groups cannot be kept apart in the last batches",
        "what remains after the full steps is shared out over the ranks, and no swap was found",
        "use drop_last=True, or fewer lists of groups",
    )


def _in_conflict(ids: Ids, unit: Ids) -> NDArray[np.bool_]:
    """All but the first of every group in every unit."""
    _, first = np.unique(np.stack([unit, ids]), axis=1, return_index=True)
    conflict = np.ones(len(ids), dtype=bool)
    conflict[first] = False
    return conflict


def _swap(rows: Ids, unit: Ids, groups: Sequence[Ids], start: int, end: int, reach: int) -> bool:
    """Swaps rows of [start, end) with such of [reach, end), in place. False: some conflict is left."""
    unit = unit[reach:end]
    ids = np.stack([group[rows[reach:end]] for group in groups])
    tail = slice(start - reach, end - reach)
    while True:
        conflict = np.any([_in_conflict(of_list[tail], unit[tail]) for of_list in ids], axis=0)
        swapped = False
        for place in (np.flatnonzero(conflict) + start - reach).tolist():
            other = _partner(ids, unit, place)
            if other is not None:
                swapped = True
                pair, turned = [place, other], [other, place]
                rows[reach:end][pair] = rows[reach:end][turned]
                ids[:, pair] = ids[:, turned]
        if not swapped:
            return not conflict.any()


def _partner(ids: Ids, unit: Ids, place: int) -> int | None:
    """The nearest place of another unit whose row and this one's fit where the other is."""
    own = unit == unit[place]
    own[place] = False
    if not (ids[:, own] == ids[:, place, None]).any():
        return None  # an earlier swap has helped
    fits = unit != unit[place]
    for of_list in ids:
        mates = of_list == of_list[place]
        mates[place] = False
        # A unit with one mate of this row takes it if the mate itself leaves.
        count = np.bincount(unit[mates], minlength=int(unit.max()) + 1)
        fits &= count[unit] - mates == 0
        fits &= ~np.isin(of_list, of_list[own])
    found = np.flatnonzero(fits)
    return int(found[np.abs(found - place).argmin()]) if found.size else None
