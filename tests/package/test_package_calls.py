"""gap, compare, mine, info, and what holds for every call: errors, progress, interrupts, threads, leaks."""

import doctest
import json
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time

import gcbs
import numpy as np
import pytest


def test_docstrings_run():
    from gcbs import _api

    done = doctest.testmod(_api)
    assert done.attempted > 10
    assert done.failed == 0


def test_gap_is_the_programs(program, pairs, tmp_path):
    for name, side in zip("xy", pairs, strict=True):
        np.save(tmp_path / f"{name}.npy", side)
    order = gcbs.order(*pairs, batch_size=12)
    np.save(tmp_path / "order.npy", order)
    done = subprocess.run(
        [program, "gap", tmp_path / "x.npy", tmp_path / "y.npy", "-k", "12", "--method", "pack"]
        + ["--order", f"mine={tmp_path / 'order.npy'}", "--temperature", "0.1", "--json", "--quiet"],
        check=True,
        capture_output=True,
    )
    about = json.loads(done.stdout)
    found = gcbs.gap(*pairs, batch_size=12, methods=["pack"], orders={"mine": order}, temperature=0.1)
    assert vars(found.loss_global) == about["loss_global"]
    assert found.random.loss_mean == about["random"]["loss_train"]["mean"]
    assert found.oracle.loss_train == about["oracle"]["loss_train"]
    assert [entry.name for entry in found.orders] == ["pack", "mine"]
    for entry, theirs in zip(found.orders, about["orders"], strict=True):
        assert vars(entry.loss_train) == theirs["loss_train"]
        assert vars(entry.bounds) == theirs["bounds"]
        assert entry.gap_closed == theirs["gap_closed"]
        assert entry.per_batch.shape == (50, 2)
        assert entry.per_batch[:, 0].mean() == pytest.approx(entry.loss_train.both, rel=1e-6)
    with pytest.raises(KeyError, match="the orders are pack, mine"):
        found["rcm"]


def test_compare_prints_the_table(pairs):
    table = gcbs.compare(*pairs, batch_size=12, orders={"natural": np.arange(600)})
    assert [entry.name for entry in table.orders] == ["random", "rcm", "chain", "pack", "natural"]
    assert "pack *" in str(table)
    assert "<th>pack</th>" in table._repr_html_()


def test_negatives_count_in_the_gap(pairs):
    x, y = pairs
    plain = gcbs.gap(x, y, batch_size=12)
    more = gcbs.gap(x, y, batch_size=12, negatives=np.roll(y, 1, axis=0))
    assert more["rcm"].loss_train.x > plain["rcm"].loss_train.x


def test_mine_is_brute_force(pairs):
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in pairs)
    similar = x.astype(np.float64) @ y.T.astype(np.float64)
    np.fill_diagonal(similar, -np.inf)
    wanted = np.argsort(-similar, axis=1, kind="stable")[:, :4]
    found = gcbs.mine(*pairs, top=4)
    assert np.array_equal(found.negatives, wanted)
    assert np.allclose(found.scores, np.take_along_axis(similar, wanted, 1), atol=1e-6)
    assert "a row" in str(found)


def test_mine_in_a_corpus(pairs):
    x, y = pairs
    corpus = np.vstack([np.roll(y, 3, axis=0), x[:50]])
    places = (np.arange(600) + 3) % 600
    found = gcbs.mine(x, corpus=corpus, positives=places, top=2, relative_margin=0.0)
    assert not (found.negatives == places[:, None]).any()
    with pytest.raises(TypeError, match="y or corpus"):
        gcbs.mine(x, y, corpus=corpus, top=1)
    with pytest.raises(TypeError, match="with a corpus"):
        gcbs.mine(x, y, positives=places, top=1)


def test_mining_knows_duplicates(pairs):
    x, y = (np.vstack([side, side[:100]]) for side in pairs)
    found = gcbs.mine(x, y, top=3, groups=["duplicates", np.arange(700)]).negatives
    twin = np.arange(700)
    twin[:100], twin[600:] = np.arange(600, 700), np.arange(100)
    assert not (found == twin[:, None]).any()
    assert (gcbs.mine(x, y, top=3).negatives == twin[:, None]).any()


def test_info_names_the_version():
    assert gcbs.info().version == gcbs.__version__
    assert gcbs.info().chosen in gcbs.info().available


WRONG = [
    ({"batch_size": 1}, "usage", "a batch of 1 has no negatives"),
    ({"batch_size": 601}, "input", "larger than the data"),
    ({"batch_size": -3}, "usage", "batch_size cannot be -3"),
    ({"batch_size": "many"}, "usage", "batch_size cannot be 'many'"),
    ({"batch_size": 12, "method": "rmc"}, "usage", "method cannot be 'rmc'"),
    ({"batch_size": 12, "quantile": 1.0}, "usage", "quantile 1.0"),
    ({"batch_size": 12, "quantile": 0.5, "neighbours": 3}, "usage", "contradict"),
    ({"batch_size": 12, "neighbours": 0}, "usage", "make no graph"),
    ({"batch_size": 12, "block": 5}, "usage", "do not fill a batch"),
    ({"batch_size": 12, "random_share": 2}, "usage", "random share"),
    ({"batch_size": 12, "temperature": 0}, "usage", "temperature"),
    ({"batch_size": 12, "temperature": float("nan")}, "usage", "temperature cannot be nan"),
    ({"batch_size": 12, "relative_margin": 3}, "usage", "margin"),
    ({"batch_size": 12, "symmetric": True, "relative_margin": None}, "usage", "needs a margin"),
    ({"batch_size": 12, "groups": np.zeros(5, int)}, "input", "5"),
    ({"batch_size": 12, "groups": np.zeros(600)}, "input", "no list of whole numbers"),
    ({"batch_size": 12, "groups": np.zeros(600, int)}, "input", "group"),
    ({"batch_size": 12, "groups": "same"}, "usage", "groups cannot be 'same'"),
    ({"batch_size": 12, "method": "pack", "start": [1, 2]}, "input", "no order of these rows"),
    ({"batch_size": 12, "memory_limit": "1K"}, "resource", "memory"),
    ({"batch_size": 12, "memory_limit": "lots"}, "usage", "memory_limit cannot be 'lots'"),
    ({"batch_size": 12, "isa": "sse9"}, "usage", "isa cannot be 'sse9'"),
]


@pytest.mark.parametrize(("options", "kind", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_options_say_so(pairs, options, kind, words):
    with pytest.raises(gcbs.Error) as caught:
        gcbs.order(*pairs, **options)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError) == (kind in ("usage", "input"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.kind) == (str(caught.value), kind)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x: x[:, :0], "x is 600 x 0"),
        (lambda x: x[:5], "differ in shape"),
        (lambda x: x[0], "x is no matrix of embeddings: it has 1 dimensions"),
        (lambda x: x.astype(int), "not float32"),
        (lambda x: np.where(np.arange(600)[:, None] == 9, np.nan, x), "row 9 of x holds NaN"),
        (lambda x: np.where(np.arange(600)[:, None] == 9, 0, x), "row 9 of x"),
    ],
)
def test_wrong_embeddings_say_so(pairs, spoil, words):
    x, y = pairs
    with pytest.raises(gcbs.InputError) as caught:
        gcbs.order(spoil(x), y, batch_size=12)
    assert words in str(caught.value)


def test_misspelt_options_are_type_errors(pairs):
    with pytest.raises(TypeError, match="did you mean 'neighbours'"):
        gcbs.order(*pairs, batch_size=12, neighbors=3)
    with pytest.raises(TypeError, match=r"gcbs\.mine\(\) has no option 'block'"):
        gcbs.mine(*pairs, top=1, block=3)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(1)
    return rng.random((30_000, 256), dtype=np.float32), rng.random((30_000, 256), dtype=np.float32)


def test_progress_is_told_and_may_stop(large):
    calls = []

    def tell(stage, done, total):
        calls.append((threading.get_ident(), stage, done, total))

    gcbs.gap(*large, batch_size=64, progress=tell)
    assert calls
    assert {call[0] for call in calls} == {threading.get_ident()}
    assert all(0 <= done <= total for _, _, done, total in calls)

    class Enough(Exception):
        pass

    def stop(stage, done, total):
        raise Enough(stage)

    start = time.monotonic()
    with pytest.raises(Enough):
        gcbs.gap(*large, batch_size=64, progress=stop)
    assert time.monotonic() - start < 5


def test_ctrl_c_is_a_keyboard_interrupt():
    code = """
import time, numpy, gcbs
x = numpy.random.default_rng(0).random((60000, 256), dtype=numpy.float32)
print("ready", flush=True)
start = time.monotonic()
try:
    gcbs.gap(x, batch_size=64)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start, flush=True)
"""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.7)
    run.send_signal(signal.SIGINT)
    word, seconds = run.communicate(timeout=60)[0].split()
    assert word == "interrupted"
    assert run.returncode == 0
    assert float(seconds) < 3


def order_of_seed(seed):
    x = np.random.default_rng(seed).random((400, 16), dtype=np.float32)
    return gcbs.order(x, batch_size=20)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_works_in_child_processes(method):
    here = order_of_seed(3)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        for found in pool.map(order_of_seed, [3, 3]):
            assert np.array_equal(found, here)


def test_two_threads_may_call_at_once():
    wanted = [order_of_seed(seed) for seed in range(4)]
    found = [None] * 4

    def work(at):
        for _ in range(5):
            found[at] = order_of_seed(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_thousand_calls_leak_nothing():
    x = np.random.default_rng(0).random((64, 8), dtype=np.float32)

    def call():
        gcbs.plan(x, batch_size=8, edges=True, extra=2, groups=np.arange(64) // 2)
        with pytest.raises(gcbs.InputError):
            gcbs.order(x, batch_size=1)

    for _ in range(200):
        call()
    before = resident_bytes()
    for _ in range(1000):
        call()
    assert resident_bytes() - before < 2**20
    files = len(os.listdir("/proc/self/fd"))
    threads = len(os.listdir("/proc/self/task"))
    call()
    assert (files, threads) == (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))


def test_embeddings_are_not_copied():
    """400 MB of embeddings, ordered at random with groups apart: nothing of their size is allocated."""
    code = """
import numpy, gcbs, resource
x = numpy.random.default_rng(0).random((50_000, 1000), dtype=numpy.float32)
y = x + 0
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
plan = gcbs.plan(x, y, batch_size=50, method="random", groups=numpy.arange(50_000) // 2)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    assert grown < 60e6
