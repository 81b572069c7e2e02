# mypy: disallow-subclassing-any=False
"""gcbs in Lightning, by a callback that also makes the loader:

    order = GCBS(pairs, 64, embed)
    trainer = Trainer(callbacks=[order], use_distributed_sampler=False)
    trainer.fit(model, order.dataloader(num_workers=4))

Lightning makes the iterator of the first epoch before any hook of that epoch, and those of later ones after
``on_train_epoch_end``; workers fetch as soon as there is one. So the first order is computed in
``on_fit_start``, when the model is where it will be trained, and the others when the epoch before them ends.
No reloading of loaders is needed.

A checkpoint holds the order and how many batches of the epoch were trained. Lightning does not skip those
when it goes on: the sampler starts behind them. See ``docs/trainers.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback
from torch.utils.data import DataLoader, Subset

from .._errors import InputError
from .._options import OrderOptions, words_of
from .._progress import shown
from ..sampler import BatchSampler
from ._embed import Collected, Embed, sides_of, undisturbed
from ._orders import Schedule, begin_epoch, own_rows, refresh, require_one

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["GCBS"]


class GCBS(Callback):
    """A callback that decides which rows of ``dataset`` share a batch.

    ``embed(module, batch)``: the embeddings x and y, or x alone, of a batch of the loader, on the device of
    the module. It is called in evaluation mode, without gradients, with the precision of training. In a
    distributed run every process embeds its share.

    ``observe(outputs)`` instead: the same from what ``training_step`` returns, a dict with the loss and
    whatever else it is given. There is no other forward pass then; the first epoch is random.

    ``every``: order anew after so many epochs; None: once. ``warmup``: begin with so many random ones.
    ``gathered``: the loss contrasts with the batches of all processes. ``embed_batch_size``: rows embedded
    at once. Other options are those of ``gcbs.order``; ``groups`` has one id for each row.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        embed: Embed | None = None,
        *,
        observe: Callable[[Any], Any] | None = None,
        drop_last: bool = False,
        every: int | None = 1,
        warmup: int = 0,
        gathered: bool = False,
        embed_batch_size: int = 64,
        **options: Unpack[OrderOptions],
    ) -> None:
        require_one(embed, observe)
        words_of("GCBS", options, OrderOptions)
        self.dataset, self._schedule = dataset, Schedule(every, warmup)
        self._embed_batch, self._observe_outputs = embed, observe
        self._embed_batch_size = embed_batch_size
        self._loader_options: dict[str, Any] = {}
        self._progress = options.get("progress")
        self._sampler_arguments: dict[str, Any] = {
            "batch_size": batch_size,
            "drop_last": drop_last,
            "warmup": warmup,
            "gathered": gathered,
            "store": "float16" if observe is not None else None,
            **options,
        }
        self.batches = _Batches(self)
        self.sampler: BatchSampler | None = None
        self._trained = 0  # batches of the epoch
        self._loaded = False

    def dataloader(self, **options: Any) -> DataLoader[Any]:
        """The loader to train with. Options are torch's: collate_fn, num_workers, ..."""
        self._loader_options = options
        return _Loader(self.dataset, batch_sampler=self.batches, **options)

    @property
    def order(self) -> BatchSampler:
        """The sampler of the run that is on."""
        if self.sampler is None:
            raise InputError(
                "usage",
                "there is no run",
                "the sampler of GCBS is made when Trainer.fit begins, which knows the processes",
                "give GCBS to the callbacks of the trainer",
            )
        return self.sampler

    @property
    def observes(self) -> bool:
        return self._observe_outputs is not None

    # What the trainer calls.

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            # The process group is there by now, and not before.
            self.sampler = BatchSampler(
                len(self.dataset),
                rank=trainer.global_rank,
                world_size=trainer.world_size,
                **self._sampler_arguments,
            )
            self._trained, self._loaded = 0, False

    def state_dict(self) -> dict[str, Any]:
        if self.sampler is None:
            return {}
        return {"sampler": self.sampler.state_dict(position=self._trained, embeddings=self.observes)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if self.sampler is not None and state_dict:
            self.sampler.load_state_dict(state_dict["sampler"])
            self._trained, self._loaded = self.sampler.position, True

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        if not self._loaded:
            self._begin_epoch(trainer, pl_module, trainer.current_epoch)
        elif self._trained >= len(self.order):
            self._begin_epoch(trainer, pl_module, self.order.epoch + 1)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        loaders = trainer.train_dataloader
        if getattr(loaders, "batch_sampler", None) is not self.batches:
            raise InputError(
                "usage",
                "the trainer has another loader than that of GCBS",
                "it was given another one, or Lightning has put a distributed sampler into it",
                "train with GCBS.dataloader(), and Trainer(use_distributed_sampler=False)",
            )

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, *args: Any
    ) -> None:
        self._trained = batch_idx + 1
        if self._observe_outputs is not None:
            rows = self.batches.handed_out.pop(batch_idx)
            self.order.observe(rows, *sides_of(self._observe_outputs(outputs)))

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Checkpoint callbacks come after this one: what they save has the order of the next epoch."""
        last = trainer.max_epochs is not None and 0 <= trainer.max_epochs <= trainer.current_epoch + 1
        enough = 0 <= trainer.max_steps <= trainer.global_step
        if not (last or enough or trainer.should_stop):
            self._begin_epoch(trainer, pl_module, trainer.current_epoch + 1)

    # How they do it.

    def _begin_epoch(self, trainer: Any, module: Any, epoch: int) -> None:
        if self._schedule.is_due(epoch):
            if self._observe_outputs is None:
                self._order(trainer, module)
            elif epoch > 0:
                self.order.refresh()
        begin_epoch(self.order, epoch)
        self._trained = 0

    def _order(self, trainer: Any, module: Any) -> None:
        rows = own_rows(self.order)
        options = {
            name: value
            for name, value in self._loader_options.items()
            if name not in ("persistent_workers", "worker_init_fn", "generator")
        }
        loader = DataLoader(Subset(self.dataset, rows.tolist()), self._embed_batch_size, **options)
        found = Collected(len(rows))
        assert self._embed_batch is not None
        with undisturbed(module), trainer.precision_plugin.forward_context(), shown(self._progress) as tick:
            for batch in loader:
                found.add(self._embed_batch(module, module.transfer_batch_to_device(batch, module.device, 0)))
                if tick is not None:
                    tick("embed", found.count, len(rows))
        refresh(self.order, rows, found.x, found.y)


class _Batches:
    """The batches of the run that is on, for a loader that is made before it."""

    def __init__(self, owner: GCBS) -> None:
        self._owner = owner
        self.handed_out: dict[int, list[int]] = {}
        """the rows of each batch, by its number, until they are observed"""

    def __iter__(self) -> Iterator[list[int]]:
        # A loader with workers asks for two iterators and uses the second: the position is for that one.
        observes = self._owner.observes
        for number, batch in self._owner.order.steps():
            if observes:
                self.handed_out[number] = batch
            yield batch

    def __len__(self) -> int:
        return len(self._owner.order)


class _Loader(DataLoader[Any]):
    """Lightning warns of loaders without a state; this one's is with the callback."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        pass
