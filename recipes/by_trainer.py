"""The same tasks through sentence-transformers' own trainer and gcbs.integrations.sentence_transformers.

As a user would write it: a data set, MultipleNegativesSymmetricRankingLoss, `batch_sampler=GCBS(...)`. For
orders only: a batch has either no extra columns or as many as rows (`extra=1` stands for them).
"""

import tempfile
import time

from datasets import Dataset
from gcbs.integrations.sentence_transformers import GCBS
from sentence_transformers import (
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
)
from transformers import TrainerCallback, get_linear_schedule_with_warmup

from .encoders import ENCODERS
from .loop import Clock


class TimedGCBS(GCBS):
    """Seconds of the epochs' beginnings: the extra forward pass and the order."""

    def __init__(self, clock, model, **options):
        super().__init__(model, **options)
        self.clock = clock

    def __getstate__(self):
        return super().__getstate__() | {"clock": None}

    def on_epoch_begin(self, args, state, control, **given):
        with self.clock("order"):
            super().on_epoch_begin(args, state, control, **given)


class Measure(TrainerCallback):
    """Evaluates some times an epoch."""

    def __init__(self, run, every):
        self.run, self.every = run, every

    def on_step_end(self, args, state, control, **_):
        if state.global_step % self.every == 0 or state.global_step == state.max_steps:
            self.run.measure(state.global_step)


class TrainerRun:
    """What the runner expects of a run; see loop.Trainer."""

    through = "gcbs.integrations.sentence_transformers"

    def __init__(self, task, encoder, spec, rate, seed, per_epoch, threads):
        if spec.mine or spec.mask or spec.noise or spec.method == "metis":
            raise SystemExit(f"{spec.text}: the trainer runs orders only; leave out --trainer")
        if encoder == "static":
            raise SystemExit(
                "the trainer measures gradients, which must not be sparse: --encoder static-dense"
            )
        self.task, self.spec, self.seed, self.per_epoch = task, spec, seed, per_epoch
        self.encoder = ENCODERS[encoder]()
        self.clock, self.curve, self.report = Clock(), [], lambda **_: None
        self.evaluation = task.prepare(self.encoder.tokenise)
        self.data = Dataset.from_dict(
            {"query": task.x, "document": [task.documents[at] for at in task.document_of_row]}
        )
        steps = -(-len(self.data) // spec.batch_size)
        self.total = steps * spec.epochs
        self.encoded = len(self.data) * spec.epochs * (3 if spec.sampler.get("extra") else 2)
        self.refreshed = 2 * len(self.data) * (spec.epochs if spec.ordered and not spec.observe else 0)
        self.optimiser = self.encoder.optimiser(rate)
        self.threads = threads

    def measure(self, step):
        with self.clock("evaluate"):
            found = self.evaluation(self.encoder.encode)
        self.curve.append({"step": step} | {name: round(value, 3) for name, value in found.items()})
        self.report(epoch=0, **self.curve[-1])

    def train(self):
        spec, model = self.spec, self.encoder.model
        options = {"relative_margin": None} | spec.sampler
        options.pop("extra", None)
        sampler = TimedGCBS(
            self.clock,
            model,
            method=spec.method,
            temperature=spec.weights or spec.temperature,
            groups="text" if spec.groups else None,
            every=spec.refresh or None,
            warmup=spec.warmup,
            observe=bool(spec.observe),
            threads=self.threads,
            progress=False,
            **options,
        )
        data = sampler.with_negatives(self.data) if spec.sampler.get("extra") else self.data
        self.measure(0)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            SentenceTransformerTrainer(
                model=model,
                args=SentenceTransformerTrainingArguments(
                    output_dir=folder,
                    num_train_epochs=spec.epochs,
                    per_device_train_batch_size=spec.batch_size,
                    batch_sampler=sampler,
                    seed=self.seed,
                    save_strategy="no",
                    report_to="none",
                    disable_tqdm=True,
                    logging_strategy="no",
                ),
                train_dataset=data,
                loss=losses.MultipleNegativesSymmetricRankingLoss(model, scale=1 / spec.temperature),
                optimizers=(self.optimiser, get_linear_schedule_with_warmup(self.optimiser, 0, self.total)),
                callbacks=[Measure(self, max(1, self.total // spec.epochs // self.per_epoch))],
            ).train()
        spent = self.clock.seconds
        spent["train"] = time.perf_counter() - began - spent["order"] - spent["evaluate"]
        return self.curve
