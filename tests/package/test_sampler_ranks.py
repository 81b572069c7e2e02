"""Whole batches to ranks, whatever the numbers: nothing twice, nothing lost, groups apart."""

from itertools import product

import gcbs
import numpy as np
import pytest
from gcbs._sampling.separate import separate_tail
from gcbs.sampler import BatchSampler

SIZES = (2, 3, 4, 10)


def epochs_of(n, k, ranks, epoch=0, x=None, **options):
    """Of each rank its batches in one epoch; no rank knows of the others."""
    found = []
    for rank in range(ranks):
        sampler = BatchSampler(n, k, rank=rank, world_size=ranks, **options)
        if x is not None:
            sampler.refresh(x)
        sampler.set_epoch(epoch)
        found.append(list(sampler))
        assert len(found[-1]) == len(sampler)
    return found


def units_of(epochs, gathered):
    """What is contrasted with each other: batches, or those of a step together."""
    steps = list(zip(*epochs, strict=True))
    return [sum(step, []) for step in steps] if gathered else [batch for step in steps for batch in step]


def check(epochs, n, k, drop_last):
    ranks = len(epochs)
    assert len({len(batches) for batches in epochs}) == 1
    rows = [row for batches in epochs for batch in batches for row in batch]
    full, rest = divmod(n, k * ranks)
    assert len(rows) == len(set(rows)) == (full * k * ranks if drop_last else n)
    sizes = [len(batch) for step in zip(*epochs, strict=True) for batch in step]
    short = 0
    if rest and not drop_last:
        short = ranks if rest >= 2 * ranks or full == 0 or ranks == 1 else 2 * ranks
        if k == 3 and short == 2 * ranks and k * ranks + rest < 4 * ranks and full > 1:
            short = 3 * ranks
        if k == 2 and rest >= ranks:
            short = ranks
    assert sizes[: len(sizes) - short] == [k] * (len(sizes) - short)
    if short:
        tail = sizes[-short:]
        assert max(tail) - min(tail) <= 1
        assert min(tail) >= (2 if ranks > 1 and k > 3 and n >= 2 * ranks else 1)
        assert max(tail) <= k


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_any_numbers(ranks, drop_last, gathered):
    for k, extra_rows in product(SIZES, range(0, 24)):
        n = 2 * k * ranks + extra_rows
        check(epochs_of(n, k, ranks, drop_last=drop_last, gathered=gathered), n, k, drop_last)
    for n in range(ranks, 10 * ranks):  # less than a step
        if n > 1:
            check(epochs_of(n, 10, ranks, drop_last=drop_last, gathered=gathered), n, 10, drop_last)


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_groups_are_apart_in_all_that_is_contrasted(ranks, gathered):
    rng = np.random.default_rng(ranks)
    for k, block in [(2, None), (4, None), (4, 2), (12, None), (12, 4)]:
        unit = k * ranks if gathered else k
        for _ in range(4):
            n = int(rng.integers(2 * unit * (1 if gathered else ranks), 4 * k * ranks + 1))
            # As many members as there are full units: as tight as it can be and still be solved.
            most = n // unit
            groups = rng.permutation(np.arange(n) // int(rng.integers(1, most + 1)))
            x = rng.normal(size=(n, 6))
            for epoch in (0, 1):
                options = dict(groups=groups, block=block, gathered=gathered, x=x if epoch else None)
                epochs = epochs_of(n, k, ranks, epoch, **options)
                check(epochs, n, k, False)
                for rows in units_of(epochs, gathered):
                    assert len(set(groups[rows])) == len(rows)


def test_several_lists_of_groups_are_apart():
    rng = np.random.default_rng(9)
    for n in (130, 131, 135, 145):
        lists = [
            rng.permutation(np.arange(n) // 3),
            rng.permutation(np.arange(n) // 2),
            rng.integers(60, size=n),
        ]
        epochs = epochs_of(n, 8, 4, epoch=1, groups=lists, x=rng.normal(size=(n, 8)))
        check(epochs, n, 8, False)
        for rows in units_of(epochs, False):
            assert all(len(set(groups[rows])) == len(rows) for groups in lists)


def test_one_list_is_always_kept_apart_in_the_tail():
    rng = np.random.default_rng(0)
    for _ in range(500):
        size, units = rng.integers(2, 7), rng.integers(2, 6)
        n = int(rng.integers((units - 1) * size + 1, units * size + 1))
        bounds = np.concatenate([[0], np.cumsum([len(part) for part in np.array_split(np.arange(n), units)])])
        kinds = size + rng.integers(3)  # pieces of `size` rows, each of groups of its own
        groups = np.concatenate([rng.permutation(kinds)[: min(size, n - at)] for at in range(0, n, size)])
        found = separate_tail(np.arange(n), bounds, 0, [groups])
        assert sorted(found) == list(range(n))
        for first, last in zip(bounds, bounds[1:], strict=False):
            assert len(set(groups[found[first:last]])) == last - first


def test_rows_before_the_tail_help_and_what_cannot_be_is_an_error():
    groups = [np.array([0, 1, 2, 3, 4, 4, 5, 5]), np.array([0, 1, 2, 3, 4, 5, 4, 5])]
    bounds = np.array([0, 4, 8])
    found = separate_tail(np.arange(8), bounds, 1, groups)
    for part in (found[:4], found[4:]):
        assert all(len(set(ids[part])) == 4 for ids in groups)
    with pytest.raises(gcbs.InputError, match="last batches"):
        separate_tail(np.arange(8), bounds, 1, [np.zeros(8, int), np.arange(8)])


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_get_whole_batches_of_the_order(pairs, ranks):
    n = 12 * 50
    order = gcbs.order(*pairs, batch_size=50)
    blocks = {frozenset(order[at : at + 50].tolist()) for at in range(0, n, 50)}
    found = []
    for rank in range(ranks):
        sampler = BatchSampler(n, 50, rank=rank, world_size=ranks)
        sampler.refresh(*pairs)
        found += [frozenset(batch) for batch in sampler]
    assert set(found) == blocks and len(found) == len(blocks)


@pytest.mark.parametrize("ranks", [2, 4])
def test_gathered_steps_are_blocks_of_the_order(pairs, ranks):
    size = 25 * ranks
    order = gcbs.order(*pairs, batch_size=size)
    epochs = []
    for rank in range(ranks):
        sampler = BatchSampler(600, 25, rank=rank, world_size=ranks, gathered=True)
        sampler.refresh(*pairs)
        sampler.set_epoch(1)
        epochs.append(list(sampler))
        assert np.array_equal(sampler.order, order)
    steps = [frozenset(rows) for rows in units_of(epochs, True)]
    assert set(steps) == {frozenset(order[at : at + size].tolist()) for at in range(0, 600, size)}


def test_all_ranks_deals_as_the_ranks_get():
    epochs = epochs_of(107, 8, 3)
    sampler = BatchSampler(107, 8, rank=0, world_size=3)
    dealt = list(sampler.all_ranks())
    assert dealt == [batch for step in zip(*epochs, strict=True) for batch in step]
    assert sampler.position == len(sampler) == len(dealt) // 3


def test_a_state_of_one_rank_serves_the_others(pairs):
    samplers = [
        BatchSampler(600, 20, rank=rank, world_size=3, groups=np.arange(600) // 3) for rank in range(3)
    ]
    for sampler in samplers:
        sampler.refresh(*pairs)
        sampler.set_epoch(2)
    iterators = [iter(sampler) for sampler in samplers]
    for iterator in iterators:
        next(iterator)
    state = samplers[0].state_dict()
    for rank in range(3):
        resumed = BatchSampler(600, 20, rank=rank, world_size=3, groups=np.arange(600) // 3)
        resumed.load_state_dict(state)
        assert list(resumed) == list(iterators[rank])


def test_ranks_without_torch_distributed_cannot_share_what_they_saw(pairs):
    sampler = BatchSampler(600, 50, rank=0, world_size=2)
    sampler.observe(np.arange(600), *pairs)
    for refresh in (
        sampler.refresh,
        sampler.refresh_async,
        lambda: sampler.refresh_sharded([0], pairs[0][:1]),
    ):
        with pytest.raises(gcbs.InputError, match="torch.distributed is not initialised"):
            refresh()
