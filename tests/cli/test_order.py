"""gcbs order on good data: the order is a permutation, the edges are the definition's, always the same."""

import json
import struct

import numpy as np
import pytest
from reference import edges_above, is_permutation, similarities

METHODS = ["pack", "rcm", "cm", "chain", "random", "natural"]
ALL_PAIRS = ("--relative-margin", "none")
"""every negative counts, so that the threshold is the quantile of all similarities"""


def write_safetensors(path, name, dtype, shape, raw):
    header = json.dumps(
        {name: {"dtype": dtype, "shape": list(shape), "data_offsets": [0, len(raw)]}}
    ).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + raw)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_permutation(gcbs, pair, tmp_path, method):
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "--method", method, "-o", "order.npy")
    assert is_permutation(np.load(tmp_path / "order.npy"), 300)
    assert report["method"] == method
    if method in ("random", "natural"):
        assert report["threshold"] is None and report["edges"] == 0
    else:
        assert report["edges"] > 0


def test_defaults(gcbs, pair, tmp_path):
    """What docs/results.md settled on: pack, and nothing more similar than its own positive."""
    margins = ("relative_margin", "absolute_margin", "max_score")

    def run(*words):
        report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy", *words)
        chosen = (report["method"], *(report["options"][name] for name in margins))
        return chosen, (tmp_path / "order.npy").read_bytes()

    plain = run()
    assert plain == run("--method", "pack", "--relative-margin", 0) and plain[0] == ("pack", 0, None, None)
    paper = run("--method", "rcm", *ALL_PAIRS)
    assert paper[0] == ("rcm", None, None, None) and paper[1] != plain[1] != run(*ALL_PAIRS)[1]
    assert run("--method", "rcm")[0] == ("rcm", 0, None, None)
    assert run("--max-score", 0.9)[0] == ("pack", None, None, 0.9)
    assert run("--absolute-margin", 0.1)[0] == ("pack", None, 0.1, None)
    for words in (["--method", "random"], ["--method", "natural"], ["--threshold", "paper"], ["--paper"]):
        assert run(*words)[0][1:] == (None, None, None)
    assert run("--paper")[0][0] == "rcm"


def test_natural_and_random(gcbs, pair, tmp_path):
    def order(*words):
        gcbs("order", "X.npy", "-k", 16, "-o", "order.npy", *words)
        return np.load(tmp_path / "order.npy")

    assert np.array_equal(order("--method", "natural"), np.arange(300))
    first, again, other = (order("--method", "random", "--seed", seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, np.arange(300))


def test_cm_is_rcm_backwards(gcbs, pair, tmp_path):
    for method in ("cm", "rcm"):
        gcbs("order", "X.npy", "Y.npy", "-k", 16, "--method", method, "-o", f"{method}.npy")
    assert np.array_equal(np.load(tmp_path / "cm.npy"), np.load(tmp_path / "rcm.npy")[::-1])


@pytest.mark.parametrize(
    "words, quantile",
    [
        ([], 1 - 16 / 300),
        (["-m", "40"], 1 - 40 / 300),
        (["-m", "0.5"], 1 - 0.5 / 300),
        (["-m", "300"], 0.0),
        (["-q", "0.9"], 0.9),
        (["-q", "0"], 0.0),
        (["-q", "0.99999"], 0.99999),
    ],
)
def test_edges_and_threshold_are_the_definitions(gcbs, pair, tmp_path, words, quantile):
    s = similarities(*pair)
    report = gcbs.json(
        "order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy", "--edges", "e.npy", *ALL_PAIRS, *words
    )
    edges = np.load(tmp_path / "e.npy")
    assert report["threshold"]["value"] == np.quantile(s, quantile)
    assert edges.dtype == np.int32 and edges.shape == (report["edges"], 2)
    assert np.array_equal(edges, edges_above(s, report["threshold"]["value"]))
    assert report["options"]["quantile"] == quantile


def test_columns_of_equal_rows_are_in_order_where_they_are_few_and_many(gcbs, tmp_path):
    """500 different y, each several times and not side by side: rows have no edge, a few, hundreds."""
    random = np.random.default_rng(5)
    x, kinds = random.normal(size=(1999, 6)), random.normal(size=(500, 6))
    x[:40] = kinds[7] + 0.1 * random.normal(size=(40, 6))
    y = kinds[random.integers(500, size=1999)]
    y[random.permutation(1999)[:300]] = kinds[7]
    np.save(tmp_path / "X.npy", x.astype(np.float32))
    np.save(tmp_path / "Y.npy", y.astype(np.float32))
    words = ["-k", 16, "-m", 20, "-o", "o.npy", "--edges", "e.npy", *ALL_PAIRS]
    report = gcbs.json("order", "X.npy", "Y.npy", *words)
    edges = np.load(tmp_path / "e.npy")
    s = similarities(x.astype(np.float32), y.astype(np.float32))
    assert np.array_equal(edges, edges_above(s, report["threshold"]["value"]))
    counts = np.bincount(edges[:, 0], minlength=1999)
    assert (counts == 0).any() and ((counts > 0) & (counts <= 3)).any() and (counts >= 300).any()


def test_y_left_out_means_y_is_x(gcbs, pair, tmp_path):
    gcbs("order", "X.npy", "-k", 16, "-o", "a.npy", "--edges", "ea.npy", *ALL_PAIRS)
    gcbs("order", "X.npy", "X.npy", "-k", 16, "-o", "b.npy", "--edges", "eb.npy", *ALL_PAIRS)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    s = similarities(pair[0], pair[0])
    assert np.array_equal(np.load(tmp_path / "ea.npy"), edges_above(s, np.quantile(s, 1 - 16 / 300)))
    assert (tmp_path / "ea.npy").read_bytes() == (tmp_path / "eb.npy").read_bytes()


def test_ties_at_the_threshold_are_dropped(gcbs, tmp_path):
    x = np.repeat(np.eye(5, dtype=np.float32), 8, axis=0)
    np.save(tmp_path / "X.npy", x)
    s = similarities(x, x)
    for q in (0.1, 0.8, 0.9):
        report = gcbs.json("order", "X.npy", "-k", 8, "-q", q, "-o", "o.npy", "--edges", "e.npy", *ALL_PAIRS)
        assert np.array_equal(np.load(tmp_path / "e.npy"), edges_above(s, np.quantile(s, q)))
        assert is_permutation(np.load(tmp_path / "o.npy"), 40)
        assert report["edges"] == len(np.load(tmp_path / "e.npy"))


@pytest.mark.parametrize("n, k", [(2, 2), (3, 2), (3, 3), (5, 4)])
def test_tiny(gcbs, tmp_path, n, k):
    np.save(tmp_path / "X.npy", np.random.default_rng(n).standard_normal((n, 1)).astype(np.float32))
    gcbs("order", "X.npy", "-k", k, "-o", "o.npy")
    assert is_permutation(np.load(tmp_path / "o.npy"), n)


@pytest.mark.parametrize("mode", ["estimate", "paper"])
def test_other_thresholds_keep_what_lies_above_them(gcbs, pair, tmp_path, mode):
    words = ["--threshold", mode, "--edges", "e.npy", *ALL_PAIRS]
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy", *words)
    t = report["threshold"]
    assert t["mode"] == mode and t["low"] <= t["value"] <= t["high"]
    assert np.array_equal(np.load(tmp_path / "e.npy"), edges_above(similarities(*pair), t["value"]))


def test_paper_keeps_the_diagonal(gcbs, pair, tmp_path):
    report = gcbs.json("order", "X.npy", "Y.npy", "-k", 16, "--paper", "-o", "o.npy", "--edges", "e.npy")
    assert report["threshold"]["mode"] == "paper" and report["options"]["paper"] is True
    edges = np.load(tmp_path / "e.npy")
    assert (edges[:, 0] == edges[:, 1]).any()
    assert np.array_equal(
        edges, edges_above(similarities(*pair), report["threshold"]["value"], diagonal=True)
    )


def test_normalised_rows_are_used_as_they_are(gcbs, pair, tmp_path):
    x = (pair[0] / np.linalg.norm(pair[0], axis=1, keepdims=True)).astype(np.float32)
    np.save(tmp_path / "U.npy", x)
    gcbs("order", "U.npy", "-k", 16, "--normalised", "-o", "o.npy", "--edges", "e.npy", *ALL_PAIRS)
    s = similarities(x, x, normalised=True)
    assert np.array_equal(np.load(tmp_path / "e.npy"), edges_above(s, np.quantile(s, 1 - 16 / 300)))
    gcbs.fails("order", "X.npy", "-k", 16, "--normalised", "-o", "o2.npy", code=3, says="row 0")


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
def test_other_types_and_safetensors(gcbs, pair, tmp_path, dtype):
    if dtype == "bfloat16":
        bits = pair[0].view(np.uint32) & 0xFFFF0000
        x, raw, code = bits.view(np.float32), (bits >> 16).astype(np.uint16).tobytes(), "BF16"
    else:
        x = pair[0].astype(dtype)
        raw, code = x.tobytes(), {"float16": "F16", "float64": "F64"}[dtype]
        np.save(tmp_path / "T.npy", x)
    write_safetensors(tmp_path / "t.safetensors", "emb", code, x.shape, raw)
    s = similarities(x, x)
    for file in ["t.safetensors:emb", "t.safetensors"] + (["T.npy"] if dtype != "bfloat16" else []):
        gcbs("order", file, "-k", 16, "-o", "o.npy", "--edges", "e.npy", *ALL_PAIRS)
        assert np.array_equal(np.load(tmp_path / "e.npy"), edges_above(s, np.quantile(s, 1 - 16 / 300)))


def test_same_bytes_for_every_thread_count_instruction_set_and_shortcut(gcbs, tmp_path):
    rng = np.random.default_rng(8)
    centres = rng.standard_normal((12, 40))
    x = (centres[rng.integers(12, size=700)] + 0.4 * rng.standard_normal((700, 40))).astype(np.float32)
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "Y.npy", x[:, ::-1].copy())
    seen = set()
    runs = [["--threads", n] for n in (1, 2, 3)]
    runs += [["--isa", isa, "--shortcut", shortcut] for isa in gcbs.isas() for shortcut in ("on", "off")]
    for words in runs:
        gcbs("order", "X.npy", "Y.npy", "-k", 32, "-o", "o.npy", "--edges", "e.npy", *words)
        seen.add((tmp_path / "o.npy").read_bytes() + (tmp_path / "e.npy").read_bytes())
    assert len(seen) == 1
