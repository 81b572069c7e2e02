"""``python -m gcbs report``: flags and files in, a page out; the manners are the program's."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .._api import info
from .._errors import Error, InputError
from . import Report, report
from ._collect import CHOSEN
from ._files import read_labels, read_matrix, read_numbers
from ._flags import FLAGS, NOTHING, Flag

USAGE = "python -m gcbs report X [Y] -k K -o REPORT.html [flags]"
ABOUT = """Order the pairs of two embedding files and draw what came out as one HTML page.

The page needs no network and no script. The other flags are those of gcbs order and
gcbs gap."""
END = """Example:
  python -m gcbs report X.npy Y.npy -k 64 --labels texts.tsv -o report.html

Exit codes: 0 done, 1 internal, 2 usage, 3 input, 4 unsupported here,
5 out of memory or disk, 130 and 143 interrupted."""
SEE = "see python -m gcbs report --help"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        flag, _, _ = message.removeprefix("argument ").partition(":")
        raise Error("usage", f"{flag.rpartition('/')[2]} has no value", "a value has to follow it", SEE)


def run(words: Sequence[str]) -> None:
    """Does what the words after ``report`` say. Raises gcbs.Error."""
    given = _parse(words)
    files = [name for name in (given.pop("x"), given.pop("y", None)) if name is not None]
    _check_output(given["path"], [*files, *([given["labels"]] if given.get("labels") else [])])
    quiet, as_json = given.pop("quiet"), given.pop("json")
    options: dict[str, Any] = {
        name: None if value is NOTHING else value
        for name, value in given.items()
        if value is not None and value is not False
    }
    for name, read in (("start", read_numbers), ("guide_x", read_matrix), ("guide_y", read_matrix)):
        if name in options:
            options[name] = read(options[name])
    if "groups" in options:
        options["groups"] = [n if n == "duplicates" else read_numbers(n) for n in options["groups"]]
    if "labels" in options:
        options["labels"] = read_labels(options["labels"])
    if quiet:
        options["progress"] = False
    x, y = read_matrix(files[0]), read_matrix(files[1]) if len(files) > 1 else None
    done = report(x, y, **options)
    if not quiet:
        print(f"{done}\nwritten  {done.path}", file=sys.stderr)
    if as_json:
        print(json.dumps(_json(done, x.shape, options)))


def _parse(words: Sequence[str]) -> dict[str, Any]:
    parser = _Parser(
        usage=USAGE,
        description=ABOUT,
        epilog=END,
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    inputs = parser.add_argument_group("Arguments")
    inputs.add_argument(
        "x", nargs="?", metavar="X", help="embeddings, N rows: FILE.npy or FILE.safetensors:TENSOR"
    )
    inputs.add_argument("y", nargs="?", metavar="Y", help="as many rows, or left out: Y = X")
    for section, flags in FLAGS.items():
        group = parser.add_argument_group(section)
        for flag in flags:
            _add(group, flag)
    group = parser.add_argument_group("Help")
    group.add_argument("-h", "--help", action="help", help="print this help")
    group.add_argument(
        "--version", action="version", version=f"gcbs {info().version}", help="print the version"
    )
    found, unknown = parser.parse_known_intermixed_args(list(words))
    if unknown:
        raise _unknown(unknown[0])
    given = vars(found)
    _need(given)
    for flag in (flag for flags in FLAGS.values() for flag in flags):
        text = given[flag.option]
        if flag.value is not None and isinstance(text, str):
            given[flag.option] = flag.value.of(flag.names[0], text)
    return given


def _add(group: Any, flag: Flag) -> None:
    if flag.value is None:
        group.add_argument(*flag.names, dest=flag.option, action="store_true", help=flag.help)
        return
    action = "append" if flag.option == "groups" else "store"
    group.add_argument(*flag.names, dest=flag.option, metavar=flag.placeholder, action=action, help=flag.help)


def _need(given: dict[str, Any]) -> None:
    if given["x"] is None:
        fix = "name it: python -m gcbs report X.npy Y.npy -k 64 -o report.html"
        raise Error("usage", "the embedding file X is missing", "there is nothing to work on", fix)
    if given["batch_size"] is None:
        reason = "the batch size decides which pairs can meet"
        raise Error("usage", "-k is missing", reason, "add for example -k 64")
    if given["path"] is None:
        raise Error(
            "usage", "-o is missing", "the page has to go somewhere", "add for example -o report.html"
        )
    if given["neighbours"] is not None and given["quantile"] is not None:
        reason = "both say how many edges to keep (q = 1 - m/N)"
        raise Error("usage", "-q and -m contradict each other", reason, "leave one of them out")


def _unknown(word: str) -> Error:
    if not word.startswith("-"):
        reason = "python -m gcbs report takes no more than those in its usage line"
        return Error("usage", f"unexpected argument '{word}'", reason, SEE)
    known = [name for flags in FLAGS.values() for flag in flags for name in flag.names]
    close = difflib.get_close_matches(word.partition("=")[0], known, 1)
    fix = f"did you mean {close[0]}?" if close else SEE
    return Error("usage", f"unknown flag {word}", "python -m gcbs report has no such flag", fix)


def _check_output(output: str, inputs: Sequence[str]) -> None:
    for name in inputs:
        if os.path.realpath(name) == os.path.realpath(output):
            raise InputError(
                "usage",
                f"{output} is both an input and an output",
                "writing it would destroy the input",
                "choose another name for the output",
            )


def _json(done: Report, shape: tuple[int, int], options: dict[str, Any]) -> dict[str, Any]:
    """The keys that all verbs have, and the files."""
    plan, gap = done.plan, done.gap
    return {
        "schema": 1,
        "command": "report",
        "version": info().version,
        "options": {**gap.options, **plan.options},
        "n": shape[0],
        "d": shape[1],
        "isa": plan.isa,
        "threads": plan.threads,
        "seconds": plan.seconds + gap.seconds,
        "stages": [{"name": s.name, "seconds": s.seconds} for s in (*plan.stages, *gap.stages)],
        "peak_bytes": max(plan.peak_bytes, gap.peak_bytes),
        "gap_closed": gap[CHOSEN].gap_closed,
        "output": str(done.path),
        "svg": options.get("svg"),
    }
