"""The method pack from outside: what it gains, what it keeps apart, flags, errors, Ctrl-C."""

import os
import signal
import subprocess

import numpy as np
import pytest

N, K = 1500, 16


@pytest.fixture
def clustered(tmp_path):
    """Pairs around 60 centres, rows shuffled."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((60, 24))[rng.integers(60, size=N)] + 0.5 * rng.standard_normal((N, 24))
    np.save(tmp_path / "X.npy", x.astype(np.float32))
    np.save(tmp_path / "Y.npy", (x + 0.4 * rng.standard_normal((N, 24))).astype(np.float32))
    np.save(tmp_path / "ids.npy", np.arange(N) % 400)


def order_of(gcbs, *words, output="order.npy"):
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", K, "-m", 40, "--method", "pack", "-o", output, *words)
    order = np.load(gcbs.folder / output)
    assert sorted(order) == list(range(N)), "every row exactly once"
    return order, report


def closed(gcbs, *words):
    report = gcbs.json("compare", "X.npy", "Y.npy", "-k", K, "-m", 40, "--random-trials", 5, *words)
    return {order["name"]: order for order in report["orders"]}


def test_closes_more_of_the_gap_than_the_paper(gcbs, clustered):
    orders = closed(gcbs, "--methods", "random,rcm,chain,pack")
    assert (
        orders["pack"]["gap_closed"] > max(orders["rcm"]["gap_closed"], orders["chain"]["gap_closed"]) + 0.1
    )
    best = closed(gcbs, "--methods", "pack", "--effort", "best")["pack"]["gap_closed"]
    fast = closed(gcbs, "--methods", "pack", "--effort", "fast")["pack"]["gap_closed"]
    assert best > orders["pack"]["gap_closed"] > fast


def test_objectives_are_what_they_say(gcbs, clustered):
    by = {
        objective: closed(gcbs, "--methods", "pack", "--objective", objective)["pack"]
        for objective in ("loss", "edges")
    }
    assert by["edges"]["edges_in_batch"] > by["loss"]["edges_in_batch"]
    assert by["loss"]["gap_closed"] > by["edges"]["gap_closed"]


@pytest.mark.parametrize("effort", ["fast", "default"])
def test_same_bytes_however_it_runs(gcbs, clustered, effort):
    wanted, report = order_of(gcbs, "--effort", effort)
    assert report["options"]["effort"] == effort and report["method"] == "pack"
    runs = [("--threads", threads) for threads in (1, 2, 3, 7)]
    runs += [("--isa", isa) for isa in gcbs.isas()] + [("--shortcut", "on"), ("--shortcut", "off")]
    for words in runs:
        assert np.array_equal(order_of(gcbs, "--effort", effort, *words)[0], wanted), words


def test_starts_from_an_order(gcbs, clustered):
    first, _ = order_of(gcbs, output="first.npy")
    again, report = order_of(gcbs, "--from", "first.npy", output="again.npy")
    assert report["options"]["from"] == "first.npy"
    both = closed(gcbs, "--methods", "random", "--order", "first=first.npy", "--order", "again=again.npy")
    assert both["again"]["gap_closed"] >= both["first"]["gap_closed"] - 1e-3
    # What was good already stays: nearly all rows are still with most of their batch.
    mates = {row: set(first[p // K * K : p // K * K + K]) for p, row in enumerate(first)}
    kept = [len(mates[row] & set(again[p // K * K : p // K * K + K])) for p, row in enumerate(again)]
    assert np.mean(kept) > 0.8 * K


def test_groups_and_suspects_stay_out(gcbs, clustered):
    ids = np.load(gcbs.folder / "ids.npy")
    order, report = order_of(gcbs, "--groups", "ids.npy", "--relative-margin", 0.1)
    for first in range(0, N, K):
        batch = order[first : first + K]
        assert len(set(ids[batch])) == len(batch)
    assert report["suspects_in_batch"] < 0.02 * N * K / 2


def test_memory_is_refused_before_the_run(gcbs, clustered):
    gcbs.fails(
        *("order", "X.npy", "Y.npy", "-k", K, "--method", "pack", "-o", "order.npy", "--memory-limit", "1M"),
        code=5,
        says=["memory"],
    )
    assert not (gcbs.folder / "order.npy").exists()


@pytest.mark.parametrize(
    "words, code, says",
    [
        (["--method", "rcm", "--effort", "best"], 2, "--effort goes with the method pack"),
        (["--method", "pack", "--effort", "long"], 2, "it takes one of fast, default, best"),
        (["--method", "pack", "--objective", "gap"], 2, "one of edges, similarity, loss"),
        (["--method", "pack", "--temperature", "0"], 2, "it takes a number above 0"),
        (["--method", "pack", "--from", "nowhere.npy"], 3, "nowhere.npy"),
        (["--method", "pack", "--from", "ids.npy"], 3, "is no order of these rows: a row comes twice"),
        (["--method", "pack", "--from", "short.npy"], 3, "is no order of these rows: it has 7 entries"),
    ],
)
def test_errors_say_what_is_wrong(gcbs, clustered, words, code, says):
    np.save(gcbs.folder / "short.npy", np.arange(7))
    gcbs.fails("order", "X.npy", "Y.npy", "-k", K, "-o", "order.npy", *words, code=code, says=[says])
    assert not (gcbs.folder / "order.npy").exists()


def test_ctrl_c_while_packing(gcbs, tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(3).random((6000, 8), dtype=np.float32))
    words = [
        "order",
        "X.npy",
        "-k",
        "64",
        "-m",
        "64",
        "--method",
        "pack",
        "--effort",
        "best",
        "-o",
        "order.npy",
    ]
    process = gcbs.start(*words, stderr=subprocess.PIPE)
    for line in process.stderr:
        if b"order" in line:
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=2) == 130
    assert sorted(os.listdir(tmp_path)) == ["X.npy"]


def test_memory_is_16_bytes_an_edge(gcbs, tmp_path):
    """Few values a row and many edges: what pack holds is edges."""
    rng = np.random.default_rng(5)
    np.save(tmp_path / "X.npy", rng.standard_normal((4000, 8)).astype(np.float32))
    report = gcbs.json("order", "X.npy", "-k", 64, "-m", 1000, "--method", "pack", "-o", "order.npy")
    assert report["edges"] > 3_900_000
    assert report["peak_bytes"] < 16 * report["edges"] + 1000 * 4000


def test_swaps_are_counted(gcbs, clustered):
    assert order_of(gcbs)[1]["swaps"] > 100
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", K, "--method", "rcm", "-o", "order.npy")
    assert report["swaps"] is None
    said = gcbs("order", "X.npy", "Y.npy", "-k", K, "--method", "pack", "-o", "order.npy").stderr
    assert "swaps" in said
