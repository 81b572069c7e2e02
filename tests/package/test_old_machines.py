"""Machines without AVX2, emulated: the program on the first x86-64, the module on what numpy needs."""

import os
import shutil
import subprocess
import sys

import gcbs
import numpy as np
import pytest

QEMU = shutil.which("qemu-x86_64")
pytestmark = pytest.mark.skipif(QEMU is None, reason="no qemu-x86_64 (Debian: qemu-user)")


def test_the_program_runs_on_the_first_x86_64(program, pairs, tmp_path):
    x, y = (side[:300] for side in pairs)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    words = ["order", tmp_path / "x.npy", tmp_path / "y.npy", "-k", "10", "-o", tmp_path / "order.npy"]
    subprocess.run([QEMU, "-cpu", "qemu64", program, *words, "--quiet"], check=True, capture_output=True)
    assert np.array_equal(np.load(tmp_path / "order.npy"), gcbs.order(x, y, batch_size=10))


def test_the_module_runs_without_avx(pairs, tmp_path):
    x, y = (side[:300] for side in pairs)
    np.savez(tmp_path / "pairs.npz", x=x, y=y)
    code = (
        "import sys, numpy, gcbs\n"
        "pairs = numpy.load(sys.argv[1])\n"
        "print(gcbs.info().available, *gcbs.order(pairs['x'], pairs['y'], batch_size=10))"
    )
    # OpenBLAS inside numpy asks the real processor what it is; it has to be told.
    known = {**os.environ, "OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [QEMU, "-cpu", "Nehalem", sys.executable, "-c", code, tmp_path / "pairs.npz"],
        check=True,
        capture_output=True,
        text=True,
        env=known,
    )
    assert done.stdout.startswith("('scalar',)")
    order = [int(word) for word in done.stdout.split()[1:]]
    assert order == gcbs.order(x, y, batch_size=10).tolist()
