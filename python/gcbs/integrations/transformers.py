"""gcbs in Hugging Face's Trainer, by a callback: no subclass, no other loader.

    trainer = Trainer(model, args, train_dataset=pairs, callbacks=[GCBS(embed)])

At the beginning of every epoch the rows are embedded with the model as it is, ordered, and handed out batch
by batch. See ``docs/trainers.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from torch.utils.data import BatchSampler as TorchBatchSampler
from torch.utils.data import IterableDataset, Sampler

from .._errors import Error
from .._options import OrderOptions, words_of
from ..sampler import BatchSampler
from ._embed import Embed, embed_rows, sides_of
from ._orders import Ids, require_one
from ._trainer import EpochOrders, Part, sampler_below

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["GCBS"]


class GCBS(EpochOrders):
    """A callback that decides which rows of ``train_dataset`` share a batch.

    ``embed(model, inputs)``: the embeddings x and y, or x alone, of a collated batch of rows. It is called in
    evaluation mode, without gradients, with the precision of training. In a distributed run every process
    embeds its share.

    ``observe(outputs)`` instead: the same from what the model returns in training. There is no other forward
    pass then; the first epoch is random, and orders follow the embeddings of the epoch before.

    ``every``: order anew after so many epochs; None: once. ``warmup``: begin with so many random ones.
    ``gathered``: the loss contrasts with the batches of all processes. ``embed_batch_size``: rows embedded
    at once. Other options are those of ``gcbs.order``; ``groups`` has one id for each row of the data set.
    """

    def __init__(
        self,
        embed: Embed | None = None,
        *,
        observe: Callable[[Any], Any] | None = None,
        every: int | None = 1,
        warmup: int = 0,
        gathered: bool = False,
        embed_batch_size: int = 64,
        **options: Unpack[OrderOptions],
    ) -> None:
        require_one(embed, observe)
        words_of("GCBS", options, OrderOptions)
        super().__init__(observe=observe is not None, every=every, warmup=warmup)
        self._embed_batch, self._observe_outputs = embed, observe
        self._gathered, self._embed_batch_size, self._options = gathered, embed_batch_size, options

    def _find_parts(self, loader: Any, args: Any) -> list[Part]:
        options: Any = {"seed": args.data_seed if args.data_seed is not None else args.seed} | self._options
        below = _torch_sampler(loader)
        sampler = BatchSampler(
            len(loader.dataset),
            below.batch_size,
            drop_last=below.drop_last,
            warmup=self._schedule.warmup,
            gathered=self._gathered,
            store="float16" if self._observes else None,
            **options,
        )
        _put(loader, below, sampler)
        return [Part(loader.dataset, sampler)]

    def _embed(self, part: Part, rows: Ids, model: Any, loader: Any, args: Any) -> tuple[Any, Any]:
        assert self._embed_batch is not None
        return embed_rows(
            self._embed_batch,
            part.dataset,
            rows,
            model,
            loader.collate_fn,
            args,
            self._embed_batch_size,
            self._options.get("progress"),
        )

    def _shown(self, output: Any) -> list[Any]:
        assert self._observe_outputs is not None
        x, y = sides_of(self._observe_outputs(output))
        return [x] if y is None else [x, y]


class _Rows(Sampler[int]):
    """The rows of an epoch one after the other: a loader that counts off batches finds the sampler's."""

    def __init__(self, batches: BatchSampler) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[int]:
        for batch in self.batches:
            yield from batch

    def __len__(self) -> int:
        rows, size = self.batches.rows, self.batches.batch_size
        return rows - rows % size if self.batches.drop_last else rows


class _Batches(TorchBatchSampler):
    """The batches of this process, for a wrapper of accelerate that shall not deal them out again."""

    def __init__(self, batches: BatchSampler) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def _torch_sampler(loader: Any) -> Any:
    """torch's own batch sampler, at the bottom of the loader."""
    below = sampler_below(loader)
    streams = isinstance(loader.dataset, IterableDataset)
    if streams or not isinstance(getattr(below, "sampler", None), Sampler):
        raise Error(
            "unsupported",
            "the train loader has no sampler that could be replaced",
            "its data set is read as a stream, or it has batches of its own",
            "use a data set with a length, and no train_sampling_strategy='batch_rebalance'",
        )
    return below


def _put(loader: Any, below: Any, sampler: BatchSampler) -> None:
    """Makes the loader hand out the sampler's batches.

    One process: torch's batch sampler counts off the rows. Several: accelerate's wrapper would repeat rows to
    fill the last step, so that the sampler, which shares them out evenly, deals the batches itself.
    """
    wrapper = loader.batch_sampler
    if sampler.world_size == 1:
        below.sampler = _Rows(sampler)
    elif wrapper is not below and not wrapper.split_batches:
        wrapper.batch_sampler = _Batches(sampler)
        wrapper.num_processes, wrapper.process_index, wrapper.batch_size = 1, 0, None
    else:
        raise Error(
            "unsupported",
            "batches are split over processes",
            "gcbs makes whole batches for each",
            "use accelerator_config={'split_batches': False, 'dispatch_batches': False}",
        )
