"""gcbs mine: the negatives and scores of a brute-force numpy, and what it refuses."""

import os

import numpy as np
import pytest
from loss_reference import equal_row_ids
from reference import similarities


def mined(
    s,
    top,
    *,
    skip_top=0,
    positives=None,
    groups=(),
    relative_margin=None,
    absolute_margin=None,
    max_score=None,
    min_score=None,
    equals=None,
):
    """Row by row: what is allowed, the most similar first, equal ones by index, less the first skip_top.
    `equals`: ids of the corpus rows, the same where rows are equal."""
    positives = np.arange(len(s)) if positives is None else positives
    negatives, scores = np.full((len(s), top), -1), np.full((len(s), top), np.nan, np.float32)
    for i, row in enumerate(s):
        positive = row[positives[i]]
        allowed = np.ones(len(row), dtype=bool)
        allowed[positives[i]] = False
        for ids in groups:
            allowed[positives[ids == ids[i]]] = False
        if equals is not None:
            allowed &= ~np.isin(equals, equals[~allowed])
        if relative_margin is not None:
            allowed &= row <= positive - relative_margin * abs(positive)
        if absolute_margin is not None:
            allowed &= row + absolute_margin <= positive
        if max_score is not None:
            allowed &= row <= max_score
        if min_score is not None:
            allowed &= row >= min_score
        ranked = np.flatnonzero(allowed)
        ranked = ranked[np.argsort(-row[ranked], kind="stable")]
        chosen = ranked[skip_top : skip_top + top]
        negatives[i, : len(chosen)] = chosen
        scores[i, : len(chosen)] = row[chosen]
    return negatives, scores


@pytest.fixture
def check(gcbs, tmp_path):
    """Runs gcbs mine on these rows and compares all it writes with the reference; the report."""

    def run(x, among=None, *, top=5, corpus=False, normalised=False, duplicates=False, **options):
        words = ["mine", "X.npy"]
        np.save(tmp_path / "X.npy", x)
        if among is not None:
            np.save(tmp_path / "Y.npy", among)
            words += ["--corpus", "Y.npy"] if corpus else ["Y.npy"]
        among = x if among is None else among
        words += ["--top", top, "-o", "negatives.npy", "--scores", "scores.npy"] + [
            "--normalised"
        ] * normalised
        for name, value in options.items():
            flag = "--" + name.replace("_", "-")
            if name == "groups":
                for number, ids in enumerate(value):
                    np.save(tmp_path / f"ids{number}.npy", ids)
                    words += [flag, f"ids{number}.npy"]
            elif name == "positives":
                np.save(tmp_path / "positives.npy", value)
                words += [flag, "positives.npy"]
            else:
                words += [flag, value]
        if duplicates:
            words += ["--groups", "duplicates"]
            options["groups"] = [*options.get("groups", []), equal_row_ids(x)]
            options["equals"] = equal_row_ids(among)
        report = gcbs.json(*words)
        negatives, scores = mined(similarities(x, among, normalised), top, **options)
        found, values = np.load(tmp_path / "negatives.npy"), np.load(tmp_path / "scores.npy")
        assert found.dtype == np.int64 and values.dtype == np.float32
        np.testing.assert_array_equal(found, negatives)
        np.testing.assert_array_equal(values, scores)
        assert report["found"] == (negatives >= 0).sum()
        assert (report["n"], report["corpus"], report["top"]) == (len(x), len(among), top)
        return report

    return run


OPTIONS = [
    {},
    {"top": 1},
    {"skip_top": 3},
    {"groups": 1},
    {"groups": 2},
    {"relative_margin": 0},
    {"relative_margin": 0.05},
    {"relative_margin": 1},
    {"absolute_margin": 0},
    {"absolute_margin": 0.1},
    {"max_score": 0.85},
    {"max_score": -2},
    {"min_score": 0.9},
    {"min_score": 3},
    {"skip_top": 2, "groups": 2, "relative_margin": 0.05, "absolute_margin": 0.01, "max_score": 0.97},
    {"skip_top": 250, "top": 100},
    {"top": 299},
    {"top": 400, "groups": 1, "min_score": 0.8},
]


def some_groups(n, count):
    rng = np.random.default_rng(3)
    return [rng.permutation(n) // 3, np.where(rng.random(n) < 0.2, -1, np.arange(n))][:count]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
def test_every_option(check, pair, options):
    options = dict(options)
    if "groups" in options:
        options["groups"] = some_groups(300, options["groups"])
    check(*pair, **options)
    check(pair[0], **options)


@pytest.mark.parametrize("kind", ["copies", "signs", "one direction"])
def test_ties_go_to_the_lower_index(check, kind):
    rng = np.random.default_rng(4)
    if kind == "copies":
        x = np.repeat(rng.standard_normal((9, 5)), 11, axis=0)[rng.permutation(99)]
    elif kind == "signs":
        x = rng.choice([-1.0, 1.0], size=(120, 4))
    else:
        x = rng.random((70, 1)) + 0.1
    x = x.astype(np.float32)
    for options in ({}, {"skip_top": 4}, {"relative_margin": 0}, {"absolute_margin": 0}, {"max_score": 1}):
        check(x, **options)
    check(x, x[::-1].copy(), top=len(x))


@pytest.mark.parametrize("n, extra, d", [(40, 500, 7), (300, 1, 24), (1, 30, 3), (300, 1100, 16)])
def test_a_corpus_may_hold_more_than_the_positives(check, n, extra, d):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, d)).astype(np.float32)
    corpus = rng.standard_normal((n + extra, d)).astype(np.float32)
    corpus[:n] += x
    check(x, corpus, corpus=True)
    check(x, corpus, corpus=True, relative_margin=0.2, skip_top=1, groups=[np.arange(n) // 4])
    positives = rng.integers(n + extra, size=n)  # several rows may share one
    check(x, corpus, corpus=True, positives=positives)
    check(x, corpus, corpus=True, positives=positives, absolute_margin=0.05, groups=[np.arange(n) % 9])
    check(x, corpus, corpus=True, positives=positives.astype(np.int32), min_score=0.2, top=20)


def test_a_corpus_may_hold_fewer_rows_than_x(check):
    rng = np.random.default_rng(5)
    x, corpus = (rng.standard_normal((n, 6)).astype(np.float32) for n in (80, 10))
    check(x, corpus, corpus=True, positives=rng.integers(10, size=80), top=12)


def test_equal_rows_are_one(check, gcbs, pair, tmp_path):
    rng = np.random.default_rng(6)
    x, corpus = (rng.standard_normal((n, 6)).astype(np.float32) for n in (90, 200))
    x[60:] = x[rng.integers(60, size=30)]
    corpus[120:] = corpus[rng.integers(120, size=80)]
    plain = check(x, corpus, corpus=True, top=20)
    report = check(x, corpus, corpus=True, top=20, duplicates=True)
    assert report["options"]["groups"] == ["duplicates"] and plain["options"]["groups"] == []
    ids, positives = rng.integers(30, size=90), rng.integers(200, size=90)
    check(x, corpus, corpus=True, duplicates=True, positives=positives, groups=[ids], relative_margin=0.1)
    check(x, duplicates=True, top=89)
    check(*pair, duplicates=True)
    # A file of that name is a file.
    np.save(tmp_path / "duplicates.npy", np.zeros(300, np.int64))
    (tmp_path / "duplicates.npy").rename(tmp_path / "duplicates")
    np.save(tmp_path / "X.npy", pair[0])
    report = gcbs.json("mine", "X.npy", "--top", 2, "-o", "n.npy", "--groups", "./duplicates")
    assert report["found"] == 0 and report["options"]["groups"] == ["./duplicates"]


def test_other_types_and_unit_rows(check, pair):
    x, y = pair
    check(x.astype(np.float16), y.astype(np.float16))
    check(x.astype(np.float64), y)
    unit = [(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32) for rows in pair]
    check(*unit, normalised=True, relative_margin=0.01)


@pytest.mark.parametrize("n, d", [(3, 1), (4, 2), (1100, 1), (1500, 9), (1030, 100)])
def test_every_size(check, n, d):
    rng = np.random.default_rng(n + d)
    x = rng.standard_normal((n, d)).astype(np.float32)
    y = (x + 0.3 * rng.standard_normal((n, d))).astype(np.float32)
    check(x, y, top=3)
    check(x, y, top=3, relative_margin=0.1, skip_top=1)


def test_the_least_there_can_be(check, gcbs, tmp_path):
    x = np.array([[1.0], [2.0]], np.float32)
    check(x, top=3)
    words = ["--top", 1, "--skip-top", 1, "-o", "n.npy"]
    gcbs.fails("mine", "X.npy", *words, code=3, says="skipping 1 leaves no negative")
    assert not (tmp_path / "n.npy").exists()


def test_options_as_given(gcbs, pair, tmp_path):
    np.save(tmp_path / "ids.npy", np.arange(300))
    words = ["--relative-margin", "0.1", "--skip-top", "2", "--groups", "ids.npy", "--min-score", "-0.5"]
    report = gcbs.json("mine", "X.npy", "Y.npy", "--top", 4, "-o", "n.npy", *words)
    options = report["options"]
    assert (options["relative_margin"], options["skip_top"], options["min_score"]) == (0.1, 2, -0.5)
    assert options["groups"] == ["ids.npy"] and options["max_score"] is options["positives"] is None
    assert (options["x"], options["corpus"]) == ("X.npy", "Y.npy")
    assert report["output"] == "n.npy" and report["scores"] is None
    assert sorted(os.listdir(tmp_path)) == ["X.npy", "Y.npy", "ids.npy", "n.npy"]


def test_words_for_people(gcbs, pair):
    done = gcbs("mine", "X.npy", "Y.npy", "--top", 5, "-o", "n.npy", "--scores", "s.npy", "--min-score", 2)
    assert done.stdout == ""
    for text in ("300 x 24", "X.npy", "n.npy", "s.npy", "1,500 places are -1"):
        assert text in done.stderr
    assert gcbs("mine", "X.npy", "--top", 5, "-o", "n.npy", "--quiet").stderr == ""


def test_same_bytes_for_every_thread_count_and_instruction_set(gcbs, tmp_path):
    rng = np.random.default_rng(8)
    x = np.round(2 * rng.standard_normal((1300, 12))).astype(np.float32) + 0.5  # many ties
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "Y.npy", x[:, ::-1].copy())
    np.save(tmp_path / "ids.npy", rng.integers(200, size=1300))
    words = ["mine", "X.npy", "Y.npy", "--top", 9, "-o", "n.npy", "--scores", "s.npy", "--groups", "ids.npy"]
    seen = set()
    for run in [["--threads", n] for n in (1, 2, 3)] + [["--isa", isa] for isa in gcbs.isas()]:
        gcbs(*words, "--relative-margin", 0.05, *run)
        seen.add((tmp_path / "n.npy").read_bytes() + (tmp_path / "s.npy").read_bytes())
    assert len(seen) == 1


# --- refusals ---


@pytest.fixture
def refused(gcbs, pair, tmp_path):
    """A run that fails as said and leaves every file as it was, an old output too."""
    (tmp_path / "n.npy").write_text("old")
    np.save(tmp_path / "C.npy", np.vstack([pair[1], pair[0]]))
    np.save(tmp_path / "ids.npy", np.arange(300))

    def run(
        *words, code, says, output=("-o", "n.npy"), inputs=("X.npy", "Y.npy"), top=("--top", 3), **arrays
    ):
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        gcbs.fails("mine", *inputs, *top, *output, *words, code=code, says=says)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    return run


@pytest.mark.parametrize(
    "words, says",
    [
        (["--top", "0"], "--top"),
        (["--top", "-1"], "--top"),
        (["--top", "2.5"], "--top"),
        (["--skip-top", "-1"], "--skip-top"),
        (["--skip-top", "few"], "--skip-top"),
        (["--relative-margin", "1.01"], "--relative-margin"),
        (["--relative-margin", "-0.01"], "--relative-margin"),
        (["--absolute-margin", "-0.01"], "--absolute-margin"),
        (["--max-score", "nan"], "--max-score"),
        (["--min-score", "high"], "--min-score"),
        (["--min-score", "0.5", "--max-score", "0.4"], "minimum score is above the maximum"),
        (["--corpus", "C.npy"], ["Y", "--corpus"]),
        (["--positives", "ids.npy"], ["--positives", "--corpus"]),
        (["--scores", ""], "--scores"),
        (["--groups", ""], "--groups"),
        (["--seed", "3"], "--seed"),
    ],
)
def test_wrong_words(refused, words, says):
    refused(*words, code=2, says=says, top=() if words[0] == "--top" else ("--top", 3))


def test_missing_words(refused):
    refused(code=2, says="--top is missing", top=())
    refused(code=2, says="-o is missing", output=())
    refused(code=2, says="X is missing", inputs=())


@pytest.mark.parametrize(
    "positives, says",
    [
        (np.arange(299), "299"),
        (np.arange(301), "301"),
        (np.full(300, 600), "600"),
        (np.full(300, -1), "-1"),
        (np.arange(300.0), "whole numbers"),
        (np.zeros((300, 2), np.int64), "(300, 2)"),
    ],
    ids=["short", "long", "beyond", "below", "floats", "2-D"],
)
def test_what_are_no_positives(refused, positives, says):
    words = ["--corpus", "C.npy", "--positives", "bad.npy", "--scores", "s.npy"]
    refused(*words, code=3, says=says, inputs=["X.npy"], bad=positives)


@pytest.mark.parametrize(
    "ids, says",
    [
        (np.arange(299), "bad.npy has 299"),
        (np.arange(300.0), "whole numbers"),
        (np.zeros((300, 2), int), "(300, 2)"),
    ],
    ids=["short", "floats", "2-D"],
)
def test_what_are_no_groups(refused, ids, says):
    refused("--groups", "ids.npy", "--groups", "bad.npy", code=3, says=says, bad=ids)
    refused("--corpus", "C.npy", "--groups", "bad.npy", code=3, says=says, bad=ids, inputs=["X.npy"])


def test_data_that_does_not_fit(refused, pair):
    refused(code=3, says="299", bad=pair[1][:299], inputs=["X.npy", "bad.npy"])
    refused(code=3, says="23", bad=pair[1][:, :23], inputs=["X.npy", "bad.npy"])
    refused("--corpus", "bad.npy", code=3, says="299", bad=pair[1][:299], inputs=["X.npy"])
    refused("--corpus", "bad.npy", code=3, says="23", bad=pair[1][:, :23], inputs=["X.npy"])
    refused(code=3, says="missing.npy", inputs=["missing.npy"])
    holes = pair[0].copy()
    holes[7, 3] = np.inf
    refused(code=3, says="row 7", bad=holes, inputs=["X.npy", "bad.npy"])


def test_outputs(refused, gcbs, pair, tmp_path):
    np.save(tmp_path / "positives.npy", np.arange(300))
    for output in ("X.npy", "./C.npy", "ids.npy", "positives.npy", tmp_path / "X.npy"):
        words = ["--corpus", "C.npy", "--groups", "ids.npy", "--positives", "positives.npy"]
        refused(*words, code=2, says="input", inputs=["X.npy"], output=["-o", output])
        refused(*words, "--scores", output, code=2, says="input", inputs=["X.npy"])
    refused("--scores", "./n.npy", code=2, says="same file")
    refused("--scores", "nowhere/s.npy", code=5, says="nowhere")
    refused("--memory-limit", "1000", code=5, says="memory")


@pytest.mark.parametrize("file_kib", [1, 5])
def test_too_little_disk_leaves_neither_file(gcbs, pair, tmp_path, file_kib):
    """Of 300 x 3, the scores take 4 KiB, the negatives 8."""
    words = ["--top", 3, "-o", "n.npy", "--scores", "s.npy"]
    says = {1: "s.npy", 5: "n.npy"}[file_kib]
    gcbs.fails("mine", "X.npy", *words, code=5, says=says, file_kib=file_kib)
    assert sorted(os.listdir(tmp_path)) == ["X.npy", "Y.npy"]
