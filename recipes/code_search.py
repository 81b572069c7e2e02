"""Code search, the paper's CosQA row: a query in words, 6,267 Python functions, MRR over all of them."""

import numpy as np

from . import files
from .metrics import mrr
from .spec import DEFAULT
from .text import PairTask

FILES = {
    "cosqa_queries.jsonl.gz": (
        "query, code_id, retrieval_split (train, dev, test)",
        "github.com/Jun-jie-Huang/CoCLR, data/qa and data/search",
    ),
    "cosqa_codes.jsonl.gz": (
        "code_id, code, code_tokens (docstring removed); ordered as code_idx_map",
        "github.com/Jun-jie-Huang/CoCLR, data/search/code_idx_map.txt",
    ),
}


def load(where, docstrings=False, rows=None):
    """19,604 training pairs over 6,123 codes (one code has up to 20 queries), 500 + 500 dev and test queries.

    docstrings: whether the functions keep theirs, which say in words what the code does.
    rows: only so many training pairs, short texts, few candidates: for encoders that take minutes an epoch.
    """
    files.require(where, FILES)
    queries = files.json_lines(where / "cosqa_queries.jsonl.gz")
    text = "code" if docstrings else "code_tokens"
    codes = [code[text] for code in files.json_lines(where / "cosqa_codes.jsonl.gz")]

    def split(name):
        rows = [row for row in queries if row["retrieval_split"] == name]
        return [row["query"] for row in rows], np.array([row["code_id"] for row in rows])

    train, code_of_row = split("train")
    held_out = {name: split(name) for name in ("dev", "test")}
    lengths, shown = (32, 128), np.arange(len(codes))
    if rows:
        lengths = (24, 64)
        shown = np.unique(np.concatenate([code_of_row[:2000], *(ids for _, ids in held_out.values())]))
        train, code_of_row = train[:rows], code_of_row[:rows]
    trained, document_of_row = np.unique(code_of_row, return_inverse=True)
    candidate_of_code = np.full(len(codes), -1)
    candidate_of_code[shown] = np.arange(len(shown))

    def prepare(tokenise):
        """Tokens of what is evaluated, and the evaluation."""
        tokens = {name: tokenise(texts, lengths[0]) for name, (texts, _) in held_out.items()}
        pool = tokenise([codes[code] for code in shown], lengths[1])

        def evaluate(encode):
            candidates = encode(pool)
            return {
                name: mrr(encode(tokens[name]), candidates, candidate_of_code[ids])
                for name, (_, ids) in held_out.items()
            }

        return evaluate

    return PairTask(
        name="code-search" + ("-docstrings" if docstrings else "") + (f"-{rows}" if rows else ""),
        x=train,
        documents=[codes[code] for code in trained],
        document_of_row=document_of_row,
        prepare=prepare,
        lengths=lengths,
        batch_size=32 if rows else 64,
        epochs=2 if rows else 8,
        temperature=0.05,
        rates={"minilm": (2.5e-5, 5e-5, 1e-4)}
        if rows
        else {"static": (0.005, 0.01, 0.02, 0.04), "minilm": (5e-5,)},
        methods=(
            "random",
            "rcm",
            "pack",
            DEFAULT,
            "pack:block=8",
            f"random:extra={8 if rows else 16}",
            "random:mine=1",
        ),
        seeds=3 if rows else 5,
    )
