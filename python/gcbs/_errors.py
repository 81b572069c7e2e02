"""The one exception of gcbs, and its kinds."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, why, and how to fix it.

    ``kind`` says who has to act: the caller (``usage``), the owner of the data (``input``), nobody
    (``unsupported`` here), the owner of the machine (``resource``), or us (``internal``).
    """

    def __init__(self, kind: str, problem: str, reason: str = "", fix: str = "") -> None:
        text = problem + (f": {reason}" if reason else "") + (f"; {fix}" if fix else "")
        super().__init__(text)
        self.kind = kind
        self.problem = problem
        self.reason = reason
        self.fix = fix

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str, str]]:
        return type(self), (self.kind, self.problem, self.reason, self.fix)


class InputError(Error, ValueError):
    """The call or its data is wrong: kinds ``usage`` and ``input``."""


def error_of(kind: str, problem: str, reason: str = "", fix: str = "") -> Error:
    """The exception for an error of the library."""
    known = InputError if kind in ("usage", "input") else Error
    return known(kind, problem, reason, fix)
