"""Text pairs: what a task is, and the loop that trains an encoder on it with gcbs.BatchSampler."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import gcbs
import numpy as np
import torch
from torch.nn.functional import cross_entropy

from . import peers
from .encoders import ENCODERS


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

    def run(self, encoder, spec, rate, seed, per_epoch, threads=0):
        """A trainer: train() -> curve, total, clock, encoded, refreshed."""
        return Run(self, ENCODERS[encoder](), spec, rate, seed, per_epoch, threads)

    @property
    def grouped(self):
        return len(np.unique(self.document_of_row)) < len(self.document_of_row)


class Clock:
    """Seconds by what they were spent on."""

    def __init__(self):
        self.seconds = {"train": 0.0, "extra_forward": 0.0, "order": 0.0, "evaluate": 0.0}

    def __call__(self, name):
        self.name, self.began = name, time.perf_counter()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.seconds[self.name] += time.perf_counter() - self.began


def contrast(x, y, more, temperature, same, direction):
    """InfoNCE: each x against all y and the further columns; with "both" each y against all x too.

    same: k x columns, True where a column must not count as a negative of a row.
    """
    target = torch.arange(len(x))
    columns = y if more is None else torch.cat([y, more])
    logits = (x @ columns.T / temperature).masked_fill(same, -torch.inf)
    loss = cross_entropy(logits, target)
    return loss if direction == "x" else (loss + cross_entropy(logits[:, : len(x)].T, target)) / 2


class Run:
    """One encoder trained once, on one task, with one spec (resolved) and one seed."""

    through = "gcbs.BatchSampler, plain loop"

    def __init__(self, task, encoder, spec, rate, seed, per_epoch=2, threads=0):
        self.task, self.encoder, self.spec, self.seed = task, encoder, spec, seed
        self.per_epoch, self.threads, self.clock = per_epoch, threads, Clock()
        self.report = lambda **_: None
        self.document_of_row = noisy(task.document_of_row, spec.noise, seed)
        self.x = encoder.tokenise(task.x, task.lengths[0])
        self.documents = encoder.tokenise(task.documents, task.lengths[1])
        self.evaluate = task.prepare(encoder.tokenise)
        self.optimiser = encoder.optimiser(rate)
        self.rate = rate
        self.encoded = self.refreshed = 0
        self.sampler = self.make_sampler()
        self.total = spec.epochs * len(self.sampler)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser, lambda step: max(0.0, 1 - step / self.total)
        )
        self.mined = None

    def make_sampler(self, drawn=0):
        """drawn: how often the random batches have been drawn anew."""
        spec = self.spec
        options = {"threads": self.threads} | spec.sampler
        if spec.groups and self.task.grouped:
            options["groups"] = self.document_of_row
        if spec.method != "metis":
            options |= {"method": spec.method, "temperature": spec.temperature}
        make = peers.MetisSampler if spec.method == "metis" else gcbs.BatchSampler
        return make(
            len(self.task.x),
            spec.batch_size,
            seed=self.seed + 1000 * drawn,
            warmup=spec.warmup,
            progress=False,
            **options,
        )

    def train(self):
        """The curve: [{"step": ..., "epoch": ..., metrics...}]."""
        torch.manual_seed(self.seed)
        curve, step = [self.measure(0)], 0
        every = max(1, len(self.sampler) // self.per_epoch)
        for epoch in range(self.spec.epochs):
            self.prepare(epoch)
            self.sampler.set_epoch(epoch)
            last = len(self.sampler) - 1
            for at, batch in enumerate(self.sampler):
                with self.clock("train"):
                    self.step(at, np.asarray(batch))
                step += 1
                if at == last or ((at + 1) % every == 0 and last - at >= every // 2):
                    curve.append(self.measure(step))
                    self.report(epoch=epoch, **curve[-1])
        return curve

    def prepare(self, epoch):
        """The epoch's order and mined negatives, from embeddings of now."""
        spec = self.spec
        due = epoch == spec.warmup or (
            epoch > spec.warmup and spec.refresh and (epoch - spec.warmup) % spec.refresh == 0
        )
        if not (spec.ordered and due):
            return
        if spec.observe:
            if epoch:
                with self.clock("order"):
                    self.sampler.refresh()
            return
        with self.clock("extra_forward"):
            x = self.encoder.encode(self.x)
            y = self.encoder.encode(self.documents)[self.document_of_row]
            self.refreshed += len(x) + len(self.documents)
        with self.clock("order"):
            if spec.mine:
                self.mined = self.mine(x, y)
            if spec.method == "random" and spec.sampler.get("extra"):
                self.sampler = self.make_sampler(epoch)  # else every epoch would have the same batches
            if spec.method != "random" or spec.mask or spec.sampler.get("extra"):
                self.sampler.refresh(x, y)

    def mine(self, x, y):
        margins = {
            name: value
            for name, value in self.spec.sampler.items()
            if name in ("relative_margin", "absolute_margin", "max_score", "skip_top")
        }
        groups = {"groups": self.document_of_row} if self.task.grouped and self.spec.groups else {}
        run = {"threads": self.threads, "progress": False}
        return gcbs.mine(x, y, top=self.spec.mine, **groups, **margins, **run).negatives

    def further(self, at, batch):
        """Rows whose documents the batch meets beside its own."""
        rows = []
        if self.spec.sampler.get("extra"):
            rows.append(np.asarray(self.sampler.extra(at), np.int64))
        if self.mined is not None:
            rows.append(self.mined[batch].ravel())
        rows = np.concatenate(rows) if rows else np.empty(0, np.int64)
        return rows[rows >= 0]

    def step(self, at, batch):
        own = self.document_of_row[batch]
        more = self.document_of_row[self.further(at, batch)]
        if self.mined is not None:
            more = np.unique(more)
        x = self.encoder.embed(self.x, batch)
        y = self.encoder.embed(self.documents, np.concatenate([own, more]))
        self.encoded += len(batch) * 2 + len(more)
        same = self.same(own, more, batch)
        k = len(batch)
        loss = contrast(x, y[:k], y[k:], self.spec.temperature, torch.from_numpy(same), self.spec.direction)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.schedule.step()
        if self.spec.observe:
            self.sampler.observe(batch, x.detach(), y[:k].detach())

    def same(self, own, more, batch):
        same = np.zeros((len(own), len(own) + len(more)), bool)
        if self.spec.groups:
            same = own[:, None] == np.concatenate([own, more])[None]
        if self.spec.mask:
            same[:, : len(own)] |= self.sampler.mask(batch)
        np.fill_diagonal(same, False)
        return same

    def measure(self, step):
        with self.clock("evaluate"):
            found = self.evaluate(self.encoder.encode)
        return {"step": step} | {name: round(value, 3) for name, value in found.items()}


def noisy(document_of_row, share, seed):
    """Some rows swap their documents among each other: wrong pairs, as many of each document as before."""
    if not share:
        return document_of_row
    random = np.random.default_rng(seed)
    rows = np.flatnonzero(random.random(len(document_of_row)) < share)
    out = document_of_row.copy()
    out[rows] = document_of_row[random.permutation(rows)]
    return out
