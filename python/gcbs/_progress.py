"""How far a long call is: a callback of the user's, or a bar of tqdm where somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[str, float, float], object]


@contextmanager
def shown(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """What the library calls while it works: ``progress`` itself, a bar, or nothing."""
    if callable(progress):
        yield progress
        return
    bar = _Bar.make() if progress or (progress is None and _somebody_looks()) else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


def _somebody_looks() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    """One bar a call, named after the stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    @classmethod
    def make(cls) -> _Bar | None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return cls(tqdm)

    def __call__(self, stage: str, done: float, total: float) -> None:
        if self._bar is None:
            layout = "gcbs {desc} {percentage:3.0f}% |{bar}| {elapsed}<{remaining}"
            self._bar = self._tqdm(total=1.0, leave=False, bar_format=layout)
        if stage != self._stage:
            self._stage = stage
            self._bar.reset(total=1.0)
            self._bar.set_description_str(stage, refresh=False)
        self._bar.n = done / total if total else 0.0
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
