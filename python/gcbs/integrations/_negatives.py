# mypy: disallow-subclassing-any=False
"""A ``datasets.Dataset`` whose rows bring a negative of their batch, for losses that take such a column."""

from __future__ import annotations

import copy
from typing import Any

import torch
from datasets import Dataset

from .._errors import InputError
from ..sampler import BatchSampler


class WithNegatives(Dataset):
    """Row i also has, under another name, the positive of row ``negative_of[i]``, which each epoch sets anew.

    Rows have it however they are fetched; ``column_names`` and single columns are as they were.
    """

    negative_of: torch.Tensor
    positive_name: str
    negative_name: str

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if not isinstance(found, dict) or self.positive_name not in found:
            return found
        others = self.negative_of[key] % len(self)
        positives = super().__getitem__(others.tolist())[self.positive_name]
        return {**found, self.negative_name: positives}


def with_negatives(dataset: Dataset, positive: str, negative: str) -> WithNegatives:
    """The same rows and columns. Before the first epoch, the negative of a row is the next row's positive."""
    if negative in dataset.column_names:
        raise InputError(
            "input",
            f"the data set has a column {negative!r} already",
            "shared negatives need a name of their own",
            "choose another one with name=",
        )
    found: Any = copy.copy(dataset)
    found.__class__ = WithNegatives
    found.positive_name, found.negative_name = positive, negative
    found.negative_of = torch.arange(1, len(dataset) + 1)
    return found  # type: ignore[no-any-return]


def assign_negatives(dataset: WithNegatives, sampler: BatchSampler) -> None:
    """By the epoch that is in force: each row of a batch brings one of the batch's extra columns."""
    memory: Any = dataset.negative_of
    memory.share_memory_()  # workers of a loader that live through epochs see every change
    for step, batch in sampler.steps():
        shared = sampler.extra(step, fill=True)
        if len(shared) < len(batch):
            raise InputError(
                "input",
                f"a batch of {len(batch)} rows has {len(shared)} shared negatives",
                "each row brings one of them, and they are rows outside the batch",
                "use batches of less than half of the data",
            )
        dataset.negative_of[batch] = torch.from_numpy(shared[: len(batch)])
