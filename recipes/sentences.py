"""Sentence embedding: Multi30k caption pairs, scored as caption retrieval and on the seven STS tasks."""

import numpy as np

from . import files
from .metrics import mrr, sts
from .text import PairTask

FILES = {
    "multi30k_en5.tsv.gz": (
        "split (train, val, test_2016), image, in_sts (1: a caption occurs in an STS set), cap1..cap5",
        "github.com/multi30k/dataset, data/task2/raw",
    ),
    "sts_eval.tsv.gz": (
        "split (STS12..STS16, STSB-test, SICKR-test), subset, score, sentence1, sentence2",
        "SemEval 2012-2016, STS Benchmark, SICK; as in github.com/facebookresearch/SentEval",
    ),
}
STS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB-test", "SICKR-test")


def load(where):
    """27,816 training images (none with a caption in an STS set): two captions of each are a pair."""
    files.require(where, FILES)
    images = files.tab_lines(where / "multi30k_en5.tsv.gz")
    train = [row for row in images if row["split"] == "train" and row["in_sts"] == "0"]
    held_out = [row for row in images if row["split"] != "train"]
    is_test = np.array([row["split"] == "test_2016" for row in held_out])
    scored = files.tab_lines(where / "sts_eval.tsv.gz")

    def prepare(tokenise):
        first = tokenise([row["cap1"] for row in held_out], 48)
        second = tokenise([row["cap2"] for row in held_out], 48)
        pairs = {}
        for name in STS:
            rows = [row for row in scored if row["split"] == name]
            sides = [tokenise([row[side] for row in rows], 128) for side in ("sentence1", "sentence2")]
            pairs[name] = (*sides, np.array([float(row["score"]) for row in rows]))

        def evaluate(encode):
            queries, candidates = encode(first), encode(second)
            own = np.arange(len(queries))
            found = {
                "dev": mrr(queries[~is_test], candidates, own[~is_test]),
                "test": mrr(queries[is_test], candidates, own[is_test]),
            }
            tasks = {name: sts(encode(a), encode(b), gold) for name, (a, b, gold) in pairs.items()}
            return found | {"sts": float(np.mean(list(tasks.values())))} | tasks

        return evaluate

    return PairTask(
        name="sentences",
        x=[row["cap1"] for row in train],
        documents=[row["cap2"] for row in train],
        document_of_row=np.arange(len(train)),
        prepare=prepare,
        lengths=(48, 48),
        batch_size=64,
        epochs=4,
        temperature=0.05,
        rates={"static": (0.0025, 0.005, 0.01, 0.02), "minilm": (2e-5,)},
        methods=("random", "rcm", "pack", "pack:block=8", "random:extra=16", "random:mine=1"),
        seeds=3,
    )
