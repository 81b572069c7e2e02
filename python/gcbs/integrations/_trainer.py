# mypy: disallow-subclassing-any=False
"""What both callbacks for Hugging Face's Trainer do: order at epoch begin, observe, save, resume.

An epoch of the Trainer: ``on_epoch_begin``, on resume a loader that skips what was trained, ``set_epoch``,
``iter``. So the order is computed in ``on_epoch_begin``, and the samplers stay free of side effects.

The order depends on the model as it was when the epoch began, so a run that goes on in the middle of an
epoch cannot compute it again. It stands in ``trainer_state.json``, which every checkpoint has, wherever it is
moved to. The Trainer skips the batches that were trained by itself, so that the position is not restored.

Embeddings that ``observe`` collected are larger and stand in files of their own in the checkpoint folder,
one a rank. Without them the run goes on, but rows trained before the checkpoint have no embedding for the
next order.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback

from .._errors import Error, InputError
from ..sampler import BatchSampler
from ._orders import Ids, Schedule, begin_epoch, own_rows, refresh
from ._state import from_json, to_json

KEY = "gcbs"  # in the state of the trainer
_log = logging.getLogger("gcbs")


@dataclass(frozen=True, eq=False)
class Part:
    """A data set, its sampler, and the number of its first row among all that are trained on."""

    dataset: Any
    sampler: BatchSampler
    first_row: int = 0


class EpochOrders(TrainerCallback):
    """Subclasses say where the samplers are, how rows are embedded, and what a forward pass shows."""

    def __init__(self, *, observe: bool, every: int | None, warmup: int) -> None:
        self._observes, self._schedule = observe, Schedule(every, warmup)
        self._forget()

    def _forget(self) -> None:
        self._parts: list[Part] = []
        self._epoch = -1  # the one that is running
        self._first_step = 0  # of the epoch
        self._restored = -1  # the epoch whose order came with the checkpoint
        self._watch: _Watch | None = None
        self._observed = False

    @property
    def samplers(self) -> list[BatchSampler]:
        """Of the run that is on or was the last, one for each data set."""
        return [part.sampler for part in self._parts]

    # What subclasses give.

    def _find_parts(self, loader: Any, args: Any) -> list[Part]:
        raise NotImplementedError

    def _embed(self, part: Part, rows: Ids, model: Any, loader: Any, args: Any) -> tuple[Any, Any]:
        """Embeddings of these rows of ``part.dataset``; the second is None where x is both sides."""
        raise NotImplementedError

    def _shown(self, output: Any) -> list[Any]:
        """What a forward pass in training shows: blocks of rows, those of x before those of y."""
        raise NotImplementedError

    def _after_order(self) -> None:
        """The epoch's batches are known."""

    # What the trainer calls.

    def on_train_begin(
        self,
        args: Any,
        state: Any,
        control: Any,
        model: Any = None,
        train_dataloader: Any = None,
        **kwargs: Any,
    ) -> None:
        self._forget()
        self._parts = self._find_parts(train_dataloader, args)
        self._epoch = int(state.epoch or 0) - 1
        saved = (getattr(state, "stateful_callbacks", None) or {}).get(KEY)
        if saved is not None and state.global_step:
            self._restore(from_json(saved), args, state)
        if self._observes:
            _require_one_loader_order(args)
            self._watch = _Watch(model, self._shown)

    def on_epoch_begin(
        self,
        args: Any,
        state: Any,
        control: Any,
        model: Any = None,
        train_dataloader: Any = None,
        **kwargs: Any,
    ) -> None:
        self._epoch += 1
        goes_on = self._restored == self._epoch
        if not goes_on:
            self._first_step = state.global_step
            if self._is_due():
                self._order(model, train_dataloader, args)
        for part in self._parts:
            begin_epoch(part.sampler, self._epoch)
        _tell_epoch(train_dataloader, self._epoch)
        self._after_order()
        if self._watch is not None:
            trained = 0 if args.ignore_data_skip else state.global_step - self._first_step
            batches = [np.asarray(batch, dtype=np.int64) for batch in train_dataloader.batch_sampler]
            self._watch.begin(batches, trained * args.gradient_accumulation_steps)
        if hasattr(state, "stateful_callbacks"):
            state.stateful_callbacks[KEY] = to_json(self._state())

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._watch is not None:
            self._watch.open()

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._take()
        if self._watch is not None:
            self._watch.open()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._take()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._watch is not None and self._observed and not state.is_hyper_param_search:
            folder = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
            for at, part in enumerate(self._parts):
                seen = part.sampler.state_dict(embeddings=True)["observed"]
                torch.save(seen, _observed_file(folder, at, part.sampler.rank))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._watch is not None:
            self._watch.remove()
            self._watch = None

    # How they do it.

    def _is_due(self) -> bool:
        return self._schedule.is_due(self._epoch) and (self._observed or not self._observes)

    def _order(self, model: Any, loader: Any, args: Any) -> None:
        for part in self._parts:
            if self._observes:
                part.sampler.refresh()
            else:
                rows = own_rows(part.sampler)
                refresh(part.sampler, rows, *self._embed(part, rows, model, loader, args))

    def _take(self) -> None:
        """Keeps what the forward passes of the step showed."""
        if self._watch is None:
            return
        rows, x, y = self._watch.close()
        part = max(
            (part for part in self._parts if part.first_row <= rows[0]), key=lambda part: part.first_row
        )
        part.sampler.observe(rows - part.first_row, x, y)
        self._observed = True

    def _state(self) -> dict[str, Any]:
        states = [part.sampler.state_dict(position=0) for part in self._parts]
        return {"epoch": self._epoch, "first_step": self._first_step, "samplers": states}

    def _restore(self, saved: dict[str, Any], args: Any, state: Any) -> None:
        try:
            if len(saved["samplers"]) != len(self._parts):
                raise InputError(
                    "input",
                    "the checkpoint is of another run",
                    f"it has {len(saved['samplers'])} data sets, here are {len(self._parts)}",
                )
            for at, (part, of) in enumerate(zip(self._parts, saved["samplers"], strict=True)):
                if self._observes:
                    of["observed"] = self._saved_embeddings(at, part, args, state)
                part.sampler.load_state_dict(of, position=0)
        except InputError as error:
            _log.warning("gcbs: the order of the checkpoint does not fit, a new one is made: %s", error)
            return
        self._restored, self._first_step = saved["epoch"], saved["first_step"]

    def _saved_embeddings(self, at: int, part: Part, args: Any, state: Any) -> Any:
        here = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
        folders = [folder for folder in (args.resume_from_checkpoint, here) if isinstance(folder, str)]
        files = [_observed_file(folder, at, part.sampler.rank) for folder in folders]
        file = next((file for file in files if os.path.exists(file)), None)
        if file is None:
            _log.warning("gcbs: no %s: rows trained before the checkpoint have no embeddings", files[-1])
            return None
        self._observed = True
        return torch.load(file, weights_only=True)


class _Watch:
    """Sees the embeddings of every forward pass in training, and knows the rows that they are of.

    Batches reach the model in the sequence in which the sampler hands them out: the j-th of this rank in the
    epoch is trained in its j-th step, however far the loader reads ahead.
    """

    def __init__(self, model: Any, shown: Callable[[Any], list[Any]]) -> None:
        self._shown = shown
        self._batches: list[Ids] = []
        self._step = 0
        self._seen: list[Any] | None = None
        self._handle = model.register_forward_hook(self._see)

    def begin(self, batches: list[Ids], trained: int) -> None:
        self._batches, self._step, self._seen = batches, trained, None

    def open(self) -> None:
        self._seen = []

    def _see(self, module: Any, inputs: Any, output: Any) -> None:
        if self._seen is not None and module.training:
            self._seen += [block.detach() for block in self._shown(output)]

    def close(self) -> tuple[Ids, Any, Any]:
        rows, seen = self._batches[self._step], self._seen or []
        self._step, self._seen = self._step + 1, None
        count = sum(len(block) for block in seen)
        if count < len(rows):
            raise Error(
                "unsupported",
                f"a step of {len(rows)} rows showed {count} embeddings",
                "the loss calls the model in another way than once for each column",
                "use observe=False",
            )
        both = torch.cat(seen)
        x = both[: len(rows)].float().cpu()
        y = both[len(rows) : 2 * len(rows)].float().cpu()
        return rows, x, y if len(y) == len(x) else None

    def remove(self) -> None:
        self._handle.remove()


def _require_one_loader_order(args: Any) -> None:
    if args.n_gpu > 1:
        raise Error(
            "unsupported",
            "observe does not work with DataParallel",
            "its replicas run at the same time, in no order",
            "use torchrun, which gives each GPU its own process, or observe=False",
        )
    if not getattr(args, "dataloader_in_order", True):
        raise Error(
            "unsupported",
            "observe does not work with dataloader_in_order=False",
            "batches then arrive in no known order",
            "leave that out, or use observe=False",
        )


def sampler_below(loader: Any) -> Any:
    """The batch sampler of a loader, without what accelerate wraps around it."""
    sampler = loader.batch_sampler
    while hasattr(sampler, "batch_sampler"):
        sampler = sampler.batch_sampler
    return sampler


def _tell_epoch(loader: Any, epoch: int) -> None:
    """accelerate does not reach every sampler below its own."""
    set_epoch = getattr(sampler_below(loader), "set_epoch", None)
    if set_epoch is not None:
        set_epoch(epoch)


def _observed_file(folder: str, part: int, rank: int) -> str:
    return os.path.join(folder, f"gcbs-observed-{part}-{rank}.pt")
