"""Answers first: two edge sets compared, and a few rows checked against float64 sums.

An edge set is a sorted array of uint64 keys, row << 32 | column. Peers sum in float32, so a pair whose
similarity lies within 1e-6 of the threshold may fall on either side of it; no other pair may.
"""

import numpy as np
from generate import CHUNK, load_unit, unit

TOLERANCE = 1e-6


def keys_of(edges):
    """Keys of an E x 2 array, ascending when its rows are."""
    return edges[:, 0].astype(np.uint64) << np.uint64(32) | edges[:, 1].astype(np.uint64)


def rows_of(keys):
    return (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def off_diagonal(keys):
    rows, columns = rows_of(keys)
    return keys[rows != columns]


def compare(ours, theirs, x, y, threshold):
    """How many edges differ, and the farthest of them from the threshold."""
    differing = np.setxor1d(ours, theirs, assume_unique=True)
    worst = 0.0
    for start in range(0, len(differing), CHUNK):
        rows, columns = rows_of(differing[start : start + CHUNK])
        values = np.einsum("ij,ij->i", x[rows].astype(np.float64), y[columns].astype(np.float64))
        worst = max(worst, float(np.abs(values - threshold).max()))
        if worst >= TOLERANCE:
            break
    return {"edges": len(theirs), "differing": len(differing), "worst": worst, "agree": worst < TOLERANCE}


def spot_check(edges, x_path, y_path, threshold, margin=None, count=32):
    """The edges of `count` rows against float64 products; pairs within 1e-12 of a limit may pass.

    margin: relative to the positives; pairs that exceed it, either way round, are no edges.
    """
    x, y = (np.load(path, mmap_mode="r") for path in (x_path, y_path))
    n = len(x)
    rows = np.sort(np.random.default_rng(7).choice(n, min(count, n), replace=False))
    x_rows, y_rows = exact_unit(x[rows]), exact_unit(y[rows])
    limit_rows = limits(x_rows, y_rows, margin)
    bounds = np.searchsorted(edges[:, 0], [rows, rows + 1])
    found = np.zeros((len(rows), n), bool)
    for at in range(len(rows)):
        found[at, edges[bounds[0, at] : bounds[1, at], 1]] = True
    wrong = 0
    for start in range(0, n, CHUNK):
        x_part, y_part = (exact_unit(side[start : start + CHUNK]) for side in (x, y))
        values = x_rows @ y_part.T
        highest = np.maximum(values, y_rows @ x_part.T)
        limit = np.minimum(limit_rows[:, None], limits(x_part, y_part, margin))
        expected = (values > threshold) & (highest <= limit)
        columns = np.arange(start, start + expected.shape[1])
        expected[rows[:, None] == columns] = False
        open_ = (np.abs(values - threshold) > 1e-12) & (np.abs(highest - limit) > 1e-12)
        wrong += int(np.count_nonzero((expected != found[:, start : start + CHUNK]) & open_))
    return {"rows": len(rows), "differing": wrong, "agree": wrong == 0}


def exact_unit(rows):
    return unit(rows.astype(np.float32)).astype(np.float64)


def limits(x, y, margin):
    """What the similarity of a pair may be at most, by each of its two rows."""
    positives = np.einsum("ij,ij->i", x, y)
    return np.full(len(x), np.inf) if margin is None else positives - margin * np.abs(positives)


def sampled_threshold(x_path, y_path, m, pairs=1 << 20):
    """About the quantile that leaves m a row, from random pairs: for runs without gcbs."""
    x, y = load_unit(x_path), load_unit(y_path)
    rng = np.random.default_rng(3)
    values = np.concatenate(
        [
            np.einsum("ij,ij->i", x[rng.integers(len(x), size=CHUNK)], y[rng.integers(len(y), size=CHUNK)])
            for _ in range(pairs // CHUNK)
        ]
    )
    return float(np.quantile(values.astype(np.float64), 1 - m / len(x)))


def is_permutation(path, n):
    order = np.load(path)
    return order.dtype == np.int64 and np.array_equal(np.sort(order), np.arange(n))


def is_likely_count(edges, n, m):
    """Whether as many edges were kept as the exact quantile leaves, the diagonal taken away."""
    total = n * n - 1
    kept = total - int((1 - m / n) * total)
    return kept - n - 2 <= edges <= kept + 2
