"""Which negatives may be edges: gcbs order against contract C10 in numpy, its flags and its errors."""

import numpy as np
import pytest
from loss_reference import admissible_edges, admissible_pairs
from reference import is_permutation, similarities

N = 300
NO_MARGIN = ("--relative-margin", "none")


@pytest.fixture
def data(tmp_path):
    """Clustered pairs with equal rows among them, a guide, and ids; the arrays by file name."""
    rng = np.random.default_rng(11)
    centres = rng.standard_normal((12, 16))
    x = (centres[rng.integers(12, size=N)] + 0.4 * rng.standard_normal((N, 16))).astype(np.float32)
    y = (x + 0.3 * rng.standard_normal((N, 16))).astype(np.float32)
    y[50:100] = y[100:150]
    x[10:13] = x[7]
    arrays = {"X": x, "Y": y, "ids": np.arange(N) // 4, "more": rng.integers(40, size=N).astype(np.int32)}
    arrays["GX"], arrays["GY"] = (
        (centres[rng.integers(12, size=N)][:, :9] + side[:, :9]).astype(np.float16) for side in (x, y)
    )
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    return arrays


FILTERS = {
    "groups": (["--groups", "ids.npy"], {"groups": ["ids"]}),
    "two lists": (["--groups", "ids.npy", "--groups", "more.npy"], {"groups": ["ids", "more"]}),
    "duplicates": (["--groups", "duplicates"], {"duplicates": True}),
    "relative": (["--relative-margin", 0.05], {"relative_margin": 0.05}),
    "absolute": (["--absolute-margin", 0.1], {"absolute_margin": 0.1}),
    "score": (["--max-score", 0.6], {"max_score": 0.6}),
    "symmetric": (["--symmetric", "--relative-margin", 0.02], {"symmetric": True, "relative_margin": 0.02}),
    "guide": (
        ["--guide-x", "GX.npy", "--guide-y", "GY.npy", "--relative-margin", 0.1],
        {"guide": True, "relative_margin": 0.1},
    ),
    "skip": (["--skip-top", 3], {"skip_top": 3}),
    "all": (
        "--guide-x GX.npy --guide-y GY.npy --symmetric --absolute-margin 0.02 --max-score 0.95 "
        "--groups duplicates --groups ids.npy --skip-top 2".split(),
        {
            "guide": True,
            "symmetric": True,
            "absolute_margin": 0.02,
            "max_score": 0.95,
            "duplicates": True,
            "groups": ["ids"],
            "skip_top": 2,
        },
    ),
}


def expected(data, wanted, options):
    options = dict(options)
    skip_top = options.pop("skip_top", 0)
    options["groups"] = [data[name] for name in options.get("groups", [])]
    if options.pop("guide", False):
        options["guide"] = data["GX"], data["GY"]
    admissible = admissible_pairs(data["X"], data["Y"], similarities, **options)
    return admissible_edges(similarities(data["X"], data["Y"]), admissible, wanted, skip_top)


def test_by_default_what_outranks_its_positive_is_no_edge(gcbs, data, tmp_path):
    for words in ([], ["--method", "rcm"], ["--groups", "ids.npy"]):
        gcbs("order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy", "--edges", "edges.npy", *words)
        options = {"relative_margin": 0} | ({"groups": ["ids"]} if "--groups" in words else {})
        assert np.array_equal(np.load(tmp_path / "edges.npy"), expected(data, 16 * N, options)[0])


@pytest.mark.parametrize("name", FILTERS)
def test_edges_are_those_of_the_definition(gcbs, data, tmp_path, name):
    words, options = FILTERS[name]
    run = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy", "--edges", "edges.npy", *words]
    if not {"relative_margin", "absolute_margin", "max_score"} & set(options):
        run += NO_MARGIN
    edges, threshold = expected(data, 16 * N, options)
    assert 0 < len(edges) <= 16 * N
    for isa in gcbs.isas():
        report = gcbs.json(*run, "--isa", isa, "--threads", 3)
        assert is_permutation(np.load(tmp_path / "order.npy"), N)
        assert np.array_equal(np.load(tmp_path / "edges.npy"), edges), isa
        assert report["edges"] == len(edges)
        assert report["threshold"]["value"] == (threshold if np.isfinite(threshold) else None)
        assert report["rows_without_edges"] == N - len(np.unique(edges[:, 0]))


def test_m_and_q_count_admissible_edges(gcbs, data, tmp_path):
    words, options = FILTERS["relative"]
    for flags, wanted in ((["-m", 2.5], 750), (["-q", 0.99], 900), (["-m", N], N * N)):
        gcbs("order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy", "--edges", "e.npy", *words, *flags)
        assert np.array_equal(np.load(tmp_path / "e.npy"), expected(data, wanted, options)[0]), flags


def test_the_verdict_tells_how_many_pairs_are_suspects(gcbs, data):
    run = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy"]
    for margin in (0, 0.3):
        admissible = admissible_pairs(data["X"], data["Y"], similarities, relative_margin=margin)
        share = (~admissible).sum() / (N * (N - 1)) - 1 / (N - 1)  # without the diagonal
        seeds = range(16)  # each looks at eight rows
        verdicts = [gcbs.json(*run, "--relative-margin", margin, "--seed", s)["verdict"] for s in seeds]
        assert np.mean([verdict["suspects"] for verdict in verdicts]) == pytest.approx(share, abs=0.02)
        assert all(verdict["outranking"] == 0 for verdict in verdicts)
    assert 0.02 < share
    warning = "suspects by the margins, and left out: these embeddings hardly know"
    assert warning in gcbs(*run, "--relative-margin", 0.3).stderr
    plain = gcbs.json(*run, *NO_MARGIN)["verdict"]
    assert plain["suspects"] == 0 and "suspects" not in gcbs(*run, *NO_MARGIN).stderr


def test_more_asked_for_than_there_are(gcbs, data):
    words = ["-k", 16, "-m", N, "-o", "o.npy", "--groups", "ids.npy", *NO_MARGIN]
    done = gcbs("order", "X.npy", "Y.npy", *words)
    assert "no more admissible pairs" in done.stderr
    report = gcbs.json("order", "X.npy", "Y.npy", *words)
    assert report["threshold"]["value"] is None
    assert report["edges"] == N * (N - 4)


def test_no_pair_is_admissible(gcbs, data, tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(N, dtype=np.int64))
    np.save(tmp_path / "natural.npy", np.arange(N))
    run = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy"]
    report = gcbs.json(*run, "--max-score", -1.5)
    assert report["edges"] == 0 and report["rows_without_edges"] == N
    gcbs.fails(*run, "--groups", "one.npy", code=3, says=f"group 0, which has {N} rows")
    gcbs.json("gap", "X.npy", "Y.npy", "-k", N, "--order", "natural.npy", "--groups", "one.npy")


def test_one_side_needs_one_guide(gcbs, data):
    run = ["order", "X.npy", "-k", 16, "-o", "o.npy", "--guide-x", "GX.npy", "--relative-margin", 0.1]
    report = gcbs.json(*run)
    assert report["options"]["guide_y"] == "GX.npy"


def test_options_are_reported(gcbs, data):
    run = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy"]
    options = gcbs.json(*run, *NO_MARGIN)["options"]
    names = "groups relative_margin absolute_margin max_score symmetric guide_x guide_y skip_top".split()
    assert [options[name] for name in names] == [[], None, None, None, False, None, None, 0]
    options = gcbs.json(*run, *FILTERS["all"][0])["options"]
    assert [options[name] for name in names] == [
        ["ids.npy", "duplicates"], None, 0.02, 0.95, True, "GX.npy", "GY.npy", 2,
    ]  # fmt: skip


def test_estimates_keep_admissible_edges(gcbs, data, tmp_path):
    run = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "o.npy", "--edges", "e.npy", "--threshold", "estimate"]
    report = gcbs.json(*run, "--relative-margin", 0.05)
    admissible = admissible_pairs(data["X"], data["Y"], similarities, relative_margin=0.05)
    s = similarities(data["X"], data["Y"])
    kept = np.argwhere(admissible & (s > report["threshold"]["value"]))
    assert np.array_equal(np.load(tmp_path / "e.npy"), kept)
    assert abs(len(kept) - 16 * N) < 160


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--symmetric", *NO_MARGIN], 2, ["--symmetric", "--relative-margin"]),
        (["--guide-x", "GX.npy", "--guide-y", "GY.npy", *NO_MARGIN], 2, ["--guide-x", "margin"]),
        (["--guide-x", "GX.npy", "--max-score", 0.9], 2, ["--guide-y"]),
        (["--guide-y", "GY.npy", "--max-score", 0.9], 2, ["--guide-x"]),
        (["--guide-x", "GX.npy", "--guide-y", "X.npy", "--max-score", 0.9], 3, ["guide", "300 x 16"]),
        (["--guide-x", "no.npy", "--guide-y", "GY.npy", "--max-score", 0.9], 3, ["no.npy"]),
        (["--skip-top", "-1"], 2, ["--skip-top"]),
        (["--skip-top", "many"], 2, ["--skip-top"]),
        (["--skip-top", N - 1], 3, ["299"]),
        (["--groups", ""], 2, ["--groups"]),
        (["--groups", "order.npy"], 3, ["order.npy"]),
        (["--groups", "short.npy"], 3, ["7", "300"]),
        (["--relative-margin", 2], 2, ["--relative-margin"]),
        (["--threshold", "paper", "--groups", "ids.npy"], 2, ["--threshold paper"]),
        (["--paper", "--groups", "duplicates"], 2, ["--paper"]),
        (["--paper", "--skip-top", 1], 2, ["--paper"]),
    ],
)
@pytest.mark.parametrize("verb", ["order", "gap"])
def test_errors(gcbs, data, tmp_path, verb, words, code, says):
    np.save(tmp_path / "short.npy", np.arange(7))
    if verb == "gap" and "--paper" in words:
        pytest.skip("gap has no such flag")
    output = ["-o", "o.npy"] if verb == "order" else []
    gcbs.fails(verb, "X.npy", "Y.npy", "-k", 16, *output, *words, code=code, says=says)
    assert not (tmp_path / "o.npy").exists()


def test_an_output_is_no_input(gcbs, data):
    run = ["order", "X.npy", "Y.npy", "-k", 16]
    gcbs.fails(*run, "-o", "ids.npy", "--groups", "ids.npy", code=2, says="ids.npy")
    guide = ["--guide-x", "GX.npy", "--guide-y", "GY.npy", "--max-score", 0.9]
    gcbs.fails(*run, "-o", "GY.npy", *guide, code=2, says="GY.npy")
