"""The batches that a person should read: who is confused with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from ._contrasts import Contrasts, Index

# A text for each pair, or the texts of x and y: two of them, or one with a tab between them.
Labels = Sequence[str | tuple[str, str]]

SHOWN = 6
HARDEST = 3
MOST_ROWS = 2048


@dataclass(frozen=True)
class Confusion:
    """An x and the y of its batch that is most like it, though not its own."""

    anchor: str
    other: str
    own: str | None
    """the text of its own y, where labels tell x and y apart"""
    similarity: float
    positive: float


@dataclass(frozen=True)
class Batch:
    """A batch by its hardest confusions."""

    title: str
    hardness: float | None
    confusions: tuple[Confusion, ...]


def batches_to_read(
    contrasts: Contrasts,
    order: Index,
    shuffled: Index,
    hardness: NDArray[np.float64],
    batch_size: int,
    labels: Labels,
) -> tuple[Batch, ...]:
    """The hardest batches of the order, a middling one, and a random one to compare with."""
    ranked = np.argsort(-hardness, kind="stable")
    hardest = [int(batch) for batch in ranked[:HARDEST]]
    middle = int(ranked[len(ranked) // 2])
    chosen = [(f"Batch {batch}", batch) for batch in hardest]
    if middle not in hardest:
        chosen.append((f"Batch {middle}, the middle one", middle))
    found = []
    for title, batch in chosen:
        rows = order[batch * batch_size : (batch + 1) * batch_size]
        found.append(Batch(title, float(hardness[batch]), _confusions(contrasts, rows, labels)))
    random = _confusions(contrasts, shuffled[:batch_size], labels)
    return (*found, Batch("A random batch, to compare with", None, random))


def _confusions(contrasts: Contrasts, rows: Index, labels: Labels) -> tuple[Confusion, ...]:
    rows = rows[:MOST_ROWS]
    similar = np.where(contrasts.counted(rows, rows), contrasts.similarities(rows, rows), -np.inf)
    nearest = similar.argmax(axis=1)
    value = similar[np.arange(len(rows)), nearest]
    told: set[str] = set()
    found: list[Confusion] = []
    for at in np.argsort(-value, kind="stable"):
        anchor, own = _sides(labels[int(rows[at])])
        mate, other = _sides(labels[int(rows[nearest[at]])])
        other = other or mate
        if not np.isfinite(value[at]) or other in told or anchor in told:
            continue
        told |= {other, anchor}
        positive = contrasts.positives[rows[at]]
        found.append(Confusion(anchor, other, own, float(value[at]), float(positive)))
        if len(found) == SHOWN:
            break
    return tuple(found)


def _sides(label: str | tuple[str, str]) -> tuple[str, str | None]:
    x, *rest = label.split("\t", 1) if isinstance(label, str) else label
    return str(x), str(rest[0]) if rest else None


def checked(labels: Any, rows: int) -> Labels:
    """Labels as they are taken, one a row."""
    listed = [label if isinstance(label, tuple) else str(label) for label in labels]
    if len(listed) != rows:
        raise InputError(
            "input",
            f"there are {len(listed):,} labels for {rows:,} rows",
            "each pair needs one, in the order of the rows",
            "give as many labels as x has rows",
        )
    return listed
