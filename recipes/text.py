"""Text pairs: what a task is, and how an encoder is trained on it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from .encoders import ENCODERS
from .loop import Trainer


@dataclass
class PairTask:
    """Rows (query, document). Several rows may have one document: they are a group."""

    name: str
    x: list[str]
    documents: list[str]
    document_of_row: np.ndarray
    prepare: Callable
    """tokenise -> evaluate; evaluate(encode) -> {"dev": ..., "test": ..., ...}, more is better"""
    lengths: tuple[int, int]
    """tokens of a query and of a document"""
    batch_size: int
    epochs: int
    temperature: float
    rates: dict[str, tuple[float, ...]]
    """learning rates to choose from, by encoder"""
    methods: tuple[str, ...]
    """specs that run unless told otherwise"""
    seeds: int
    negatives: list[str] | None = None
    """a hard negative of each row, where the data has them; columns for the whole batch"""
    group_of_row: np.ndarray | None = None
    """rows that are never contrasted, where that is more than having one document"""

    def run(self, encoder, spec, rate, seed, per_epoch, threads, trainer=False):
        """trainer: by sentence-transformers' own, with the integration, instead of the plain loop."""
        if trainer:
            from .by_trainer import TrainerRun

            return TrainerRun(self, encoder, spec, rate, seed, per_epoch, threads)
        return TextTrainer(self, ENCODERS[encoder](), spec, rate, seed, per_epoch, threads)


class TextTrainer(Trainer):
    """One encoder on one task."""

    def __init__(self, task, encoder, spec, rate, seed, per_epoch=4, threads=0):
        self.document_of_row = noisy(task.document_of_row, spec.noise, seed)
        self.group_of_row = self.document_of_row if task.group_of_row is None else task.group_of_row
        shared = len(np.unique(self.group_of_row)) < len(self.group_of_row)
        groups = self.group_of_row if shared else None
        super().__init__(len(task.x), spec, seed, per_epoch, threads, groups)
        self.encoder = encoder
        self.x = encoder.tokenise(task.x, task.lengths[0])
        self.documents = encoder.tokenise(task.documents, task.lengths[1])
        self.negatives = task.negatives and encoder.tokenise(task.negatives, task.lengths[1])
        self.evaluation = task.prepare(encoder.tokenise)
        self.optimise(encoder.optimiser(rate))
        encoder.model.train()

    def embed_all(self):
        self.refreshed += self.rows + len(self.documents)
        return self.encoder.encode(self.x), self.encoder.encode(self.documents)[self.document_of_row]

    def evaluate(self):
        return self.evaluation(self.encoder.encode)

    def loss(self, batch, more):
        k = len(batch)
        if self.spec.sides == 1 and self.mined is not None:
            more = more[np.unique(self.document_of_row[more], return_index=True)[1]]
        rows = np.concatenate([batch, more])
        x = self.encoder.embed(self.x, rows if self.spec.sides == 2 else batch)
        y = self.encoder.embed(self.documents, self.document_of_row[rows])
        same = self.same(batch, rows)
        if self.negatives:
            y = torch.cat([y, self.encoder.embed(self.negatives, batch)])
            same = np.pad(same, ((0, 0), (0, k)))
        self.encoded += len(x) + len(y)
        same = torch.from_numpy(same)
        loss = contrast(x, y, k, self.spec.temperature, same, self.spec.direction)
        return loss, x[:k].detach(), y[:k].detach()

    def same(self, batch, columns):
        """Which columns must not count as negatives of a row; the first are the batch's own."""
        same = np.zeros((len(batch), len(columns)), bool)
        if self.spec.groups:
            same = self.group_of_row[batch, None] == self.group_of_row[None, columns]
        if self.spec.mask:
            same[:, : len(batch)] |= self.sampler.mask(batch)
        np.fill_diagonal(same, False)
        return same


def contrast(x, y, k, temperature, same, direction):
    """InfoNCE of the first k pairs: each x against all y; with "both" each y against all x too.

    same: k x columns, True where two pairs must not be contrasted; symmetric in the first k columns.
    """
    target = torch.arange(k)
    forth = (x[:k] @ y.T / temperature).masked_fill(same[:, : len(y)], -torch.inf)
    if direction == "x":
        return cross_entropy(forth, target)
    back = forth[:, :k].T  # the same products
    if len(x) > k:
        back = (y[:k] @ x.T / temperature).masked_fill(same[:, : len(x)], -torch.inf)
    return (cross_entropy(forth, target) + cross_entropy(back, target)) / 2


def noisy(document_of_row, share, seed):
    """Some rows swap their documents among each other: wrong pairs, as many of each document as before."""
    if not share:
        return document_of_row
    random = np.random.default_rng(seed)
    rows = np.flatnonzero(random.random(len(document_of_row)) < share)
    out = document_of_row.copy()
    out[rows] = document_of_row[random.permutation(rows)]
    return out
