"""BatchSampler in torch's DataLoader: worker processes, forked and spawned, and the example."""

import os
import subprocess
import sys
from pathlib import Path

import gcbs
import numpy as np
import pytest
from gcbs.sampler import ExtraNegatives

torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]


class Rows(torch.utils.data.Dataset):
    """Samples that say which row they are."""

    def __len__(self):
        return 600

    def __getitem__(self, row):
        return row, 1000 + row


LOADERS = {
    "here": {},
    "fork": dict(num_workers=2, multiprocessing_context="fork"),
    "spawn": dict(num_workers=2, multiprocessing_context="spawn", persistent_workers=True),
}


@pytest.mark.parametrize("how", LOADERS)
def test_loaders_give_the_batches_of_the_sampler(pairs, how):
    sampler = gcbs.BatchSampler(Rows(), 50, extra=50)
    data = ExtraNegatives(Rows())
    loader = torch.utils.data.DataLoader(data, batch_sampler=data.batches(sampler), **LOADERS[how])
    assert len(loader) == 12
    sampler.refresh(*pairs)
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        sampler.refresh_async(*pairs)  # going on while workers are forked, until iter() waits for it
        batches, wanted = list(loader), list(sampler.steps())
        for (rows, positives, negatives), (step, batch) in zip(batches, wanted, strict=True):
            assert rows.tolist() == batch
            assert positives.tolist() == [1000 + row for row in batch]
            assert negatives.tolist() == (1000 + sampler.extra(step, fill=True)).tolist()


def test_workers_may_be_forked_during_a_refresh():
    x = np.random.default_rng(0).normal(size=(600, 2000)).astype(np.float32)
    sampler = gcbs.BatchSampler(600, 50)
    loader = torch.utils.data.DataLoader(
        Rows(), batch_sampler=sampler, num_workers=2, multiprocessing_context="fork"
    )
    iterator = iter(loader)  # begins the epoch
    sampler.refresh_async(x)
    others = iter(
        torch.utils.data.DataLoader(Rows(), 100, shuffle=False, num_workers=2, multiprocessing_context="fork")
    )
    assert sorted(row for rows, _ in others for row in rows.tolist()) == list(range(600))
    assert sorted(row for rows, _ in iterator for row in rows.tolist()) == list(range(600))
    sampler.set_epoch(1)
    assert np.array_equal(sampler.order, gcbs.order(x, batch_size=50))


def test_the_package_needs_no_torch():
    script = "import sys, gcbs; s = gcbs.BatchSampler(100, 10); list(s); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_example_learns():
    script = ROOT / "examples" / "plain_torch.py"
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    losses = [float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()]
    assert len(losses) == 4
    assert losses[1] > losses[0]  # the first epoch's batches are random, and easier
    assert losses[-1] < losses[1]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_goes_on_in_the_middle_of_an_epoch(workers):
    sampler = gcbs.BatchSampler(40, 4)
    whole = list(sampler)
    resumed = gcbs.BatchSampler(40, 4)
    resumed.load_state_dict(sampler.state_dict(position=3))
    loader = torch.utils.data.DataLoader(range(40), batch_sampler=resumed, num_workers=workers)
    assert [batch.tolist() for batch in loader] == whole[3:]
    assert [batch.tolist() for batch in loader] == whole
    at_the_end = gcbs.BatchSampler(40, 4)
    at_the_end.load_state_dict(sampler.state_dict(position=10))
    assert list(at_the_end) == []
    assert list(at_the_end) == whole
