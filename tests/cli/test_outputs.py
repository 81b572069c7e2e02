"""Outputs that cannot be written: exit 5 (or 2), words, and neither a file nor a temporary left."""

import contextlib
import os
import subprocess

import numpy as np
import pytest


def listing(folder):
    return sorted(os.listdir(folder))


@contextlib.contextmanager
def mounted(folder, options):
    """A small file system of its own; skips where this user or machine may not mount."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("flag", ["-o", "--edges"])
@pytest.mark.parametrize(
    "place", ["nowhere/o.npy", "X.npy/o.npy", ".", "/proc/o.npy", "/dev/full", "n" * 300]
)
def test_places_that_take_no_file_are_refused_before_the_work(gcbs, pair, long_run, tmp_path, flag, place):
    before = listing(tmp_path)
    words = ["-o", "good.npy"] if flag == "--edges" else []
    gcbs.fails("order", "long.npy", "-k", 64, flag, place, *words, code=5, says=place, timeout=5)
    assert listing(tmp_path) == before


def test_an_output_must_not_be_an_input(gcbs, pair, tmp_path):
    x, y = ((tmp_path / name).read_bytes() for name in ("X.npy", "Y.npy"))
    os.symlink("X.npy", tmp_path / "alias.npy")
    for words in (
        ["-o", "X.npy"],
        ["-o", "./Y.npy"],
        ["-o", tmp_path / "X.npy"],
        ["-o", "alias.npy"],
        ["-o", "o.npy", "--edges", "Y.npy"],
        ["-o", "o.npy", "--edges", "./o.npy"],
    ):
        gcbs.fails("order", "X.npy", "Y.npy", "-k", 16, *words, code=2)
    assert (tmp_path / "X.npy").read_bytes() == x and (tmp_path / "Y.npy").read_bytes() == y
    assert listing(tmp_path) == ["X.npy", "Y.npy", "alias.npy"]


def test_a_tensor_of_a_file_is_that_file(gcbs, tmp_path):
    (tmp_path / "t.safetensors").write_bytes(b"anything")
    words = ["t.safetensors:emb", "-k", 16, "-o", "t.safetensors"]
    gcbs.fails("order", *words, code=2, says="input and an output")


def test_an_output_of_an_earlier_run_is_replaced(gcbs, pair, tmp_path):
    (tmp_path / "order.npy").write_text("old")
    gcbs("order", "X.npy", "-k", 16, "-o", "order.npy")
    assert len(np.load(tmp_path / "order.npy")) == 300


@pytest.mark.parametrize("words", [["-o", "order.npy"], ["-o", "order.npy", "--edges", "edges.npy"]])
def test_file_size_limit(gcbs, pair, tmp_path, words):
    (tmp_path / "order.npy").write_text("old")
    gcbs.fails("order", "X.npy", "-k", 16, *words, code=5, says=words[-1], file_kib=1)
    assert listing(tmp_path) == ["X.npy", "Y.npy", "order.npy"]
    assert (tmp_path / "order.npy").read_text() == "old", "what was there before stays"


def test_edges_go_when_the_order_cannot_be_written(gcbs, pair, tmp_path):
    words = ["-k", 16, "-m", "0.5", "-o", "order.npy", "--edges", "edges.npy"]
    gcbs.fails("order", "X.npy", *words, code=5, says="order.npy", file_kib=2)
    assert listing(tmp_path) == ["X.npy", "Y.npy"]


def test_outputs_that_were_there_stay_when_another_cannot_be_written(gcbs, pair, tmp_path):
    for name in ("edges.npy", "extra.npy"):
        (tmp_path / name).write_text("old")
    words = ["-m", "0.5", "--edges", "edges.npy", "--extra", 1, "--extra-output", "extra.npy"]
    gcbs.fails("order", "X.npy", "-k", 16, "-o", "o.npy", *words, code=5, says="o.npy", file_kib=2)
    assert listing(tmp_path) == ["X.npy", "Y.npy", "edges.npy", "extra.npy"]
    assert all((tmp_path / name).read_text() == "old" for name in ("edges.npy", "extra.npy"))


def test_full_disk(gcbs, pair, tmp_path):
    with mounted(tmp_path / "small", "size=64k") as small:
        fill = small / "fill"
        with contextlib.suppress(OSError):
            fill.write_bytes(bytes(64 * 1024))
        gcbs.fails("order", "X.npy", "-k", 16, "-o", "small/order.npy", code=5, says="small/order.npy")
        assert listing(small) == ["fill"]


def test_read_only_file_system(gcbs, pair, tmp_path):
    with mounted(tmp_path / "frozen", "ro") as frozen:
        gcbs.fails("order", "X.npy", "-k", 16, "-o", "frozen/order.npy", code=5, says="frozen")
        assert listing(frozen) == []


def test_read_only_folder(gcbs, plain_user):
    np.save(gcbs.folder / "X.npy", np.eye(4, dtype=np.float32))
    (gcbs.folder / "frozen").mkdir(mode=0o555)
    gcbs.fails("order", "X.npy", "-k", 2, "-o", "frozen/order.npy", code=5, says="frozen", **plain_user)


def test_memory_limit_is_refused_at_once(gcbs, long_run, tmp_path):
    gcbs.fails(*long_run, "--memory-limit", "1M", code=5, says="memory", timeout=5)
    assert listing(tmp_path) == ["long.npy"]


def test_an_instruction_set_that_is_not_here(gcbs, pair, tmp_path):
    lacking = {"amx_int8", "avx512_vnni", "avx2"} - set(gcbs.isas())
    if not lacking:
        pytest.skip("this machine has them all")
    gcbs.fails("order", "X.npy", "-k", 16, "-o", "o.npy", "--isa", lacking.pop(), code=4, says="scalar")
    assert listing(tmp_path) == ["X.npy", "Y.npy"]
