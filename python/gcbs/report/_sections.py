"""What the page shows and in which order: each plot with its title and one sentence on how to read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from . import _plots as plots
from ._collect import Findings
from ._words import loss_text, percent, seconds_text


@dataclass(frozen=True)
class Plot:
    """A figure in its frame."""

    name: str
    title: str
    how: str
    alt: str
    figure: Figure
    narrow: Figure | None = None
    """the same for small screens, where the first is too wide"""


@dataclass(frozen=True)
class Section:
    """Plots that answer one question."""

    name: str
    title: str
    intro: str
    columns: int
    plots: tuple[Plot, ...]


def sections(found: Findings) -> tuple[Section, ...]:
    """All of them; draws every plot, so call it within ``style()``."""
    return (
        _batches(found),
        _graph(found),
        _negatives(found),
        _along(found),
        _run(found),
    )


def _batches(found: Findings) -> Section:
    low, high = plots.similarity_range(found.matrices)
    random, ordered = found.matrices
    count, each = len(random.batch_rows), random.batch_rows[0]
    some = f"{each} rows of each of {count}" if each < found.batch_size else f"all rows of {count}"
    spread = f"blank up to {low:.2f}, full from {high:.2f}"
    return Section(
        "batches",
        "What shares a batch",
        f"Inner products of every x with every y, {some} batches that lie evenly along the order. Squares "
        "are batches: training sees what is in them and nothing else.",
        2,
        (
            Plot(
                "matrix-random",
                "Random batches",
                f"The stronger a dot, the more similar ({spread}); the diagonal are the pairs themselves.",
                "Matrix of inner products in random order. Strong values are spread evenly; "
                "the squares on the diagonal are as pale as the rest.",
                plots.matrix(random, low, high),
            ),
            Plot(
                "matrix-ordered",
                "Batches of this order",
                "The same scale, other rows: strong values inside the squares are hard negatives that meet.",
                "Matrix of inner products in this order, with the batches as squares on the diagonal.",
                plots.matrix(ordered, low, high),
            ),
        ),
    )


def losses(found: Findings) -> Plot:
    """The plot beside the first words."""
    gap = found.gap
    told = "; ".join(
        f"{order.name} {loss_text(order.loss_train.both)}"
        + ("" if order.gap_closed is None else f" ({percent(order.gap_closed)} of the gap closed)")
        for order in gap.orders
    )
    return Plot(
        "losses",
        "Loss in batches",
        "Bars: how much of the loss over all pairs batches see. The pale rest is the gap. Whisker: "
        f"{gap.random.trials} random orders, two standard deviations. Oracle: every row with its own hardest "
        "negatives, which no order can pass.",
        f"Bars of the loss in batches: random {loss_text(gap.random.loss_mean)}; {told}; "
        f"oracle {loss_text(gap.oracle.loss_train)}; all pairs {loss_text(gap.loss_global.both)}.",
        plots.losses(found),
    )


def _graph(found: Findings) -> Section:
    value = found.plan.threshold or found.gap.threshold
    limit = "" if value is None or value.value is None else f", more similar than {value.value:.3f}"
    titles = ("As the rows came", "Random order", "This order")
    edges = max(1, found.plan.edge_count or found.gap.edges)
    tops = plots.strongest(found.spies)
    drawn: list[Plot] = []
    for title, spy in zip(titles, found.spies, strict=True):
        share = f"{spy.inside:,} edges share a batch, {percent(spy.inside / edges)}."
        drawn.append(
            Plot(
                f"graph-{len(drawn)}",
                title,
                share,
                f"{title}: the graph of hard negatives as a matrix, and a few of its batches enlarged. "
                f"{share}",
                plots.spy(spy, found.batch_size, tops),
            )
        )
    return Section(
        "graph",
        "The graph of hard negatives",
        f"Edges are the hardest negatives{limit}: {edges:,}, or {edges / found.rows:.1f} a row. The stronger "
        "a dot, the more there are; orange ones share a batch. Above all rows; below the small square "
        f"enlarged, {found.spies[0].near.rows:,} rows with their batches.",
        3,
        tuple(drawn),
    )


def _negatives(found: Findings) -> Section:
    gap, sample = (
        found.gap,
        f"{found.anchors:,} anchors"
        + ("" if found.anchors == found.rows else f", drawn from {found.rows:,}"),
    )
    wins = {name: float(np.mean(values > 0)) for name, values in found.margins.items() if len(values)}
    return Section(
        "hard",
        "How hard the negatives are",
        f"Of {sample}: what each is contrasted with among all pairs, in a random batch, and in its batch of "
        "this order.",
        2,
        (
            Plot(
                "negatives",
                "Similarity of negatives",
                "The further a curve reaches to the right, the harder the negatives. Mind the logarithmic "
                "scale.",
                "Histograms of the similarities of negatives. Random batches follow all pairs; "
                "this order has more of the most similar ones.",
                plots.negatives(found),
            ),
            Plot(
                "probabilities",
                "Softmax probability of positives",
                "At 1 there is nothing left to learn; batches should look like all pairs. "
                f"Mean: random {gap.random.positive_probability:.2f}, this order "
                f"{found.chosen.positive_probability:.2f}, all pairs {gap.positive_probability:.2f}.",
                "Histograms of the softmax probability of positives. Mean of random batches "
                f"{gap.random.positive_probability:.2f}, of this order "
                f"{found.chosen.positive_probability:.2f}, of all pairs {gap.positive_probability:.2f}.",
                plots.probabilities(found),
            ),
            Plot(
                "margins",
                "The hardest negative against the positive",
                "Right of 0 an anchor's hardest negative is more similar than its positive: a mistake of the "
                "model, or a false negative. Duplicates stand at 0.",
                "Histograms of the similarity of each anchor's hardest negative less that of its positive. "
                + "; ".join(
                    f"{plots.NAMES[name]}: {percent(share)} right of 0" for name, share in wins.items()
                ),
                plots.margins(found),
            ),
            Plot(
                "degrees",
                "Hard negatives of a row",
                "A tail to the right are hubs, similar to everything; rows with 0 can be placed anywhere.",
                f"Bars: how many rows have 0, 1, 2 and more hard negatives; {found.degrees.of_x[0]:,} rows "
                f"of x have none, the most is {found.degrees.most:,}.",
                plots.degrees(found),
            ),
        ),
    )


def _along(found: Findings) -> Section:
    values = found.chosen.per_batch[:, 1]
    return Section(
        "along",
        "Every batch, along the order",
        "",
        1,
        (
            Plot(
                "hardness",
                "Hardness of batches",
                "Hardness is the share of the softmax that negatives get: a batch at 0 % has nothing to "
                "teach. The grey band holds 95 % of random batches.",
                f"Line of the hardness of {len(values):,} batches along the order, from "
                f"{percent(values.min())} to {percent(values.max())}; random batches have "
                f"{percent(found.random_hardness.mean())}, "
                f"all pairs {percent(1 - found.gap.positive_probability)}.",
                plots.hardness(found, wide=True),
                plots.hardness(found, wide=False),
            ),
        ),
    )


def _run(found: Findings) -> Section:
    plan = found.plan
    told = ", ".join(f"{stage.name} {seconds_text(stage.seconds)}" for stage in plan.stages)
    return Section(
        "run",
        "The run",
        "",
        2,
        (
            Plot(
                "stages",
                "Time of the order",
                f"{seconds_text(plan.seconds)} in all, on {plan.threads} threads with {plan.isa}; "
                f"{plan.peak_bytes / 2**20:,.0f} MiB at most.",
                f"Bars of the seconds of each stage: {told}.",
                plots.stages(found),
            ),
        ),
    )
