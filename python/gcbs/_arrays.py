"""Whatever people hold their embeddings in -> what the library borrows, without a copy where possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._errors import InputError


def as_matrix(values: Any, name: str, copy: bool = False) -> Any:
    """Row-major values in this machine's memory: ``values`` itself, a view of it, or a copy where it is
    neither row-major nor of this machine's byte order, or on another device and ``copy`` is true."""
    if hasattr(values, "detach"):  # torch: gradients cannot be borrowed
        values = values.detach()
    if not isinstance(values, np.ndarray) and hasattr(values, "__dlpack_device__"):
        kind, _ = values.__dlpack_device__()
        if int(kind) != 1:  # DLPack's kDLCPU
            if not copy:
                raise InputError(
                    "input",
                    f"{name} is on another device",
                    "gcbs reads this machine's memory",
                    f"give {name}.cpu(), or copy=True",
                )
            values = values.cpu() if hasattr(values, "cpu") else np.asarray(values)
        if hasattr(values, "contiguous"):
            return values if _rows_are_contiguous(values.stride(), values.shape) else values.contiguous()
        values = np.asarray(values)
    return _row_major(values if isinstance(values, np.ndarray) else np.asarray(values))


def _rows_are_contiguous(strides: Any, shape: Any) -> bool:
    if len(shape) != 2:
        return True  # the library says what is wrong with it
    return bool((strides[1] == 1 or shape[1] <= 1) and (strides[0] >= shape[1] or shape[0] <= 1))


def _row_major(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if values.dtype.name == "bfloat16":  # of ml_dtypes, which exports no buffer
        return values.astype(np.float32)
    strides = [step // max(values.itemsize, 1) for step in values.strides]
    whole = all(step % max(values.itemsize, 1) == 0 for step in values.strides)
    if values.dtype.isnative and whole and _rows_are_contiguous(strides, values.shape):
        return values
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def as_integers(values: Any, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One-dimensional int64; whole numbers of other types are converted."""
    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            "input",
            f"{name} is no list of whole numbers",
            f"it is {array.dtype} of shape {array.shape}",
            "give one whole number a row",
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def as_groups(groups: Any) -> list[Any] | None:
    """Lists of ids, and the word duplicates where it is among them."""
    if groups is None:
        return None
    if isinstance(groups, str):
        return [groups]
    several = isinstance(groups, (list, tuple)) and any(
        isinstance(entry, str) or np.ndim(entry) > 0 for entry in groups
    )
    entries: Iterable[Any] = groups if several else [groups]
    return [entry if isinstance(entry, str) else as_integers(entry, "groups") for entry in entries]


def as_orders(orders: Any) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """Orders by name; a single one is called ``order``."""
    if orders is None:
        return {}
    named: Mapping[str, Any] = orders if isinstance(orders, Mapping) else {"order": orders}
    return {str(name): as_integers(order, str(name)) for name, order in named.items()}
