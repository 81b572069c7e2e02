"""What goes with a batch: pairs that must not be contrasted, and negatives from outside."""

import gcbs
import numpy as np
import pytest
from gcbs import BatchSampler
from gcbs.sampler import ExtraNegatives


def unit(values):
    wide = values.astype(np.float64)
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)


def suspects(x, y, limit, symmetric=False):
    """The definition, row by row: the larger of s(i,j), s(j,i) exceeds what the smaller positive allows."""
    x, y = unit(x), unit(y)
    n = len(x)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            judged = [x[i] @ y[j], x[j] @ y[i]] + ([x[i] @ x[j], y[i] @ y[j]] if symmetric else [])
            positive = min(x[i] @ y[i], x[j] @ y[j])
            found[i, j] = i != j and max(judged) > limit(positive)
    return found


MARGINS = {
    "relative": ({"relative_margin": 0.3}, lambda p: p - 0.3 * abs(p), {}),
    "absolute": ({"absolute_margin": 0.2}, lambda p: p - 0.2, {}),
    "score": ({"max_score": 0.5}, lambda p: 0.5, {}),
    "symmetric": (
        {"relative_margin": 0.2, "symmetric": True},
        lambda p: p - 0.2 * abs(p),
        {"symmetric": True},
    ),
}


def fresh_pairs():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(6, 12))[rng.integers(6, size=200)] + 0.8 * rng.normal(size=(200, 12))
    return x.astype(np.float32), (x + 0.4 * rng.normal(size=x.shape)).astype(np.float32)


@pytest.mark.parametrize("name", MARGINS)
def test_mask_of_suspects(name):
    options, limit, how = MARGINS[name]
    x, y = fresh_pairs()
    sampler = BatchSampler(200, 20, **options)
    batch = np.random.default_rng(0).permutation(200)[:60]
    assert not sampler.mask(batch).any()  # nothing is known yet
    sampler.refresh(x, y)
    wanted = suspects(x[batch], y[batch], limit, **how)
    assert 0 < wanted.mean() < 1
    x[:], y[:] = 0, 0  # the sampler has what it needs
    assert np.array_equal(sampler.mask(batch), wanted)
    sampler.observe(batch, np.ones((60, 12)), np.ones((60, 12)))  # for the next refresh only
    assert np.array_equal(sampler.mask(batch.tolist()), wanted)


def test_mask_of_one_matrix_a_guide_and_rows_without_embeddings():
    x, y = fresh_pairs()
    batch = np.arange(100, 160)

    def limit(positive):
        return positive - 0.5 * abs(positive)

    sampler = BatchSampler(200, 20, relative_margin=0.5)
    sampler.refresh(x)
    assert np.array_equal(sampler.mask(batch), suspects(x[batch], x[batch], limit))
    guided = BatchSampler(200, 20, relative_margin=0.5, guide_x=y, guide_y=x, store=None)
    guided.refresh(x, x)
    assert np.array_equal(guided.mask(batch), suspects(y[batch], x[batch], limit))
    part = BatchSampler(200, 20, relative_margin=0.5, store="float32")
    part.observe(np.arange(130), x[:130], y[:130])
    part.refresh()
    wanted = suspects(x[batch], y[batch], limit)
    wanted[30:] = wanted[:, 30:] = False
    assert np.array_equal(part.mask(batch), wanted)
    forgetful = BatchSampler(200, 20, relative_margin=0.5, store=None)
    forgetful.refresh(x, y)
    with pytest.raises(gcbs.InputError, match="store=None"):
        forgetful.mask(batch)


def test_mask_of_groups_and_equal_rows():
    x, y = fresh_pairs()
    x[40:50] = x[30:40]
    ids = np.arange(200) // 4
    sampler = BatchSampler(200, 20, groups=[ids, "duplicates"], relative_margin=None)
    batch = np.arange(60)
    wanted = (ids[:60, None] == ids[None, :60]) & ~np.eye(60, dtype=bool)
    assert np.array_equal(sampler.mask(batch), wanted)
    sampler.refresh(x, y)
    for row in range(30, 40):
        wanted[row, row + 10] = wanted[row + 10, row] = True
    assert np.array_equal(sampler.mask(batch), wanted)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        assert not any(sampler.mask(rows).any() for rows in sampler)
    with pytest.raises(gcbs.InputError, match="row 200"):
        sampler.mask([1, 200])


@pytest.mark.parametrize("groups", [None, np.arange(600) // 2])
def test_extra_is_the_librarys_column_of_the_same_rows(pairs, groups):
    sampler = BatchSampler(600, 64, extra=8, groups=groups, block=32)
    sampler.refresh(*pairs)
    plan = gcbs.plan(*pairs, batch_size=64, extra=8, groups=groups, block=32)
    wanted = {
        frozenset(rows.tolist()): line[line >= 0].tolist()
        for rows, line in zip(plan, plan.extra, strict=True)
    }
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        for step, batch in sampler.steps():
            assert sampler.extra(step).tolist() == wanted[frozenset(batch)]
    with pytest.raises(IndexError):
        sampler.extra(len(sampler))
    assert sampler.extra(-1).tolist() == sampler.extra(len(sampler) - 1).tolist()


@pytest.mark.parametrize("gathered", [False, True])
def test_extra_of_several_ranks(pairs, gathered):
    ids = np.arange(600) // 2
    samplers = [
        BatchSampler(600, 32, rank=rank, world_size=4, gathered=gathered, extra=6, groups=ids)
        for rank in range(4)
    ]
    for sampler in samplers:
        sampler.refresh(*pairs)
    ranks = [list(sampler) for sampler in samplers]
    for step in range(len(samplers[0])):
        extras = [sampler.extra(step).tolist() for sampler in samplers]
        assert all(len(rows) == 6 for rows in extras)
        if gathered:
            extras, batches = [sum(extras, [])], [sum((batches[step] for batches in ranks), [])]
        else:
            batches = [batches[step] for batches in ranks]
        for extra, batch in zip(extras, batches, strict=True):
            assert len(set(extra)) == len(extra)
            assert not set(extra) & set(batch)
            assert not set(ids[extra]) & set(ids[batch])


def test_extra_is_filled_up_with_rows_that_may_join(pairs):
    ids = np.arange(600) // 3
    sampler = BatchSampler(600, 50, extra=50, groups=ids, warmup=1)
    sampler.refresh(*pairs)
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        for step, batch in sampler.steps():
            found = sampler.extra(step)
            assert len(found) == 0 if epoch == 0 else len(found) > 0
            filled = sampler.extra(step, fill=True)
            assert filled[: len(found)].tolist() == found.tolist()
            assert len(set(filled.tolist())) == 50
            assert not set(ids[filled]) & set(ids[batch])
    assert BatchSampler(600, 50).extra(0, fill=True).size == 0


def test_negatives_travel_with_the_rows(pairs):
    sampler = BatchSampler(600, 50, extra=50)
    sampler.refresh(*pairs)
    data = ExtraNegatives([(f"x{row}", f"y{row}") for row in range(600)])
    batches = data.batches(sampler)
    assert len(batches) == len(sampler) and len(data) == 600
    for step, batch in enumerate(batches):
        rows, negatives = zip(*batch, strict=True)
        assert list(negatives) == sampler.extra(step, fill=True).tolist()
        row, other = batch[0]
        assert data[batch[0]] == (f"x{row}", f"y{row}", f"y{other}")
    assert data[3] == ("x3", "y3")
    state = sampler.state_dict(position=3)
    wanted = list(batches)[3:]
    sampler.load_state_dict(state)
    assert list(batches) == wanted
    records = ExtraNegatives([{"anchor": row, "positive": -row} for row in range(600)])
    assert records[5, 9] == {"anchor": 5, "positive": -5, "negative": -9}
    assert records.__getitems__([(5, 9), (1, 2)]) == [records[5, 9], records[1, 2]]
    other = ExtraNegatives([{"anchor": row, "title": row, "body": -row} for row in range(9)], "body", "hard")
    assert other[5, 8] == {"anchor": 5, "title": 5, "body": -5, "hard": -8}
    with pytest.raises(gcbs.InputError, match="no place for a negative"):
        ExtraNegatives(list(range(600)))[1, 2]
    with pytest.raises(gcbs.InputError, match="extra=batch_size"):
        next(iter(data.batches(BatchSampler(600, 50, extra=20))))
