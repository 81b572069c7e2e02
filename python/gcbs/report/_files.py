"""Embeddings, numbers and labels from files, mapped where that is possible. Errors in the program's words."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .._errors import InputError

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
MARK = ".safetensors:"


def read_matrix(name: str) -> Any:
    """FILE.npy or FILE.safetensors[:TENSOR], of float32, float16, bfloat16 or float64."""
    path, tensor = _split(name)
    if path.endswith(".safetensors"):
        return _safetensors(path, tensor)
    values = _npy(path)
    if values.dtype.kind == "V" and values.dtype.itemsize == 2:  # bfloat16 as ml_dtypes saves it
        return _widened(values.view("<u2"))
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise _unreadable(
            path,
            f"its values have type '{values.dtype.str}', not float32, float16, bfloat16 or float64",
            "save it again with x.astype('<f4')",
        )
    return values


def read_numbers(name: str) -> Any:
    """One whole number a row."""
    return _npy(name)


def read_labels(name: str) -> list[str]:
    """One line a row."""
    _check(name)
    with open(name, encoding="utf-8", errors="replace", newline="\n") as file:
        return [line.rstrip("\r\n") for line in file]


def _split(name: str) -> tuple[str, str]:
    at = name.rfind(MARK)
    if at < 0 or os.path.exists(name):
        return name, ""
    return name[: at + len(MARK) - 1], name[at + len(MARK) :]


def _check(path: str) -> None:
    if not os.path.exists(path):
        raise _unreadable(path, "there is no such file", "check the path")
    if os.path.isdir(path):
        raise _unreadable(path, "it is a directory", "name a file in it")
    if not os.access(path, os.R_OK):
        raise _unreadable(path, "you may not read it", "check its permissions")


def _npy(path: str) -> Any:
    _check(path)
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise _unreadable(
                path,
                "its first bytes are neither those of a .npy nor of a .safetensors file",
                "give a .npy (numpy.save) or .safetensors file",
            )
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise _unreadable(path, str(error).lower(), "save it again with numpy.save") from error


def _safetensors(path: str, tensor: str) -> Any:
    _check(path)
    try:
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            about = json.loads(file.read(min(size, 100_000_000)))
            about.pop("__metadata__", None)
            matrices = [name for name in about if len(about[name]["shape"]) == 2]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, "it has no header of a .safetensors file", "save it again") from error
    if not tensor and len(matrices) == 1:
        tensor = matrices[0]
    if tensor not in about:
        reason = f"it has no tensor '{tensor}'" if tensor else "it has several tensors"
        raise _unreadable(path, reason, f"name one: {path}:{(matrices or ['TENSOR'])[0]}")
    entry = about[tensor]
    if entry["dtype"] not in TYPES:
        reason = f"its values have type {entry['dtype']}, not F32, F16, BF16 or F64"
        raise _unreadable(path, reason, "save it as float32")
    first, last = entry["data_offsets"]
    dtype, shape = np.dtype(TYPES[entry["dtype"]]), tuple(entry["shape"])
    if (
        first < 0
        or last - first != dtype.itemsize * int(np.prod(shape))
        or 8 + size + last > os.path.getsize(path)
    ):
        raise _unreadable(path, "it ends before its tensors do", "save it again")
    values = np.memmap(path, dtype=dtype, mode="r", offset=8 + size + first, shape=shape)
    return _widened(values) if entry["dtype"] == "BF16" else values


def _widened(halves: Any) -> Any:
    """bfloat16, which numpy does not know, as float32."""
    return (np.asarray(halves, dtype=np.uint32) << 16).view(np.float32)


def _unreadable(path: str, reason: str, fix: str) -> InputError:
    return InputError("input", f"cannot read {path}", reason, fix)
