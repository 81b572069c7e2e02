"""The training loop that all tasks share: gcbs.BatchSampler around a model.

A task supplies what differs: how rows are embedded, the loss of a batch, the evaluation.
"""

import time

import gcbs
import numpy as np
import torch

from . import peers

MARGINS = ("relative_margin", "absolute_margin", "max_score", "skip_top")
STEPS_A_POINT = 10
"""steps whose losses are averaged, in the curve of the loss"""


def means(values, size):
    """Of `size` values each, in turn."""
    starts = range(0, len(values), size)
    return [round(float(np.mean(values[first : first + size])), 4) for first in starts]


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


class Trainer:
    """One model trained once, with one spec (resolved) and one seed."""

    through = "gcbs.BatchSampler, plain loop"

    def __init__(self, rows, spec, seed, per_epoch, threads, groups=None):
        """groups: one id a row where rows may share a document; None: they cannot."""
        self.rows, self.spec, self.seed, self.groups = rows, spec, seed, groups
        self.per_epoch, self.threads, self.clock = per_epoch, threads, Clock()
        self.report = lambda **_: None
        self.encoded = self.refreshed = 0  # with gradients; in extra passes without
        self.mined = None
        self.look, self.figures, self.stale = False, [], None
        self.sampler = self.make_sampler()
        self.total = spec.epochs * len(self.sampler)

    # What a task supplies.

    def embed_all(self):
        """x and y of all rows as they are now, float32; counts what it encodes in self.refreshed."""
        raise NotImplementedError

    def loss(self, batch, more):
        """Loss of a batch of rows, and its x and y detached; more: rows that it meets beside its own."""
        raise NotImplementedError

    def evaluate(self):
        """{"dev": ..., "test": ...}: more is better."""
        raise NotImplementedError

    # What is the same for all.

    def optimise(self, optimiser):
        """With a rate that falls to zero in a straight line."""
        self.optimiser = optimiser
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: max(0.0, 1 - step / self.total)
        )

    def make_sampler(self):
        spec = self.spec
        options = {"threads": self.threads, "progress": False, "relative_margin": None} | spec.sampler
        if spec.groups and self.groups is not None:
            options["groups"] = self.groups
        if spec.method != "metis":
            options |= {"method": spec.method, "temperature": spec.weights or spec.temperature}
        make = peers.MetisSampler if spec.method == "metis" else gcbs.BatchSampler
        return make(self.rows, spec.batch_size, seed=self.seed, warmup=spec.warmup, **options)

    def train(self):
        """The curve: [{"step": ..., metrics...}]."""
        torch.manual_seed(self.seed)
        curve, step = [self.measure(0)], 0
        every = max(1, len(self.sampler) // self.per_epoch) if self.per_epoch else self.total
        for epoch in range(self.spec.epochs):
            self.prepare(epoch)
            self.sampler.set_epoch(epoch)
            if self.look:
                self.figures.append(self.losses(epoch))
            last, steps = len(self.sampler) - 1, []
            for at, batch in enumerate(self.sampler):
                with self.clock("train"):
                    steps.append(self.step(at, np.asarray(batch)))
                step += 1
                ends = at == last and (self.per_epoch or step == self.total)
                if ends or ((at + 1) % every == 0 and last - at >= every // 2):
                    curve.append(self.measure(step))
                    self.report(epoch=epoch, **curve[-1])
            if self.look:
                self.figures[-1]["loss_of_steps"] = means(steps, STEPS_A_POINT)
        return curve

    def prepare(self, epoch):
        """The epoch's order and mined negatives, from the embeddings of now."""
        spec = self.spec
        since = epoch - spec.warmup
        due = since == 0 or (since > 0 and spec.refresh and since % spec.refresh == 0)
        if not (spec.ordered and due):
            return
        if spec.observe:
            if epoch:
                if self.look:
                    self.stale = self.staleness()
                with self.clock("order"):
                    self.sampler.refresh()
            return
        with self.clock("extra_forward"):
            x, y = self.embed_all()
        with self.clock("order"):
            if spec.mine:
                self.mined = self.mine(x, y)
            if spec.method != "random" or spec.mask or spec.sampler.get("extra"):
                self.sampler.refresh(x, y)

    def losses(self, epoch):
        """The paper's figures at the start of an epoch: losses over all pairs, in its batches, in random.

        Mined negatives and shared columns count as columns of their batch.
        """
        counted = self.refreshed
        with self.clock("evaluate"):
            x, y = self.embed_all()
            groups = {} if self.groups is None else {"groups": self.groups}
            found = gcbs.gap(
                x,
                y,
                batch_size=self.spec.batch_size,
                orders=np.concatenate([np.asarray(batch) for batch in self.sampler]),
                negatives=None if self.mined is None else y[np.maximum(self.mined[:, 0], 0)],
                temperature=self.spec.temperature,
                random_trials=10,
                extra=self.spec.sampler.get("extra", 0),
                threads=self.threads,
                progress=False,
                **groups,
            )
        self.refreshed = counted
        own = found.orders[0]
        stale = {} if self.stale is None else {"kept_by_fresh_pass": round(self.stale, 4)}
        return stale | {
            "epoch": epoch,
            "loss_global": found.loss_global.both,
            "loss_train": own.loss_train.both,
            "loss_random": found.random.loss_mean,
            "gap_closed": own.gap_closed,
            "positive_probability": own.positive_probability,
            "positive_probability_global": found.positive_probability,
        }

    def staleness(self):
        """Share of the edges by the embeddings observed in the last epoch that a fresh pass would keep."""
        counted = self.refreshed
        with self.clock("evaluate"):
            _, x, y = self.sampler.observed()
            kept = [self.edges(*sides) for sides in ((x, y), self.embed_all())]
        self.refreshed = counted
        return len(np.intersect1d(*kept, assume_unique=True)) / len(kept[0])

    def edges(self, x, y):
        """Numbers of the edges, one each."""
        groups = {} if self.groups is None else {"groups": self.groups}
        run = {"threads": self.threads, "progress": False, "verdict": False}
        options = {"batch_size": self.spec.batch_size, "edges": True, "relative_margin": None}
        found = gcbs.plan(x, y, **options, **groups, **run).edges
        return found[:, 0].astype(np.int64) * self.rows + found[:, 1]

    def mine(self, x, y):
        """Each row's hardest rows."""
        options = {name: value for name, value in self.spec.sampler.items() if name in MARGINS}
        if self.groups is not None and self.spec.groups:
            options["groups"] = self.groups
        run = {"threads": self.threads, "progress": False}
        return gcbs.mine(x, y, top=self.spec.mine, **options, **run).negatives

    def further(self, at, batch):
        """Rows whose y the batch meets beside its own."""
        rows = []
        if self.spec.sampler.get("extra"):
            rows.append(np.asarray(self.sampler.extra(at), np.int64))
        if self.mined is not None:
            rows.append(self.mined[batch].ravel())
        rows = np.concatenate(rows) if rows else np.empty(0, np.int64)
        return rows[rows >= 0]

    def step(self, at, batch):
        loss, x, y = self.loss(batch, self.further(at, batch))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.schedule.step()
        if self.spec.observe:
            self.sampler.observe(batch, x, y)
        return loss.item()

    def measure(self, step):
        with self.clock("evaluate"):
            found = self.evaluate()
        return {"step": step} | {name: round(value, 3) for name, value in found.items()}
