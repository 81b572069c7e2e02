"""From embeddings to files: look first whether it can work, then compute, draw and write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .._errors import Error
from .._options import words_of
from . import Report
from ._collect import collect
from ._options import ReportOptions
from ._texts import checked
from ._words import about_false_negatives, about_the_gap, plain


def written(
    x: Any,
    y: Any,
    batch_size: int,
    labels: Any,
    path: Path,
    svg: Path | None,
    options: ReportOptions,
) -> Report:
    """Writes the page, and the plots where a folder is given."""
    need_matplotlib()
    words_of("report", options, ReportOptions)  # unknown names, before any work
    for file in (path, svg):
        if file is not None and not file.parent.is_dir():
            fix = f"create it first: mkdir -p {file.parent}"
            raise Error("resource", f"cannot write {file}", f"there is no folder {file.parent}", fix)
    from ._page import page
    from ._sections import losses, sections
    from ._svg import style, svg_of

    shape = getattr(x, "shape", None)
    rows = int(shape[0]) if shape else len(x)
    found = collect(x, y, batch_size, None if labels is None else checked(labels, rows), options)
    with style():
        first, parts = losses(found), sections(found)
        if svg is not None:
            _make_folder(svg)
            for plot in (first, *(plot for part in parts for plot in part.plots)):
                alone = svg_of(plot.figure, plot.name, plot.title, plot.alt, inline=False)
                _write(svg / f"{plot.name}.svg", alone)
        _write(path, page(found, first, parts))
    text = "\n".join(plain(part) for part in (about_the_gap(found), *about_false_negatives(found)[1]))
    return Report(path, found.plan, found.gap, text)


def need_matplotlib() -> None:
    """Says how to get it where it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise Error(
            "unsupported",
            "the report cannot be drawn",
            "matplotlib is not installed",
            "pip install 'gcbs[report]'",
        ) from error


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    name = ""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            name = file.name
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException as error:
        if name and os.path.exists(name):
            os.unlink(name)
        if isinstance(error, OSError):
            raise _unwritable(path, error.strerror or str(error)) from error
        raise


def _unwritable(path: Path | None, reason: str) -> Error:
    return Error(
        "resource", f"cannot write {path}", reason, "check the folder, its permissions and free space"
    )
