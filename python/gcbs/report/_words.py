"""The page in plain words: what the numbers say about the data, and what to do about it.

`code` and **bold** are marked as in Markdown; the page escapes the rest.
"""

from __future__ import annotations

from ._collect import Findings

MANY_OUTRANK = 0.05  # as the program's verdict
WORTH_SAYING = 0.03
LITTLE = 0.02
FEW_CAN = 0.2
SOLVED = 0.05


def percent(share: float) -> str:
    """Whole percents, but for the first ten of them."""
    value = 100 * share
    decimals = 1 if 0.05 <= abs(value) < 9.95 else 0
    return f"{value:.{decimals}f}\N{NO-BREAK SPACE}%".replace("-0\N{NO-BREAK SPACE}", "0\N{NO-BREAK SPACE}")


def loss_text(loss: float) -> str:
    """Two decimals, or two digits where there is less."""
    return f"{loss:.2f}" if abs(loss) >= 0.095 or loss == 0 else f"{loss:.2g}"


def seconds_text(seconds: float) -> str:
    """As the program writes it."""
    if seconds >= 100:
        return f"{seconds:.0f} s"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def times(found: Findings) -> float | None:
    """How many times as many edges the batches hold as random ones."""
    return found.chosen.edges_in_batch / found.random_edges if found.random_edges > 0 else None


def title(found: Findings) -> str:
    """The page in one line."""
    closed = found.chosen.gap_closed
    if closed is None:
        return "There is no gap to close"
    if closed < LITTLE:
        return "This order changes little: its batches are about as hard as random ones"
    return f"This order closes {percent(closed)} of the gap to the global loss"


def about_the_gap(found: Findings) -> str:
    """What random batches miss, what the order brings back, what more there is."""
    gap, chosen, size = found.gap, found.chosen, found.batch_size
    if chosen.gap_closed is None and size >= found.rows:
        return f"All {found.rows:,} pairs fit into one batch of {size:,}: every pair meets every other."
    if chosen.gap_closed is None:
        return "Random batches see all that there is to see: the filters leave hardly a negative."
    said = [
        f"In random batches of {size:,} the loss is {loss_text(gap.random.loss_mean)}; over all "
        f"{found.rows:,} pairs it is {loss_text(gap.loss_global.both)}. The difference is the gap: what a "
        f"model still confuses, but never meets in a batch. This order, `{found.plan.method}`, brings the "
        f"loss in batches to {loss_text(chosen.loss_train.both)} and so closes "
        f"**{percent(chosen.gap_closed)}** of the gap."
    ]
    if gap.loss_global.both < SOLVED:
        said.append("Even over all pairs the loss is small: there is little left to learn from any batch.")
    ratio = times(found)
    if ratio is not None and ratio >= 1.5:
        said.append(
            f"Its batches hold {ratio:,.{_decimals(ratio)}f} times as many hard negatives as random ones."
        )
    others = [order for order in gap.orders if order is not chosen and order.gap_closed is not None]
    better = max(others, key=lambda order: order.gap_closed or 0.0, default=chosen)
    if (better.gap_closed or 0.0) > chosen.gap_closed + WORTH_SAYING:
        said.append(f"`--method {better.name}` would close {percent(better.gap_closed or 0.0)}.")
    oracle = gap.oracle.gap_closed
    if oracle is not None:
        alike = ": similarities are so much alike that it hardly matters who shares a batch"
        said.append(f"No order can close more than {percent(oracle)}{alike if oracle < FEW_CAN else ''}.")
    return " ".join(said)


def _decimals(ratio: float) -> int:
    return 0 if ratio >= 10 else 1


def about_false_negatives(found: Findings) -> tuple[bool, list[str]]:
    """Whether hard negatives look false, and which option helps."""
    said = []
    share = found.chosen.outranking_in_batch
    likely = share is not None and share >= MANY_OUTRANK
    if found.duplicates_in_batch > 0:
        said.append(
            f"**There are false negatives.** {found.duplicates_in_batch:,} rows share a batch with a row "
            "whose x or y is the same. `--groups duplicates` keeps equal rows apart."
        )
    elif found.duplicates > 0:
        said.append(f"{found.duplicates:,} rows have an equal; none of them meets it in a batch.")
    who = "More" if found.duplicates_in_batch > 0 else "False negatives"
    if share is not None and likely:
        said.append(
            f"**{who} are likely.** {percent(share)} of the hard negatives in batches are more similar than "
            "their own positive: pairs that the model does not know yet, or positives that nobody has "
            "marked; reading the hardest batches tells which. `--relative-margin 0.05` leaves them out; ids "
            "that you have are better: `--groups ids.npy`."
        )
    elif share is not None:
        some = "No hard negative is more similar than its own positive."
        if share > 0:
            some = f"{percent(share)} of the hard negatives in batches are more similar than their positive."
        said.append(f"**{who} look unlikely.** {some}")
    if found.plan.suspects_in_batch:
        said.append(
            f"The margins leave {found.plan.suspects_in_batch:,} suspect pairs in batches, "
            "where nothing better was found."
        )
    return likely or found.duplicates_in_batch > 0, said


def plain(text: str) -> str:
    """Without marks, for terminals."""
    return text.replace("**", "").replace("`", "").replace("\N{NO-BREAK SPACE}", " ")
