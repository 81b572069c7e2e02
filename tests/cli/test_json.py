"""What --json prints, and who gets which words: stdout for the result, stderr for people."""

import json
import os

import numpy as np
import pytest

STAGES = [
    "read",
    "normalise",
    "prepare",
    "threshold",
    "join",
    "graph",
    "order",
    "batches",
    "verdict",
    "write",
]
COMMON = {
    "schema": int,
    "command": str,
    "version": str,
    "options": dict,
    "n": int,
    "d": int,
    "isa": str,
    "threads": int,
    "seconds": float,
    "stages": list,
    "peak_bytes": int,
}
ORDER = {**COMMON, "method": str, "threshold": dict, "edges": int, "output": str}
INFO = {**COMMON, "compiled": list, "available": list, "chosen": str, "n": type(None), "d": type(None)}
OPTIONS = {
    "x": str,
    "y": str,
    "batch_size": int,
    "quantile": float,
    "neighbours": float,
    "method": str,
    "threshold": str,
    "shortcut": str,
    "paper": bool,
    "normalised": bool,
    "seed": int,
    "threads": int,
    "isa": str,
    "memory_limit": type(None),
    "edges": type(None),
    "reorder": list,
    "reordered": list,
    "output": str,
}


def check_types(report, types):
    for key, kind in types.items():
        assert key in report, f"no {key}"
        assert type(report[key]) is kind, f"{key} is {report[key]!r}"


def test_order_report(gcbs, pair):
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy", "--threads", 2)
    check_types(report, ORDER)
    check_types(report["options"], OPTIONS)
    assert (report["schema"], report["command"], report["n"], report["d"]) == (1, "order", 300, 24)
    assert report["output"] == "order.npy" and report["threads"] == 2
    threshold = report["threshold"]
    assert list(threshold) == ["mode", "value", "low", "high"]
    assert threshold["mode"] == "exact" and threshold["low"] == threshold["value"] == threshold["high"]
    options = report["options"]
    assert (options["x"], options["y"], options["batch_size"], options["neighbours"]) == (
        "X.npy",
        "Y.npy",
        16,
        16,
    )
    assert (options["method"], options["threshold"], options["shortcut"]) == ("pack", "exact", "auto")


def test_stages_do_not_overlap_and_add_up(gcbs, pair):
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy")
    names = [stage["name"] for stage in report["stages"]]
    assert names[0] == "read" and names[-1] == "write"
    assert names == [name for name in STAGES if name in names], "known names, each once, in order"
    assert all(stage["seconds"] >= 0 for stage in report["stages"])
    assert sum(stage["seconds"] for stage in report["stages"]) <= report["seconds"]
    assert report["peak_bytes"] > 0


def test_options_as_given(gcbs, pair):
    words = ["-q", "0.75", "--seed", "18446744073709551615", "--memory-limit", "1.5G", "--edges", "e.npy"]
    options = gcbs.json("order", "X.npy", "-k", 16, "-o", "order.npy", *words)["options"]
    assert options["y"] == "X.npy" and options["quantile"] == 0.75 and options["neighbours"] == 75
    assert options["seed"] == 2**64 - 1
    assert options["memory_limit"] == 3 * 2**29
    assert options["edges"] == "e.npy"


def test_info_report(gcbs):
    check_types(json.loads(gcbs("info", "--json").stdout), INFO)


def test_the_same_report_twice_but_for_seconds_and_memory(gcbs, pair):
    def report():
        found = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy")
        found["stages"] = [stage["name"] for stage in found["stages"]]
        return {key: value for key, value in found.items() if key not in ("seconds", "peak_bytes")}

    assert report() == report()


def test_stdout_is_empty_without_json_and_stderr_tells_the_story(gcbs, pair):
    done = gcbs("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy", "--edges", "edges.npy")
    assert done.stdout == ""
    for text in ("300 x 24", "X.npy, Y.npy", "threshold", "edges", "a row", "18 batches of 16 and one of 12"):
        assert text in done.stderr
    assert "order.npy" in done.stderr and "edges.npy" in done.stderr
    assert "\x1b" not in done.stderr and "\r" not in done.stderr


def test_quiet_says_nothing_but_errors(gcbs, pair):
    done = gcbs("order", "X.npy", "-k", 16, "-o", "order.npy", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")
    gcbs.fails("order", "none.npy", "-k", 16, "-o", "order.npy", "--quiet", code=3)


def test_a_file_name_may_be_any_bytes(gcbs, pair, tmp_path):
    name = os.fsdecode(b"x\xff\x1b[31m.npy")
    os.link(tmp_path / "X.npy", tmp_path / name)
    done = gcbs("order", name, "-k", 16, "-o", "order.npy", "--json")
    assert json.loads(done.stdout)["options"]["x"].startswith("x\N{REPLACEMENT CHARACTER}")
    assert "\x1b" not in done.stderr, "a name must not drive the terminal"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_result_that_cannot_be_printed_is_an_error(gcbs, pair, tmp_path):
    with open("/dev/full", "w") as full:
        done = gcbs.start("order", "X.npy", "-k", 16, "-o", "order.npy", "--json", stdout=full, stderr=-1)
        words = done.communicate()[1].decode()
    assert done.returncode == 5 and "stdout" in words
    assert len(np.load(tmp_path / "order.npy")) == 300


def test_a_reader_that_left_does_not_kill_the_run(gcbs, pair, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = gcbs.start("order", "X.npy", "-k", 16, "-o", "order.npy", stderr=writer)
    os.close(writer)
    assert done.wait(timeout=30) == 0
    assert len(np.load(tmp_path / "order.npy")) == 300
