"""The plots, one function each: findings in, a figure out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, Rectangle
from matplotlib.ticker import FuncFormatter, PercentFormatter
from numpy.typing import NDArray

from ._collect import Findings, Matrix
from ._graph import Spy, Window
from ._sample import BINS, Doubles
from ._svg import (
    GAP,
    GLOBAL,
    INK,
    LINE,
    ORDERED,
    OTHER,
    PAGE,
    PIXEL_INSIDE,
    PIXEL_OUTSIDE,
    RANDOM,
    SOFT,
)
from ._words import loss_text, percent, seconds_text

WIDTH = 4.9  # inches of 72 units, so that letters have their size on a phone
COLOURS = {"global": GLOBAL, "random": RANDOM, "ordered": ORDERED}
NAMES = {"global": "all pairs", "random": "random batches", "ordered": "this order"}
PERCENT = PercentFormatter(1, decimals=0, symbol=" %")

Pixels = NDArray[np.uint8]


def matrix(shown: Matrix, low: float, high: float) -> Figure:
    """Inner products; what shares a batch is orange."""
    figure, axes = _square()
    size = len(shown.values)
    ends = np.cumsum(shown.batch_rows)
    batch = np.repeat(np.arange(len(ends)), shown.batch_rows)
    strength = np.clip((shown.values - low) / (high - low), 0, 1) ** 1.3
    inside = batch[:, None] == batch
    pixels = _pixels(np.where(inside, 0, strength * 0.8), np.where(inside, strength, 0))
    axes.imshow(pixels, interpolation="none", extent=(0, size, size, 0))
    for end, rows in zip(ends, shown.batch_rows, strict=True):
        axes.add_patch(Rectangle((end - rows, end - rows), rows, rows, fill=False, edgecolor=INK, lw=0.8))
    _bare(axes, size)
    return figure


def spy(shown: Spy, batch_size: int, tops: tuple[float, float]) -> Figure:
    """All edges, and below them a few batches at full size."""
    figure = Figure(figsize=(4.2, 8.5))
    far = figure.add_axes((0.005, 0.505, 0.99, 0.99 * 4.2 / 8.5))
    near = figure.add_axes((0.005, 0.002, 0.99, 0.99 * 4.2 / 8.5))
    _window(far, shown.far, batch_size, tops[0])
    _window(near, shown.near, batch_size, tops[1])
    first, rows = shown.near.first, shown.near.rows
    if rows < shown.far.rows:
        far.add_patch(Rectangle((first, first), rows, rows, fill=False, edgecolor=INK, lw=1, zorder=3))
        for corner in (0, 1):
            ends = (first + corner * rows, first + rows), (corner, 1)
            line = ConnectionPatch(*ends, "data", "axes fraction", axesA=far, axesB=near, color=SOFT, lw=0.7)
            figure.add_artist(line)
    return figure


def strongest(spies: Sequence[Spy]) -> tuple[float, float]:
    """How many edges in a cell are full colour, from afar and near, in all pictures."""
    found = []
    for windows in ([shown.far for shown in spies], [shown.near for shown in spies]):
        counts = np.concatenate([(window.outside + window.inside).ravel() for window in windows])
        counts = counts[counts > 0]
        found.append(max(1.0, float(np.quantile(counts, 0.99))) if len(counts) else 1.0)
    return found[0], found[1]


def _window(axes: Axes, window: Window, batch_size: int, top: float) -> None:
    """Edges as pixels: the more in a cell, the stronger; batches as squares where they can be seen."""
    counts = window.outside + window.inside
    shade = np.where(counts > 0, 0.2 + 0.8 * np.sqrt(np.minimum(1, counts / top)), 0)
    inside = window.inside > window.outside
    first, last = window.first, window.first + window.rows
    reach = first + len(counts) * window.cell
    pixels = _pixels(np.where(inside, 0, shade), np.where(inside, shade, 0))
    axes.imshow(pixels, interpolation="none", extent=(first, reach, reach, first))
    axes.set(xlim=(first, last), ylim=(last, first), xticks=[], yticks=[])
    if window.rows / batch_size <= 40:
        for start in range(first, last, batch_size):
            side = min(batch_size, last - start)
            axes.add_patch(Rectangle((start, start), side, side, fill=False, edgecolor=INK, lw=0.8))
    for spine in axes.spines.values():
        spine.set(visible=True, color=SOFT, linewidth=0.8)


def _pixels(outside: NDArray[np.floating], inside: NDArray[np.floating]) -> Pixels:
    """Two colours whose opacity is the strength, so that the page shines through; few levels, small files."""
    picture = np.zeros((*inside.shape, 4), dtype=np.uint8)
    picture[..., :3] = np.where((inside > 0)[..., None], PIXEL_INSIDE, PIXEL_OUTSIDE)
    picture[..., 3] = np.round(np.maximum(inside, outside) * 15) * 17
    picture[picture[..., 3] == 0] = 0
    return picture


def losses(found: Findings) -> Figure:
    """Loss in batches as bars; what is missing to the loss over all pairs is the gap."""
    gap = found.gap
    rows: list[tuple[str, float, float | None, str]] = [("random", gap.random.loss_mean, 0.0, RANDOM)]
    for order in sorted(gap.orders, key=lambda order: order.loss_train.both):
        mine = order is found.chosen
        name = f"{found.plan.method}, this order" if mine else order.name
        rows.append((name, order.loss_train.both, order.gap_closed, ORDERED if mine else OTHER))
    rows += [("oracle", gap.oracle.loss_train, gap.oracle.gap_closed, OTHER)]
    rows += [("all pairs", gap.loss_global.both, None, GLOBAL)]
    total = max(gap.loss_global.both, 1e-12)
    figure = Figure(figsize=(WIDTH, 0.42 * len(rows) + 0.5), layout="constrained")
    axes = figure.subplots()
    for at, (name, loss, closed, colour) in enumerate(rows):
        weight = "bold" if colour == ORDERED else "normal"
        hollow = name == "oracle"
        axes.barh(at, total, height=0.66, color=GAP)
        axes.barh(at, loss, height=0.66, color=PAGE if hollow else colour, edgecolor=colour, lw=1.0 * hollow)
        axes.text(total * 1.14, at, loss_text(loss), va="center", ha="right", weight=weight)
        if closed is not None:
            axes.text(total * 1.32, at, percent(closed), va="center", ha="right", weight=weight)
    for column, head in ((1.14, "loss"), (1.32, "closed")):
        axes.text(total * column, -0.75, head, va="center", ha="right", fontsize=9, color=SOFT)
    axes.errorbar(gap.random.loss_mean, 0, xerr=2 * gap.random.loss_std, color=INK, lw=1.2, capsize=2.5)
    axes.set(yticks=range(len(rows)), ylim=(len(rows) - 0.5, -1), xlim=(0, total * 1.34), xticks=[])
    axes.set_yticklabels([row[0] for row in rows], color=INK, fontsize=10)
    _no_frame(axes)
    return figure


def negatives(found: Findings) -> Figure:
    """Similarities of negatives on a logarithmic scale: hard ones are few, and all that matters."""
    figure, axes = _plot()
    seen = np.flatnonzero(sum(found.negatives.values()))
    first, last = (int(seen[0]), int(seen[-1]) + 1) if len(seen) else (0, BINS)
    step = max(1, (last - first) // 60)
    edges = np.arange(first, last + step, step) * 2 / BINS - 1
    shares = {}
    for name, counts in found.negatives.items():
        part = np.pad(counts, (0, step))[first : first + step * (len(edges) - 1)]
        shares[name] = part.reshape(-1, step).sum(axis=1) / max(1, part.sum())
    _compare(axes, shares, edges)
    axes.axvline(found.median_positive, color=INK, lw=1, ls=(0, (4, 3)), label="median positive")
    rare = [float(share[share > 0].min()) for share in shares.values() if share.any()]
    if rare:
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(1e-6, min(rare)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.12g} %"))
    axes.minorticks_off()
    axes.set(xlabel="similarity of a negative", ylabel="share of negatives")
    _legend(axes, 2)
    return figure


def probabilities(found: Findings) -> Figure:
    """How sure the softmax is of positives: at the right nothing is left to learn."""
    figure, axes = _plot()
    _compare(axes, *_shares(found.probabilities, np.linspace(0, 1, 26)))
    axes.set(xlabel="softmax probability of the positive", ylabel="share of anchors", xlim=(0, 1))
    axes.yaxis.set_major_formatter(PERCENT)
    _legend(axes, 3)
    return figure


def margins(found: Findings) -> Figure:
    """The hardest negative against the positive: right of 0 the negative wins."""
    figure, axes = _plot()
    everything = np.concatenate(list(found.margins.values()))
    low, high = np.quantile(everything, (0.001, 0.999)) if len(everything) else (-1.0, 1.0)
    width = max((high - low) / 48, 1e-3)
    edges = width * (np.arange(np.floor(min(low, 0) / width) - 1, np.ceil(max(high, 0) / width) + 2) + 0.5)
    axes.axvline(0, color=INK, lw=1)
    _compare(axes, *_shares(found.margins, edges))
    axes.set(xlabel="hardest negative less positive", ylabel="share of anchors")
    axes.yaxis.set_major_formatter(PERCENT)
    _legend(axes, 3)
    return figure


def _shares(values: dict[str, Doubles], edges: Doubles) -> tuple[dict[str, Doubles], Doubles]:
    return {name: np.histogram(part, edges)[0] / max(1, len(part)) for name, part in values.items()}, edges


def _compare(axes: Axes, shares: dict[str, Doubles], edges: Doubles) -> None:
    """All pairs as an area, batches as lines upon it."""
    for name, share in shares.items():
        if name == "global":
            axes.stairs(share, edges, fill=True, color=GLOBAL, alpha=0.22, label=NAMES[name])
        else:
            share = np.where(share > 0, share, np.nan)
            axes.stairs(share, edges, baseline=None, color=COLOURS[name], lw=1.8, label=NAMES[name])


def hardness(found: Findings, wide: bool) -> Figure:
    """Every batch along the order, against random batches."""
    figure = Figure(figsize=(11 if wide else WIDTH, 2.9 if wide else 3.2), layout="constrained")
    axes = figure.subplots()
    values = found.chosen.per_batch[:, 1]
    most = 800 if wide else 400
    parts = np.array_split(values, len(values) if len(values) <= most else most // 3)
    at = np.cumsum([len(part) for part in parts]) - np.array([len(part) for part in parts]) / 2
    low, high = np.quantile(found.random_hardness, (0.025, 0.975))
    axes.axhspan(low, high, color=RANDOM, alpha=0.3, lw=0)
    axes.axhline(float(found.random_hardness.mean()), color=RANDOM, lw=1.8, label=NAMES["random"])
    axes.axhline(1 - found.gap.positive_probability, color=GLOBAL, lw=1.8, ls=(0, (4, 2)), label="all pairs")
    if len(parts) < len(values):
        ends = [[part.min() for part in parts], [part.max() for part in parts]]
        axes.fill_between(at, ends[0], ends[1], color=ORDERED, alpha=0.25, lw=0)
    axes.plot(at, [part.mean() for part in parts], color=ORDERED, lw=1.5, label=NAMES["ordered"])
    axes.set(xlim=(0, len(values)), ylim=(0, 1.02), xlabel="batch, along the order", ylabel="hardness")
    axes.yaxis.set_major_formatter(PERCENT)
    axes.grid(axis="y")
    _legend(axes, 3)
    return figure


def degrees(found: Findings) -> Figure:
    """How many hard negatives rows have."""
    figure, axes = _plot()
    shown = found.degrees
    at = np.arange(len(shown.names))
    axes.bar(at - 0.2, shown.of_x, 0.38, color=GLOBAL, label="of an x")
    axes.bar(at + 0.2, shown.of_y, 0.38, color=OTHER, label="of a y")
    axes.set_xticks(at, shown.names, rotation=45 if len(at) > 7 else 0)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set(xlabel="hard negatives (edges)", ylabel="rows")
    _legend(axes, 2)
    return figure


def stages(found: Findings) -> Figure:
    """Where the time went."""
    shown = [stage for stage in found.plan.stages if stage.seconds > 0]
    figure = Figure(figsize=(WIDTH, 0.3 * len(shown) + 0.5), layout="constrained")
    axes = figure.subplots()
    longest = max((stage.seconds for stage in shown), default=1.0)
    for at, stage in enumerate(shown):
        axes.barh(at, stage.seconds, height=0.62, color=OTHER)
        axes.text(stage.seconds + 0.015 * longest, at, seconds_text(stage.seconds), va="center", fontsize=9)
    axes.set(yticks=range(len(shown)), ylim=(len(shown) - 0.5, -0.5), xlim=(0, longest * 1.2), xticks=[])
    axes.set_yticklabels([stage.name for stage in shown], color=INK)
    _no_frame(axes)
    return figure


def _plot() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    axes = figure.subplots()
    axes.grid(axis="y")
    return figure, axes


def _square() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, WIDTH))
    return figure, figure.add_axes((0.005, 0.005, 0.99, 0.99))


def _bare(axes: Axes, size: int) -> None:
    axes.set(xlim=(0, size), ylim=(size, 0), xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=LINE)


def _no_frame(axes: Axes) -> None:
    axes.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _legend(axes: Axes, columns: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns)


def similarity_range(shown: Sequence[Matrix]) -> tuple[float, float]:
    """What is blank and what is full colour, in all matrices."""
    values = np.concatenate([part.values[~np.eye(len(part.values), dtype=bool)] for part in shown])
    low, high = np.quantile(values, (0.5, 0.999))
    return float(low), float(max(high, low + 1e-3))
