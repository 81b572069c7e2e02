"""The definition in plain numpy: similarities (contract C1), threshold and edges (C2)."""

import numpy as np


def unit_rows(rows):
    """Each row over the root of its float64 sum of squares in index order, rounded to float32."""
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.cumsum(wide * wide, axis=1)[:, -1])
    return (wide / norms[:, None]).astype(np.float32)


def similarities(x, y, normalised=False):
    """s[i, j]: the float64 sum, in index order, of the products of the float32 values."""
    if not normalised:
        x, y = unit_rows(x), unit_rows(y)
    x, y = x.astype(np.float64), y.astype(np.float64)
    s = np.zeros((len(x), len(y)))
    for column in range(x.shape[1]):
        s += np.outer(x[:, column], y[:, column])
    return s


def edges_above(s, threshold, diagonal=False):
    """The kept entries as (row, column), sorted."""
    kept = s > threshold
    if not diagonal:
        np.fill_diagonal(kept, False)
    return np.argwhere(kept)


def is_permutation(order, n):
    return order.dtype == np.int64 and order.shape == (n,) and np.array_equal(np.sort(order), np.arange(n))
