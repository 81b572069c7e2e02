"""What a checkpoint holds: plain values and bytes, which pickle, torch.save and torch.load take."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError


def pack(values: NDArray[Any] | None) -> bytes | None:
    """An array as the bytes of a .npy file: torch.load refuses numpy's own pickles."""
    if values is None:
        return None
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def unpack(written: bytes | None) -> Any:
    return None if written is None else np.load(io.BytesIO(written), allow_pickle=False)


def checksum(lists: Iterable[NDArray[Any]]) -> int:
    """Of groups, which are too large to be part of a state."""
    found = 0
    for values in lists:
        found = zlib.crc32(values.tobytes(), found)
    return found


def check_run(state: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raises InputError that says how the state's run differs from this one."""
    for name, value in own.items():
        if name not in state:
            raise InputError(
                "input",
                "this is no state of a BatchSampler",
                f"it has no {name}",
                "give what state_dict gave",
            )
        if state[name] != value:
            raise InputError(
                "input",
                "the state is of another run",
                f"its {name} is {state[name]}, the sampler's is {value}",
                "make the sampler with the arguments that it had",
            )
