"""gcbs mine gives the answers of sentence-transformers' mine_hard_negatives on the same embeddings.

Texts stand for rows, and an encoder that only looks them up gives their embeddings: no model is needed.
The library adds in float32, so negatives whose float64 similarities are closer than TIE may change places.
The packages are those of tools/requirements-package.txt; without them there is nothing to agree with.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("datasets")
pytest.importorskip("sentence_transformers")

import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from sentence_transformers import util  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GCBS_PROGRAM", str(ROOT / "build" / "gcbs"))
TIE = 1e-6


class LookUp:
    """An encoder whose texts have embeddings already."""

    device = torch.device("cpu")
    similarity = staticmethod(util.dot_score)
    similarity_pairwise = staticmethod(util.pairwise_dot_score)

    def __init__(self, queries, documents):
        self.queries, self.documents = queries, documents

    def encode_query(self, texts, **_):
        return np.stack([self.queries[text] for text in texts])

    def encode_document(self, texts, **_):
        return np.stack([self.documents[text] for text in texts])


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Rows:
    """Queries, a corpus, and which of its rows is the positive of which query."""

    def __init__(self, n, extra, d, seed, noise=1.0):
        rng = np.random.default_rng(seed)
        self.n = n
        self.x = unit(rng.standard_normal((n, d)))
        self.corpus = unit(rng.standard_normal((n + extra, d)))
        self.corpus[:n] = unit(self.x + noise * rng.standard_normal((n, d)))
        self.positives = np.arange(n)
        self.query_of = np.arange(n)  # rows with the same number are one query

    def library(self, **options):
        """What mine_hard_negatives says: the negatives of each row, and their scores."""
        document = [f"document {j}" for j in range(len(self.corpus))]
        query = [f"query {q}" for q in self.query_of]
        found = util.mine_hard_negatives(
            Dataset.from_dict({"query": query, "answer": [document[j] for j in self.positives]}),
            LookUp(dict(zip(query, self.x, strict=True)), dict(zip(document, self.corpus, strict=True))),
            corpus=document,
            range_max=len(self.corpus),
            sampling_strategy="top",
            output_format="triplet",
            output_scores=True,
            verbose=False,
            **options,
        )
        rows = {pair: [] for pair in zip(query, (document[j] for j in self.positives), strict=True)}
        for text, answer, negative, (_, score) in zip(*(found[c] for c in found.column_names), strict=True):
            rows[text, answer].append((int(negative.split()[1]), score))
        return list(rows.values())

    def gcbs(self, folder, num_negatives, range_min=0, groups=(), **options):
        """The same by gcbs mine, whose names differ where they are not those of the library."""
        arrays = {"X": self.x, "C": self.corpus, "positives": self.positives}
        arrays |= {f"ids{number}": ids for number, ids in enumerate(groups)}
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        words = ["X.npy", "--corpus", "C.npy", "--positives", "positives.npy", "--normalised"]
        words += ["--top", num_negatives, "--skip-top", range_min, "-o", "n.npy", "--scores", "s.npy"]
        for number in range(len(groups)):
            words += ["--groups", f"ids{number}.npy"]
        for name, value in options.items():
            words += ["--" + name.replace("_", "-"), value]
        subprocess.run([PROGRAM, "mine", *map(str, words), "--quiet"], cwd=folder, check=True)
        negatives, scores = np.load(folder / "n.npy"), np.load(folder / "s.npy")
        return [
            [(int(j), float(s)) for j, s in zip(row, values, strict=True) if j >= 0]
            for row, values in zip(negatives, scores, strict=True)
        ]

    def agree(self, folder, groups=(), **options):
        """Row by row the same negatives and scores; returns how many negatives there are."""
        mine, theirs = self.gcbs(folder, groups=groups, **options), self.library(**options)
        s = self.x.astype(np.float64) @ self.corpus.T.astype(np.float64)
        for i, (ours, other) in enumerate(zip(mine, theirs, strict=True)):
            assert len(ours) == len(other), f"row {i}: {ours}, not {other}"
            for (j, score), (other_j, other_score) in zip(ours, other, strict=True):
                assert abs(score - other_score) < TIE
                assert j == other_j or abs(s[i, j] - s[i, other_j]) < TIE, f"row {i}: {ours}, not {other}"
        return sum(map(len, mine))


OPTIONS = [
    {"num_negatives": 1},
    {"num_negatives": 5},
    {"num_negatives": 5, "range_min": 7},
    {"num_negatives": 4, "relative_margin": 0.05},
    {"num_negatives": 4, "relative_margin": 0.0},
    {"num_negatives": 4, "relative_margin": 0.5},
    {"num_negatives": 4, "absolute_margin": 0.0},
    {"num_negatives": 4, "absolute_margin": 0.2},
    {"num_negatives": 4, "max_score": 0.4},
    {"num_negatives": 4, "min_score": 0.5},
    {"num_negatives": 6, "range_min": 3, "relative_margin": 0.1, "max_score": 0.6, "min_score": 0.1},
    {"num_negatives": 6, "range_min": 2, "absolute_margin": 0.1, "relative_margin": 0.3},
]


def named(options):
    return "-".join(f"{name}={value}" for name, value in options.items())


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_same_negatives(tmp_path, options):
    assert Rows(150, 0, 12, seed=1).agree(tmp_path, **options) > 0
    assert Rows(60, 200, 5, seed=2, noise=2.0).agree(tmp_path, **options) > 0


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.6])
def test_positives_that_are_opposites(tmp_path, margin):
    """Margins around a positive of negative similarity: the rule s > p - |p| margin (5.7 and newer)."""
    rows = Rows(80, 40, 4, seed=3)
    rows.corpus[:80] = unit(-rows.x + np.random.default_rng(4).standard_normal((80, 4)))
    rows.agree(tmp_path, num_negatives=5, relative_margin=margin)
    rows.agree(tmp_path, num_negatives=5, absolute_margin=margin)


def test_queries_that_share_a_positive(tmp_path):
    rows = Rows(90, 30, 6, seed=5)
    rows.positives = np.random.default_rng(6).integers(40, size=90)
    for options in OPTIONS:
        rows.agree(tmp_path, **options)


def test_a_query_with_several_positives_is_a_group(tmp_path):
    rows = Rows(90, 30, 6, seed=7)
    rows.query_of = np.sort(np.random.default_rng(8).integers(40, size=90))
    rows.x = rows.x[rows.query_of]
    for options in ({"num_negatives": 5}, {"num_negatives": 5, "range_min": 3, "max_score": 0.7}):
        assert rows.agree(tmp_path, groups=[rows.query_of], **options) > 0


def test_fewer_negatives_than_asked_for(tmp_path):
    rows = Rows(12, 0, 3, seed=9)
    assert rows.agree(tmp_path, num_negatives=9, relative_margin=0.2) < 12 * 9
