"""The flags of ``python -m gcbs report``: the names and words of the program's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from .._errors import Error
from .._options import Method, _bytes_of

METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True)
class Value:
    """How the text of a flag becomes a value: ``read`` gives None for what does not fit."""

    read: Callable[[str], Any]
    wanted: str
    example: str

    def of(self, flag: str, text: str) -> Any:
        """The value, or an error in the program's words."""
        value = self.read(text)
        if value is None:
            raise Error(
                "usage",
                f"{flag} cannot be '{text}'",
                f"it takes {self.wanted}",
                f"for example {flag} {self.example}",
            )
        return value


NOTHING = object()
"""the value of an option that is given, and is to be None"""


def whole(example: str, low: int = 0) -> Value:
    def read(text: str) -> int | None:
        fits = text.isascii() and text.isdigit() and low <= int(text) < 2**64
        return int(text) if fits else None

    return Value(read, f"a whole number, at least {low}", example)


def number(example: str, low: float = -math.inf, high: float = math.inf, wanted: str = "a number") -> Value:
    def read(text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if math.isfinite(value) and low <= value <= high else None

    return Value(read, wanted, example)


def one_of(*names: str) -> Value:
    return Value(lambda text: text if text in names else None, f"one of {', '.join(names)}", names[0])


def some_of(*names: str) -> Value:
    def read(text: str) -> list[str] | None:
        chosen = text.split(",") if text else []
        return chosen if set(chosen) <= set(names) else None

    return Value(read, f"some of {', '.join(names)}, commas between them", "rcm,pack")


def memory() -> Value:
    def read(text: str) -> int | None:
        try:
            return _bytes_of(text)
        except Error:
            return None

    return Value(read, "a number of bytes, or one followed by K, M, G or T (powers of 1024)", "8G")


def share(example: str) -> Value:
    return number(example, 0, 1, "a number from 0 to 1")


def margin(example: str) -> Value:
    numbers = share(example)
    return Value(
        lambda text: NOTHING if text == "none" else numbers.read(text), f"{numbers.wanted}, or none", example
    )


def above_0(example: str) -> Value:
    return number(example, math.ulp(0.0), wanted="a number above 0")


QUANTILE = number("0.999", 0, math.nextafter(1, 0), "a number from 0 up to, not including, 1")
FILE = Value(lambda text: text, "a file", "X.npy")


@dataclass(frozen=True)
class Flag:
    """A flag and the option that it sets. Without a value it is on or off."""

    option: str
    placeholder: str
    help: str
    value: Value | None = None
    short: str = ""
    name: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        long = self.name or "--" + self.option.replace("_", "-")
        return (self.short, long) if self.short else (long,)


FLAGS = {
    "Batches": (
        Flag("batch_size", "K", "rows in a batch, 2 to N (needed)", whole("64", 2), "-k"),
        Flag("method", "METHOD", f"the order: {', '.join(METHODS)}; default pack", one_of(*METHODS)),
        Flag("methods", "A,B", "orders to compare it with; default natural,rcm,pack", some_of(*METHODS)),
        Flag(
            "objective",
            "WHAT",
            "what pack maximises: loss (default), similarity, edges",
            one_of("loss", "similarity", "edges"),
        ),
        Flag(
            "effort",
            "EFFORT",
            "how long pack searches: fast, default, best",
            one_of("fast", "default", "best"),
        ),
        Flag("start", "ORDER.npy", "an order that pack improves", FILE, name="--from"),
        Flag("block", "B", "blocks of B rows, mixed at random into batches", whole("16", 1)),
        Flag("random_share", "P", "draw this share of every batch at random", share("0.25")),
        Flag("epoch", "E", "another sequence of batches for every epoch", whole("3")),
        Flag("extra", "E", "columns shared by the batch", whole("16")),
    ),
    "Loss": (
        Flag("temperature", "TAU", "what similarities are divided by; default 0.05", above_0("0.05")),
        Flag("direction", "WHICH", "whose rows are anchors: x, y, both (default)", one_of("x", "y", "both")),
        Flag("form", "FORM", "clip (default), simclr", one_of("clip", "simclr")),
        Flag("random_trials", "T", "random orders to compare with; default 100", whole("100", 1)),
    ),
    "False negatives": (
        Flag("groups", "FILE.npy", "rows with equal numbers never share a batch; or: duplicates", FILE),
        Flag(
            "relative_margin",
            "V",
            "no pair more similar than (1 - V) times its positive, or none; default 0 if no margin is given",
            margin("0.05"),
        ),
        Flag("absolute_margin", "V", "nor one more similar than its positive less V", number("0.1")),
        Flag("max_score", "V", "nor one more similar than V", number("0.9")),
        Flag("symmetric", "", "judge a pair by the largest of four similarities"),
        Flag("guide_x", "FILE", "judge by another model's embeddings of X", FILE),
        Flag("guide_y", "FILE", "and of Y", FILE),
        Flag("skip_top", "R", "the R most similar columns of a row are no edges", whole("5")),
    ),
    "Graph": (
        Flag("neighbours", "M", "edges a row to keep, on average; default K", above_0("64"), "-m"),
        Flag("quantile", "Q", "or: the share of all similarities to drop", QUANTILE, "-q"),
        Flag("threshold", "MODE", "exact (default), estimate, paper", one_of("exact", "estimate", "paper")),
        Flag("shortcut", "WHEN", "skip what cannot matter: auto, on, off", one_of("auto", "on", "off")),
        Flag("normalised", "", "rows are unit vectors already (checked)"),
        Flag("paper", "", "all choices of the paper's listing"),
    ),
    "Output": (
        Flag("path", "FILE.html", "the page (needed)", FILE, "-o", "--output"),
        Flag("labels", "FILE", "one line a row: a text, or x's and y's with a tab between them", FILE),
        Flag("svg", "DIR", "also every plot as a file of its own", FILE),
        Flag("json", "", "print one JSON object about the run on stdout"),
        Flag("quiet", "", "nothing on stderr but errors"),
    ),
    "Run": (
        Flag("threads", "N", "default 0: all cores this process may use", whole("4")),
        Flag("seed", "S", "of all that is random; default 0", whole("7")),
        Flag("isa", "NAME", "force an instruction set that gcbs info lists as available", FILE),
        Flag("memory_limit", "BYTES", "refuse a run that needs more: 8G, 512M, bytes", memory()),
    ),
}
