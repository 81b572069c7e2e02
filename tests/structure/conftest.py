"""AWAITING-MERGE: delete this file once README.md and the kernels are in the tree."""

import pytest
from source_tree import ROOT

AWAITED = {
    "test_readme_shows_the_command": "README.md",
    "test_every_kernel_is_built": "src/similarity/kernels",
}


def pytest_collection_modifyitems(items):
    for item in items:
        awaited = AWAITED.get(item.originalname)
        if awaited and not (ROOT / awaited).exists():
            item.add_marker(pytest.mark.skip(reason=f"{awaited} is not in the tree yet"))
