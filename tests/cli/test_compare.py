"""gcbs compare, and what gap and compare refuse: the right exit code, words that name it, nothing written."""

import os

import numpy as np
import pytest
from loss_reference import Losses, check_report

METHODS = ["random", "rcm", "chain", "cm", "natural"]


def orders_by(gcbs, folder, methods, *words):
    """The orders that `gcbs order` gives where every negative counts, as it does in gap and compare."""
    words = (*words, "--relative-margin", "none")
    found = {}
    for method in methods:
        gcbs("order", "X.npy", "Y.npy", *words, "--method", method, "-o", "of_method.npy")
        found[method] = np.load(folder / "of_method.npy")
    os.remove(folder / "of_method.npy")
    return found


@pytest.mark.parametrize(
    "words", [[], ["-m", "40"], ["-q", "0.9", "--seed", "7"], ["--temperature", "0.2", "--direction", "y"]]
)
def test_every_number_of_every_method(gcbs, pair, tmp_path, words):
    report = gcbs.json("compare", "X.npy", "Y.npy", "-k", 32, "--methods", ",".join(METHODS), *words)
    given = dict(zip(words[::2], words[1::2], strict=True))
    temperature = float(given.pop("--temperature", 0.05))
    losses = Losses(*pair, temperature, direction=given.pop("--direction", "both"))
    graph = [word for flag in given.items() for word in flag]
    check_report(report, losses, 32, orders_by(gcbs, tmp_path, METHODS, "-k", 32, *graph))
    assert report["command"] == "compare" and report["options"]["methods"] == METHODS


def test_gap_says_the_same(gcbs, pair):
    compared = gcbs.json("compare", "X.npy", "Y.npy", "-k", 32, "--methods", "rcm,chain")
    gap = gcbs.json("gap", "X.npy", "Y.npy", "-k", 32, "--method", "rcm", "--method", "chain")
    for report in (compared, gap):
        del report["command"], report["seconds"], report["stages"], report["peak_bytes"]
        for order in report["orders"]:
            assert order.pop("seconds") > 0 and order.pop("peak_bytes") > 0
    assert compared == gap


def rows_of(text):
    """The table: order -> its words."""
    lines = text.split("\n\n")[1].splitlines()
    assert lines[0].split()[:2] == ["order", "L_train"]
    return {line.split()[0]: line for line in lines[1:]}


def test_the_table(gcbs, pair, tmp_path):
    np.save(tmp_path / "outside.npy", np.arange(300))
    words = ["compare", "X.npy", "Y.npy", "-k", 32, "--order", "mine=outside.npy"]
    report, text = gcbs.json(*words), gcbs(*words, "--quiet").stdout
    rows = rows_of(text)
    assert list(rows)[:7] == ["random", "rcm", "chain", "pack", "mine", "oracle", "global"]
    marked = [name for name, line in rows.items() if line.split()[1] == "*"]
    best = max(report["orders"][1:], key=lambda order: order["loss_train"]["both"])
    assert marked == [best["name"]]
    for order in report["orders"][1:]:
        line = rows[order["name"]]
        assert f"{order['loss_train']['both']:.4f}" in line and f"{order['gap_closed'] * 100:.1f} %" in line
        assert f"{order['gap']:.4f}" in line and f"{order['bounds']['theorem1']:.4f}" in line
    random = report["random"]["loss_train"]  # of all that were tried
    assert f"{random['mean']:.4f} +- {random['std']:.4f}" in rows["random"] and " 0.0 %" in rows["random"]
    assert f"{report['loss_global']['both'] - random['mean']:.4f}" in rows["random"]
    assert all("+-" not in line for name, line in rows.items() if name != "random")
    assert f"{report['oracle']['loss_train']:.4f}" in rows["oracle"]
    assert f"{report['loss_global']['both']:.4f}" in rows["global"]


def test_where_the_words_go(gcbs, pair):
    for verb in ("gap", "compare"):
        plain = gcbs(verb, "X.npy", "-k", 32)
        assert "L_train" in plain.stdout and "L_train" not in plain.stderr
        both = gcbs(verb, "X.npy", "-k", 32, "--json")
        assert both.stdout.startswith("{") and "L_train" in both.stderr
        assert gcbs(verb, "X.npy", "-k", 32, "--json", "--quiet").stderr == ""


def test_an_order_is_called_by_its_name_or_its_file(gcbs, pair, tmp_path):
    order = np.random.default_rng(1).permutation(300)
    for name in ("o.npy", "a=b.npy"):
        np.save(tmp_path / name, order)
    np.save(tmp_path / "narrow.npy", order.astype(np.int32))
    words = ["--order", "o.npy", "--order", "mine=o.npy", "--order", "a=b.npy", "--order", "n=narrow.npy"]
    report = gcbs.json("gap", "X.npy", "Y.npy", "-k", 20, *words)
    assert [found["name"] for found in report["orders"]] == ["o.npy", "mine", "a=b.npy", "n"]
    for found in report["orders"]:
        assert found.pop("name") and found == {**report["orders"][0]}
    assert report["options"]["methods"] == [], "an order was given"


# --- refusals ---


@pytest.fixture
def refused(gcbs, pair, tmp_path):
    """A run that fails as said and writes nothing. Good files it may name: order.npy, ids.npy, Z.npy."""
    good = {"order": np.arange(300), "ids": np.arange(300) // 2, "Z": pair[0]}
    for name, array in good.items():
        np.save(tmp_path / f"{name}.npy", array)

    def run(*words, code, says, verb="gap", k=16, **arrays):
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        gcbs.fails(verb, "X.npy", "Y.npy", "-k", k, *words, code=code, says=says)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    return run


def with_row(position, row):
    order = np.arange(300)
    order[position] = row
    return order


@pytest.mark.parametrize(
    "order, says",
    [
        (np.arange(299), "299 entries"),
        (np.arange(301), "301 entries"),
        (with_row(5, 300), "position 5 has row 300"),
        (with_row(5, -1), "position 5 has row -1"),
        (with_row(9, 4), ["a row comes twice", "position 9 has row 4", "position 4"]),
        (np.zeros(300, np.int64), "a row comes twice"),
        (np.arange(300.0), "whole numbers"),
        (np.arange(300)[:, None], "(300, 1)"),
        (np.arange(300).reshape(2, 150), "(2, 150)"),
        (np.empty(0, np.int64), ""),
        (np.arange(300).astype(str), ""),
    ],
    ids=["short", "long", "beyond", "below", "repeated", "zeros", "floats", "tall", "2-D", "empty", "words"],
)
def test_what_is_no_order(refused, order, says):
    says = [says] if isinstance(says, str) else says
    for verb in ("gap", "compare"):
        refused("--order", "bad.npy", code=3, says=["bad.npy", *says], bad=order, verb=verb)
    refused("--order", "good=order.npy", "--order", "worse=bad.npy", code=3, says=says, bad=order)


@pytest.mark.parametrize(
    "ids, says",
    [
        (np.arange(299), "299"),
        (np.arange(301), "301"),
        (np.arange(300.0), "whole numbers"),
        (np.arange(300).reshape(300, 1), "(300, 1)"),
        (np.arange(600).reshape(300, 2), "(300, 2)"),
    ],
    ids=["short", "long", "floats", "column", "2-D"],
)
def test_what_are_no_groups(refused, ids, says):
    refused("--groups", "bad.npy", code=3, says=says, bad=ids)
    refused("--groups", "ids.npy", "--groups", "bad.npy", code=3, says=says, bad=ids)


@pytest.mark.parametrize(
    "words, says",
    [
        (["--temperature", "0"], "--temperature"),
        (["--temperature", "-0.05"], "--temperature"),
        (["--temperature", "nan"], "--temperature"),
        (["--temperature", "inf"], "--temperature"),
        (["--direction", "z"], ["--direction", "x, y, both"]),
        (["--form", "moco"], ["--form", "clip", "simclr"]),
        (["--form", "simclr", "--negatives", "Z.npy"], ["--form simclr", "--negatives"]),
        (["--negatives", ""], "--negatives"),
        (["--random-trials", "0"], "--random-trials"),
        (["--random-trials", "1.5"], "--random-trials"),
        (["--relative-margin", "1.5"], "--relative-margin"),
        (["--relative-margin", "-0.1"], "--relative-margin"),
        (["--absolute-margin", "-0.1"], "--absolute-margin"),
        (["--absolute-margin", "3"], "--absolute-margin"),
        (["--max-score", "nan"], "--max-score"),
        (["--order", ""], "--order"),
        (["--order", "=order.npy"], "--order"),
        (["--order", "name="], "--order"),
        (["--groups", ""], "--groups"),
        (["-m", "8", "-q", "0.5"], "-m"),
    ],
)
def test_wrong_words(refused, words, says):
    for verb in ("gap", "compare"):
        refused(*words, code=2, says=says, verb=verb)


def test_wrong_words_of_one_verb(refused):
    refused("--method", "best", code=2, says=["best", "rcm"])
    for methods in ("random,best", "", "rcm,,chain", "rcm,"):
        says = ["--methods", f"'{methods}'", "rcm, cm, chain"]
        refused("--methods", methods, code=2, says=says, verb="compare")
    words = ["--per-batch", "batches.npy"]
    refused(*words, "--order", "order.npy", "--method", "rcm", code=2, says="--per-batch")
    refused(*words, "--order", "order.npy", "--order", "b=order.npy", code=2, says="--per-batch")
    refused("--per-batch", "", code=2, says="--per-batch")


@pytest.mark.parametrize("k, code", [(0, 2), (1, 2), (-3, 2), (301, 3), (10**9, 3)])
def test_batch_sizes(refused, k, code):
    for verb in ("gap", "compare"):
        refused(k=k, code=code, says=str(k), verb=verb)


def test_data_that_does_not_fit(refused, pair):
    refused("--negatives", "bad.npy", code=3, says="299", bad=pair[0][:299])
    refused("--negatives", "bad.npy", code=3, says="23", bad=pair[0][:, :23])
    holes = pair[0].copy()
    holes[7, 3] = np.nan
    refused("--negatives", "bad.npy", code=3, says="row 7", bad=holes)
    for flag in ("--negatives", "--order", "--groups"):
        refused(flag, "missing.npy", code=3, says="missing.npy")


def test_an_output_must_not_be_an_input(refused, tmp_path):
    os.symlink("Z.npy", tmp_path / "alias.npy")
    words = ["--order", "o=order.npy", "--groups", "ids.npy", "--negatives", "Z.npy"]
    for output in ("X.npy", "./Y.npy", "Z.npy", "order.npy", "ids.npy", "alias.npy"):
        refused(*words, "--per-batch", output, code=2, says=[output, "input"])
    refused("--per-batch", "nowhere/b.npy", code=5, says="nowhere")


def test_nothing_is_written_when_the_run_fails(refused):
    refused("--per-batch", "batches.npy", "--order", "bad.npy", code=3, says="bad.npy", bad=np.arange(4))
    refused("--per-batch", "batches.npy", "--memory-limit", "100", code=5, says="memory")


def test_too_little_disk(gcbs, pair, tmp_path):
    words = ["-k", 2, "--method", "natural", "--per-batch", "b.npy"]
    gcbs.fails("gap", "X.npy", *words, code=5, says="b.npy", file_kib=1)
    assert sorted(os.listdir(tmp_path)) == ["X.npy", "Y.npy"]
