"""Shared negatives, one a row, so that they travel with the rows: for losses that take a negative column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._errors import InputError

if TYPE_CHECKING:
    from ..sampler import BatchSampler

Pair: TypeAlias = tuple[int, int]


class ExtraNegatives:
    """A data set whose samples also bring the negatives that their batch shares.

    ``dataset[i]`` is a tuple or list whose second value is the positive, or a dict; ``positive`` names its
    key (the second one, if left out). Each sample gets one value more, under the name ``negative`` in a dict:
    the positive of another row. Those of a batch are ``sampler.extra`` of it, so make the sampler with
    ``extra=batch_size``, and contrast every row with the negatives of all.

    It holds no sampler: rows and negatives come as pairs of numbers from ``batches``, so that workers of a
    loader need to know nothing of epochs.

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(40, 8))
    >>> sampler = gcbs.BatchSampler(40, 10, extra=10)
    >>> sampler.refresh(x)
    >>> data = gcbs.ExtraNegatives([(f"query {i}", f"document {i}") for i in range(40)])
    >>> batch = next(iter(data.batches(sampler)))  # DataLoader(data, batch_sampler=data.batches(sampler))
    >>> len(batch), len(data[batch[0]])
    (10, 3)
    """

    def __init__(self, dataset: Any, positive: str | None = None, negative: str = "negative") -> None:
        self.dataset = dataset
        self._positive = positive
        self._negative = negative

    def batches(self, sampler: BatchSampler) -> NumberedPairs:
        """What the loader takes as ``batch_sampler``."""
        return NumberedPairs(sampler)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int | Pair) -> Any:
        if not isinstance(index, tuple):
            return self.dataset[index]
        row, other = index
        return self._joined(self.dataset[row], self.dataset[other])

    def __getitems__(self, indices: Sequence[int | Pair]) -> list[Any]:
        fetch = getattr(self.dataset, "__getitems__", None)
        if fetch is None or not all(isinstance(index, tuple) for index in indices):
            return [self[index] for index in indices]
        pairs: list[Pair] = list(indices)  # type: ignore[arg-type]
        rows, others = fetch([row for row, _ in pairs]), fetch([other for _, other in pairs])
        return [self._joined(sample, other) for sample, other in zip(rows, others, strict=True)]

    def _joined(self, sample: Any, other: Any) -> Any:
        if isinstance(sample, Mapping):
            positive = self._positive or list(sample)[1]
            return {**sample, self._negative: other[positive]}
        if isinstance(sample, (tuple, list)):
            return type(sample)((*sample, other[1]))
        raise InputError(
            "input",
            f"a sample is a {type(sample).__name__}",
            "it has no place for a negative",
            "make it a tuple (x, y), or a dict",
        )


class NumberedPairs:
    """The batches of a sampler as pairs (row, row of its negative)."""

    def __init__(self, sampler: BatchSampler) -> None:
        self.sampler = sampler  # accelerate looks here for set_epoch
        self.batch_size, self.drop_last = sampler.batch_size, sampler.drop_last

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[list[Pair]]:
        return (self._paired(step, batch) for step, batch in self.sampler.steps())

    def _paired(self, step: int, batch: list[int]) -> list[Pair]:
        negatives = self.sampler.extra(step, fill=True)
        if len(negatives) < len(batch):
            raise InputError(
                "usage",
                f"a batch of {len(batch)} rows has {len(negatives)} shared negatives",
                "each row brings one of them",
                "make the sampler with extra=batch_size, and batches of less than half of the data",
            )
        return list(zip(batch, np.asarray(negatives).tolist(), strict=False))

    def set_epoch(self, epoch: int) -> None:
        self.sampler.set_epoch(epoch)
