"""The data files: where they are, what they look like, and where they come from if they are not there."""

import gzip
import json
import os
from pathlib import Path


class MissingData(SystemExit):
    """Says which public data a recipe needs, and in which layout."""


def folder(given):
    """--data, or GCBS_DATA, or data/."""
    return Path(given or os.environ.get("GCBS_DATA") or "data")


def require(where, wanted):
    """`wanted`: file name -> (fields, public source)."""
    missing = {name: about for name, about in wanted.items() if not (where / name).exists()}
    if missing:
        lines = [f"No data: {where} lacks {', '.join(missing)}.", "", "What goes where, and whence:"]
        for name, (fields, source) in missing.items():
            lines += [f"  {where / name}", f"    fields: {fields}", f"    source: {source}"]
        lines += ["", "Put the files there, or name their folder: make recipe NAME=... DATA=dir"]
        raise MissingData("\n".join(lines))


def json_lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tab_lines(path):
    """A header line, then one dictionary a line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head = file.readline().rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in file]
