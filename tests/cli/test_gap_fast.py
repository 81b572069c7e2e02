"""gcbs gap above 1,024 rows, where products are int16: |error| <= 1e-4 max(1e-3, L) against float64."""

import numpy as np
import pytest
from loss_reference import Losses, fast_similarities
from test_gap import Case, related, some_groups

TEMPERATURES = [0.01, 0.0125, 0.05, 1]


def uniform(n, d, rng):
    return [rng.random((n, d), dtype=np.float32) for _ in range(2)]


def clustered(n, d, rng):
    centres = 3 * rng.standard_normal((20, d))
    x = centres[rng.integers(20, size=n)] + 0.5 * rng.standard_normal((n, d))
    return [x.astype(np.float32), (x + 0.2 * rng.standard_normal((n, d))).astype(np.float32)]


def near_identical(n, d, rng):
    """Two sides that hardly differ, far from all others but for a few duplicates: a small loss, theirs."""
    x = rng.standard_normal((n, d))
    x[-7:] = x[:7]
    return [x.astype(np.float32), (x + 1e-3 * rng.standard_normal((n, d))).astype(np.float32)]


KINDS = {"uniform": uniform, "clustered": clustered, "near-identical": near_identical}


def errors(found, wanted):
    """Errors of x, y and both, as shares of what is allowed."""
    return {side: abs(found[side] - wanted[side]) / (1e-4 * max(1e-3, wanted[side])) for side in wanted}


def check_losses(report, losses, order, k):
    """Losses within tolerance and within the bound that the report states; what is exact is exact."""
    found = report["orders"][0]
    pairs = [
        ("L_global", report["loss_global"], losses.global_mean()),
        ("L_train", found["loss_train"], losses.train_mean(order, k)),
    ]
    for name, mine, wanted in pairs:
        for side, share in errors(mine, wanted).items():
            story = f"{name} {side}: {mine[side]}, not {wanted[side]}, {share:.2g} of the tolerance"
            assert share <= 1, story
            assert abs(mine[side] - wanted[side]) <= report["error_bound"] + 1e-12, story
    for name, mine, wanted in [
        ("probability", report["positive_probability"], losses.global_mean("probability")),
        ("in batches", found["positive_probability"], losses.train_mean(order, k, "probability")),
    ]:
        assert abs(mine - wanted[losses.direction]) <= 1e-4, name
    oracle = losses.oracle_loss(k)
    assert abs(report["oracle"]["loss_train"] - oracle) <= 1e-4 * max(1e-3, oracle)
    for bound, wanted in losses.bounds(order, k).items():
        assert abs(found["bounds"][bound] - wanted) <= 1e-3 * max(1, abs(wanted)), bound
    for objective, wanted in losses.objectives(order, k).items():
        assert abs(found[objective] - wanted) <= 1e-4 * max(1, abs(wanted)), objective


@pytest.mark.parametrize(
    "kind, d",
    [("uniform", 3), ("uniform", 100)]
    + [(kind, d) for kind in ("clustered", "near-identical") for d in (1, 3, 8, 65, 100)],
)
def test_losses(gcbs, tmp_path, kind, d):
    case = Case(tmp_path, *KINDS[kind](1100, d, np.random.default_rng(d)))
    losses = Losses(case.x, case.y, product=fast_similarities)
    for temperature in TEMPERATURES:
        report = gcbs.json(*case.words(64, temperature=temperature))
        check_losses(report, losses.at(temperature), case.order, 64)


@pytest.mark.parametrize(
    "options",
    [
        {"form": "simclr"},
        {"negatives": True, "direction": "x"},
        {"groups": 2},
        {"relative_margin": 0.1},
        {"relative_margin": 0.05, "absolute_margin": 0.1, "max_score": 0.7, "groups": 1},
        {"form": "simclr", "relative_margin": 0.2, "groups": 1, "direction": "y"},
        {"negatives": True, "groups": 1, "max_score": 0.3},
    ],
    ids=lambda options: "-".join(options),
)
@pytest.mark.parametrize("kind", ["clustered", "near-identical"])
def test_options(gcbs, tmp_path, kind, options):
    n, d, k = 1111, 24, 50
    rng = np.random.default_rng(5)
    case = Case(tmp_path, *KINDS[kind](n, d, rng))
    options = {"temperature": 0.01, **options}
    if "groups" in options:
        options["groups"] = some_groups(n)[: options["groups"]]
    if "negatives" in options:
        options["negatives"] = KINDS[kind](n, d, rng)[1]
    losses = Losses(case.x, case.y, product=fast_similarities, **options)
    report = gcbs.json(*case.words(k, **options))
    check_losses(report, losses, case.order, k)


@pytest.mark.parametrize("d", [8, 65])
@pytest.mark.parametrize("temperature", [0.01, 0.0125])
def test_duplicates_that_share_batches(gcbs, tmp_path, d, temperature):
    """L_train comes from 14 anchors: errors of int16 products would show, 14 of them do not cancel."""
    n = 1100
    case = Case(tmp_path, *near_identical(n, d, np.random.default_rng(3)))
    pairs = np.stack([np.arange(7), np.arange(n - 7, n)], axis=1).ravel()
    case.order = np.concatenate([np.arange(7, n - 7), pairs])
    case.save(order=case.order)
    losses = Losses(case.x, case.y, temperature, product=fast_similarities)
    report = gcbs.json(*case.words(64, temperature=temperature))
    check_losses(report, losses, case.order, 64)
    assert report["orders"][0]["loss_train"]["both"] > 0.5 * report["loss_global"]["both"]


def test_rows_unlike_all_others_are_not_clipped(gcbs, tmp_path):
    """A few rows of one large value each among dense ones: too few to be seen in a sample of rows."""
    n, d = 2048, 100
    rng = np.random.default_rng(4)
    x = rng.standard_normal((n, d))
    x[1:n:400] = 0.01
    x[1:n:400, 7] = 1
    case = Case(tmp_path, x.astype(np.float32), (x + 0.01 * rng.standard_normal((n, d))).astype(np.float32))
    losses = Losses(case.x, case.y, 0.05, product=fast_similarities)
    check_losses(gcbs.json(*case.words(64)), losses, case.order, 64)


def test_all_rows_equal(gcbs, tmp_path):
    case = Case(tmp_path, *uniform(1100, 1, np.random.default_rng(1)))
    report = gcbs.json(*case.words(64, temperature=0.01))
    check_losses(report, Losses(case.x, case.y, 0.01, product=fast_similarities), case.order, 64)
    assert report["edges"] == 0 and report["orders"][0]["outranking"] is None


def test_edges_are_counted_exactly(gcbs, tmp_path):
    x, y, _ = related(1300, 10, noise=1.0)
    case = Case(tmp_path, x, y)
    report = gcbs.json(*case.words(40))
    losses = Losses(x, y)
    edges = losses.edges(report["options"]["quantile"])
    stats = losses.edge_stats(case.order, 40, edges)
    assert report["edges"] == len(edges)
    assert {key: report["orders"][0][key] for key in stats} == stats
    assert stats["outranking"] > 0.1


@pytest.mark.parametrize(
    "n, k, kind, d, temperature",
    [(3001, 64, "clustered", 100, 0.0125), (1500, 700, "near-identical", 65, 0.05)],
)
def test_more_rows(gcbs, tmp_path, n, k, kind, d, temperature):
    case = Case(tmp_path, *KINDS[kind](n, d, np.random.default_rng(9)))
    losses = Losses(case.x, case.y, temperature, product=fast_similarities)
    report = gcbs.json(*case.words(k, trials=2, temperature=temperature))
    check_losses(report, losses, case.order, k)


def test_tables_and_int16_products_agree_at_the_seam(gcbs, tmp_path):
    x, y, _ = related(1025, 16, noise=1.0)
    for n in (1024, 1025):
        case = Case(tmp_path, x[:n], y[:n])
        report = gcbs.json(*case.words(100))
        assert (report["error_bound"] < 1e-9) == (n == 1024)
        check_losses(report, Losses(x[:n], y[:n], product=fast_similarities), case.order, 100)


def test_one_batch_of_everything_has_no_gap(gcbs, tmp_path):
    case = Case(tmp_path, *clustered(1300, 8, np.random.default_rng(1)))
    report = gcbs.json(*case.words(1300))
    assert report["orders"][0]["gap"] == 0 and report["orders"][0]["gap_closed"] is None
    check_losses(report, Losses(case.x, case.y, product=fast_similarities), case.order, 1300)
