"""gcbs in SentenceTransformerTrainer, as it is: one argument, the real library, real training."""

import os
import shutil

import numpy as np
import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("datasets")
pytest.importorskip("accelerate")

import gcbs  # noqa: E402
import pair_texts  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset, DatasetDict  # noqa: E402
from gcbs.integrations.sentence_transformers import GCBS  # noqa: E402
from pair_texts import as_sets, blocks_of  # noqa: E402
from sentence_transformers import (  # noqa: E402
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from transformers import TrainerCallback  # noqa: E402

try:
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
except ImportError:  # before version 5.4
    from sentence_transformers import losses
    from sentence_transformers.models import StaticEmbedding

ROWS, SIZE = 330, 32


def make_model():
    module = StaticEmbedding(pair_texts.tokenizer(ROWS), embedding_weights=pair_texts.vectors(ROWS).numpy())
    return SentenceTransformer(modules=[module], device="cpu")


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small only lose by more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def pairs():
    anchors, positives = pair_texts.texts(ROWS)
    return Dataset.from_dict({"anchor": anchors, "positive": positives})


class Seen(torch.nn.Module):
    """A loss that remembers the rows of every batch, by the first words of each column."""

    def __init__(self, loss):
        super().__init__()
        self.loss, self.batches = loss, []
        self.model = loss.model  # where the trainer puts the model that keeps processes together

    def forward(self, features, labels):
        if self.model.training:
            columns = [of["input_ids"][of["offsets"]] for of in features]
            self.batches.append([pair_texts.rows_of(column) for column in columns])
        return self.loss(features, labels)


class AtEpochBegin(TrainerCallback):
    """Embeds the pairs by the library's own means, whenever an epoch begins."""

    def __init__(self, pairs):
        self.pairs, self.found = pairs, []

    def on_epoch_begin(self, args, state, control, model=None, **kwargs):
        texts = self.pairs.with_format(None)
        self.found.append([model.encode(texts[name][:]) for name in ("anchor", "positive")])
        model.train()


def train(
    folder,
    pairs,
    order=None,
    *,
    model=None,
    loss=losses.MultipleNegativesRankingLoss,
    callbacks=(),
    held_out=None,
    resume=None,
    **args,
):
    """The batches of a run as lists of rows, in its sequence, and the trainer."""
    model = model or make_model()
    seen = Seen(loss(model))
    usual = {
        "per_device_train_batch_size": SIZE,
        "learning_rate": 1e-2,
        "num_train_epochs": 3,
        "save_strategy": "no",
        "batch_sampler": GCBS(model) if order is None else order,
    }
    quiet = {"report_to": [], "disable_tqdm": True, "use_cpu": True}
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(str(folder), **quiet, **usual | args),
        train_dataset=pairs,
        eval_dataset=held_out,
        loss=seen,
        callbacks=list(callbacks),
    )
    trainer.train(resume_from_checkpoint=resume)
    return seen.batches, trainer


def rows_by_epoch(batches, rows=ROWS):
    return pair_texts.epochs_of(batches, rows, SIZE)


def test_batches_are_the_blocks_of_the_order(tmp_path, pairs):
    embedded = AtEpochBegin(pairs)
    batches, _ = train(tmp_path, pairs, callbacks=[embedded])
    epochs = rows_by_epoch([anchors for anchors, _ in batches])
    assert len(epochs) == len(embedded.found) == 3
    for batches, (x, y) in zip(epochs, embedded.found, strict=True):
        order = gcbs.order(x, y, batch_size=SIZE, seed=42)  # the trainer's seed
        assert as_sets(batches) == as_sets(blocks_of(order, SIZE))
        assert [len(batch) for batch in batches] == [SIZE] * 10 + [ROWS % SIZE]
    assert len({str(epoch) for epoch in epochs}) == 3


def test_positives_come_with_their_anchors(tmp_path, pairs):
    batches, _ = train(tmp_path, pairs, num_train_epochs=1)
    for anchors, positives in batches:
        assert positives == [anchor + ROWS for anchor in anchors]


@pytest.mark.parametrize(
    ("options", "args"),
    [
        ({}, {}),
        ({"method": "pack", "every": 2}, {"gradient_accumulation_steps": 2, "dataloader_num_workers": 2}),
        ({"observe": True}, {"gradient_accumulation_steps": 2}),
        ({"block": 8, "warmup": 1}, {}),
    ],
    ids=["plain", "pack", "observe", "blocks"],
)
def test_a_resumed_run_has_the_same_batches(tmp_path, pairs, options, args):
    accumulated = args.get("gradient_accumulation_steps", 1)
    steps = 11 // accumulated + 11 % accumulated  # of an epoch
    saved = {"save_strategy": "steps", "save_steps": steps // 2 + 1}
    whole, _ = train(tmp_path / "whole", pairs, GCBS(**options), **saved, **args)
    for step in (saved["save_steps"], 2 * saved["save_steps"]):  # in the first and in the second epoch
        moved = tmp_path / f"moved-{step}"
        shutil.copytree(tmp_path / "whole" / f"checkpoint-{step}", moved / f"checkpoint-{step}")
        rest, _ = train(moved, pairs, GCBS(**options), resume=str(moved / f"checkpoint-{step}"), **args)
        epoch, within = divmod(step, steps)
        assert rest == whole[11 * epoch + accumulated * within :]


def test_a_run_resumed_where_an_epoch_ends_has_the_same_batches(tmp_path, pairs):
    whole, _ = train(tmp_path, pairs, GCBS(method="pack"), save_strategy="epoch")
    rest, _ = train(tmp_path, pairs, GCBS(method="pack"), resume=str(tmp_path / "checkpoint-11"))
    assert rest == whole[11:]


def test_a_checkpoint_of_another_batch_size_gives_a_new_order(tmp_path, pairs, caplog):
    train(tmp_path, pairs, save_strategy="steps", save_steps=5, max_steps=5)
    train(tmp_path, pairs, per_device_train_batch_size=SIZE // 2, max_steps=8, resume=True)
    assert "its batch_size is 32" in caplog.text


def test_the_arguments_are_saved_without_the_model(tmp_path, pairs):
    _, trainer = train(tmp_path, pairs, max_steps=2, save_strategy="steps", save_steps=2)
    file = tmp_path / "checkpoint-2" / "training_args.bin"
    assert os.path.getsize(file) < 20_000
    order = torch.load(file, weights_only=False).batch_sampler
    assert order.model is None and order.groups == "text"
    batches, _ = train(tmp_path / "again", pairs, order, max_steps=2)
    assert len(batches) == 2


def test_observe_sees_the_rows_that_it_says_it_sees(tmp_path, pairs):
    order = GCBS(observe=True)
    _, trainer = train(tmp_path, pairs, order, learning_rate=0.0, num_train_epochs=1)
    ids, x, y = order.samplers[0].observed()
    assert ids.tolist() == list(range(ROWS))
    for name, seen in (("anchor", x), ("positive", y)):
        wanted = trainer.model.encode(pairs[name][:], normalize_embeddings=True)
        assert np.abs(seen.astype(np.float32) - wanted).max() < 1e-3


def test_observe_costs_no_forward_pass(tmp_path, pairs):
    calls = []
    model, order = make_model(), GCBS(observe=True)
    handle = model.register_forward_hook(lambda module, inputs, output: calls.append(module.training))
    train(tmp_path, pairs, order, model=model, num_train_epochs=2)
    assert calls == [True] * (2 * 2 * 11)
    assert order.samplers[0].order is not None
    handle.remove()
    assert not model._forward_hooks


def test_pairs_with_a_text_in_common_never_meet(tmp_path, pairs):
    """Anchors, positives, and anchors that are positives elsewhere; no pair is left out."""
    anchors, positives = list(pairs["anchor"]), list(pairs["positive"])
    for row in range(0, 240, 48):  # these four are of one topic, so that they would meet
        anchors[row + 12] = anchors[row]
        positives[row + 24] = positives[row]
        anchors[row + 36] = positives[row]
    doubled = Dataset.from_dict({"anchor": anchors, "positive": positives})
    batches, _ = train(tmp_path, doubled, num_train_epochs=2)
    shared = 0
    for names in batches:
        together = sum(names, [])
        shared += len(together) - len(set(together))
    assert shared == 0
    for epoch in rows_by_epoch(batches):
        assert sum(len(anchors) for anchors, _ in epoch) == ROWS
    alone, _ = train(tmp_path, doubled, GCBS(groups=None), num_train_epochs=1)
    assert any(len(set(sum(names, []))) < 2 * len(names[0]) for names in alone)


def test_groups_may_be_a_column_or_ids(tmp_path, pairs):
    labels = [row % 60 for row in range(ROWS)]  # topic and more: equal labels would meet
    labelled = pairs.add_column("label", labels)
    for order, data in ((GCBS(groups="label"), labelled), (GCBS(groups=[labels, "text"]), pairs)):
        batches, _ = train(tmp_path, data, order, num_train_epochs=1)
        for anchors, _ in batches:
            assert len({anchor % 60 for anchor in anchors}) == len(anchors)
    with pytest.raises(gcbs.InputError, match="groups names no column: 'id'"):
        train(tmp_path, pairs, GCBS(groups="id"))


def test_several_data_sets_have_an_order_each(tmp_path, pairs):
    parts = DatasetDict({"first": pairs.select(range(200)), "second": pairs.select(range(200, ROWS))})
    for observe in (False, True):
        order = GCBS(observe=observe)
        folder = tmp_path / str(observe)
        whole, trainer = train(folder, parts, order, save_strategy="steps", save_steps=16)
        for epoch in rows_by_epoch(whole, rows=12 * SIZE):
            rows = [row for anchors, _ in epoch for row in anchors]
            assert sorted(rows) == list(range(ROWS))
            assert all(len({row < 200 for row in anchors}) == 1 for anchors, _ in epoch)
        last = [anchors for anchors, _ in whole[-12:]]
        for sampler, first in zip(order.samplers, (0, 200), strict=True):
            own = [batch for batch in last if first <= batch[0] < first + sampler.rows]
            assert as_sets(own) == as_sets(blocks_of(sampler.order + first, SIZE))
        rest, _ = train(folder, parts, GCBS(observe=observe), resume=str(folder / "checkpoint-16"))
        assert rest == whole[16:]


def test_embedding_reads_prompts_as_training_does(tmp_path, pairs):
    """A prompt that outweighs the text makes all anchors alike, so that the order is another one."""
    prompts = {"anchor": " ".join(["t3w1"] * 20) + " "}
    order = GCBS()
    train(tmp_path, pairs, order, num_train_epochs=1, learning_rate=0.0, prompts=prompts)
    model = make_model()
    x = model.encode(pairs["anchor"][:], prompt=prompts["anchor"])
    y = model.encode(pairs["positive"][:])
    assert np.array_equal(order.samplers[0].order, gcbs.order(x, y, batch_size=SIZE, seed=42))


def test_evaluation_has_batches_of_its_own(tmp_path, pairs):
    held_out = pairs.select(
        [*range(40), *[0] * 20]
    )  # 20 times the same: cannot be kept apart in batches of 8
    often = {"per_device_eval_batch_size": 8, "eval_strategy": "steps", "eval_steps": 4}
    batches, trainer = train(tmp_path, pairs, held_out=held_out, num_train_epochs=2, **often)
    losses_seen = [entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry]
    assert len(losses_seen) >= 5 and all(np.isfinite(losses_seen))
    for epoch in rows_by_epoch(batches):
        assert sorted(row for anchors, _ in epoch for row in anchors) == list(range(ROWS))


def test_shared_negatives_are_the_extra_columns(tmp_path, pairs):
    for workers, method in ((0, "rcm"), (2, "random")):
        order = GCBS(method=method)
        data = order.with_negatives(pairs)
        more = {"dataloader_num_workers": workers, "dataloader_persistent_workers": workers > 0}
        batches, _ = train(tmp_path, data, order, num_train_epochs=2, **more)
        sampler = order.samplers[0]
        for step, (anchors, positives, negatives) in enumerate(batches[-11:]):
            assert len(anchors) == len(positives) == len(negatives)
            wanted = sampler.extra(step, fill=True)[: len(anchors)] + ROWS
            assert negatives == wanted.tolist()
            assert not set(negatives) & set(positives)
        first, last = (np.array([of[2] for of in epoch[:10]]) for epoch in rows_by_epoch(batches))
        assert (first != last).any()
    assert data.column_names == ["anchor", "positive"]
    with pytest.raises(gcbs.InputError, match="has a column 'positive' already"):
        order.with_negatives(pairs, name="positive")


def test_a_teacher_may_embed(tmp_path, pairs):
    teacher = make_model()
    with torch.no_grad():
        teacher[0].embedding.weight += torch.randn(teacher[0].embedding.weight.shape) * 0.3
    order = GCBS(teacher=teacher, every=None)
    train(tmp_path, pairs, order, num_train_epochs=2)
    x, y = (teacher.encode(pairs[name][:]) for name in ("anchor", "positive"))
    assert np.array_equal(order.samplers[0].order, gcbs.order(x, y, batch_size=SIZE, seed=42))


def test_embedding_leaves_no_trace(tmp_path, pairs):
    """Losses of a run whose batches are natural both times: only the embedding in between differs."""
    found = []
    for every in (1, None):
        model = SentenceTransformer(modules=[*make_model(), _Dropout(torch.nn.Dropout(0.5))], device="cpu")
        order = GCBS(method="natural", every=every)
        _, trainer = train(tmp_path, pairs, order, model=model, logging_steps=1)
        found.append([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])
    assert len(found[0]) == 33 and found[0] == found[1]


class _Dropout(torch.nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.drop = drop

    def forward(self, features, **kwargs):
        return features | {"sentence_embedding": self.drop(features["sentence_embedding"])}


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="did you mean 'neighbours'"):
        GCBS(neigbours=3)
    with pytest.raises(gcbs.InputError, match="every is 0"):
        GCBS(every=0)


def test_outside_of_a_trainer_batches_are_random(pairs, caplog):
    batches = GCBS()(pairs, batch_size=SIZE, drop_last=False)
    assert len(batches) == 11
    assert sorted(row for batch in batches for row in batch) == list(range(ROWS))
    assert "not called by a trainer" in caplog.text


def test_a_callback_without_the_argument_is_an_error(tmp_path, pairs):
    with pytest.raises(gcbs.Error, match="batch_sampler="):
        train(tmp_path, pairs, "batch_sampler", callbacks=[GCBS()])
