"""AWAITING-MERGE: delete this file once README.md is in the tree."""

import pytest
from source_tree import ROOT


def pytest_collection_modifyitems(items):
    for item in items:
        if item.originalname == "test_readme_shows_the_command" and not (ROOT / "README.md").exists():
            item.add_marker(pytest.mark.skip(reason="README.md is not in the tree yet"))
