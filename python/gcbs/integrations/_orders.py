"""When a trainer's epochs get a new order, and how it comes into force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from ..sampler import BatchSampler

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """``warmup`` random epochs, then a new order after ``every`` epochs; None: one order for all."""

    every: int | None
    warmup: int

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            raise InputError(
                "usage", f"every is {self.every}", "it counts epochs", "give 1 or more, or None for once"
            )

    def is_due(self, epoch: int) -> bool:
        past = epoch - self.warmup
        return past == 0 if self.every is None else past >= 0 and past % self.every == 0


def require_one(embed: Any, observe: Any) -> None:
    if (embed is None) == (observe is None):
        raise InputError(
            "usage",
            "GCBS takes embed or observe",
            "the one embeds rows before an epoch, the other looks at what training shows",
            "give one of them",
        )


def own_rows(sampler: BatchSampler) -> Ids:
    """The rows that this process embeds."""
    return np.array_split(np.arange(sampler.rows, dtype=np.int64), sampler.world_size)[sampler.rank]


def refresh(sampler: BatchSampler, rows: Ids, x: Any, y: Any) -> None:
    """By the embeddings of ``own_rows``."""
    if sampler.world_size == 1:
        sampler.refresh(x, y)
    else:
        sampler.refresh_sharded(rows, x, y)


def begin_epoch(sampler: BatchSampler, epoch: int) -> None:
    """Puts the newest order into force, also where the epoch has been named before."""
    sampler.set_epoch(epoch)
    next(iter(sampler), None)
