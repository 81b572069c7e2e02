"""The program as its users meet it: a subprocess, its exit code, what it says and what it leaves.

The program is GCBS_PROGRAM, or build/gcbs of this checkout.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 60


# A background job of sh ignores SIGINT, and children inherit that; a handler here gives them the default.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Program:
    """Runs gcbs in a folder of its own; colour and forced instruction sets do not leak in."""

    def __init__(self, path, folder):
        self.path = str(path)
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if k not in ("GCBS_ISA", "NO_COLOR")}

    def __call__(self, *words, code=0, env=None, file_kib=None, cwd=None, **options):
        """Runs to the end; `file_kib`: no file it writes may grow larger."""
        limit = ["bash", "-c", 'ulimit -f "$0"; exec "$@"', str(file_kib)] if file_kib else []
        done = subprocess.run(
            [*limit, self.path, *map(str, words)],
            cwd=cwd or self.folder,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            **{"timeout": TIMEOUT_SECONDS, **options},
        )
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode(errors="replace")
        assert done.returncode == code, f"{words}: exit {done.returncode}, wanted {code}\n{done.stderr}"
        return done

    def start(self, *words, env=None, **options):
        return subprocess.Popen(
            [self.path, *map(str, words)],
            cwd=self.folder,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            **options,
        )

    def json(self, *words, **options):
        return json.loads(self(*words, "--json", "--quiet", **options).stdout)

    def fails(self, *words, code, says=(), **options):
        """The run ends with `code`, has nothing to say on stdout, and says what, why and how to fix."""
        done = self(*words, code=code, **options)
        assert done.stdout == ""
        assert done.stderr.startswith("gcbs: error: ")
        assert "\n  why: " in done.stderr and "\n  fix: " in done.stderr, done.stderr
        for text in [says] if isinstance(says, str) else says:
            assert text in done.stderr, f"{text!r} is not in:\n{done.stderr}"
        return done

    def isas(self):
        return json.loads(self("info", "--json").stdout)["available"]


@pytest.fixture(scope="session")
def program_path():
    path = pathlib.Path(os.environ.get("GCBS_PROGRAM", ROOT / "build" / "gcbs")).resolve()
    if not path.exists():
        pytest.exit(f"{path} is not there: build it (make), or set GCBS_PROGRAM", returncode=2)
    return path


@pytest.fixture
def gcbs(program_path, tmp_path):
    return Program(program_path, tmp_path)


@pytest.fixture
def pair(tmp_path):
    """X.npy and Y.npy of 300 related pairs in the run's folder; the arrays."""
    rng = np.random.default_rng(5)
    x = rng.random((300, 24), dtype=np.float32)
    y = (x + 0.5 * rng.random((300, 24))).astype(np.float32)
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "Y.npy", y)
    return x, y


@pytest.fixture(scope="session")
def long_rows():
    """Rows that keep the scalar kernel and one thread busy for longer than any test waits."""
    return np.random.default_rng(6).random((30_000, 32), dtype=np.float32)


LONG_RUN = ["-k", "64", "-o", "order.npy", "--isa", "scalar", "--threads", "1", "--shortcut", "off"]


@pytest.fixture
def long_run(long_rows, tmp_path):
    """The words of a run over long.npy that takes many seconds."""
    np.save(tmp_path / "long.npy", long_rows)
    return ["order", "long.npy", *LONG_RUN]
