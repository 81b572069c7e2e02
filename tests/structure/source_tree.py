"""What the structure tests read: the files of the tree, their includes, the build they belong to."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GCBS_BUILD", ROOT / "build"))  # a release build: what users link and run

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def sources(*folders, suffixes=(".h", ".cpp")):
    """The files under the folders, sorted, as paths from the root."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    return sorted(path.relative_to(ROOT) for path in found)


def includes(path):
    """The names in `#include "name"`, and those in `#include <name>`."""
    found = INCLUDE.findall((ROOT / path).read_text())
    return [ours for ours, _ in found if ours], [system for _, system in found if system]
