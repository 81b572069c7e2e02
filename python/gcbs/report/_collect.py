"""Everything that the page shows, collected once: an order, what it is worth, samples to draw."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._api import gap, plan
from .._arrays import as_matrix
from .._options import GapOptions, Method, OrderOptions, words_of
from .._progress import shown
from .._results import Gap, OrderGap, Plan
from ._contrasts import Contrasts, Floats, Index, Rows
from ._graph import Degrees, Spy, degrees, spy
from ._options import ReportOptions
from ._sample import ANCHORS, Doubles, among_all, in_batches, sample_rows
from ._texts import Batch, Labels, batches_to_read

COMPARED: tuple[Method, ...] = ("natural", "rcm", "pack")
MATRIX_ROWS = 256
RANDOM_ROWS = 16384  # of random batches, whose hardness is the background
CHOSEN = "this order"


@dataclass(frozen=True)
class Matrix:
    """Inner products of the rows of a few batches."""

    values: Floats
    batch_rows: tuple[int, ...]
    """how many rows of each batch are in it"""


@dataclass(frozen=True)
class Findings:
    """What is on the page."""

    rows: int
    width: int
    batch_size: int
    views: bool
    """x and y are the same matrix"""
    plan: Plan
    gap: Gap
    chosen: OrderGap
    matrices: tuple[Matrix, Matrix]
    """of random batches, of batches of the order"""
    spies: tuple[Spy, Spy, Spy]
    """as the rows came, at random, in the order"""
    degrees: Degrees
    anchors: int
    negatives: dict[str, Index]
    """similarities of negatives, counted in bins from -1 to 1: global, random, ordered"""
    probabilities: dict[str, Doubles]
    """what the softmax gives to positives: global, random, ordered"""
    margins: dict[str, Doubles]
    """the hardest negative less the positive: global, random, ordered"""
    median_positive: float
    random_hardness: Doubles
    """of some random batches"""
    duplicates: int
    """rows whose x or y equals another row's"""
    duplicates_in_batch: int
    """and those of them that share a batch with it"""
    texts: tuple[Batch, ...]
    seconds: float

    @property
    def random_edges(self) -> float:
        """Edges that share a batch by chance."""
        full, rest = divmod(self.rows, self.batch_size)
        together = full * self.batch_size * (self.batch_size - 1) + rest * (rest - 1)
        return self.plan.edge_count * together / (self.rows * (self.rows - 1))


def collect(x: Any, y: Any, batch_size: int, labels: Labels | None, options: ReportOptions) -> Findings:
    """Orders the pairs, measures the order, and looks at samples."""
    start = time.perf_counter()
    words = words_of("report", options, ReportOptions)
    options = {**options, "relative_margin": words.get("relative_margin")}  # the order's, for the losses too
    seed = int(words.get("seed") or 0)
    found, edges = _ordered(x, y, batch_size, options)
    methods = options.get("methods", COMPARED)
    judged = gap(
        x,
        y,
        batch_size=batch_size,
        orders={CHOSEN: found.order},
        methods=[name for name in methods if name not in ("random", _method(found))],
        **_part(options, GapOptions),
    )
    normalised, copy = bool(words.get("normalised")), bool(options.get("copy"))
    x_rows = Rows(as_matrix(x, "x", copy), normalised)
    y_rows = x_rows if y is None or y is x else Rows(as_matrix(y, "y", copy), normalised)
    contrasts = Contrasts(x_rows, y_rows, words)
    count = len(x_rows)
    shuffled = np.random.default_rng(seed).permutation(count)
    anchors = sample_rows(count, ANCHORS, seed)
    with shown(options.get("progress")) as tick:
        everything = among_all(contrasts, anchors, tick)
    views = {
        "global": everything,
        "random": in_batches(contrasts, anchors, shuffled, batch_size),
        "ordered": in_batches(contrasts, anchors, found.order, batch_size, found.extra),
    }
    orders = {"as the rows came": np.arange(count), "random": shuffled, "this order": found.order}
    natural, random, ordered = (spy(name, edges, order, batch_size) for name, order in orders.items())
    chosen = judged[CHOSEN]
    repeated, together = _duplicates((x_rows, y_rows), found.order, batch_size)
    return Findings(
        rows=count,
        width=x_rows.width,
        batch_size=batch_size,
        views=y_rows is x_rows,
        plan=found,
        gap=judged,
        chosen=chosen,
        matrices=(
            _matrix(contrasts, shuffled, batch_size),
            _matrix(contrasts, found.order, batch_size),
        ),
        spies=(natural, random, ordered),
        degrees=degrees(edges, count),
        anchors=len(anchors),
        negatives={name: view.counts for name, view in views.items()},
        probabilities={name: view.positive_probabilities() for name, view in views.items()},
        margins={name: view.margins() for name, view in views.items()},
        median_positive=float(np.median(contrasts.positives)),
        random_hardness=_random_hardness(contrasts, shuffled, batch_size),
        duplicates=repeated,
        duplicates_in_batch=together,
        texts=batches_to_read(contrasts, found.order, shuffled, chosen.per_batch[:, 1], batch_size, labels)
        if labels is not None
        else (),
        seconds=time.perf_counter() - start,
    )


def _part(options: ReportOptions, of: type) -> Any:
    return {name: value for name, value in options.items() if name in of.__annotations__}


def _method(found: Plan) -> str:
    """The method as ``gap`` would compute it, or nothing where it cannot."""
    return "" if found.options["paper"] else found.method


def _ordered(x: Any, y: Any, batch_size: int, options: ReportOptions) -> tuple[Plan, Any]:
    """The order and the graph; where the method reads no graph, that of rcm."""
    chosen = _part(options, OrderOptions)
    found = plan(x, y, batch_size=batch_size, edges=True, **chosen)
    edges = found.edges
    if found.threshold is None:
        edges = plan(x, y, batch_size=batch_size, edges=True, **(chosen | {"method": "rcm"})).edges
    assert edges is not None
    if found.options["paper"]:
        edges = edges[edges[:, 0] != edges[:, 1]]
    return replace(found, edges=None), edges


def _matrix(contrasts: Contrasts, order: Index, batch_size: int) -> Matrix:
    """A few batches, spread evenly over the order; of large ones, some rows."""
    full = len(order) // batch_size
    some = min(full, max(3, min(8, MATRIX_ROWS // batch_size)))
    each = min(batch_size, max(2, MATRIX_ROWS // some))
    starts = ((np.arange(some) + 0.5) * full / some).astype(np.int64) * batch_size
    within = (np.arange(each) * batch_size) // each
    rows = order[(starts[:, None] + within).ravel()]
    return Matrix(contrasts.similarities(rows, rows), (each,) * some)


def _random_hardness(contrasts: Contrasts, shuffled: Index, batch_size: int) -> Doubles:
    full = len(shuffled) // batch_size
    some = max(1, min(full, 200, RANDOM_ROWS // batch_size))
    rows = shuffled[: some * batch_size]
    if len(rows) > RANDOM_ROWS:  # one batch larger than the sample
        rows = rows[:RANDOM_ROWS]
    positive = in_batches(contrasts, rows, shuffled, batch_size).positive_probabilities()
    return np.asarray(1 - positive.reshape(-1, some, len(rows) // some).mean(axis=(0, 2)))


def _duplicates(sides: tuple[Rows, Rows], order: Index, batch_size: int) -> tuple[int, int]:
    """Rows that are not unique, on either side: among all, and in their batch."""
    batch = np.empty(len(order), dtype=np.int64)
    batch[order] = np.arange(len(order)) // batch_size
    repeated, together = (np.zeros(len(order), dtype=bool) for _ in range(2))
    for side in set(sides):
        ids = side.ids()
        repeated |= np.bincount(ids)[ids] > 1
        _, place, times = np.unique(ids * (batch.max() + 1) + batch, return_inverse=True, return_counts=True)
        together |= times[place] > 1
    return int(np.count_nonzero(repeated)), int(np.count_nonzero(together))
