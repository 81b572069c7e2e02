"""Batches as the program makes them: blocks, shares, epochs, extra columns, groups apart; against numpy."""

import numpy as np
import pytest
from loss_reference import batches_of, log_sum_exp
from reference import similarities

TEMPERATURE = 0.05


@pytest.fixture
def pairs(gcbs, tmp_path):
    """30 pairs: so few that the sums of the softmax are not estimated."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((30, 6)).astype(np.float32)
    y = (x + 0.7 * rng.standard_normal((30, 6))).astype(np.float32)
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "Y.npy", y)
    np.save(tmp_path / "ids.npy", np.arange(30) % 11)
    return similarities(x, y)


def order_of(gcbs, *words):
    report = gcbs.json("order", "X.npy", "Y.npy", "-o", "order.npy", *words)
    order = np.load(gcbs.folder / "order.npy")
    assert sorted(order) == list(range(len(order))), "every row exactly once"
    return order, report


def best_extras(s, edges, batch, count, ids):
    """The heaviest rows outside the batch, from the definition."""
    share = np.exp(s / TEMPERATURE - log_sum_exp(s / TEMPERATURE)[:, None])
    kept = np.zeros_like(s, dtype=bool)
    kept[tuple(edges.T)] = True
    mass = np.where(kept, share, 0)[batch].sum(axis=0)
    chosen = []
    for row in sorted(range(len(s)), key=lambda j: (-mass[j], j)):
        beside = [*batch, *chosen]
        if mass[row] > 0 and row not in beside and ids[row] not in ids[beside] and len(chosen) < count:
            chosen.append(row)
    return chosen + [-1] * (count - len(chosen))


def test_blocks_stay_whole(gcbs, pairs):
    words = ["-k", 12, "--method", "rcm", "--relative-margin", "none"]  # an order that knows no batches
    plain, _ = order_of(gcbs, *words)
    mixed, report = order_of(gcbs, *words, "--block", 4)
    assert report["options"]["block"] == 4 and report["moved"] == 0 and report["batches"] == 3
    blocks = {tuple(block) for block in batches_of(plain, 4)}
    assert {tuple(block) for block in batches_of(mixed, 4)} == blocks and not np.array_equal(mixed, plain)
    again, _ = order_of(gcbs, *words, "--block", 4)
    other, _ = order_of(gcbs, *words, "--block", 4, "--seed", 1)
    assert np.array_equal(again, mixed) and not np.array_equal(other, mixed)


def test_random_share_leaves_the_rest_in_its_batch(gcbs, pairs):
    words = ["-k", 12, "--relative-margin", "none"]
    plain, _ = order_of(gcbs, *words)
    drawn, report = order_of(gcbs, *words, "--random-share", 0.25)
    assert report["options"]["random_share"] == 0.25
    for before, after in zip(batches_of(plain, 12), batches_of(drawn, 12), strict=True):
        stay = len(before) - int(0.25 * len(before) + 0.5)
        assert stay <= len(set(before) & set(after)) <= len(before)
    assert not np.array_equal(plain, drawn)


def test_epochs_shuffle_batches(gcbs, pairs):
    plain, _ = order_of(gcbs, "-k", 8)  # the last batch has 6
    first, _ = order_of(gcbs, "-k", 8, "--epoch", 1)
    second, _ = order_of(gcbs, "-k", 8, "--epoch", 2)
    batches = sorted(map(tuple, batches_of(plain, 8)))
    assert sorted(map(tuple, batches_of(first, 8))) == sorted(map(tuple, batches_of(second, 8))) == batches
    assert not np.array_equal(first, second)
    assert np.array_equal(first[-6:], plain[-6:]) and np.array_equal(second[-6:], plain[-6:])


@pytest.mark.parametrize("method", ["rcm", "random", "natural"])
def test_extra_columns_are_the_heaviest(gcbs, pairs, method):
    graph = ["-k", 8, "-m", 10, "--relative-margin", "none"]
    words = [*graph, "--method", method, "--extra", 5, "--extra-output", "extra.npy"]
    order, report = order_of(gcbs, *words, "--block", 4)
    extra = np.load(gcbs.folder / "extra.npy")
    assert report["extra_output"] == "extra.npy" and report["options"]["extra"] == 5
    assert extra.dtype == np.int64 and extra.shape == (4, 5)
    gcbs("order", "X.npy", "Y.npy", *graph, "-o", "ignored.npy", "--edges", "edges.npy")
    edges = np.load(gcbs.folder / "edges.npy")
    for batch, found in zip(batches_of(order, 8), extra, strict=True):
        assert list(found) == best_extras(pairs, edges, batch, 5, np.arange(30))
    order_of(gcbs, *words, "--block", 4, "--threads", 3)
    assert np.array_equal(np.load(gcbs.folder / "extra.npy"), extra)


def test_gap_counts_extra_columns_for_x(gcbs, pairs):
    words = ["-k", 8, "-m", 10, "--extra", 5]
    order, _ = order_of(gcbs, *words, "--method", "random", "--extra-output", "extra.npy")
    extra = np.load(gcbs.folder / "extra.npy")
    loss = {"x": 0, "y": 0}
    for batch, columns in zip(batches_of(order, 8), extra, strict=True):
        columns = columns[columns >= 0]
        positive = np.diag(pairs)[batch] / TEMPERATURE
        met = pairs[np.ix_(batch, [*batch, *columns])] / TEMPERATURE
        loss["x"] += (log_sum_exp(met) - positive).sum() / 30
        loss["y"] += (log_sum_exp(pairs[np.ix_(batch, batch)].T / TEMPERATURE) - positive).sum() / 30
    report = gcbs.json("gap", "X.npy", "Y.npy", *words, "--method", "random", "--order", "order.npy")
    plain = gcbs.json("gap", "X.npy", "Y.npy", "-k", 8, "-m", 10, "--order", "order.npy")
    for found in report["orders"]:
        assert found["loss_train"]["x"] == pytest.approx(loss["x"], rel=1e-9)
        assert found["loss_train"]["y"] == pytest.approx(loss["y"], rel=1e-9)
    assert report["random"] == plain["random"], "random batches have no extra columns"
    assert loss["x"] > plain["orders"][0]["loss_train"]["x"] + 0.1
    assert "5 extra columns" in gcbs("compare", "X.npy", "Y.npy", *words).stdout


def test_gap_keeps_groups_apart_in_methods(gcbs, pairs):
    report = gcbs.json("gap", "X.npy", "Y.npy", "-k", 8, "--groups", "ids.npy", "--method", "rcm")
    assert report["orders"][0]["moved"] > 0 and report["orders"][0]["suspects_in_batch"] is None
    np.save(gcbs.folder / "ids.npy", np.arange(30) // 10)
    done = gcbs.fails("gap", "X.npy", "Y.npy", "-k", 8, "--groups", "ids.npy", code=3)
    assert "group 0, which has 10 rows" in done.stderr and "4 batches" in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--block", 5], "divisor"),
        (["--block", 24], "divisor"),
        (["--block", 0], "--block"),
        (["--random-share", 1.5], "from 0 to 1"),
        (["--random-share", "nan"], "--random-share"),
        (["--epoch", -1], "--epoch"),
        (["--extra", 4], "--extra-output"),
        (["--extra-output", "e.npy"], "--extra is missing"),
        (["--extra", 0, "--extra-output", "e.npy"], "--extra"),
        (["--extra", 4, "--extra-output", "order.npy"], "order.npy"),
    ],
)
def test_wrong_options(gcbs, pairs, words, said):
    done = gcbs.fails("order", "X.npy", "Y.npy", "-k", 12, "-o", "order.npy", *words, code=2)
    assert said in done.stderr
    assert not (gcbs.folder / "order.npy").exists()
