"""Rows of a data set that have a value in common, as lists of group ids.

A value of a row may stand in any column: the anchor of one row can be the positive of another, and the two
must not meet in a batch either. gcbs takes several lists with one id a row in each; two rows are kept apart
if they have the same id in some list. So every value that several rows have gets its id in one of the lists,
at all of its rows, and no list may need two ids for one row.

Values of one column only take the list of that column. The others (anchor here, positive there) are placed
one by one, in the first list that is free at all of their rows. Nothing is joined that has no value in
common: a chain of rows a-b, b-c leaves a and c free to meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def shared_value_groups(dataset: Any, columns: Sequence[str]) -> list[Ids]:
    """Lists of ids: two rows of a ``datasets.Dataset`` are equal in one of them iff they share a value."""
    return groups_of_codes(_codes(dataset, columns))


def groups_of_codes(codes: Ids) -> list[Ids]:
    """The same for numbers: ``codes[row, column]``, negative where there is none."""
    rows, width = codes.shape
    values = int(codes.max(initial=-1)) + 1
    row_of, column_of = np.nonzero(codes >= 0)
    value_of = codes[row_of, column_of]
    value_of, row_of, column_of = _once_a_row(value_of, row_of, column_of)
    repeated = np.bincount(value_of, minlength=values) > 1
    first_column = np.full(values, width)
    last_column = np.full(values, -1)
    np.minimum.at(first_column, value_of, column_of)
    np.maximum.at(last_column, value_of, column_of)
    of_one_column = repeated & (first_column == last_column)

    lists = np.full((width, rows), -1, dtype=np.int64)
    easy = of_one_column[value_of]
    lists[column_of[easy], row_of[easy]] = value_of[easy]
    placed = list(lists)
    crossing = (repeated & ~of_one_column)[value_of]
    for value, members in _members(value_of[crossing], row_of[crossing]):
        free = (ids for ids in placed if (ids[members] < 0).all())
        ids = next(free, None)
        if ids is None:
            ids = np.full(rows, -1, dtype=np.int64)
            placed.append(ids)
        ids[members] = value
    alone = values + np.arange(rows)
    return [np.where(ids < 0, alone, ids) for ids in placed if (ids >= 0).any()]


def _once_a_row(value_of: Ids, row_of: Ids, column_of: Ids) -> tuple[Ids, Ids, Ids]:
    """A value that a row has twice counts once, in its first column."""
    _, first = np.unique(np.stack([row_of, value_of]), axis=1, return_index=True)
    return value_of[first], row_of[first], column_of[first]


def _members(value_of: Ids, row_of: Ids) -> list[tuple[int, Ids]]:
    """Each value with its rows, those with most rows first."""
    if not value_of.size:
        return []
    by_value = np.argsort(value_of, kind="stable")
    values, starts = np.unique(value_of[by_value], return_index=True)
    members = np.split(row_of[by_value], starts[1:])
    return sorted(zip(values.tolist(), members, strict=True), key=lambda found: -len(found[1]))


def _codes(dataset: Any, columns: Sequence[str]) -> Ids:
    """The same number for equal values, whatever their column; -1 for a missing one."""
    import pyarrow as pa

    table = dataset.select_columns(list(columns)).with_format("arrow")[:]
    known: dict[Any, int] = {}
    codes = np.full((len(dataset), len(columns)), -1, dtype=np.int64)
    for at, name in enumerate(columns):
        column = table.column(name)
        try:
            encoded = column.dictionary_encode().unify_dictionaries()
        except pa.ArrowNotImplementedError:  # lists, images: by what they say of themselves
            encoded = pa.chunked_array([[repr(value) for value in column.to_pylist()]]).dictionary_encode()
        if not encoded.num_chunks:
            continue
        names = encoded.chunk(0).dictionary.to_pylist()
        own = np.fromiter((known.setdefault(value, len(known)) for value in names), np.int64, len(names))
        indices = np.concatenate(
            [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
        ).astype(np.int64)
        present = indices >= 0
        codes[present, at] = own[indices[present]]
    return codes
