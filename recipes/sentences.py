"""Sentence embedding: Multi30k caption pairs and SNLI triples, scored on the seven STS tasks.

Captions are scored as caption retrieval too.
"""

import numpy as np
from scipy import sparse

from . import files
from .metrics import mrr, sts
from .spec import DEFAULT
from .text import PairTask

SCORED = {
    "sts_eval.tsv.gz": (
        "split (STS12..STS16, STSB-dev, STSB-test, SICKR-test), subset, score, sentence1, sentence2",
        "SemEval 2012-2016, STS Benchmark, SICK; as in github.com/facebookresearch/SentEval",
    ),
}
CAPTIONS = {
    "multi30k_en5.tsv.gz": (
        "split (train, val, test_2016), image, in_sts (1: a caption occurs in an STS set), cap1..cap5",
        "github.com/multi30k/dataset, data/task2/raw",
    ),
}
TRIPLES = {
    "snli_devtest_triples.tsv.gz": (
        "source, in_sts (1: a sentence occurs in an STS set), sent0, sent1 (entailed), hard_neg",
        "SNLI dev and test, nlp.stanford.edu/projects/snli; built as SimCSE builds its training set",
    ),
}
STS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB-test", "SICKR-test")


def load(where, rows=None):
    """27,816 training images (none with a caption in an STS set): two captions of each are a pair.

    rows: only the first so many, fewer epochs: for encoders that take minutes an epoch.
    """
    files.require(where, CAPTIONS | SCORED)
    images = files.tab_lines(where / "multi30k_en5.tsv.gz")
    train = [row for row in images if row["split"] == "train" and row["in_sts"] == "0"][:rows]
    held_out = [row for row in images if row["split"] != "train"]
    is_test = np.array([row["split"] == "test_2016" for row in held_out])

    def prepare(tokenise):
        first = tokenise([row["cap1"] for row in held_out], 48)
        second = tokenise([row["cap2"] for row in held_out], 48)
        pairs = sts_pairs(where, tokenise, STS)

        def evaluate(encode):
            queries, candidates = encode(first), encode(second)
            own = np.arange(len(queries))
            found = {
                "dev": mrr(queries[~is_test], candidates, own[~is_test]),
                "test": mrr(queries[is_test], candidates, own[is_test]),
            }
            tasks = sts_scores(pairs, encode)
            return found | {"sts": float(np.mean(list(tasks.values())))} | tasks

        return evaluate

    return PairTask(
        name="sentences" + (f"-{rows}" if rows else ""),
        x=[row["cap1"] for row in train],
        documents=[row["cap2"] for row in train],
        document_of_row=np.arange(len(train)),
        prepare=prepare,
        lengths=(48, 48),
        batch_size=64,
        epochs=2 if rows else 4,
        temperature=0.05,
        rates={"minilm": (1e-5, 2e-5, 4e-5)} if rows else {"static": (0.0025, 0.005, 0.01, 0.02)},
        methods=("random", "rcm", "pack", DEFAULT, "pack:block=8", "random:extra=16", "random:mine=1"),
        seeds=3,
    )


def load_triples(where):
    """6,159 SNLI triples (none with a sentence in an STS set): each brings its own hard negative.

    Triples that share a premise or an entailed sentence, or are linked by others that do, are never
    contrasted. dev is STS-B's dev set, test the mean of the seven tasks.
    """
    files.require(where, TRIPLES | SCORED)
    train = [row for row in files.tab_lines(where / "snli_devtest_triples.tsv.gz") if row["in_sts"] == "0"]
    premises, premise_of_row = np.unique([row["sent0"] for row in train], return_inverse=True)
    documents, document_of_row = np.unique([row["sent1"] for row in train], return_inverse=True)
    shape = (len(premises), len(documents))
    links = sparse.coo_array((np.ones(len(train)), (premise_of_row, document_of_row)), shape)
    _, parts = sparse.csgraph.connected_components(sparse.block_array([[None, links], [links.T, None]]))

    def prepare(tokenise):
        dev = sts_pairs(where, tokenise, ["STSB-dev"])
        test = sts_pairs(where, tokenise, STS)

        def evaluate(encode):
            tasks = sts_scores(test, encode)
            found = {"dev": sts_scores(dev, encode)["STSB-dev"], "test": float(np.mean(list(tasks.values())))}
            return found | tasks

        return evaluate

    return PairTask(
        name="sentences-triples",
        x=[row["sent0"] for row in train],
        documents=documents.tolist(),
        document_of_row=document_of_row,
        negatives=[row["hard_neg"] for row in train],
        group_of_row=parts[premise_of_row],
        prepare=prepare,
        lengths=(32, 32),
        batch_size=64,
        epochs=3,
        temperature=0.05,
        rates={
            "static": (0.01, 0.02, 0.04, 0.08),
            "minilm": (1e-5, 2e-5, 4e-5),
            "minilm-prompts": (3e-3, 1e-2, 3e-2),
        },
        methods=("random", "rcm", "pack", DEFAULT, "pack:block=8", "random:extra=16"),
        seeds=3,
    )


def sts_pairs(where, tokenise, names):
    """{task: tokens of both sides, people's scores}."""
    scored, pairs = files.tab_lines(where / "sts_eval.tsv.gz"), {}
    for name in names:
        rows = [row for row in scored if row["split"] == name]
        sides = [tokenise([row[side] for row in rows], 128) for side in ("sentence1", "sentence2")]
        pairs[name] = (*sides, np.array([float(row["score"]) for row in rows]))
    return pairs


def sts_scores(pairs, encode):
    return {name: sts(encode(a), encode(b), gold) for name, (a, b, gold) in pairs.items()}
