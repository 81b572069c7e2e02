"""The README leads a newcomer to the two commands that matter, and they exist."""

import re

import pytest
from source_tree import ROOT


@pytest.mark.parametrize("target", ["demo", "test"])
def test_readme_shows_the_command(target):
    assert re.search(rf"^\s*(\$ )?make {target}\b", (ROOT / "README.md").read_text(), re.MULTILINE)


def test_commands_in_the_documents_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = document.read_text()
        shown = re.findall(r"(?:^\s*(?:\$ )?|`)make ([a-z][a-z0-9-]*)(?=`|\s*(?:#|$))", text, re.MULTILINE)
        assert set(shown) <= targets, document
