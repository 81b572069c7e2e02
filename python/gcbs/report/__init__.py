"""One page of pictures about an order: ``gcbs.report``, ``python -m gcbs report``."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._results import Gap, Plan
from ._options import ReportOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Report", "ReportOptions", "report"]


@dataclass(frozen=True)
class Report:
    """A page that was written, and what it is about. Prints as its first words; notebooks show it."""

    path: Path
    plan: Plan = field(repr=False)
    gap: Gap = field(repr=False)
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 720px; border: 0"></iframe>'


def report(
    x: Any,
    y: Any = None,
    *,
    batch_size: int,
    labels: Any = None,
    path: str | os.PathLike[str] = "report.html",
    svg: str | os.PathLike[str] | None = None,
    **options: Unpack[ReportOptions],
) -> Report:
    """Order the pairs, and draw what came out as one HTML page that needs no network.

    Takes what ``gcbs.order`` and ``gcbs.gap`` take. ``methods``: orders to compare with.
    ``labels``: a text for each pair, or a tuple of x's text and y's, or one with a tab between them; the
    hardest batches are then shown as texts. ``svg``: a folder for the plots, one file each.
    Needs matplotlib: ``pip install 'gcbs[report]'``.

    Above 2,048 rows, histograms are of a sample, always the same. Beside the engine's, the memory needed is
    the edges', 8 bytes each, and about 200 MB.

    >>> import gcbs, numpy, tempfile
    >>> x = numpy.random.default_rng(0).normal(size=(1000, 32))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = gcbs.report(x, batch_size=50, method="pack", path=f"{folder}/report.html")
    >>> done.gap["this order"].gap_closed > 0.3
    True
    """
    from ._write import written

    return written(x, y, batch_size, labels, Path(path), None if svg is None else Path(svg), options)
