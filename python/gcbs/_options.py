"""The keyword arguments that the calls share, by what they are about. Defaults are the program's."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from . import _core
from ._arrays import as_groups, as_integers, as_matrix
from ._errors import InputError
from ._progress import Progress

Method = Literal["rcm", "cm", "chain", "pack", "random", "natural"]


class RunOptions(TypedDict, total=False):
    """How a call runs. None of it changes the result but ``seed``."""

    threads: int
    """0 (default): the cores this process may use"""
    seed: int
    """of all that is random; default 0"""
    isa: str | None
    """force an instruction set that ``gcbs.info()`` lists as available"""
    memory_limit: int | str | None
    """refuse a call that needs more: bytes, or "8G"; default 80 % of what is available"""
    copy: bool
    """copy embeddings that are on another device instead of refusing them"""
    progress: bool | Progress | None
    """True, False, or ``f(stage, done, total)``, called about ten times a second; raising in it stops the
    call. None (default): a tqdm bar, if tqdm is installed and somebody looks"""


class MarginOptions(TypedDict, total=False):
    """Which negatives are suspected to be positives."""

    relative_margin: float | None
    """pairs more similar than (1 - V) times their positive. ``order``, ``plan`` and ``BatchSampler`` use 0
    where no margin is named; None is none"""
    absolute_margin: float | None
    """pairs more similar than their positive less V"""
    max_score: float | None
    """pairs more similar than this"""
    groups: Any
    """one id a row, or a list of such lists: rows with equal ids are never negatives of each other, and never
    share a batch. The word "duplicates": rows with equal x or equal y"""
    skip_top: int
    """leave out the most similar ones that are otherwise allowed"""


class FilterOptions(MarginOptions, total=False):
    """Which negatives count."""

    symmetric: bool
    """judge a pair by the largest of s(x_i,y_j), s(x_j,y_i), s(x_i,x_j), s(y_i,y_j)"""
    guide_x: Any
    """judge by another model's embeddings of x, and its positives"""
    guide_y: Any
    """and of y"""


class GraphOptions(TypedDict, total=False):
    """Which negatives are hard: the edges."""

    neighbours: float | None
    """edges a row to keep, on average; default ``batch_size``"""
    quantile: float | None
    """or: the share of all similarities to drop"""
    threshold: Literal["exact", "estimate", "paper"]
    """exact (default), from a sample, or as in the paper's listing"""
    shortcut: Literal["auto", "on", "off"]
    """skip what cannot matter; the result is the same"""
    normalised: bool
    """rows are unit vectors already (checked)"""


class BatchOptions(TypedDict, total=False):
    """From the graph to batches."""

    block: int | None
    """blocks of this many rows, mixed at random into batches: smaller is easier; default ``batch_size``"""
    random_share: float
    """draw this share of every batch at random from all rows"""
    epoch: int | None
    """put the batches into another sequence for every epoch"""
    extra: int
    """columns shared by the batch: rows outside it whose y weigh most in the softmax of its x"""
    objective: Literal["edges", "similarity", "loss"]
    """what ``pack`` maximises"""
    effort: Literal["fast", "default", "best"]
    """how long ``pack`` searches"""
    start: Any
    """an order that ``pack`` improves, the last epoch's for example"""
    temperature: float
    """what similarities are divided by in the loss; default 0.05"""


class OrderOptions(GraphOptions, FilterOptions, BatchOptions, RunOptions, total=False):
    """Options of ``gcbs.order``, ``gcbs.plan`` and ``gcbs.BatchSampler``."""

    method: Method
    """pack (default): batches that maximise their loss; rcm: the paper's; cm, chain, ..."""
    paper: bool
    """every choice as in the paper's listing"""


class GapOptions(GraphOptions, FilterOptions, BatchOptions, RunOptions, total=False):
    """Options of ``gcbs.gap`` and ``gcbs.compare``."""

    direction: Literal["x", "y", "both"]
    """whose rows are the anchors; default both"""
    form: Literal["clip", "simclr"]
    """clip (default): against the other side. simclr: against both views of all others"""
    random_trials: int
    """random orders to compare with; default 100"""


class MineOptions(MarginOptions, RunOptions, total=False):
    """Options of ``gcbs.mine``."""

    min_score: float | None
    """never a negative less similar than this"""
    normalised: bool
    """rows are unit vectors already (checked)"""


MARGINS = ("relative_margin", "absolute_margin", "max_score")


def words_of(call: str, options: Mapping[str, Any], known: type) -> dict[str, Any]:
    """The options as the library reads them. Raises TypeError for one that the call does not have."""
    names = known.__annotations__ | {
        name: None for base in known.__mro__ for name in getattr(base, "__annotations__", {})
    }
    for name in options:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"gcbs.{call}() has no option {name!r}{hint}")
    words = {name: value for name, value in options.items() if name not in ("copy", "progress")}
    if "method" in names and not any(margin in words for margin in MARGINS):
        words["relative_margin"] = _core.default_margin(words)
    copy = bool(options.get("copy", False))
    if "groups" in words:
        words["groups"] = as_groups(words["groups"])
    if words.get("start") is not None:
        words["start"] = as_integers(words["start"], "start")
    for guide in ("guide_x", "guide_y"):
        if words.get(guide) is not None:
            words[guide] = as_matrix(words[guide], guide, copy)
    if words.get("guide_y") is None and words.get("guide_x") is not None:
        words["guide_y"] = words["guide_x"]
    if isinstance(words.get("memory_limit"), str):
        words["memory_limit"] = _bytes_of(words["memory_limit"])
    return words


def _bytes_of(text: str) -> int:
    powers = {"K": 10, "M": 20, "G": 30, "T": 40}
    try:
        power = powers.get(text[-1:], 0)
        count = float(text[:-1] if power else text) * 2**power
        if 1 <= count < 2**63:
            return int(count)
    except ValueError:
        pass
    raise InputError(
        "usage",
        f"memory_limit cannot be {text!r}",
        "it takes a number of bytes, or one followed by K, M, G or T (powers of 1024)",
        "for example memory_limit='8G'",
    )
