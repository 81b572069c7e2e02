"""BatchSampler under torch.distributed: real processes that talk over gloo.

Each test runs this file as a program, which forks the ranks after torch is imported, and lets all of them
go through every check.
"""

import os
import subprocess
import sys
import tempfile
import traceback

import pytest

GROUPS_OF = 3


def pairs(n, seed=0):
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.normal(size=(8, 12))[rng.integers(8, size=n)] + 0.8 * rng.normal(size=(n, 12))
    return x.astype(np.float32), (x + 0.4 * rng.normal(size=x.shape)).astype(np.float32)


def told(value):
    """The values of all ranks, on every rank."""
    import torch.distributed as distributed

    values = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values


def check_epoch(sampler, n, drop_last=False):
    """The union over ranks is the data set, nothing is twice, lengths are equal; the batches of all ranks."""
    batches = list(sampler)
    assert len(batches) == len(sampler)
    ranks = told(batches)
    assert len({len(batches) for batches in ranks}) == 1
    rows = [row for batches in ranks for batch in batches for row in batch]
    whole = n - n % (sampler.batch_size * sampler.world_size) if drop_last else n
    assert len(rows) == len(set(rows)) == whole
    sizes = [len(batch) for batches in ranks for batch in batches]
    assert min(sizes) >= 2 and max(sizes) == sampler.batch_size
    return ranks


def same_order(sampler, wanted):
    import numpy as np

    assert all(np.array_equal(order, wanted) for order in told(sampler.order))


def check_rank_and_size_are_found(gcbs, rank, size):
    sampler = gcbs.BatchSampler(100, 5)
    assert (sampler.rank, sampler.world_size) == (rank, size)
    check_epoch(sampler, 100)


def check_refresh_on_rank_0_reaches_all(gcbs, rank, size):
    for n, drop_last, gathered in [
        (240, False, False),
        (251, False, False),
        (229, True, True),
        (247, False, True),
    ]:
        x, y = pairs(n)
        groups = [row // GROUPS_OF for row in range(n)]
        sampler = gcbs.BatchSampler(n, 8, drop_last=drop_last, gathered=gathered, groups=groups)
        sampler.refresh(*((x, y) if rank == 0 else ()))
        unit = 8 * size if gathered else 8
        same_order(sampler, gcbs.order(x, y, batch_size=unit, groups=groups))
        for epoch in (0, 1):
            sampler.set_epoch(epoch)
            ranks = check_epoch(sampler, n, drop_last)
            for step in zip(*ranks, strict=True):
                for rows in [sum(step, [])] if gathered else step:
                    assert len({row // GROUPS_OF for row in rows}) == len(rows)


def check_gathered_steps_are_blocks_of_the_order(gcbs, rank, size):
    x, y = pairs(40 * size)
    sampler = gcbs.BatchSampler(40 * size, 8, gathered=True)
    sampler.refresh(x, y)
    order = gcbs.order(x, y, batch_size=8 * size)
    steps = {frozenset(sum(step, [])) for step in zip(*check_epoch(sampler, 40 * size), strict=True)}
    assert steps == {frozenset(order[at : at + 8 * size].tolist()) for at in range(0, len(order), 8 * size)}


def check_shards_are_as_good_as_the_whole(gcbs, rank, size):
    x, y = pairs(203)
    mine = list(range(rank, 203, size))
    sampler = gcbs.BatchSampler(203, 8, relative_margin=0.1)
    sampler.refresh_sharded(mine, x[mine], y[mine])
    same_order(sampler, gcbs.order(x, y, batch_size=8, relative_margin=0.1))
    batch = list(range(50))  # of rows that other ranks gave
    assert sampler.mask(batch).any() and len({mask.tobytes() for mask in told(sampler.mask(batch))}) == 1


def check_what_ranks_observe_is_put_together(gcbs, rank, size):
    import numpy as np

    x, y = pairs(203)
    sampler = gcbs.BatchSampler(203, 8, method="rcm")
    alone = gcbs.BatchSampler(203, 8, rank=0, world_size=1)
    for batch in sampler:
        sampler.observe(batch, x[batch], y[batch])
    sampler.refresh()
    alone.observe(np.arange(203), x, y)
    if rank == 0:
        assert all(map(np.array_equal, sampler.observed(), alone.observed()))
    elif size > 1:
        assert sampler.observed()[0].size == 0  # rank 0 has it now
    stored = [side.astype(np.float32) for side in alone.observed()[1:]]
    wanted = gcbs.order(*stored, batch_size=8, method="rcm")
    same_order(sampler, wanted)
    sampler.set_epoch(1)
    check_epoch(sampler, 203)
    # Only the newest counts: each row is seen by another rank now, and a third of them by none.
    seen = [row for row in range(203) if row % 3 and (row + 1) % size == rank]
    sampler.observe(seen, y[seen], x[seen])
    sampler.refresh_async()
    sampler.set_epoch(2)
    again = np.arange(203) % 3 > 0
    stored[0][again], stored[1][again] = stored[1][again], stored[0][again].copy()
    same_order(sampler, gcbs.order(*stored, batch_size=8, method="rcm"))


def check_background_refresh_and_its_state(gcbs, rank, size):
    x, y = pairs(203)
    sampler = gcbs.BatchSampler(203, 8, method="rcm")
    sampler.refresh(x, y)
    iterator = iter(sampler)
    next(iterator)
    sampler.refresh_async(y, x)
    state = sampler.state_dict()
    rest = list(iterator)
    sampler.set_epoch(1)
    same_order(sampler, gcbs.order(y, x, batch_size=8, method="rcm"))
    wanted = check_epoch(sampler, 203)
    for of in (state, told(state)[0]):  # each rank's own, or rank 0's for all
        resumed = gcbs.BatchSampler(203, 8, method="rcm")
        resumed.load_state_dict(of)
        assert list(resumed) == rest
        resumed.set_epoch(1)
        assert check_epoch(resumed, 203) == wanted


def check_errors_are_raised_on_all_ranks(gcbs, rank, size):
    x, y = pairs(203)
    sampler = gcbs.BatchSampler(203, 8)

    def fails(words, call, *arguments):
        try:
            call(*arguments)
        except gcbs.InputError as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{words}: no error on rank {rank}")

    fails("x has 3 rows", sampler.refresh, x[:3] if rank == 0 else None)
    fails("nothing to order by", sampler.refresh)
    last = rank == size - 1
    fails("row 203 does not exist", sampler.refresh_sharded, [203 if last else rank], x[:1], y[:1])
    sampler.refresh_async(x[:3])
    fails("x has 3 rows", sampler.set_epoch, 1)
    check_epoch(sampler, 203)


def check_long_work_and_large_values(gcbs, rank, size):
    """The others wait in heartbeats, and values travel in pieces."""
    import gcbs._sampling.distributed as module
    from gcbs._sampling.background import Job

    link = module.connect()
    if link is None:
        return
    module.HEARTBEAT_SECONDS, module.PIECE_BYTES = 0.01, 100
    value = {"rows": list(range(3000)), "rank": rank}
    assert link.share(value if rank == 0 else None) == value | {"rank": 0}
    gathered = link.gather(value)
    assert gathered == ([value | {"rank": of} for of in range(size)] if rank == 0 else [])

    def work(tick):
        import time

        time.sleep(0.3)
        raise ZeroDivisionError("of rank 0")

    beats, share = [], link.share
    link.share = lambda value: beats.append(share(value)) or beats[-1]
    try:
        link.result_of(Job(work) if rank == 0 else None)
    except ZeroDivisionError as error:
        assert str(error) == "of rank 0"
        assert beats.count(False) > 3
    else:
        raise AssertionError("no error")


CHECKS = [
    check for name, check in sorted(globals().items()) if name.startswith("check_") and name != "check_epoch"
]


def run_rank(rank, size, meeting):
    import gcbs
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size)
    for check in CHECKS:
        try:
            check(gcbs, rank, size)
        except BaseException:
            print(
                f"{check.__name__}, rank {rank} of {size}\n{traceback.format_exc()}",
                file=sys.stderr,
                flush=True,
            )
            os._exit(1)  # the others wait: they are ended by the parent
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)


def run_ranks(size):
    import signal

    import torch.distributed  # noqa: F401  once, before the ranks are forked

    with tempfile.TemporaryDirectory() as folder:
        ranks = set()
        for rank in range(size):
            child = os.fork()
            if child == 0:
                run_rank(rank, size, os.path.join(folder, "meeting"))
            ranks.add(child)
        failed = False
        while ranks:
            child, status = os.wait()
            ranks.discard(child)
            if status != 0 and not failed:
                failed = True
                for other in ranks:
                    os.kill(other, signal.SIGKILL)
    return 1 if failed else 0


@pytest.mark.parametrize("size", [1, 2, 4])
def test_ranks(size):
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, __file__, str(size)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(run_ranks(int(sys.argv[1])))
