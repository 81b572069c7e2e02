"""gcbs in Hugging Face's Trainer, as it is: one callback, the real library, real training."""

import numpy as np
import pytest

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

import gcbs  # noqa: E402
import torch  # noqa: E402
from gcbs.integrations.transformers import GCBS  # noqa: E402
from pair_texts import PairModel, Pairs, as_sets, blocks_of, epochs_of  # noqa: E402
from transformers import Trainer, TrainerCallback, TrainingArguments  # noqa: E402

ROWS, SIZE = 330, 32
PAIRS = Pairs(ROWS)


def embed(model, inputs):
    return model.embed(**inputs)


def observe(outputs):
    return outputs["x"], outputs["y"]


class AtEpochBegin(TrainerCallback):
    """Embeds the pairs all at once, whenever an epoch begins."""

    def __init__(self):
        self.found = []

    def on_epoch_begin(self, args, state, control, model=None, **kwargs):
        with torch.no_grad():
            self.found.append([side.clone() for side in model.embed(*PAIRS.sides)])


def train(folder, *callbacks, resume=None, rate=1e-2, **args):
    """The rows of every batch, in the sequence of training, and the trainer."""
    model = PairModel(ROWS)
    options = {"num_train_epochs": 3, "save_strategy": "no"} | args
    trainer = Trainer(
        model,
        TrainingArguments(
            str(folder),
            per_device_train_batch_size=SIZE,
            learning_rate=rate,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            **options,
        ),
        train_dataset=PAIRS,
        callbacks=list(callbacks),
    )
    trainer.train(resume_from_checkpoint=resume)
    return model.seen, trainer


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small only lose by more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_batches_are_the_blocks_of_the_order(tmp_path):
    embedded = AtEpochBegin()
    batches, _ = train(tmp_path, embedded, GCBS(embed))
    epochs = epochs_of(batches, ROWS, SIZE)
    assert len(epochs) == len(embedded.found) == 3
    for batches, (x, y) in zip(epochs, embedded.found, strict=True):
        order = gcbs.order(x, y, batch_size=SIZE, seed=42)  # the trainer's seed
        assert as_sets(batches) == as_sets(blocks_of(order, SIZE))
        assert [len(batch) for batch in batches] == [SIZE] * 10 + [ROWS % SIZE]
    assert len({str(epoch) for epoch in epochs}) == 3


def test_the_short_batch_can_be_dropped(tmp_path):
    batches, _ = train(tmp_path, GCBS(embed), num_train_epochs=1, dataloader_drop_last=True)
    assert [len(batch) for batch in batches] == [SIZE] * 10


@pytest.mark.parametrize(
    ("make", "args"),
    [
        (lambda: GCBS(embed), {}),
        (lambda: GCBS(embed, method="pack"), {"gradient_accumulation_steps": 2, "dataloader_num_workers": 2}),
        (lambda: GCBS(observe=observe, block=8), {"gradient_accumulation_steps": 2}),
    ],
    ids=["embed", "pack", "observe"],
)
def test_a_resumed_run_has_the_same_batches(tmp_path, make, args):
    accumulated = args.get("gradient_accumulation_steps", 1)
    steps = 11 // accumulated + 11 % accumulated  # of an epoch
    every = steps // 2 + 1
    whole, _ = train(tmp_path, make(), save_strategy="steps", save_steps=every, **args)
    for step in (every, 2 * every, 3 * every):
        rest, _ = train(tmp_path, make(), resume=str(tmp_path / f"checkpoint-{step}"), **args)
        epoch, within = divmod(step, steps)
        assert rest == whole[11 * epoch + accumulated * within :]


def test_observe_sees_the_rows_that_it_says_it_sees(tmp_path):
    order = GCBS(observe=observe)
    _, trainer = train(tmp_path, order, rate=0.0, num_train_epochs=2, gradient_accumulation_steps=3)
    ids, x, y = order.samplers[0].observed()
    assert ids.tolist() == list(range(ROWS))
    with torch.no_grad():
        for seen, wanted in zip((x, y), trainer.model.embed(*PAIRS.sides), strict=True):
            wanted = torch.nn.functional.normalize(wanted).numpy()
            assert np.abs(seen.astype(np.float32) - wanted).max() < 1e-3


def test_x_alone_is_both_sides(tmp_path):
    order = GCBS(lambda model, inputs: model.words(inputs["a"]).mean(1))
    batches, trainer = train(tmp_path, order, num_train_epochs=1, rate=0.0)
    with torch.no_grad():
        x = trainer.model.words(PAIRS.sides[0]).mean(1)
    assert as_sets(batches) == as_sets(blocks_of(gcbs.order(x, batch_size=SIZE, seed=42), SIZE))


def test_groups_never_meet(tmp_path):
    groups = np.arange(ROWS) % 60
    batches, _ = train(tmp_path, GCBS(embed, groups=groups, warmup=1), num_train_epochs=2)
    for batch in batches:
        assert len(set(groups[batch])) == len(batch)


def test_a_stream_is_refused(tmp_path):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return (PAIRS[row] for row in range(ROWS))

    trainer = Trainer(
        PairModel(ROWS),
        TrainingArguments(str(tmp_path), max_steps=3, report_to=[], disable_tqdm=True, use_cpu=True),
        train_dataset=Stream(),
        callbacks=[GCBS(embed)],
    )
    with pytest.raises(gcbs.Error, match="read as a stream"):
        trainer.train()


def test_wrong_arguments_are_named():
    with pytest.raises(gcbs.InputError, match="embed or observe"):
        GCBS()
    with pytest.raises(gcbs.InputError, match="embed or observe"):
        GCBS(embed, observe=observe)
    with pytest.raises(TypeError, match="did you mean 'neighbours'"):
        GCBS(embed, neigbours=3)
