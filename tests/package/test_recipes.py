"""The recipes: specs, losses, metrics and statistics against their definitions; one tiny training run."""

import gzip
import io
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("sentence_transformers")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from recipes import code_search, files, metrics, record, render, sentences, spec, text, vision  # noqa: E402
from recipes.encoders import Encoder, Tokens  # noqa: E402


def test_specs_split_settings_from_sampler_options():
    given = spec.parse("pack:block=8,extra=16,warmup=2,relative_margin=0.05,temperature=0.1")
    assert (given.method, given.warmup, given.temperature) == ("pack", 2, 0.1)
    assert given.sampler == {"block": 8, "extra": 16, "relative_margin": 0.05}
    assert given.ordered and not spec.parse("random").ordered and spec.parse("random:mine=1").ordered
    with pytest.raises(ValueError, match="no method 'sorted'"):
        spec.parse("sorted:block=8")


def test_loss_is_the_softmax_over_unmasked_columns():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(7, 8)), random.normal(size=(7, 8))
    same = np.zeros((4, 7), bool)
    same[1, 2] = same[2, 1] = same[3, 5] = True

    def wanted(anchors, columns):
        scores = np.exp(anchors[:4] @ columns.T / 0.5) * ~same[:, : len(columns)]
        return -np.log(np.diag(scores) / scores.sum(axis=1)).mean()

    def found(x, y, direction):
        return float(text.contrast(*map(torch.from_numpy, (x, y)), 4, 0.5, torch.from_numpy(same), direction))

    assert found(x[:4], y, "x") == pytest.approx(wanted(x, y), rel=1e-12)
    assert found(x[:4], y, "both") == pytest.approx((wanted(x, y) + wanted(y, x[:4])) / 2, rel=1e-12)
    assert found(x, y, "both") == pytest.approx((wanted(x, y) + wanted(y, x)) / 2, rel=1e-12)


def test_two_views_are_contrasted_with_all_others():
    random = np.random.default_rng(0)
    z, more = random.normal(size=(6, 8)), random.normal(size=(2, 8))
    scores = np.exp(z @ np.concatenate([z, more]).T / 0.5)
    np.fill_diagonal(scores, 0)
    wanted = -np.mean([np.log(scores[i, (i + 3) % 6] / scores[i].sum()) for i in range(6)])
    assert float(vision.nt_xent(torch.from_numpy(z), torch.from_numpy(more), 0.5)) == pytest.approx(wanted)


def test_images_of_a_record_file_and_one_epoch_on_them(tmp_path):
    pytest.importorskip("kornia")
    torch.set_num_threads(1)
    for name, count in (("cifar10_jpeg_train.rec.gz", 48), ("cifar10_jpeg_test.rec.gz", 8)):
        with gzip.open(tmp_path / name, "wb") as file:
            for at in range(count):
                held = io.BytesIO()
                Image.new("RGB", (16, 16), (at * 5, 255 - at * 5, 100)).save(held, "JPEG")
                file.write(struct.pack("<BH", at % 2, len(held.getvalue())) + held.getvalue())
    images, labels = vision.records(tmp_path / "cifar10_jpeg_train.rec.gz", 40, 32)
    assert images.shape == (40, 3, 32, 32)
    shade = images[:, 0].float().mean((1, 2)) / 5  # the number of the record
    assert len(np.unique(shade.round())) == 40 and (abs(shade - shade.round()) < 0.45).all()
    assert (shade.round().int().numpy() % 2 == labels).all()
    again, _ = vision.records(tmp_path / "cifar10_jpeg_train.rec.gz", 40, 32)
    assert (again == images).all()
    task = vision.ImageTask(
        images, labels, {"dev": (images[:4], labels[:4]), "test": (images[4:], labels[4:])}, "vision"
    )
    given = spec.resolve(spec.parse("pack:batch_size=10,epochs=2,extra=2"), task)
    run = task.run("resnet", given, 0.001, 0, 1, threads=1)
    before = [value.clone() for value in run.net.parameters()]
    assert [point["step"] for point in run.train()] == [0, 4, 8]
    assert run.encoded == 2 * 40 * 2 + 8 * 2 and run.refreshed == 2 * 40 * 2
    assert all((a != b).any() for a, b in zip(before, run.net.parameters(), strict=True))

    given = spec.resolve(spec.parse("rcm:batch_size=10,epochs=1,queue=25"), task)
    run = task.run("resnet", given, 0.001, 0, 1, threads=1)
    run.train()
    assert run.encoded == 2 * 40 and run.queue.shape == (25, 64)
    for slow, own, first in zip(run.slow.parameters(), run.net.parameters(), before, strict=True):
        assert (abs(slow - first) <= 0.05 * abs(own - first).max() + 1e-7).all()  # it lags behind


def test_metrics_on_cases_known_by_hand():
    candidates = np.eye(3)
    queries = np.array([[1.0, 0, 0], [0.9, 0.5, 0], [0.3, 0.2, 0.1]])
    assert metrics.mrr(queries, candidates, np.arange(3)) == pytest.approx(100 * (1 + 1 / 2 + 1 / 3) / 3)
    assert metrics.mrr(np.ones((1, 3)), candidates, np.array([0])) == pytest.approx(100 / 3)  # ties count
    assert metrics.sts(np.eye(3), np.diag([0.1, 0.5, 0.9]), [1, 2, 3]) == pytest.approx(100)
    bank, labels = np.array([[1.0, 0], [0.9, 0.1], [0, 1.0]]), np.array([0, 0, 1])
    assert metrics.knn_accuracy(bank, labels, np.array([[1.0, 0], [0, 1.0]]), np.array([0, 1]), 2) == 100


def test_interval_is_students():
    mean, half = record.interval([1.0, 2.0, 3.0])
    assert (mean, half) == (2.0, pytest.approx(4.302652729911275 / math.sqrt(3)))
    assert math.isnan(record.interval([1.0])[1])


def result_line(rate, seed, dev):
    return {"method": "m", "rate": rate, "seed": seed, "curve": [{"dev": dev, "test": 100 - dev}]}


def test_rate_is_chosen_on_dev_of_the_first_seed():
    tried = [(0.1, 0, 5), (0.2, 0, 7), (0.1, 1, 99), (0.2, 1, 1)]
    lines = [result_line(*run) for run in tried]
    assert record.best_rate(lines) == 0.2


def test_tables_take_the_rate_with_the_most_seeds_then_the_best_dev():
    tried = [(0.1, 0, 5), (0.2, 0, 7), (0.1, 1, 99), (0.2, 1, 1), (0.3, 0, 999)]
    lines = [result_line(*run) for run in tried]
    taken = record.by_method(lines)["m"]
    assert {seed: found["rate"] for seed, found in taken.items()} == {0: 0.1, 1: 0.1}


def test_missing_data_is_named_with_its_source(tmp_path):
    with pytest.raises(files.MissingData) as problem:
        code_search.load(tmp_path)
    said = str(problem.value)
    assert str(tmp_path / "cosqa_queries.jsonl.gz") in said and "retrieval_split" in said
    assert "github.com/Jun-jie-Huang/CoCLR" in said


class TinyEncoder(Encoder):
    """A table of random rows; a text is a list of numbers."""

    name, chunk, width = "tiny", 100, 16

    def __init__(self):
        torch.manual_seed(0)
        table = torch.nn.EmbeddingBag(200, self.width, mode="mean", sparse=True)
        super().__init__(table, None, False)

    def tokenise(self, texts, length):
        ids = [[int(word) for word in text.split()][:length] for text in texts]
        return Tokens(np.concatenate(ids), np.concatenate([[0], np.cumsum([len(row) for row in ids])]))

    def embed(self, tokens, rows):
        ids, begins = tokens.take(np.asarray(rows))
        out = self.model(torch.from_numpy(ids), torch.from_numpy(begins))
        return torch.nn.functional.normalize(out, dim=1)

    def optimiser(self, rate):
        return torch.optim.SparseAdam(list(self.model.parameters()), lr=rate)


def write(path, rows):
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path):
    """100 codes of two tokens each; a query is its code's tokens in another alphabet."""
    codes = [(code, 100 + code % 50) for code in range(100)]
    splits = ["train", "train", "train", "dev", "test"]
    write(
        tmp_path / "cosqa_codes.jsonl.gz",
        [{"code_id": c, "code": f"{a} {b}", "code_tokens": f"{a} {b}"} for c, (a, b) in enumerate(codes)],
    )
    rows = [(code, split) for split in splits for code in range(100)]
    write(
        tmp_path / "cosqa_queries.jsonl.gz",
        [{"query": f"{100 + c} {c % 50}", "code_id": c, "retrieval_split": split} for c, split in rows],
    )
    return tmp_path


@pytest.mark.parametrize(
    "method",
    [
        "random",
        "pack:block=4",
        "random:extra=4",
        "random:extra=4,sides=2",
        "random:mine=1",
        "rcm:warmup=1,observe=1",
        "metis:skip=0",
    ],
)
def test_every_kind_of_method_learns(data, method):
    if method.startswith("metis"):
        pytest.importorskip("pymetis")
    torch.set_num_threads(1)
    task = code_search.load(data)
    resolved = spec.resolve(
        spec.parse(f"{method}{',' if ':' in method else ':'}batch_size=20,epochs=2"), task
    )
    run = text.TextTrainer(task, TinyEncoder(), resolved, 0.1, 0, per_epoch=1, threads=1)
    batches, run.look = [], True
    step = run.step
    run.step = lambda at, batch: (batches.append(batch), step(at, batch))[1]
    curve = run.train()
    assert [point["step"] for point in curve] == [0, 15, 30] and run.total == 30
    assert curve[-1]["test"] > curve[0]["test"] + 5
    assert sorted(np.concatenate(batches[:15])) == list(range(300))
    assert [figure["epoch"] for figure in run.figures] == [0, 1]
    assert run.figures[1]["loss_global"] < run.figures[0]["loss_global"]
    first, second = (figure["loss_of_steps"] for figure in run.figures)
    assert len(first) == 2 and second[-1] < first[0]
    if "observe" in method:
        assert 0 < run.figures[1]["kept_by_fresh_pass"] < 1
    if method == "pack:block=4":
        assert all(figure["loss_train"] > figure["loss_random"] for figure in run.figures)
    if "metis" not in method:
        assert all(len(set(run.document_of_row[batch])) == len(batch) for batch in batches)
    more = {"random:extra=4": 4 * 30, "random:extra=4,sides=2": 8 * 30}.get(method, 0)
    assert run.encoded == 2 * 300 * 2 + more or "mine" in method and run.encoded > 2 * 300 * 2
    assert (run.refreshed > 0) == (method not in ("random", "rcm:warmup=1,observe=1"))


def test_triples_that_share_a_sentence_are_one_group(tmp_path):
    rows = ["a b x", "a c y", "d c z", "e f x", "g b w"]  # a-b, a-c, d-c, g-b hang together
    with gzip.open(tmp_path / "snli_devtest_triples.tsv.gz", "wt") as file:
        file.write("source\tin_sts\tsent0\tsent1\thard_neg\n")
        file.writelines("dev\t0\t" + row.replace(" ", "\t") + "\n" for row in rows)
        file.write("dev\t1\te\tb\tv\n")  # in an STS set: left out, and no link
    (tmp_path / "sts_eval.tsv.gz").touch()
    task = sentences.load_triples(tmp_path)
    assert task.x == ["a", "a", "d", "e", "g"] and task.negatives == ["x", "y", "z", "x", "w"]
    assert [task.documents[at] for at in task.document_of_row] == ["b", "c", "c", "f", "b"]
    first, other = task.group_of_row[0], task.group_of_row[3]
    assert first != other and task.group_of_row.tolist() == [first, first, first, other, first]


def test_a_varied_setting_is_shown_with_and_without_it():
    methods = ["random", "pack", "pack:block=8", "pack:block=8,mine=1", "random:noise=0.1", "rcm"]
    lines = [{"method": method} for method in methods]

    def shown(name):
        return [line["method"] for line in render.ours(name, lines)]

    assert shown("block") == ["random", "pack", "pack:block=8"]  # pack:mine=1 was not run
    assert shown("mine") == ["random", "pack:block=8", "pack:block=8,mine=1"]
    assert shown("noise") == ["random", "random:noise=0.1"]


def test_hard_negatives_of_the_data_are_columns(data):
    torch.set_num_threads(1)
    task = code_search.load(data)
    task.negatives = [task.documents[(document + 1) % 100] for document in task.document_of_row]
    resolved = spec.resolve(spec.parse("random:batch_size=20,epochs=1"), task)
    run = text.TextTrainer(task, TinyEncoder(), resolved, 0.1, 0, per_epoch=1, threads=1)
    loss, x, y = run.loss(np.arange(20), np.empty(0, np.int64))
    hard = run.encoder.embed(run.documents, np.arange(1, 21)).detach()
    wanted = text.contrast(x, torch.cat([y, hard]), 20, task.temperature, torch.zeros(20, 40).bool(), "both")
    assert loss.item() == pytest.approx(float(wanted), rel=1e-6)
    assert run.encoded == 3 * 20


@pytest.mark.parametrize("per_epoch, steps", [(0, [0, 30]), (1, [0, 15, 30]), (2, [0, 7, 15, 22, 30])])
def test_evaluations_an_epoch(data, per_epoch, steps):
    torch.set_num_threads(1)
    task = code_search.load(data)
    resolved = spec.resolve(spec.parse("random:batch_size=20,epochs=2"), task)
    run = text.TextTrainer(task, TinyEncoder(), resolved, 0.1, 0, per_epoch=per_epoch, threads=1)
    assert [point["step"] for point in run.train()] == steps


def test_noise_swaps_documents_and_keeps_their_counts():
    rows = np.arange(1000) % 300
    swapped = text.noisy(rows, 0.1, seed=1)
    assert 60 < (swapped != rows).sum() < 140
    assert (np.bincount(swapped) == np.bincount(rows)).all()
