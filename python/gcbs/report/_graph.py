"""The graph of hard negatives in some order: counted in cells, from afar and near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._contrasts import Index

CELLS = 240  # a side of a picture has at most this many
EDGES_AT_A_TIME = 1 << 20
NEAR_BATCHES = 6

Edges = NDArray[np.int32]


@dataclass(frozen=True)
class Window:
    """Edges between the rows at positions first .. first + rows, counted in cells of ``cell`` rows."""

    first: int
    rows: int
    cell: int
    outside: Index
    """cells x cells: edges whose ends are in different batches"""
    inside: Index
    """and in the same one"""


@dataclass(frozen=True)
class Spy:
    """All of the graph, and a few batches of it."""

    name: str
    far: Window
    near: Window
    inside: int
    """edges whose ends share a batch"""


def spy(name: str, edges: Edges, order: Index, batch_size: int) -> Spy:
    """The edges as the order places them; an edge (i, j) stands in row i, column j."""
    count = len(order)
    position = np.empty(count, dtype=np.int64)
    position[order] = np.arange(count)
    rows = min(count, max(2 * batch_size, min(NEAR_BATCHES * batch_size, CELLS * 2)))
    rows -= rows % batch_size if rows < count else 0
    first = max(0, (count - rows) // 2)
    far, near = _Counter(0, count, batch_size), _Counter(first - first % batch_size, rows, batch_size)
    for start in range(0, len(edges), EDGES_AT_A_TIME):
        ends = position[edges[start : start + EDGES_AT_A_TIME]]
        ends = ends[ends[:, 0] != ends[:, 1]]  # the listing's graph has a diagonal
        far.add(ends)
        near.add(ends)
    return Spy(name, far.window(), near.window(), int(far.inside.sum()))


class _Counter:
    def __init__(self, first: int, rows: int, batch_size: int) -> None:
        self.first, self.rows, self.batch_size = first, rows, batch_size
        self.cell = -(-rows // CELLS)
        self.cells = -(-rows // self.cell)
        self.outside, self.inside = (np.zeros(self.cells**2, dtype=np.int64) for _ in range(2))

    def add(self, ends: Index) -> None:
        near = ends - self.first
        ends = ends[((near >= 0) & (near < self.rows)).all(axis=1)]
        cells = (ends - self.first) // self.cell
        flat = cells[:, 0] * self.cells + cells[:, 1]
        together = ends[:, 0] // self.batch_size == ends[:, 1] // self.batch_size
        for counts, chosen in ((self.inside, together), (self.outside, ~together)):
            counts += np.bincount(flat[chosen], minlength=len(counts))

    def window(self) -> Window:
        shape = (self.cells, self.cells)
        return Window(
            self.first, self.rows, self.cell, self.outside.reshape(shape), self.inside.reshape(shape)
        )


@dataclass(frozen=True)
class Degrees:
    """How many rows have 0, 1, 2, 3-4, 5-8, ... hard negatives."""

    names: tuple[str, ...]
    of_x: Index
    """rows of y above the threshold, for each x"""
    of_y: Index
    """and the other way: how often a y is a hard negative"""
    most: int


def degrees(edges: Edges, count: int) -> Degrees:
    per_row = [np.bincount(edges[:, side], minlength=count) for side in (0, 1)]
    most = int(max(part.max(initial=0) for part in per_row))
    last = 0 if most == 0 else 1 + int(np.ceil(np.log2(most)))
    names = ["0", "1", "2"] + [f"{2**p // 2 + 1}\N{EN DASH}{2**p}" for p in range(2, last)]
    counts = []
    for part in per_row:
        bins = np.where(part == 0, 0, 1 + np.ceil(np.log2(np.maximum(part, 1))).astype(np.int64))
        counts.append(np.bincount(bins, minlength=len(names)))
    return Degrees(tuple(names), counts[0], counts[1], most)
