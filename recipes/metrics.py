"""How good embeddings are. All of them take L2-normalised rows."""

import numpy as np
from scipy.stats import spearmanr


def mrr(queries, candidates, positives):
    """Mean reciprocal rank of each query's candidate, x 100; ties count against us."""
    scores = queries @ candidates.T
    own = scores[np.arange(len(queries)), positives]
    ranks = (scores >= own[:, None]).sum(axis=1)
    return 100 * float(np.mean(1 / ranks))


def sts(first, second, gold):
    """Spearman's rho of the cosine and people's scores, x 100."""
    return 100 * float(spearmanr((first * second).sum(axis=1), gold).statistic)


def knn_accuracy(bank, labels, queries, truth, neighbours=200, temperature=0.1):
    """Weighted vote of the nearest rows of the bank, exp(s / temperature) each, x 100."""
    neighbours = min(neighbours, len(bank))
    right = 0
    for first in range(0, len(queries), 1024):
        scores = queries[first : first + 1024] @ bank.T
        nearest = np.argpartition(-scores, neighbours - 1, axis=1)[:, :neighbours]
        weights = np.exp(np.take_along_axis(scores, nearest, axis=1) / temperature)
        votes = np.zeros((len(scores), labels.max() + 1))
        np.add.at(votes, (np.arange(len(scores))[:, None], labels[nearest]), weights)
        right += int((votes.argmax(axis=1) == truth[first : first + 1024]).sum())
    return 100 * right / len(queries)
