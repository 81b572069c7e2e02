"""Ctrl-C, SIGTERM, and files that change under a run: it ends fast and leaves nothing behind."""

import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import pytest
from screen import Screen
from test_terminal import IN_THE_JOIN, start


def listing(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_stops_in_the_middle_of_a_join(gcbs, long_run, tmp_path, number, code):
    (tmp_path / "order.npy").write_text("old")
    screen = Screen()
    process = start(gcbs, screen, [*long_run, "--edges", "edges.npy"])
    screen.wait_for(IN_THE_JOIN)
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(timeout=5) == code
    assert time.monotonic() - began < 1
    assert "gcbs: interrupted" in screen.read(0.5)
    assert process.stdout.read() == b""
    assert listing(tmp_path) == ["long.npy", "order.npy"]
    assert (tmp_path / "order.npy").read_text() == "old"


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_stops_whenever_it_comes(gcbs, long_run, tmp_path, delay):
    process = gcbs.start(*long_run, stderr=subprocess.PIPE)
    time.sleep(delay)
    process.send_signal(signal.SIGTERM)
    words = process.communicate(timeout=5)[1]
    # Before its handlers stand, the signal itself ends the process; that is as good.
    assert process.returncode in (143, -signal.SIGTERM), words
    assert listing(tmp_path) == ["long.npy"]


def test_a_second_signal_ends_at_once(gcbs, long_run, tmp_path):
    process = gcbs.start(*long_run, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    words = process.communicate(timeout=5)[1]
    assert process.returncode in (130, 143)
    assert words.endswith(b"gcbs: interrupted\n")
    assert listing(tmp_path) == ["long.npy"]


def test_stops_in_the_middle_of_writing(gcbs, tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(9).random((3000, 8), dtype=np.float32))
    words = ["order", "X.npy", "-k", "8", "-m", "3000", "-o", "order.npy", "--edges", "edges.npy"]
    process = gcbs.start(*words, stderr=subprocess.PIPE)
    while listing(tmp_path) == ["X.npy"] and process.poll() is None:
        pass
    process.send_signal(signal.SIGTERM)
    words = process.communicate(timeout=30)[1]
    if process.returncode == 0:
        pytest.skip("this disk is faster than the test")
    assert process.returncode == 143
    assert words.endswith(b"gcbs: interrupted\n")
    assert listing(tmp_path) == ["X.npy"]


def test_an_ignored_signal_stays_ignored(gcbs, pair, program_path, tmp_path):
    script = f"trap '' INT; '{program_path}' order X.npy -k 16 -o order.npy & kill -INT $!; wait $!"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0
    assert "order.npy" in listing(tmp_path)


def wait_until_mapped(process, name):
    maps = pathlib.Path(f"/proc/{process.pid}/maps")
    until = time.monotonic() + 10
    while name not in maps.read_text():
        assert time.monotonic() < until and process.poll() is None


def test_a_file_that_shrinks_while_it_is_read(gcbs, long_run, tmp_path):
    process = gcbs.start(*long_run, stderr=subprocess.PIPE)
    wait_until_mapped(process, "long.npy")
    os.truncate(tmp_path / "long.npy", 4096)
    words = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 3, words
    assert "long.npy shrank" in words
    assert "\n  why: " in words and "\n  fix: " in words
    assert listing(tmp_path) == ["long.npy"]
