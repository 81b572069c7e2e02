"""The demo: its pairs are many, clean and always the same, and it shows what it must."""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))

import demo as demo_module  # noqa: E402
from lsa import embed_pairs, words_of  # noqa: E402
from stdlib_pairs import collect_pairs  # noqa: E402

PROGRAM = os.environ.get("GCBS_PROGRAM", str(ROOT / "build" / "gcbs"))


def run_example(name, *arguments):
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def pairs():
    return collect_pairs()


@pytest.fixture(scope="module")
def embedded(pairs):
    return embed_pairs([pair.text for pair in pairs], [pair.code for pair in pairs])


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = run_example("demo.py", "--program", PROGRAM, "--output", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_there_are_thousands_of_pairs_always_the_same(pairs):
    assert len(pairs) > 2000
    assert collect_pairs() == pairs


def test_texts_and_codes_are_distinct(pairs):
    assert len({pair.text.lower() for pair in pairs}) == len(pairs)
    assert len({pair.code for pair in pairs}) == len(pairs)
    assert len({pair.name for pair in pairs}) > 0.97 * len(pairs)  # overloads share a name


def test_no_docstring_leaks_into_the_code(pairs):
    for pair in pairs:
        assert pair.text.lower() not in " ".join(pair.code.split()).lower(), pair.name


def test_inner_docstrings_are_removed_too(tmp_path):
    source = '''
def outer(values):
    """Sum all of the values given."""
    def inner(value):
        """Double the one value given."""
        return value * 2 + 1 - value + 0 + len(values)
    return sum(inner(value) for value in values)
'''
    (tmp_path / "module.py").write_text(source)
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "skipped.py").write_text(source)
    found = collect_pairs(tmp_path)
    assert [pair.name for pair in found] == ["module.outer", "module.outer.inner"]
    assert [pair.text for pair in found] == ["Sum all of the values given.", "Double the one value given."]
    assert all('"""' not in pair.code and "given" not in pair.code for pair in found)


def test_identifiers_are_split():
    assert words_of("parseHTTP_header isFile2 x __init__") == ["parse", "http", "header", "file", "init"]


def test_embeddings_are_finite_unit_rows(pairs, embedded):
    x, y, kept = embedded
    assert x.shape == y.shape == (len(kept), 256)
    assert x.dtype == y.dtype == np.float32
    assert len(kept) > 0.95 * len(pairs)
    assert np.all(np.diff(kept) > 0)
    for rows in (x, y):
        assert np.isfinite(rows).all()
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_pair_without_a_known_word_is_dropped():
    texts = ["open the file", "close the file", "open a socket", "zzz qqq", "close a socket"]
    codes = ["open(file)", "close(file)", "socket.open()", "open(file)", "socket.close()"]
    x, y, kept = embed_pairs(texts, codes, dim=2)
    assert kept.tolist() == [0, 1, 2, 4]
    assert len(x) == len(y) == 4


def test_similar_pairs_are_similar(embedded):
    x, y, _ = embedded
    own = np.einsum("ij,ij->i", x, y).mean()
    other = np.einsum("ij,ij->i", x, np.roll(y, 1000, axis=0)).mean()
    assert own > other + 0.2


def test_demo_prints_what_it_must(demo):
    folder, text = demo
    count = len(np.load(folder / "X.npy"))
    assert f"{count:,} x 256" in text
    for word in ("threshold", "edges", "seconds", "random order", "gcbs order", "join", "docstrings"):
        assert word in text
    assert "order, batch" in text


def test_demo_files_fit_together(demo):
    folder, _ = demo
    x, order, edges = (np.load(folder / name) for name in ("X.npy", "order.npy", "edges.npy"))
    assert order.dtype == np.int64 and edges.dtype == np.int32
    assert sorted(order.tolist()) == list(range(len(x)))
    assert edges.shape[1] == 2 and edges.max() < len(x)
    assert len((folder / "texts.tsv").read_text(encoding="utf-8").splitlines()) == len(x)


def test_batches_hold_three_times_the_edges_of_random_ones(demo):
    _, text = demo
    inside = {
        name: int(number.replace(",", "")) for name, number in re.findall(r"(\w+) order +([\d,]+) ", text)
    }
    assert inside["gcbs"] >= 3 * inside["random"] > 0


def test_demo_ends_with_a_report_or_says_what_it_lacks(demo):
    folder, text = demo
    if importlib.util.find_spec("gcbs") and importlib.util.find_spec("matplotlib"):
        assert f"in pictures: {folder / 'report.html'}" in text
        assert "Return " in (folder / "report.html").read_text(encoding="utf-8")
    else:
        assert "pip install '.[report]'" in text and not (folder / "report.html").exists()


def test_picture_is_taken_of_the_report(demo, tmp_path):
    folder, _ = demo
    if not (folder / "plots").exists() or shutil.which("chromium") is None:
        pytest.skip("no report, or no chromium to photograph it")
    done = run_example("picture.py", "--input", folder, "--output", tmp_path / "order.png")
    assert done.returncode == 0, done.stderr
    assert 10_000 < (tmp_path / "order.png").stat().st_size < 150_000
    assert "closes" in (tmp_path / "order.json").read_text()


def test_picture_says_what_is_missing(tmp_path):
    done = run_example("picture.py", "--input", tmp_path, "--output", tmp_path / "order.png")
    assert done.returncode != 0 and "make demo" in done.stderr and "Traceback" not in done.stderr


def test_a_missing_program_is_said_clearly(tmp_path):
    done = run_example("demo.py", "--program", tmp_path / "nowhere", "--output", tmp_path / "out")
    assert done.returncode != 0
    assert "nowhere" in done.stderr and "make" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_failing_program_is_said_clearly(tmp_path):
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    failing.chmod(0o755)
    options = argparse.Namespace(output=tmp_path, batch_size=64, quantile=0.999)
    with pytest.raises(SystemExit, match="exit code 3"):
        demo_module.run_program(str(failing), options)
