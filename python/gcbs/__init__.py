"""gcbs decides which samples of a contrastive training set share a batch.

order, plan     embeddings in, an order of the pairs out
arrange         batches of an order, without embeddings
gap, compare    how much of the global loss the batches of an order see
mine            the hardest negatives of every row
info            what this build and this machine offer
BatchSampler    torch's protocol, for training loops (needs no torch)
report          one page of pictures (needs matplotlib)
"""

from ._api import arrange, compare, gap, info, mine, order, plan
from ._errors import Error, InputError
from ._options import GapOptions, MineOptions, OrderOptions
from ._results import Gap, Info, Mined, OrderGap, Plan, Stage, Threshold, Verdict
from .report import Report, report
from .sampler import BatchSampler, ExtraNegatives

__version__ = info().version
__all__ = [
    "BatchSampler",
    "Error",
    "ExtraNegatives",
    "Gap",
    "GapOptions",
    "Info",
    "InputError",
    "MineOptions",
    "Mined",
    "OrderGap",
    "OrderOptions",
    "Plan",
    "Report",
    "Stage",
    "Threshold",
    "Verdict",
    "__version__",
    "arrange",
    "compare",
    "gap",
    "info",
    "mine",
    "order",
    "plan",
    "report",
]
