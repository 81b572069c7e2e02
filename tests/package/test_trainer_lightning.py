"""gcbs in Lightning: one callback, the real library, real training."""

import warnings

import numpy as np
import pytest

lightning = pytest.importorskip("lightning")

import gcbs  # noqa: E402
import torch  # noqa: E402
from gcbs.integrations.lightning import GCBS  # noqa: E402
from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402
from pair_texts import PairModel, Pairs, as_sets, blocks_of, epochs_of  # noqa: E402

ROWS, SIZE = 330, 32
PAIRS = Pairs(ROWS)


class Module(lightning.LightningModule):
    def __init__(self, rate=1e-2):
        super().__init__()
        self.model, self.rate = PairModel(ROWS), rate
        self.at_epoch_begin = []

    def on_train_epoch_start(self):
        with torch.no_grad():
            self.at_epoch_begin.append([side.clone() for side in self.model.embed(*PAIRS.sides)])

    def training_step(self, batch, batch_idx):
        return self.model(**batch)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), self.rate)


def embed(module, batch):
    return module.model.embed(**batch)


def observe(outputs):
    return outputs["x"], outputs["y"]


def train(order, *callbacks, ckpt_path=None, rate=1e-2, loader=None, workers=0, epochs=3, **args):
    """The module after training, which knows the rows of every batch."""
    module = Module(rate)
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        devices=1,
        callbacks=[order, *callbacks],
        logger=False,
        enable_checkpointing=any(isinstance(of, ModelCheckpoint) for of in callbacks),
        enable_progress_bar=False,
        enable_model_summary=False,
        **args,
    )
    trainer.fit(module, loader or order.dataloader(num_workers=workers), ckpt_path=ckpt_path)
    return module


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small only lose by more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_the_blocks_of_the_order(workers):
    module = train(GCBS(PAIRS, SIZE, embed), workers=workers)
    epochs = epochs_of(module.model.seen, ROWS, SIZE)
    assert len(epochs) == len(module.at_epoch_begin) == 3
    for batches, (x, y) in zip(epochs, module.at_epoch_begin, strict=True):
        order = gcbs.order(x, y, batch_size=SIZE)
        assert as_sets(batches) == as_sets(blocks_of(order, SIZE))
        assert [len(batch) for batch in batches] == [SIZE] * 10 + [ROWS % SIZE]
    assert len({str(epoch) for epoch in epochs}) == 3


@pytest.mark.parametrize(
    ("make", "args"),
    [
        (lambda: GCBS(PAIRS, SIZE, embed), {}),
        (lambda: GCBS(PAIRS, SIZE, embed, method="pack"), {"workers": 2, "accumulate_grad_batches": 2}),
        (lambda: GCBS(PAIRS, SIZE, observe=observe, block=8), {"workers": 2}),
    ],
    ids=["embed", "pack", "observe"],
)
@pytest.mark.parametrize("batches", [4, 11], ids=["mid-epoch", "epoch-end"])
def test_a_resumed_run_has_the_same_batches(tmp_path, make, args, batches):
    """Checkpoints after so many batches: the fourth of an epoch, or its last, before the epoch has ended."""
    steps = batches if "accumulate_grad_batches" not in args else -(-batches // 2)
    saved = ModelCheckpoint(tmp_path, filename="{step}", every_n_train_steps=steps, save_top_k=-1)
    whole = train(make(), saved, **args).model.seen
    assert len(whole) == 33
    for time in (1, 2, 3) if batches == 4 else (1, 2):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*dataloader is not resumable.*")
            rest = train(make(), ckpt_path=tmp_path / f"step={time * steps}.ckpt", **args).model.seen
        assert rest == whole[33 - len(rest) :]
        if "accumulate_grad_batches" not in args:
            assert len(rest) == 33 - time * batches


def test_a_checkpoint_at_the_end_of_an_epoch_has_the_next_order(tmp_path):
    saved = ModelCheckpoint(tmp_path, filename="{epoch}", every_n_epochs=1, save_top_k=-1)
    whole = train(GCBS(PAIRS, SIZE, embed), saved).model.seen
    embedded = []

    def counted(module, batch):
        embedded.append(len(batch["a"]))
        return embed(module, batch)

    rest = train(GCBS(PAIRS, SIZE, counted), ckpt_path=tmp_path / "epoch=0.ckpt").model.seen
    assert rest == whole[11:]
    assert sum(embedded) == ROWS  # for the third epoch: the second's order was there


def test_observe_sees_the_rows_that_it_says_it_sees():
    order = GCBS(PAIRS, SIZE, observe=observe)
    module = train(order, rate=0.0, workers=2, epochs=2)
    ids, x, y = order.order.observed()
    assert ids.tolist() == list(range(ROWS))
    with torch.no_grad():
        for seen, wanted in zip((x, y), module.model.embed(*PAIRS.sides), strict=True):
            wanted = torch.nn.functional.normalize(wanted).numpy()
            assert np.abs(seen.astype(np.float32) - wanted).max() < 1e-3
    assert as_sets(module.model.seen[11:]) == as_sets(blocks_of(order.order.order, SIZE))


def test_groups_never_meet():
    groups = np.arange(ROWS) % 60
    module = train(GCBS(PAIRS, SIZE, embed, groups=groups, warmup=1), epochs=2)
    for batch in module.model.seen:
        assert len(set(groups[batch])) == len(batch)


def test_another_loader_is_an_error():
    with pytest.raises(gcbs.InputError, match="GCBS.dataloader()"):
        train(GCBS(PAIRS, SIZE, embed), loader=torch.utils.data.DataLoader(PAIRS, SIZE))


def test_a_loader_outside_a_run_is_an_error():
    with pytest.raises(gcbs.InputError, match="callbacks of the trainer"):
        next(iter(GCBS(PAIRS, SIZE, embed).dataloader()))
