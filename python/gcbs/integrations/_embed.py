"""Rows of a data set -> embeddings, by the model as it is, without a trace in the training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Subset

from .._progress import Progress, shown

Ids = NDArray[np.int64]
Embed = Callable[[Any, Any], Any]


def embed_rows(
    embed: Embed,
    dataset: Any,
    rows: Ids,
    model: Any,
    collate: Any,
    args: Any,
    batch_size: int,
    progress: bool | Progress | None = None,
) -> tuple[Any, Any]:
    """``embed(model, inputs)`` of these rows, float32 on the CPU. ``args``: those of a Trainer."""
    loader = DataLoader(
        Subset(dataset, rows.tolist()),
        batch_size=batch_size,
        collate_fn=collate,
        num_workers=args.dataloader_num_workers,
    )
    collected = Collected(len(rows))
    with undisturbed(model), autocast(args), shown(progress) as tick:
        for inputs in loader:
            collected.add(embed(model, on_device(inputs, device_of(model))))
            if tick is not None:
                tick("embed", collected.count, len(rows))
    return collected.x, collected.y


class Collected:
    """Blocks of embeddings, put below each other as they come."""

    def __init__(self, rows: int) -> None:
        self.x: Any = None
        self.y: Any = None
        self.count = 0
        self._rows = rows

    def add(self, embeddings: Any) -> None:
        x, y = sides_of(embeddings)
        if self.x is None:
            self.x = np.empty((self._rows, x.shape[1]), dtype=np.float32)
            self.y = None if y is None else np.empty((self._rows, y.shape[1]), dtype=np.float32)
        places = slice(self.count, self.count + len(x))
        self.x[places] = x.float().cpu().numpy()
        if self.y is not None:
            self.y[places] = y.float().cpu().numpy()
        self.count += len(x)


def sides_of(embeddings: Any) -> tuple[Any, Any]:
    """x and y, or x and None."""
    if isinstance(embeddings, tuple | list):
        x, y = embeddings
        return x, y
    return embeddings, None


@contextmanager
def undisturbed(model: Any) -> Iterator[None]:
    """Evaluation mode, no gradients, and everything back to where it was: random numbers too."""
    modes = [(module, module.training) for module in model.modules()]
    device = device_of(model)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            for module, training in modes:
                module.training = training


def autocast(args: Any) -> AbstractContextManager[Any]:
    """The precision that a Trainer with these arguments trains in."""
    if not (args.bf16 or args.fp16):
        return nullcontext()
    return torch.autocast(args.device.type, dtype=torch.bfloat16 if args.bf16 else torch.float16)


def device_of(model: Any) -> torch.device:
    parameter = next(model.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


def on_device(inputs: Any, device: torch.device) -> Any:
    """Tensors, and tensors in dicts, lists and tuples."""
    if hasattr(inputs, "to"):
        return inputs.to(device)
    if hasattr(inputs, "items"):
        return {name: on_device(value, device) for name, value in inputs.items()}
    if isinstance(inputs, list | tuple):
        return type(inputs)(on_device(value, device) for value in inputs)
    return inputs
