"""gcbs in trainers that run in two processes, which talk over gloo.

The test runs this file as a program, which forks the ranks after the libraries are imported, and lets both go
through every check.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback

import pytest

SIZE, ROWS, RANKS = 32, 330, 2
STEPS = ROWS // (SIZE * RANKS)  # full ones


def told(value):
    """The values of all ranks, on every rank."""
    import torch.distributed as distributed

    values = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values


def one(values):
    """The value that all ranks have."""
    assert all(value == values[0] for value in values)
    return values[0]


def arguments(kind, folder, **options):
    return kind(
        folder,
        per_device_train_batch_size=SIZE,
        learning_rate=1e-2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        **{"num_train_epochs": 2, "save_strategy": "no"} | options,
    )


def sentence_transformers_run(folder, resume=None, gathered=False, observe=False, **options):
    import test_trainer_sentence_transformers as single
    from datasets import Dataset

    anchors, positives = single.pair_texts.texts(ROWS)
    pairs = Dataset.from_dict({"anchor": anchors, "positive": positives})
    model = single.make_model()
    order = single.GCBS(model, gathered=gathered, observe=observe)
    loss = single.Seen(single.losses.MultipleNegativesRankingLoss(model))
    args = arguments(
        single.SentenceTransformerTrainingArguments, folder, batch_sampler=order, seed=42, **options
    )
    first = [model.encode(pairs[name][:]) for name in ("anchor", "positive")]
    trainer = single.SentenceTransformerTrainer(model=model, args=args, train_dataset=pairs, loss=loss)
    trainer.train(resume_from_checkpoint=resume)
    return [anchors for anchors, _ in loss.batches], order.samplers[0], first


def check_sentence_transformers(folder):
    import gcbs
    from pair_texts import as_sets, blocks_of

    mine, sampler, (x, y) = sentence_transformers_run(folder, save_strategy="steps", save_steps=3)
    ranks = told(mine)
    assert [len(batches) for batches in ranks] == [2 * STEPS] * RANKS
    first = [batch for batches in ranks for batch in batches[:STEPS]]
    rows = sum(first, [])
    assert len(rows) == len(set(rows)) == STEPS * RANKS * SIZE  # the library drops what does not fill a step
    order = gcbs.order(x, y, batch_size=SIZE, seed=42)
    blocks = as_sets(blocks_of(order.tolist(), SIZE))
    assert all(sorted(batch) in blocks for batch in first)
    one(told(sampler.order.tolist()))
    rest, _, _ = sentence_transformers_run(folder, resume=os.path.join(folder, "checkpoint-3"))
    assert rest == mine[3:]


def check_sentence_transformers_observe(folder):
    run = {"save_strategy": "steps", "save_steps": 3, "num_train_epochs": 3, "observe": True}
    mine, sampler, _ = sentence_transformers_run(folder, **run)
    order = one(told(sampler.order.tolist()))
    assert sorted(order) == list(range(ROWS))
    rest, _, _ = sentence_transformers_run(folder, resume=os.path.join(folder, "checkpoint-6"), **run)
    assert rest == mine[6:]


def check_gathered_steps_are_blocks_of_the_order(folder):
    import gcbs
    from pair_texts import as_sets, blocks_of

    mine, sampler, (x, y) = sentence_transformers_run(folder, gathered=True, num_train_epochs=1)
    steps = [sum(batches, []) for batches in zip(*told(mine), strict=True)]
    order = gcbs.order(x, y, batch_size=SIZE * RANKS, seed=42)
    blocks = as_sets(blocks_of(order.tolist(), SIZE * RANKS))
    assert len(steps) == STEPS and all(sorted(step) in blocks for step in steps)


def transformers_run(folder, resume=None, observed=False, **options):
    import test_trainer_transformers as single

    model = single.PairModel(ROWS)
    order = single.GCBS(observe=single.observe) if observed else single.GCBS(single.embed)
    args = arguments(single.TrainingArguments, folder, **options)
    trainer = single.Trainer(model, args, train_dataset=single.PAIRS, callbacks=[order])
    trainer.train(resume_from_checkpoint=resume)
    return model.seen, order.samplers[0]


def check_transformers(folder):
    """Nothing is twice and nothing is lost, although the rows do not fill the last step."""
    for observed in (False, True):
        own = os.path.join(folder, str(observed))
        mine, sampler = transformers_run(own, observed=observed, save_strategy="steps", save_steps=4)
        for epoch in range(2):
            batches = [batch for seen in told(mine) for batch in seen[epoch * 6 : epoch * 6 + 6]]
            assert sorted(sum(batches, [])) == list(range(ROWS))
            assert len(batches) == 6 * RANKS and min(map(len, batches)) >= 2
        one(told(sampler.order.tolist()))
        rest, _ = transformers_run(own, os.path.join(own, "checkpoint-4"), observed)
        assert rest == mine[4:]
        rest, _ = transformers_run(own, os.path.join(own, "checkpoint-8"), observed)
        assert rest == mine[8:]


def lightning_run(folder, ckpt_path=None, distributed_sampler=False):
    import test_trainer_lightning as single

    order = single.GCBS(single.PAIRS, SIZE, single.embed)
    module = single.Module()
    trainer = single.lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        devices=RANKS,
        strategy="ddp",
        use_distributed_sampler=distributed_sampler,
        callbacks=[
            order,
            single.ModelCheckpoint(folder, filename="{step}", every_n_train_steps=4, save_top_k=-1),
        ],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, order.dataloader(), ckpt_path=ckpt_path)
    return module.model.seen, order.order


def check_lightning(folder):
    mine, sampler = lightning_run(folder)
    for epoch in range(2):
        batches = [batch for seen in told(mine) for batch in seen[epoch * 6 : epoch * 6 + 6]]
        assert sorted(sum(batches, [])) == list(range(ROWS))
    one(told(sampler.order.tolist()))
    for step in (4, 8):
        rest, _ = lightning_run(folder, ckpt_path=os.path.join(folder, f"step={step}.ckpt"))
        assert rest == mine[step:]


CHECKS = {
    "sentence_transformers": (
        check_sentence_transformers,
        check_sentence_transformers_observe,
        check_gathered_steps_are_blocks_of_the_order,
    ),
    "transformers": (check_transformers,),
    "lightning": (check_lightning,),
}


def run_rank(rank, port, folder, library):
    import torch

    torch.set_num_threads(1)
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_WORLD_SIZE": str(RANKS),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": "gcbs",  # tells Lightning that the processes are there already
        "GROUP_RANK": "0",
    }
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    for check in CHECKS[library]:
        try:
            check(os.path.join(folder, check.__name__))
        except BaseException:
            print(f"{check.__name__}, rank {rank}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            os._exit(1)  # the other one waits: it is ended by the parent
    torch.distributed.barrier()
    os._exit(0)


def run_ranks(library):
    __import__(f"test_trainer_{library}")  # once, before the ranks are forked
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        ranks = set()
        for rank in range(RANKS):
            child = os.fork()
            if child == 0:
                run_rank(rank, port, folder, library)
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


@pytest.mark.parametrize("library", list(CHECKS))
def test_two_processes(library):
    pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, __file__, library],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(run_ranks(sys.argv[1]))
