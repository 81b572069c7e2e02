"""Embeddings that training shows anyway, and refreshes beside it."""

import subprocess
import sys
import threading
import warnings

import gcbs
import numpy as np
import pytest
from gcbs import BatchSampler

ANEW = {"method": "rcm"}
"""an order that does not start from the last one, as pack does"""


def observe_all(sampler, x, y=None, rows=None):
    for batch in sampler:
        batch = [row for row in batch if rows is None or row in rows]
        sampler.observe(batch, x[batch], None if y is None else y[batch])


def kept(values, dtype=np.float16):
    """What is left of embeddings that go through the store."""
    wide = values.astype(np.float64)
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32).astype(dtype)


def sets_of(batches):
    return {frozenset(batch) for batch in batches}


@pytest.mark.parametrize("store", ["float16", "float32"])
def test_observed_rows_give_the_order_of_their_embeddings(pairs, store):
    x, y = pairs
    sampler = BatchSampler(600, 50, store=store)
    observe_all(sampler, x, y)
    sampler.refresh()
    wanted = gcbs.order(kept(x, store), kept(y, store), batch_size=50)
    assert np.array_equal(sampler.order, wanted)
    ids, kept_x, kept_y = sampler.observed()
    assert np.array_equal(ids, np.arange(600)) and kept_x.dtype == store
    again = BatchSampler(600, 50, store=store)
    again.load_observed(ids, kept_x, kept_y)
    again.refresh()
    assert np.array_equal(again.order, wanted)


def test_observe_takes_tensors_as_the_loop_has_them(pairs):
    torch = pytest.importorskip("torch")
    x, y = pairs
    plain, tensors = BatchSampler(600, 50, **ANEW), BatchSampler(600, 50, **ANEW)
    plain.observe(np.arange(600), x, y)
    weight = torch.ones(1, requires_grad=True)
    tensors.observe(torch.arange(600), torch.from_numpy(x) * weight, torch.from_numpy(y))
    for sampler in (plain, tensors):
        sampler.refresh()
    assert np.array_equal(plain.order, tensors.order)
    tensors.observe(torch.arange(600), torch.from_numpy(x).bfloat16(), torch.from_numpy(y).half())
    tensors.refresh()
    wanted = gcbs.order(
        kept(torch.from_numpy(x).bfloat16().float().numpy()),
        kept(y.astype(np.float16)),
        batch_size=50,
        **ANEW,
    )
    assert np.array_equal(tensors.order, wanted)


def test_rows_never_seen_keep_their_last_embedding(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, **ANEW)
    sampler.refresh(x, y)
    some = np.arange(0, 600, 2)
    sampler.observe(some, y[some], x[some])
    sampler.refresh()
    now_x, now_y = x.copy(), y.copy()
    now_x[some], now_y[some] = y[some], x[some]
    assert np.array_equal(sampler.order, gcbs.order(kept(now_x), kept(now_y), batch_size=50, **ANEW))


@pytest.mark.parametrize(
    "options",
    [
        ANEW,
        {"groups": np.arange(600) // 5, **ANEW},
        {"extra": 4, "method": "pack"},
        {"groups": np.arange(600) // 5, "extra": 40, **ANEW},
    ],
)
def test_rows_without_an_embedding_stand_at_the_end(pairs, options):
    x, y = pairs
    seen = np.sort(np.random.default_rng(1).permutation(600)[:430])
    sampler = BatchSampler(600, 50, seed=2, **options)
    sampler.observe(seen, x[seen], y[seen])
    sampler.refresh()
    order = sampler.order
    assert sorted(order.tolist()) == list(range(600))
    part = dict(options) | ({"groups": options["groups"][seen]} if "groups" in options else {})
    plan = gcbs.plan(kept(x[seen]), kept(y[seen]), batch_size=50, seed=2, **part)
    same = order[: len(seen)] == seen[plan.order]
    assert same.all() if "groups" not in options else same.mean() > 0.7
    sampler.set_epoch(1)
    batches = list(sampler)
    assert sorted(row for batch in batches for row in batch) == list(range(600))
    for at, batch in enumerate(batches):
        extra = sampler.extra(at)
        assert not set(extra.tolist()) & set(batch)
        assert set(extra.tolist()) <= set(seen.tolist())
        if "groups" in options:
            assert len(set(options["groups"][batch])) == len(batch)
            assert not set(options["groups"][extra]) & set(options["groups"][batch])
    sampler.observe(np.arange(600), x, y)
    sampler.refresh()
    start = {"start": order} if options["method"] == "pack" else {}
    assert np.array_equal(
        sampler.order, gcbs.order(kept(x), kept(y), batch_size=50, seed=2, **options, **start)
    )


def test_pack_starts_from_the_last_order_of_the_rows_that_are_seen(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, method="pack", effort="fast")
    sampler.refresh(x, y)
    last = sampler.order
    other = BatchSampler(600, 50, method="pack", effort="fast")
    other.load_state_dict(sampler.state_dict())  # the order, without embeddings
    seen = np.arange(7, 507)
    other.observe(seen, y[seen], x[seen])
    other.refresh()
    start = [row - 7 for row in last.tolist() if 7 <= row < 507]
    wanted = gcbs.order(
        kept(y[seen]), kept(x[seen]), batch_size=50, method="pack", effort="fast", start=start
    )
    assert np.array_equal(other.order[:500], seen[wanted])


def test_a_refresh_may_bring_embeddings_of_another_kind_and_a_failed_one_changes_nothing(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50)
    sampler.refresh(x[:, :9])
    sampler.refresh(x, y)
    sampler.observe([3], x[:1], y[:1])
    before = sampler.observed()
    with pytest.raises(gcbs.InputError):
        sampler.refresh(np.full_like(x, np.inf), y)
    assert all(map(np.array_equal, sampler.observed(), before))


def test_what_observe_refuses(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50)
    sampler.observe([1, 2], x[:2], y[:2])
    for arguments, words in [
        (([600], x[:1], y[:1]), "row 600 does not exist"),
        (([-1], x[:1], y[:1]), "row -1 does not exist"),
        (([0.5], x[:1], y[:1]), "whole numbers"),
        (([3, 4], x[:1], y[:1]), "x does not fit"),
        (([3], x[:1, :5], y[:1, :5]), "x does not fit"),
        (([3], x[:1]), "some calls and not in others"),
        (([3], x[:1], 0 * y[:1]), "y of row 3 has no direction"),
        (([3], np.nan * x[:1], y[:1]), "x of row 3 has no direction"),
    ]:
        with pytest.raises(gcbs.InputError, match=words):
            sampler.observe(*arguments)
    assert sampler.observed()[0].tolist() == [1, 2]
    with pytest.raises(gcbs.InputError, match="2 rows of 600 have embeddings"):
        sampler.refresh()
    forgetful = BatchSampler(600, 50, store=None)
    for call in (lambda: forgetful.observe([1], x[:1]), forgetful.refresh, forgetful.refresh_async):
        with pytest.raises(gcbs.InputError, match="store=None"):
            call()
            forgetful.set_epoch(1)
    forgetful.refresh(x, y)
    assert np.array_equal(forgetful.order, gcbs.order(x, y, batch_size=50))


def test_a_background_refresh_takes_effect_at_the_next_epochs_start(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, **ANEW)
    sampler.refresh(x, y)
    before = list(sampler)
    iterator = iter(sampler)
    next(iterator)
    sampler.refresh_async(y, x)
    assert [before[0], *iterator] == before
    wanted = gcbs.order(y, x, batch_size=50, **ANEW)
    assert sets_of(sampler) == {frozenset(wanted[at : at + 50].tolist()) for at in range(0, 600, 50)}
    sampler.refresh_async(x, y)
    sampler.set_epoch(1)
    assert np.array_equal(sampler.order, gcbs.order(x, y, batch_size=50, **ANEW))


def test_what_is_observed_during_a_background_refresh_waits_for_the_next(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, **ANEW)
    sampler.observe(np.arange(600), x, y)
    sampler.refresh_async()
    sampler.observe(np.arange(600), y, x)
    sampler.set_epoch(1)
    assert np.array_equal(sampler.order, gcbs.order(kept(x), kept(y), batch_size=50, **ANEW))
    sampler.refresh()
    assert np.array_equal(sampler.order, gcbs.order(kept(y), kept(x), batch_size=50, **ANEW))


def test_an_error_in_the_background_is_raised_at_the_next_epochs_start(pairs):
    sampler = BatchSampler(600, 50, relative_margin=7.0)
    sampler.refresh_async(*pairs)
    with pytest.raises(gcbs.InputError, match="margin"):
        iter(sampler)
    assert len(list(sampler)) == 12  # once


def test_progress_in_the_background_and_a_refresh_that_is_replaced(pairs):
    ticks = []
    sampler = BatchSampler(600, 50, progress=lambda *tick: ticks.append(threading.current_thread()))
    big = np.random.default_rng(0).normal(size=(600, 3000))
    sampler.refresh_async(big)
    sampler.refresh_async(*pairs)
    sampler.set_epoch(1)
    assert np.array_equal(sampler.order, gcbs.order(*pairs, batch_size=50))
    assert threading.main_thread() not in ticks


LONG = """
import atexit, sys, time
atexit.register(lambda: print(time.monotonic() - end))  # the first is called last
import numpy as np
import gcbs
x = np.random.default_rng(0).random((60_000, 64), dtype=np.float32)
sampler = gcbs.BatchSampler(60_000, 64, isa="scalar", threads=1, shortcut="off", store=None)
sampler.refresh_async(x)
time.sleep(0.5)
assert sampler._refresher._job.wait(0) is False, "too quick to be stopped"
end = time.monotonic()
{ending}
"""


@pytest.mark.parametrize("ending, code", [("", 0), ("sys.exit(3)", 3), ("del sampler, x", 0)])
def test_the_interpreter_ends_cleanly_during_a_background_refresh(ending, code):
    script = LONG.replace("{ending}", ending)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    assert float(done.stdout) < 5


def test_threads_may_call_at_once(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, **ANEW)
    wanted = gcbs.order(x, y, batch_size=50, **ANEW)
    failures = []

    def refresh():
        for _ in range(3):
            sampler.refresh(x, y)

    def iterate():
        for _ in range(20):
            rows = [row for batch in sampler for row in batch]
            assert sorted(rows) == list(range(600))
            sampler.observe(rows[:50], x[rows[:50]], y[rows[:50]])
            sampler.mask(rows[:50])
            sampler.state_dict()

    def run(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in (refresh, refresh, iterate, iterate)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert np.array_equal(sampler.order, wanted)


def test_a_state_with_embeddings_keeps_what_was_observed_and_the_mask(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50, relative_margin=0.1)
    sampler.observe(np.arange(600), x, y)
    sampler.refresh()
    batches = list(sampler)
    some = np.arange(300)
    sampler.observe(some, y[some], x[some])
    resumed, poorer = BatchSampler(600, 50, relative_margin=0.1), BatchSampler(600, 50, relative_margin=0.1)
    resumed.load_state_dict(sampler.state_dict(embeddings=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(np.array_equal(resumed.mask(batch), sampler.mask(batch)) for batch in batches)
    poorer.load_state_dict(sampler.state_dict())
    with pytest.warns(UserWarning, match="groups only"):
        assert not poorer.mask(batches[0]).any()
    sampler.refresh()
    resumed.refresh()
    assert np.array_equal(resumed.order, sampler.order)
