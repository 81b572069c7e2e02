# mypy: disallow-subclassing-any=False
"""gcbs in sentence-transformers, by one argument:

    args = SentenceTransformerTrainingArguments(..., batch_sampler=GCBS(model))

At the beginning of every epoch the pairs are embedded with the model as it is, as training would embed them
(prompts, router, precision), ordered, and handed out batch by batch. See ``docs/trainers.md``.

The trainer calls the batch sampler when it builds a loader, and knows callbacks for the rest: epochs begin,
checkpoints are saved. GCBS is both. It is called by a method of the trainer and adds itself to that trainer's
callbacks, so that one argument is enough; ``callbacks=[...]`` of the trainer does the same by hand.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sentence_transformers import DefaultBatchSampler  # v5: .sampler, v6: .base.sampler
from transformers import Trainer

from .._arrays import as_groups
from .._errors import Error, InputError
from .._options import OrderOptions, words_of
from ..sampler import BatchSampler
from ._columns import shared_value_groups
from ._embed import embed_rows
from ._negatives import WithNegatives, assign_negatives, with_negatives
from ._orders import Ids
from ._trainer import EpochOrders, Part, sampler_below

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["GCBS"]
LABELS = ("label", "labels", "score", "scores")  # what the library takes for labels
_log = logging.getLogger("gcbs")


class GCBS(EpochOrders):
    """Decides which pairs of the training set share a batch.

    ``model``: the one in training. ``teacher``: another one that embeds in its place, by its ``encode``.

    ``observe``: no forward pass of its own. The first epoch is random, and orders follow the embeddings that
    the epoch before has shown.

    ``groups``: what is kept apart. "text" (default): pairs that have a text in common, in whichever column,
    as with BatchSamplers.NO_DUPLICATES, but no pair is left out. The name of a column: pairs with the same
    value in it. One id a pair. A list of these; None.

    ``columns``: those of x and y; by default the first two that are no labels, anchor and positive.
    ``every``: order anew after so many epochs; None: once. ``warmup``: begin with so many random ones.
    ``gathered``: the loss has ``gather_across_devices=True``. ``embed_batch_size``: pairs embedded at once.
    Other options are those of ``gcbs.order``.

    Several data sets: batches are of one each, and each has its own order.

    ``with_negatives(dataset)``: a data set to train on that has a negative column, for losses that take one.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        teacher: Any = None,
        observe: bool = False,
        columns: Sequence[str] | None = None,
        every: int | None = 1,
        warmup: int = 0,
        gathered: bool = False,
        embed_batch_size: int = 64,
        **options: Unpack[OrderOptions],
    ) -> None:
        if observe and teacher is not None:
            raise InputError(
                "usage",
                "a teacher is not observed",
                "training shows the model's own embeddings",
                "leave out observe or teacher",
            )
        words_of("GCBS", {name: of for name, of in options.items() if name != "groups"}, OrderOptions)
        super().__init__(observe=observe, every=every, warmup=warmup)
        self.model, self.teacher = model, teacher
        self.columns, self.gathered, self.embed_batch_size = columns, gathered, embed_batch_size
        self.groups: Any = options.pop("groups", "text")
        self.options = options

    def __getstate__(self) -> dict[str, Any]:
        """The trainer writes its arguments into every checkpoint: neither models nor samplers go there."""
        kept = dict(self.__dict__)
        for name in ("_parts", "_watch", "_restored", "_epoch", "_first_step", "_observed"):
            kept.pop(name, None)
        return kept | {"model": None, "teacher": None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._forget()

    def __call__(
        self,
        dataset: Any,
        batch_size: int,
        drop_last: bool,
        valid_label_columns: Sequence[str] | None = None,
        generator: Any = None,
        seed: int = 0,
    ) -> DefaultBatchSampler:
        """What the trainer calls for each data set, those of evaluation too, which stay shuffled."""
        trainer = _calling_trainer()
        if trainer is None:
            _log.warning("gcbs: GCBS is not called by a trainer, so that batches stay random")
        elif self not in trainer.callback_handler.callbacks:
            trainer.add_callback(self)
        labels = {*(valid_label_columns or ()), "dataset_name"}
        texts = [name for name in dataset.column_names if name not in labels]
        options: Any = {
            "seed": seed or 0,
            "groups": self._groups(dataset, texts),
            "extra": batch_size if isinstance(dataset, WithNegatives) else 0,
            "drop_last": drop_last,
            "warmup": self._schedule.warmup,
            "gathered": self.gathered,
            "store": "float16" if self._observes else None,
        } | self.options
        try:
            order = BatchSampler(len(dataset), batch_size, **options)
        except InputError:
            if _is_trained_on(dataset, trainer):
                raise
            order = BatchSampler(len(dataset), batch_size, **options | {"groups": None})
        sides = self.columns or texts[:2]
        return _Batches(dataset, batch_size, drop_last, valid_label_columns, generator, seed, order, sides)

    def with_negatives(self, dataset: Any, name: str = "negative") -> Any:
        """The data set with a column more: every pair brings a negative that is hard for its batch.

        They are the extra columns of ``gcbs.order``, positives of pairs outside the batch, as many as the
        batch has pairs. A loss that contrasts with the negatives of the whole batch, such as
        MultipleNegativesRankingLoss, so sees twice as many of them. They change with every order.
        """
        columns = self.columns or [of for of in dataset.column_names if of not in LABELS]
        if len(columns) < 2:
            raise InputError("input", "there is no positive", f"the columns are {columns}", "give columns=")
        return with_negatives(dataset, columns[1], name)

    def _groups(self, dataset: Any, texts: list[str]) -> Any:
        lists: list[Any] = []
        for of in as_groups(self.groups) or []:
            if not isinstance(of, str) or of == "duplicates":
                lists.append(of)
            elif of == "text":
                lists += shared_value_groups(dataset, texts)
            elif of in dataset.column_names:
                lists += shared_value_groups(dataset, [of])
            else:
                raise InputError(
                    "input",
                    f"groups names no column: {of!r}",
                    f"the data set has {', '.join(dataset.column_names)}",
                    "name one of these, or give 'text', or one id for each row",
                )
        return lists or None

    def _find_parts(self, loader: Any, args: Any) -> list[Part]:
        top = sampler_below(loader)
        parts, first_row = [], 0
        for sampler in getattr(top, "batch_samplers", [top]):
            if isinstance(sampler, _Batches):
                parts.append(Part(sampler, sampler.order, first_row))
            first_row += len(sampler.sampler)
        if not parts:
            raise Error(
                "usage",
                "the trainer has another batch sampler",
                "GCBS is among its callbacks, but not in its arguments",
                "give the same object as batch_sampler= of the training arguments",
            )
        return parts

    def on_train_begin(
        self,
        args: Any,
        state: Any,
        control: Any,
        model: Any = None,
        train_dataloader: Any = None,
        **kwargs: Any,
    ) -> None:
        if self.model is not None and self.model is not model:
            _log.warning("gcbs: the trainer has another model than GCBS; orders follow the trainer's")
        super().on_train_begin(args, state, control, model, train_dataloader)

    def _after_order(self) -> None:
        for part in self._parts:
            dataset = part.dataset.dataset
            if isinstance(dataset, WithNegatives):
                assign_negatives(dataset, part.sampler)

    def _embed(self, part: Part, rows: Ids, model: Any, loader: Any, args: Any) -> tuple[Any, Any]:
        batches: _Batches = part.dataset
        if self.teacher is not None:
            chosen = batches.dataset.select_columns(list(batches.sides)).with_format(None)[rows]
            sides = [
                self.teacher.encode(chosen[name], batch_size=self.embed_batch_size, show_progress_bar=False)
                for name in batches.sides
            ]
            return sides[0], sides[1] if len(sides) > 1 else None
        longest_first = np.argsort(-batches.text_lengths()[rows], kind="stable")
        x, y = embed_rows(
            batches.embed,
            _Sides(batches.dataset, batches.sides),
            rows[longest_first],
            model,
            loader.collate_fn,
            args,
            self.embed_batch_size,
            self.options.get("progress"),
        )
        back = np.argsort(longest_first)
        return x[back], None if y is None else y[back]

    def _shown(self, output: Any) -> list[Any]:
        return [output["sentence_embedding"]] if "sentence_embedding" in output else []


class _Batches(DefaultBatchSampler):
    """The batches of a data set, as the trainer wants them: of all ranks, dealt out by accelerate."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        drop_last: bool,
        valid_label_columns: Any,
        generator: Any,
        seed: int,
        order: BatchSampler,
        sides: Sequence[str],
    ) -> None:
        super().__init__(dataset, batch_size, drop_last, valid_label_columns, generator, seed)
        self.dataset, self.order, self.sides = dataset, order, sides

    def set_epoch(self, epoch: int) -> None:
        self.order.set_epoch(epoch)

    def __iter__(self) -> Iterator[list[int]]:
        return self.order.all_ranks()

    def __len__(self) -> int:
        return len(self.order) * self.order.world_size

    def embed(self, model: Any, features: dict[str, Any]) -> Any:
        """Of a collated batch: each side's features have the name of its column in front."""
        sides: dict[str, dict[str, Any]] = {name: {} for name in self.sides}
        for key, value in features.items():
            owners = [name for name in self.sides if key.startswith(name + "_")]
            if owners:
                name = max(owners, key=len)
                sides[name][key[len(name) + 1 :]] = value
        found = [model(side)["sentence_embedding"] for side in sides.values()]
        return found if len(found) > 1 else found[0]

    def text_lengths(self) -> Any:
        """Characters of each row, 0 where a column is no text."""
        import pyarrow.compute as compute

        lengths = np.zeros(len(self.dataset), dtype=np.int64)
        table = self.dataset.select_columns(list(self.sides)).with_format("arrow")[:]
        for column in table.columns:
            if str(column.type) in ("string", "large_string"):
                lengths += compute.utf8_length(column).fill_null(0).to_numpy()
        return lengths


class _Sides:
    """The rows of a data set, without the columns that are not embedded."""

    def __init__(self, dataset: Any, names: Sequence[str]) -> None:
        self._dataset, self._names = dataset, (*names, "dataset_name")

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitems__(self, rows: list[int]) -> list[dict[str, Any]]:
        values = self._dataset[rows]
        names = [name for name in self._names if name in values]
        return [{name: values[name][at] for name in names} for at in range(len(rows))]


def _is_trained_on(dataset: Any, trainer: Any) -> bool:
    """Or evaluated on, where batches need not be perfect."""
    known = getattr(trainer, "train_dataset", dataset)
    return any(dataset is of for of in (known.values() if isinstance(known, dict) else [known]))


def _calling_trainer() -> Any:
    """The trainer, one of whose methods is running."""
    frame = inspect.currentframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, Trainer):
            return owner
        frame = frame.f_back
    return None
