"""BatchSampler in one process: whose batches, in which sequence, and after a checkpoint."""

import copy
import io
import pickle

import gcbs
import numpy as np
import pytest
from gcbs.sampler import BatchSampler


def rows_of(batches):
    return [row for batch in batches for row in batch]


def sets_of(batches):
    return {frozenset(batch) for batch in batches}


def blocks_of(order, size):
    return sets_of(order[at : at + size].tolist() for at in range(0, len(order), size))


def refreshed(pairs, **options):
    sampler = BatchSampler(600, 50, **options)
    sampler.refresh(*pairs)
    return sampler


def test_the_batches_are_the_blocks_of_the_order(pairs):
    order = gcbs.order(*pairs, batch_size=70)
    sampler = BatchSampler(600, 70)
    sampler.refresh(*pairs)
    assert np.array_equal(sampler.order, order)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 9
    assert sets_of(batches) == blocks_of(order, 70)
    assert set(batches[-1]) == set(order[-40:].tolist())  # the short one stays last
    assert all(type(row) is int for row in batches[0])


def test_each_epoch_has_its_own_sequence_from_seed_and_epoch_alone(pairs):
    sampler, again, other = (refreshed(pairs, seed=seed) for seed in (1, 1, 2))
    epochs = []
    for epoch in (0, 1, 2):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
    assert epochs[0] != epochs[1] != epochs[2]
    assert sets_of(epochs[0]) == sets_of(epochs[1]) == sets_of(epochs[2])
    again.set_epoch(2)  # without having been through the others
    assert list(again) == epochs[2]
    other.set_epoch(2)
    assert list(other) != epochs[2]


def test_iterating_changes_nothing_but_the_position(pairs):
    sampler = refreshed(pairs)
    first = list(sampler)
    assert sampler.position == 12
    iterator = iter(sampler)
    assert sampler.position == 0
    next(iterator)
    newer = iter(sampler)
    next(newer), next(newer), next(newer)
    next(iterator)  # no longer the newest
    assert sampler.position == 3
    assert list(sampler) == first


@pytest.mark.parametrize("drop_last", [False, True])
def test_without_embeddings_batches_are_random(drop_last):
    sampler = BatchSampler(range(103), 10, drop_last=drop_last, seed=4)
    epochs = []
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
        assert len(epochs[-1]) == len(sampler) == (10 if drop_last else 11)
        rows = rows_of(epochs[-1])
        assert len(set(rows)) == len(rows) == (100 if drop_last else 103)
    assert not sets_of(epochs[0]) & sets_of(epochs[1])  # drawn anew
    assert sampler.order is None


def test_warmup_epochs_are_random_even_if_refreshed(pairs):
    sampler = refreshed(pairs, warmup=2)
    random = BatchSampler(600, 50)
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        random.set_epoch(epoch)
        assert list(sampler) == list(random)
    sampler.set_epoch(2)
    assert sets_of(sampler) == blocks_of(sampler.order, 50)


def test_blocks_are_mixed_anew_in_each_epoch(pairs):
    sampler = refreshed(pairs, block=10, method="pack", effort="fast")
    blocks = blocks_of(sampler.order, 10)
    epochs = []
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
        assert blocks_of(np.array(rows_of(epochs[-1])), 10) == blocks
    assert not sets_of(epochs[0]) & sets_of(epochs[1])


def test_defaults_are_the_programs(pairs):
    order = refreshed(pairs).order
    assert np.array_equal(order, gcbs.order(*pairs, batch_size=50, method="pack", relative_margin=0))
    assert not np.array_equal(order, gcbs.order(*pairs, batch_size=50, relative_margin=None))
    assert np.array_equal(
        refreshed(pairs, relative_margin=None, method="rcm").order,
        gcbs.order(*pairs, batch_size=50, relative_margin=None, method="rcm"),
    )
    for options in ({"method": "random"}, {"threshold": "paper"}, {"paper": True}):
        assert gcbs.plan(*pairs, batch_size=50, **options).options["relative_margin"] is None
    assert gcbs.plan(*pairs, batch_size=50, paper=True).method == "rcm"
    assert gcbs.plan(*pairs, batch_size=50, max_score=0.9).options["relative_margin"] is None


def test_a_refresh_takes_effect_at_the_next_epochs_start(pairs):
    x, y = pairs
    sampler = refreshed(pairs, method="rcm")
    before = list(sampler)
    iterator = iter(sampler)
    next(iterator)
    sampler.refresh(y[::-1].copy(), x[::-1].copy())
    assert [before[0], *iterator] == before
    assert sets_of(sampler) == blocks_of(gcbs.order(y[::-1], x[::-1], batch_size=50, method="rcm"), 50)


def test_pack_starts_from_the_last_order(pairs):
    x, y = pairs
    sampler = refreshed(pairs, method="pack", effort="fast", seed=3)
    first = sampler.order
    sampler.refresh(x + 0.1, y)
    wanted = gcbs.order(x + 0.1, y, batch_size=50, method="pack", effort="fast", seed=3, start=first)
    assert np.array_equal(sampler.order, wanted)


@pytest.mark.parametrize("options", [{}, {"block": 10}, {"extra": 5}, {"groups": "duplicates", "block": 10}])
@pytest.mark.parametrize("position", [0, 1, 7, 12])
def test_a_resumed_epoch_goes_on_as_if_nothing_had_happened(pairs, options, position):
    x, y = pairs
    x = np.concatenate([x[:590], x[:10]])
    sampler = refreshed((x, y), seed=5, **options)
    sampler.set_epoch(3)
    iterator = iter(sampler)
    for _ in range(position):
        next(iterator)
    state = pickle.loads(pickle.dumps(sampler.state_dict()))
    resumed = BatchSampler(600, 50, seed=5, **options)
    resumed.load_state_dict(state)
    resumed.set_epoch(3)  # as loops do; it must not start the epoch again
    assert list(resumed) == list(iterator)
    for epoch in (3, 4):
        for each in (sampler, resumed):
            each.set_epoch(epoch)
        assert list(resumed) == list(sampler)
        assert all(np.array_equal(resumed.extra(at), sampler.extra(at)) for at in range(12))


def test_a_state_remembers_the_refresh_that_waits_for_the_next_epoch(pairs):
    x, y = pairs
    for refresh in ("refresh", "refresh_async"):
        sampler = refreshed(pairs, method="rcm")
        iterator = iter(sampler)
        next(iterator)
        getattr(sampler, refresh)(y, x)
        resumed = BatchSampler(600, 50, method="rcm")
        resumed.load_state_dict(sampler.state_dict())
        assert list(resumed) == list(iterator)
        assert list(resumed) == list(sampler)
        assert sets_of(resumed) == blocks_of(gcbs.order(y, x, batch_size=50, method="rcm"), 50)


def test_a_state_goes_through_torch_and_takes_the_position_of_the_trainer(pairs):
    torch = pytest.importorskip("torch")
    sampler = refreshed(pairs, extra=3)
    batches = list(sampler)  # a loader that has fetched all, ahead of training
    file = io.BytesIO()
    torch.save(sampler.state_dict(position=4), file)
    file.seek(0)
    state = torch.load(file)
    resumed = BatchSampler(600, 50, extra=3)
    resumed.load_state_dict(state)
    assert resumed.position == 4
    assert list(resumed) == batches[4:]
    resumed.load_state_dict(state, position=0)
    assert list(resumed) == batches


def test_a_state_of_another_run_is_refused(pairs):
    state = refreshed(pairs, groups=np.arange(600) // 2).state_dict()
    for made, name in [
        (dict(n=601), "n is 600"),
        (dict(batch_size=60), "batch_size is 50"),
        (dict(seed=1), "seed is 0"),
        (dict(rank=1, world_size=2), "world_size is 1"),
        (dict(drop_last=True), "drop_last is False"),
        (dict(groups=None), "groups"),
    ]:
        arguments = dict(n=600, batch_size=50, groups=np.arange(made.get("n", 600)) // 2) | made
        with pytest.raises(gcbs.InputError, match="another run") as error:
            BatchSampler(arguments.pop("n"), arguments.pop("batch_size"), **arguments).load_state_dict(state)
        assert name in str(error.value)
    with pytest.raises(gcbs.InputError, match="no state"):
        BatchSampler(600, 50).load_state_dict({"epoch": 3})


def test_copies_and_pickles_go_on_alike(pairs):
    sampler = refreshed(pairs, block=25)
    sampler.refresh_async(*pairs)
    twins = [copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))]
    sampler.set_epoch(1)
    for twin in twins:
        twin.set_epoch(1)
        assert list(twin) == list(sampler)


def test_wrong_options_are_refused_when_the_sampler_is_made():
    with pytest.raises(TypeError, match="did you mean 'neighbours'"):
        BatchSampler(100, 10, neighbors=5)
    for name in ("epoch", "start"):
        with pytest.raises(TypeError, match=name):
            BatchSampler(100, 10, **{name: 1})
    for arguments, options, words in [
        ((100, 1), {}, "a batch of 1 has no negatives"),
        ((1, 10), {}, "too little data"),
        ((100, 10), {"block": 3}, "blocks of 3 do not fill a batch of 10"),
        ((100, 10), {"random_share": 2.0}, "random share"),
        ((100, 10), {"groups": np.arange(99)}, "99 group ids for 100 rows"),
        ((100, 10), {"groups": np.zeros(100, int)}, "group"),
        ((100, 10), {"rank": 1}, "rank"),
        ((100, 10), {"rank": 2, "world_size": 2}, "rank"),
        ((3, 10), {"rank": 0, "world_size": 4}, "shared out"),
    ]:
        with pytest.raises(gcbs.InputError, match=words):
            BatchSampler(*arguments, **options)
    with pytest.raises(gcbs.InputError, match="epoch"):
        BatchSampler(100, 10).set_epoch(-1)


def test_wrong_embeddings_are_refused_in_the_words_of_the_library(pairs):
    x, y = pairs
    sampler = BatchSampler(600, 50)
    with pytest.raises(gcbs.InputError, match="x has 599 rows"):
        sampler.refresh(x[1:], y[1:])
    bad = x.copy()
    bad[7, 3] = np.nan
    with pytest.raises(gcbs.InputError) as library:
        gcbs.order(bad, y, batch_size=50)
    with pytest.raises(gcbs.InputError) as here:
        sampler.refresh(bad, y)
    assert str(here.value) == str(library.value)
    with pytest.raises(gcbs.InputError, match="nothing to order by"):
        BatchSampler(600, 50).refresh()
    assert sampler.order is None
    assert sorted(rows_of(sampler)) == list(range(600))


def test_batches_larger_than_the_data_are_what_there_is(pairs):
    sampler = BatchSampler(30, 64, block=16)
    sampler.refresh(pairs[0][:30])
    assert [sorted(batch) for batch in sampler] == [list(range(30))]


def test_what_is_drawn_at_random_is_drawn_anew_at_every_refresh():
    x = np.random.default_rng(3).normal(size=(96, 8))
    sampler = gcbs.BatchSampler(96, 8, method="random", extra=2)
    seen = []
    for epoch in range(3):
        sampler.refresh(x)
        sampler.set_epoch(epoch + 1)
        seen.append({frozenset(batch) for batch in sampler})
    assert len(seen[0] | seen[1] | seen[2]) > 30
    again = gcbs.BatchSampler(96, 8, method="random", extra=2)
    again.refresh(x)
    again.set_epoch(1)
    state = again.state_dict()
    resumed = gcbs.BatchSampler(96, 8, method="random", extra=2)
    resumed.load_state_dict(state)
    resumed.refresh(x)
    resumed.set_epoch(2)
    assert {frozenset(batch) for batch in resumed} == seen[1]
