"""``python -m gcbs``: ``report`` is drawn here, every other verb is the program's."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import sysconfig
from collections.abc import Sequence
from typing import NoReturn

from ._errors import Error

EXIT_CODES = {"internal": 1, "usage": 2, "input": 3, "unsupported": 4, "resource": 5}


class _Terminated(BaseException):
    """SIGTERM came."""


def _stop(number: int, frame: object) -> NoReturn:
    raise _Terminated


def main(words: Sequence[str]) -> int:
    """Runs the verb and returns its exit code."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        if words[:1] == ["report"]:
            from .report._command import run

            run(words[1:])
        else:
            _run_program(words)
        return 0
    except Error as error:
        return _fail(error)
    except (KeyboardInterrupt, _Terminated) as stop:
        print("gcbs: interrupted", file=sys.stderr)
        return 130 if isinstance(stop, KeyboardInterrupt) else 143
    except MemoryError:
        reason = "the system refused an allocation"
        return _fail(Error("resource", "out of memory", reason, "free memory, or use fewer rows"))
    except Exception as error:
        fix = "this is a bug: please report it with the command and gcbs --version"
        return _fail(Error("internal", "unexpected failure", f"{type(error).__name__}: {error}", fix))


def _run_program(words: Sequence[str]) -> NoReturn:
    """Becomes the program: what was installed with this package first, then what is on the PATH."""
    folders = (sysconfig.get_path("scripts"), os.path.dirname(sys.executable))
    program = shutil.which("gcbs", path=os.pathsep.join(folders)) or shutil.which("gcbs")
    if program is None:
        raise Error(
            "unsupported",
            f"there is no program gcbs to run '{' '.join(words[:1]) or '--help'}'",
            "python -m gcbs draws reports itself; other verbs are the program's, which is not on the PATH",
            "install it (pip install gcbs), or use python -m gcbs report",
        )
    os.execv(program, ["gcbs", *words])


def _fail(error: Error) -> int:
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    head = "\x1b[1mgcbs:\x1b[0m \x1b[1;31merror:\x1b[0m " if colour else "gcbs: error: "
    lines = [head + _clean(error.problem)]
    lines += [f"  why: {_clean(error.reason)}"] if error.reason else []
    lines += [f"  fix: {_clean(error.fix)}"] if error.fix else []
    print("\n".join(lines), file=sys.stderr)
    return EXIT_CODES.get(error.kind, 1)


def _clean(text: str) -> str:
    """Control characters of file names cannot drive the terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
