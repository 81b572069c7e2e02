"""What the calls return: plain dataclasses that print as tables and show themselves in notebooks."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Lines = Sequence[tuple[str, str]]


def _aligned(lines: Lines) -> str:
    width = max((len(label) for label, _ in lines), default=0)
    return "\n".join(f"{label:<{width}}  {text}".rstrip() for label, text in lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], bold: int = -1) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(cells, "th" if at == bold else "td") for at, cells in enumerate(rows))
    top = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f'<table class="gcbs">{top}<tbody>{body}</tbody></table>'


class _Lines:
    """Prints as labelled lines."""

    _lines: Lines

    def __str__(self) -> str:
        return _aligned(self._lines)

    def _repr_html_(self) -> str:
        return _table((), self._lines)


@dataclass(frozen=True)
class Stage:
    """A part of the work, and how long it took."""

    name: str
    seconds: float


def _stages(found: Mapping[str, Any]) -> tuple[Stage, ...]:
    return tuple(Stage(entry["name"], entry["seconds"]) for entry in found["stages"])


@dataclass(frozen=True)
class Threshold:
    """What a similarity has to exceed to be an edge; ``low`` to ``high`` is its 95 % interval."""

    mode: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """A cheap estimate of what an order is worth, and its 95 % interval."""

    gap_closed: float
    low: float
    high: float
    outranking: float
    """share of kept edges more similar than their own positive"""
    suspects: float
    """share of all pairs that the margins leave out"""
    anchors: int


@dataclass(frozen=True)
class Plan(_Lines):
    """An order and what was found on the way to it."""

    order: NDArray[np.int64] = field(repr=False)
    """new position -> old row; consecutive batches of it are what the trainer sees"""
    batch_size: int
    method: str
    threshold: Threshold | None
    edge_count: int
    verdict: Verdict | None
    batches: int
    moved: int
    """rows that changed their batch to keep groups apart and suspects out"""
    suspects_in_batch: int | None
    rows_without_edges: int
    extra: NDArray[np.int64] | None = field(repr=False)
    """for each batch the rows whose y it also meets; -1 where there are fewer"""
    edges: NDArray[np.int32] | None = field(repr=False)
    """the kept negatives (row, column), sorted"""
    stages: tuple[Stage, ...] = field(repr=False)
    seconds: float
    peak_bytes: int
    isa: str
    threads: int
    options: dict[str, Any] = field(repr=False)
    _lines: Lines = field(repr=False, compare=False)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """The batches, one after the other."""
        for first in range(0, len(self.order), self.batch_size):
            yield self.order[first : first + self.batch_size]

    def __len__(self) -> int:
        return self.batches


def plan_of(found: Mapping[str, Any]) -> Plan:
    """From what the library returns."""
    about = json.loads(found["json"])
    return Plan(
        order=found["order"],
        batch_size=about["options"]["batch_size"],
        method=about["method"],
        threshold=Threshold(**about["threshold"]) if about["threshold"] else None,
        edge_count=about["edges"],
        verdict=Verdict(**about["verdict"]) if about["verdict"] else None,
        extra=found.get("extra"),
        edges=found.get("edges"),
        stages=_stages(about),
        _lines=found["lines"],
        **{
            name: about[name]
            for name in (
                *("batches", "moved", "suspects_in_batch", "rows_without_edges"),
                *("seconds", "peak_bytes", "isa", "threads", "options"),
            )
        },
    )


@dataclass(frozen=True)
class ByDirection:
    """A loss of x against all y, of y against all x, and their mean."""

    x: float
    y: float
    both: float


@dataclass(frozen=True)
class Bounds:
    """The paper's: above the gap (theorems), below the loss in batches (lemmas)."""

    theorem1: float
    theorem2: float
    lemma2: float
    lemma3: float


@dataclass(frozen=True)
class OrderGap:
    """What one order comes to."""

    name: str
    loss_train: ByDirection
    gap: float
    gap_closed: float | None
    edges_in_batch: int
    outranking: float | None
    outranking_in_batch: float | None
    bandwidth: int
    bounds: Bounds
    qbap: float
    qap: float
    positive_probability: float
    moved: int | None
    suspects_in_batch: int | None
    seconds: float
    peak_bytes: int
    per_batch: NDArray[np.float64] = field(repr=False)
    """loss and hardness (the softmax share of the negatives) of every batch"""


@dataclass(frozen=True)
class RandomGap:
    """Random orders: what others are measured against."""

    trials: int
    loss_mean: float
    loss_std: float
    positive_probability: float


@dataclass(frozen=True)
class Oracle:
    """Every row with its own hardest negatives: no order passes it."""

    loss_train: float
    gap_closed: float | None


@dataclass(frozen=True)
class Gap:
    """How much of the loss over all pairs the batches of some orders see."""

    loss_global: ByDirection
    positive_probability: float
    error_bound: float
    random: RandomGap
    oracle: Oracle
    orders: tuple[OrderGap, ...]
    threshold: Threshold | None
    edges: int
    stages: tuple[Stage, ...] = field(repr=False)
    seconds: float
    peak_bytes: int
    isa: str
    threads: int
    options: dict[str, Any] = field(repr=False)
    _text: str = field(repr=False, compare=False)

    def __getitem__(self, name: str) -> OrderGap:
        for order in self.orders:
            if order.name == name:
                return order
        raise KeyError(f"{name!r}: the orders are {', '.join(order.name for order in self.orders)}")

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        def percent(share: float | None) -> str:
            return "-" if share is None else f"{100 * share:.1f} %"

        rows = [
            (
                order.name,
                f"{order.loss_train.both:.4f}",
                f"{order.gap:.4f}",
                percent(order.gap_closed),
                f"{order.edges_in_batch:,}",
                percent(order.outranking_in_batch),
                f"{order.seconds:.2f}",
            )
            for order in self.orders
        ]
        rows.append(
            ("oracle", f"{self.oracle.loss_train:.4f}", "", percent(self.oracle.gap_closed), "", "", "")
        )
        closed = [order.gap_closed or 0.0 for order in self.orders]
        best = closed.index(max(closed)) if closed else -1
        head = ("order", "loss in batches", "gap", "gap closed", "edges in batches", "outranking", "seconds")
        note = (
            f"<p>global loss {self.loss_global.both:.4f}; random batches {self.random.loss_mean:.4f} "
            f"&plusmn; {self.random.loss_std:.4f}</p>"
        )
        return _table(head, rows, best) + note


def gap_of(found: Mapping[str, Any]) -> Gap:
    """From what the library returns."""
    about = json.loads(found["json"])
    random = about["random"]
    orders = []
    for entry, values in zip(about["orders"], found["per_batch"], strict=True):
        loss = ByDirection(**entry.pop("loss_train"))
        bounds = Bounds(**entry.pop("bounds"))
        orders.append(OrderGap(loss_train=loss, bounds=bounds, per_batch=values, **entry))
    return Gap(
        loss_global=ByDirection(**about["loss_global"]),
        random=RandomGap(
            random["trials"],
            random["loss_train"]["mean"],
            random["loss_train"]["std"],
            random["positive_probability"],
        ),
        oracle=Oracle(**about["oracle"]),
        orders=tuple(orders),
        threshold=Threshold(**about["threshold"]) if about["threshold"] else None,
        stages=_stages(about),
        _text=found["text"],
        **{
            name: about[name]
            for name in (
                *("positive_probability", "error_bound", "edges"),
                *("seconds", "peak_bytes", "isa", "threads", "options"),
            )
        },
    )


@dataclass(frozen=True)
class Mined(_Lines):
    """The hardest negatives of every row, the most similar first."""

    negatives: NDArray[np.int64] = field(repr=False)
    """rows of y or the corpus; -1 where there are fewer"""
    scores: NDArray[np.float32] = field(repr=False)
    """their similarities; NaN where there are fewer"""
    found: int
    stages: tuple[Stage, ...] = field(repr=False)
    seconds: float
    peak_bytes: int
    isa: str
    threads: int
    options: dict[str, Any] = field(repr=False)
    _lines: Lines = field(repr=False, compare=False)


def mined_of(found: Mapping[str, Any]) -> Mined:
    """From what the library returns."""
    about = json.loads(found["json"])
    names = ("found", "seconds", "peak_bytes", "isa", "threads", "options")
    return Mined(
        negatives=found["negatives"],
        scores=found["scores"],
        stages=_stages(about),
        _lines=found["lines"],
        **{name: about[name] for name in names},
    )


@dataclass(frozen=True)
class Info(_Lines):
    """What this build and this machine offer."""

    version: str
    compiled: tuple[str, ...]
    available: tuple[str, ...]
    chosen: str
    cores: int
    _lines: Lines = field(repr=False, compare=False)


def info_of(found: Mapping[str, Any]) -> Info:
    """From what the library returns."""
    about = json.loads(found["json"])
    return Info(
        about["version"],
        tuple(about["compiled"]),
        tuple(about["available"]),
        about["chosen"],
        about["cores"],
        found["lines"],
    )
