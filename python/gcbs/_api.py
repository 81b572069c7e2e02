"""The calls: embeddings in, orders, losses and negatives out. What they do is in the library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_groups, as_integers, as_matrix, as_orders
from ._options import GapOptions, Method, MineOptions, OrderOptions, words_of
from ._progress import shown
from ._results import Gap, Info, Mined, Plan, gap_of, info_of, mined_of, plan_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def order(x: Any, y: Any = None, *, batch_size: int, **options: Unpack[OrderOptions]) -> NDArray[np.int64]:
    """Order the pairs (x_i, y_i) so that batches are full of hard negatives.

    ``x`` and ``y`` are N x d embeddings: numpy, torch on the CPU, jax, anything with DLPack or the buffer
    protocol; float32, float16, bfloat16 or float64. They are read where they are. ``y`` left out: two views
    of one matrix.

    Returns int64, N: new position -> old row. Each ``batch_size`` consecutive entries are a batch, the last
    one what remains. The same input and options give the same order on every machine.

    Options: the flags of ``gcbs order --help``, underscores for dashes (typed in ``gcbs.OrderOptions``).

    >>> import gcbs, numpy
    >>> rng = numpy.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 32)); y = x + 0.5 * rng.normal(size=(1000, 32))
    >>> order = gcbs.order(x, y, batch_size=50)
    >>> sorted(order) == list(range(1000))
    True
    """
    return _plan("order", x, y, {"batch_size": batch_size, "verdict": False}, options).order


def plan(
    x: Any,
    y: Any = None,
    *,
    batch_size: int,
    edges: bool = False,
    verdict: bool = True,
    **options: Unpack[OrderOptions],
) -> Plan:
    """Everything that ``gcbs order`` finds: the order, extra columns, edges, a verdict, times.

    Takes what ``gcbs.order`` takes. ``edges``: the graph too. ``verdict``: an estimate of what the order is
    worth. The result prints as the program's report and iterates over the batches.

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> plan = gcbs.plan(x, batch_size=50, method="pack", extra=4)
    >>> len(plan), plan.extra.shape
    (20, (20, 4))
    """
    given = {"batch_size": batch_size, "edges": edges, "verdict": verdict}
    return _plan("plan", x, y, given, options)


def _plan(call: str, x: Any, y: Any, given: dict[str, Any], options: OrderOptions) -> Plan:
    words = given | words_of(call, options, OrderOptions)
    x, y = _sides(x, y, bool(options.get("copy")))
    with shown(options.get("progress")) as tick:
        return plan_of(_core.order(x, y, words, tick))


def arrange(
    order: Any,
    *,
    batch_size: int,
    block: int | None = None,
    random_share: float = 0.0,
    groups: Any = None,
    epoch: int | None = None,
    seed: int = 0,
) -> NDArray[np.int64]:
    """Make batches of an order that is there already, without embeddings.

    Blocks of ``block`` rows are mixed at random into batches, rows of one group (``groups``: one id a row, or
    several such lists) are kept apart, and ``epoch`` puts the batches into another sequence. Mixing depends
    on ``seed`` alone: give each epoch a seed of its own to mix anew.

    >>> import gcbs
    >>> [int(row) for row in gcbs.arrange(range(6), batch_size=2, groups=[0, 0, 1, 1, 2, 2])]
    [0, 2, 5, 3, 4, 1]
    """
    words = {
        "batch_size": batch_size,
        "block": block,
        "random_share": random_share,
        "groups": as_groups(groups),
        "epoch": epoch,
        "seed": seed,
    }
    return cast("NDArray[np.int64]", _core.arrange(as_integers(order, "order"), words, None))


def gap(
    x: Any,
    y: Any = None,
    *,
    batch_size: int,
    orders: Any = None,
    methods: Iterable[Method] = (),
    negatives: Any = None,
    **options: Unpack[GapOptions],
) -> Gap:
    """Measure how much of the loss over all pairs the batches of an order see.

    ``orders``: one order, or orders by name. ``methods``: orders to compute. Neither: the gap of rcm.
    ``negatives``: N more rows, one for each pair, that all x of its batch are contrasted with.
    Options: the flags of ``gcbs gap --help``, underscores for dashes (typed in ``gcbs.GapOptions``).

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> found = gcbs.gap(x, batch_size=50, methods=["pack"])
    >>> found["pack"].loss_train.both < found.loss_global.both
    True
    """
    named = as_orders(orders)
    computed = list(methods) or ([] if named else ["rcm"])
    return _gap(
        "gap", x, y, negatives, {"batch_size": batch_size, "orders": named, "methods": computed}, options
    )


def compare(
    x: Any,
    y: Any = None,
    *,
    batch_size: int,
    methods: Iterable[Method] = ("random", "rcm", "chain", "pack"),
    orders: Any = None,
    negatives: Any = None,
    **options: Unpack[GapOptions],
) -> Gap:
    """Put several orders beside each other: one objective, one timer, one table.

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> table = gcbs.compare(x, batch_size=50, orders={"mine": numpy.arange(1000)})
    >>> [order.name for order in table.orders]
    ['random', 'rcm', 'chain', 'pack', 'mine']
    """
    given = {"batch_size": batch_size, "orders": as_orders(orders), "methods": list(methods)}
    return _gap("compare", x, y, negatives, given, options)


def _gap(call: str, x: Any, y: Any, negatives: Any, given: dict[str, Any], options: GapOptions) -> Gap:
    words = given | words_of(call, options, GapOptions)
    copy = bool(options.get("copy"))
    x, y = _sides(x, y, copy)
    if negatives is not None:
        negatives = as_matrix(negatives, "negatives", copy)
    with shown(options.get("progress")) as tick:
        return gap_of(_core.gap(x, y, negatives, call, words, tick))


def mine(
    x: Any,
    y: Any = None,
    *,
    top: int,
    corpus: Any = None,
    positives: Any = None,
    **options: Unpack[MineOptions],
) -> Mined:
    """Find the ``top`` hardest negatives of every row of ``x`` among the rows of ``y``, or of a corpus.

    ``corpus``: more documents than pairs; its first N rows are y, or ``positives`` says which row is whose.
    Margins mean what they mean in sentence-transformers' ``mine_hard_negatives``.
    Options: the flags of ``gcbs mine --help``, underscores for dashes (typed in ``gcbs.MineOptions``).

    >>> import gcbs, numpy
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> gcbs.mine(x, top=3).negatives.shape
    (1000, 3)
    """
    if corpus is not None and y is not None:
        raise TypeError("gcbs.mine() takes y or corpus, not both: the corpus holds the rows of y, and more")
    if positives is not None and corpus is None:
        raise TypeError("gcbs.mine() takes positives with a corpus: row i of y is the positive of row i of x")
    words = {"top": top, "corpus": corpus} | words_of("mine", options, MineOptions)
    if positives is not None:
        words["positives"] = as_integers(positives, "positives")
    copy = bool(options.get("copy"))
    x, found_in = _sides(x, y if corpus is None else corpus, copy, "y" if corpus is None else "corpus")
    with shown(options.get("progress")) as tick:
        return mined_of(_core.mine(x, found_in, words, tick))


def info() -> Info:
    """What this build and this machine offer.

    >>> import gcbs
    >>> "scalar" in gcbs.info().available
    True
    """
    return info_of(_core.info())


def _sides(x: Any, y: Any, copy: bool, name: str = "y") -> tuple[Any, Any]:
    first = as_matrix(x, "x", copy)
    return first, first if y is None or y is x else as_matrix(y, name, copy)
