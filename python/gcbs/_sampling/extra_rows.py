"""The rows beside a batch that it is contrasted with as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .found import Found

Ids = NDArray[np.int64]


def extra_rows(found: Found, unit: Ids, unit_size: int, groups: Sequence[Ids]) -> Ids:
    """What the order has for these rows, the heaviest first.

    A unit of the order has a line of its own. Rows of several units, as in the last batches of several ranks,
    get the best of their lines, less what is in the batch or of one group with a row of it.
    """
    if found.extra is None:
        return np.empty(0, dtype=np.int64)
    units, counts = np.unique(found.place[unit] // unit_size, return_counts=True)
    whole = min(unit_size, len(found.order) - int(units[0]) * unit_size)
    lines = found.extra[units[np.argsort(-counts, kind="stable")]]
    candidates = lines.T.reshape(-1)
    candidates = candidates[candidates >= 0]
    if found.extra_fits and len(units) == 1 and len(unit) == whole:
        return candidates
    return admitted(candidates, unit, groups)[: found.extra.shape[1]]


def fill_up(chosen: Ids, wanted: int, unit: Ids, rows: Ids, after: int, groups: Sequence[Ids]) -> Ids:
    """``chosen`` and, up to ``wanted``, the next of ``rows``, from place ``after`` on, that may join."""
    for first in range(0, len(rows), 4 * wanted):
        if len(chosen) >= wanted:
            break
        places = np.arange(after + first, after + min(first + 4 * wanted, len(rows)))
        found = admitted(rows.take(places, mode="wrap"), unit, groups)
        chosen = np.concatenate([chosen, found[~np.isin(found, chosen)]])
    return chosen[:wanted]


def admitted(candidates: Ids, unit: Ids, groups: Sequence[Ids]) -> Ids:
    """Each once, in their sequence, without the unit's rows and their mates."""
    _, first = np.unique(candidates, return_index=True)
    once = candidates[np.sort(first)]
    once = once[~np.isin(once, unit)]
    for ids in groups:
        once = once[~np.isin(ids[once], ids[unit])]
    return once
