"""The peer: batches as B3 builds them (NeurIPS 2025).

Each row's neighbours of ranks skip..skip + neighbours, by the embeddings at hand; an edge where two rows rank
each other so; METIS cuts the graph into parts of `block` rows; a batch is some of the parts, drawn at random.
METIS parts are not of equal size: what is too much goes where too little is, as B3 does.
"""

import gcbs
import numpy as np
from scipy import sparse


class MetisSampler:
    """The part of gcbs.BatchSampler's protocol that the loop uses."""

    def __init__(
        self,
        n,
        batch_size,
        *,
        block=None,
        neighbours=100,
        skip=30,
        seed=0,
        warmup=0,
        groups=None,
        **run,
    ):
        self.n, self.batch_size, self.block = n, batch_size, block or batch_size
        self.neighbours, self.skip, self.seed, self.warmup = neighbours, skip, seed, warmup
        self.groups, self.run, self.epoch, self.order = groups, run, 0, None

    def __len__(self):
        return -(-self.n // self.batch_size)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def refresh(self, x, y):
        groups = {} if self.groups is None else {"groups": self.groups}
        top = self.skip + self.neighbours
        found = gcbs.mine(x, y, top=top, **groups, **self.run).negatives[:, self.skip :]
        rows = np.repeat(np.arange(self.n), found.shape[1])
        kept = found.ravel() >= 0
        near = sparse.csr_array(
            (np.ones(kept.sum()), (rows[kept], found.ravel()[kept])), shape=(self.n, self.n)
        )
        self.order = order_of(parts_of(near.multiply(near.T).tocsr(), self.block), self.block)

    def __iter__(self):
        random = np.random.default_rng((self.seed, self.epoch))
        if self.order is None or self.epoch < self.warmup:
            rows = random.permutation(self.n)
        else:
            whole = self.n // self.block
            blocks = self.order[: whole * self.block].reshape(whole, self.block)
            rows = np.concatenate(
                [blocks[random.permutation(whole)].ravel(), self.order[whole * self.block :]]
            )
        for first in range(0, self.n, self.batch_size):
            yield rows[first : first + self.batch_size].tolist()


def parts_of(graph, size):
    """METIS k-way, the part of each row."""
    import pymetis

    lists = pymetis.CSRAdjacency(adj_starts=graph.indptr, adjacent=graph.indices)
    _, parts = pymetis.part_graph(-(-graph.shape[0] // size), adjacency=lists)
    return np.asarray(parts)


def order_of(parts, size):
    """Parts one after the other, each of `size` rows: the surplus of large ones fills small ones."""
    whole, spare = [], []
    for part in range(parts.max() + 1):
        rows = np.flatnonzero(parts == part)
        whole.append(list(rows[:size]))
        spare += list(rows[size:])
    whole.sort(key=len, reverse=True)
    for rows in whole:
        while len(rows) < size and spare:
            rows.append(spare.pop())
    return np.array([row for rows in whole for row in rows] + spare, np.int64)
