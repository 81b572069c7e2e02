"""Rows of embeddings as numpy arrays, as the library reads them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_matrix

Units = NDArray[np.float32]
CHUNK = 16384


def as_numpy(values: Any) -> NDArray[Any]:
    """In this machine's memory; numpy has no bfloat16, so that becomes float32."""
    values = as_matrix(values, "embeddings", copy=True)
    if hasattr(values, "detach"):
        values = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
    return np.asarray(values)


def unit_rows(values: NDArray[Any], normalised: bool = False) -> Units:
    """L2-normalised float32 by the definition: float64 norms, each value divided, then rounded."""
    units = np.empty(values.shape, dtype=np.float32)
    for first in range(0, len(values), CHUNK):
        part = values[first : first + CHUNK].astype(np.float64)
        if not normalised:
            scale = np.abs(part).max(axis=1, keepdims=True, initial=0.0)
            part = part / np.where(scale > 0, np.exp2(np.floor(np.log2(np.where(scale > 0, scale, 1)))), 1)
            part = part / np.sqrt(np.sum(part * part, axis=1, keepdims=True))
        units[first : first + CHUNK] = part
    return units


def equal_row_ids(values: NDArray[Any]) -> NDArray[np.int64]:
    """The same number for rows with the same bytes."""
    seen: dict[bytes, int] = {}
    digests = (hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(values))
    return np.fromiter((seen.setdefault(digest, len(seen)) for digest in digests), np.int64, len(values))
