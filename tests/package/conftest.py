"""The package from outside: what these tests share. Without the package they are skipped, not failed."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gcbs", reason="the Python package is not installed (make package)")

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture
def program():
    """The gcbs program, as the package installs it, or as it was built."""
    found = os.environ.get("GCBS_PROGRAM") or shutil.which("gcbs", path=Path(sys.executable).parent)
    if not found:
        pytest.skip("no gcbs program")
    return found


@pytest.fixture
def pairs():
    """x and y of 600 pairs in clusters, float32."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(20, 24))
    x = centres[rng.integers(20, size=600)] + 0.7 * rng.normal(size=(600, 24))
    y = x + 0.4 * rng.normal(size=x.shape)
    return x.astype(np.float32), y.astype(np.float32)
