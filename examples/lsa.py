"""Latent semantic analysis: a small, classical embedder, so that the demo needs no model and no download.

Texts and code share one vocabulary of lower-case words; identifiers are split at underscores and camelCase.
TF-IDF weighs the words, a truncated SVD of both sides stacked gives `dim` numbers a row (Deerwester et al.,
1990, "Indexing by latent semantic analysis"). Rows come out as unit vectors in float32.
"""

import re

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from threadpoolctl import threadpool_limits

# Words of nearly every function; they would make everything resemble everything.
COMMON_WORDS = ENGLISH_STOP_WORDS | {
    "def", "self", "cls", "return", "returns", "none", "true", "false", "raise", "elif", "else", "try",
    "isinstance",
}  # fmt: skip
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words_of(text: str) -> list[str]:
    """`parseHTTP_header` -> parse, http, header. Digits and single letters are dropped."""
    words = (word.lower() for word in WORD.findall(text))
    return [word for word in words if len(word) > 1 and word not in COMMON_WORDS]


def embed_pairs(texts: list[str], codes: list[str], dim: int = 256, seed: int = 0):
    """(X, Y, kept): unit rows of the pairs `kept`; a pair with no known word on one side is dropped."""
    weigh = TfidfVectorizer(analyzer=words_of, min_df=2, sublinear_tf=True, dtype=np.float32)
    both = weigh.fit_transform([*texts, *codes])
    x, y = both[: len(texts)], both[len(texts) :]
    kept = np.flatnonzero((x.getnnz(axis=1) > 0) & (y.getnnz(axis=1) > 0))
    stacked = scipy.sparse.vstack([x[kept], y[kept]])
    with threadpool_limits(1):  # small products: faster on one thread, and the same sums on any machine size
        rows = TruncatedSVD(dim, n_iter=4, random_state=seed).fit_transform(stacked)
    norms = np.linalg.norm(rows, axis=1)
    nonzero = (norms > 1e-6).reshape(2, -1).all(axis=0)
    unit = (rows / np.maximum(norms, 1e-6)[:, None]).astype(np.float32).reshape(2, len(kept), -1)
    return unit[0][nonzero], unit[1][nonzero], kept[nonzero]
