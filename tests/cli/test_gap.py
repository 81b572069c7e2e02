"""gcbs gap: every number against float64 numpy (loss_reference.py), the same bytes for everyone."""

import json

import numpy as np
import pytest
from loss_reference import Losses, check_report, fast_similarities

DEFAULTS = {"temperature": 0.05, "direction": "both", "form": "clip"}


class Case:
    """Pairs in files of the run's folder, and an order of them."""

    def __init__(self, folder, x, y=None, seed=0):
        self.folder, self.x, self.y = folder, x, x if y is None else y
        self.n = len(x)
        self.files = ["X.npy"] if y is None else ["X.npy", "Y.npy"]
        self.order = np.random.default_rng(seed).permutation(self.n)
        self.save(X=x, order=self.order)
        if y is not None:
            self.save(Y=y)

    def save(self, **arrays):
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.npy", array)

    def words(self, k, trials=5, **options):
        """The command line of options as Losses takes them; writes the files."""
        words = ["gap", *self.files, "-k", k, "--order", "mine=order.npy", "--random-trials", trials]
        for name, value in options.items():
            if name == "groups":
                for number, ids in enumerate(value):
                    self.save(**{f"ids{number}": ids})
                    words += ["--groups", f"ids{number}.npy"]
            elif name == "negatives":
                self.save(Z=value)
                words += ["--negatives", "Z.npy"]
            elif name == "guide":
                self.save(GX=value[0], GY=value[1])
                words += ["--guide-x", "GX.npy", "--guide-y", "GY.npy"]
            elif name == "duplicates":
                words += ["--groups", "duplicates"]
            elif name in ("normalised", "symmetric"):
                words += [f"--{name}"]
            else:
                words += [f"--{name.replace('_', '-')}", value]
        return words

    def losses(self, **options):
        return Losses(self.x, self.y, **options)

    def check(self, gcbs, k, **options):
        report = gcbs.json(*self.words(k, **options))
        check_report(report, self.losses(**options), k, {"mine": self.order})
        return report


def related(n, d, seed=1, noise=0.5):
    """Pairs whose two sides resemble each other, and another row for each of them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)).astype(np.float32)
    y, z = ((x + noise * rng.standard_normal((n, d))).astype(np.float32) for _ in range(2))
    return x, y, z


def some_groups(n, seed=2):
    """Two lists of ids: pairs of mates, and a few large groups beside rows of their own."""
    rng = np.random.default_rng(seed)
    return rng.permutation(n) // 2, np.where(rng.random(n) < 0.3, rng.integers(3, size=n), -7 - np.arange(n))


@pytest.mark.parametrize("direction", ["x", "y", "both"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"form": "simclr"},
        {"negatives": True},
        {"groups": 1},
        {"groups": 2},
        {"relative_margin": 0.3},
        {"relative_margin": 0},
        {"absolute_margin": 0.4},
        {"max_score": 0.2},
        {"relative_margin": 0.1, "absolute_margin": 0.2, "max_score": 0.5, "groups": 2},
        {"form": "simclr", "relative_margin": 0.2, "groups": 1},
        {"negatives": True, "absolute_margin": 0.3, "groups": 1},
        {"relative_margin": 0.3, "symmetric": True},
        {"relative_margin": 0.3, "guide": True},
        {"max_score": 0.5, "guide": True, "symmetric": True, "form": "simclr", "skip_top": 2},
        {"temperature": 0.5, "form": "simclr"},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_every_option(gcbs, tmp_path, options, direction):
    n, k = 75, 8  # a short last block of 3
    x, y, z = related(n, 6)
    options = {**options, "direction": direction}
    if "groups" in options:
        options["groups"] = some_groups(n)[: options["groups"]]
    if "negatives" in options:
        options["negatives"] = z
    if "guide" in options:
        options["guide"] = related(n, 4, seed=3)[:2]
    report = Case(tmp_path, x, y).check(gcbs, k, **options)
    assert report["error_bound"] <= 1e-9, "all products are exact at this size"
    assert report["options"]["direction"] == direction
    plain = Losses(x, y).global_mean()[direction]
    unseen = set(options) == {"direction"} or (
        set(options) == {"direction", "negatives"} and direction == "y"
    )
    assert (report["loss_global"][direction] == pytest.approx(plain)) == unseen, "the option shows"


def test_options_are_reported_as_resolved(gcbs, tmp_path):
    x, y, _ = related(20, 3)
    case = Case(tmp_path, x, y)
    report = gcbs.json("gap", "X.npy", "Y.npy", "-k", 5)
    options = report["options"]
    assert {key: options[key] for key in DEFAULTS} == DEFAULTS
    assert options["random_trials"] == report["random"]["trials"] == 100
    assert options["methods"] == ["rcm"] and options["orders"] == [] and options["groups"] == []
    assert options["negatives"] is options["per_batch"] is options["max_score"] is None
    words = case.words(5, relative_margin=0.1, temperature=0.2, form="simclr", groups=some_groups(20))
    options = gcbs.json(*words)["options"]
    assert options["orders"] == ["order.npy"] and options["groups"] == ["ids0.npy", "ids1.npy"]
    assert (options["relative_margin"], options["temperature"], options["form"]) == (0.1, 0.2, "simclr")


@pytest.mark.parametrize("temperature", [0.001, 0.01, 0.07, 0.3, 1, 50])
@pytest.mark.parametrize("form", ["clip", "simclr"])
def test_every_temperature(gcbs, tmp_path, temperature, form):
    x, y, _ = related(50, 4, noise=2.0)
    report = Case(tmp_path, x, y).check(gcbs, 16, temperature=temperature, form=form)
    assert report["loss_global"]["both"] > 0


@pytest.mark.parametrize("n, k", [(2, 2), (3, 2), (5, 4), (17, 16), (40, 2), (64, 16), (90, 89), (200, 130)])
def test_every_cut(gcbs, tmp_path, n, k):
    x, y, z = related(n, 5, seed=n)
    case = Case(tmp_path, x, y)
    case.check(gcbs, k)
    case.check(gcbs, k, form="simclr", temperature=0.2)
    case.check(gcbs, k, negatives=z, direction="x")


@pytest.mark.parametrize("options", [{}, {"form": "simclr"}, {"relative_margin": 0.2}, {"negatives": True}])
def test_one_batch_of_everything_has_no_gap(gcbs, tmp_path, options):
    x, y, z = related(30, 5)
    options = {**options, "negatives": z} if "negatives" in options else options
    report = Case(tmp_path, x, y).check(gcbs, 30, **options)
    assert report["orders"][0]["gap"] == 0 and report["orders"][0]["gap_closed"] is None
    assert report["random"]["loss_train"] == {"mean": report["loss_global"]["both"], "std": 0}
    assert report["oracle"] == {"loss_train": report["loss_global"]["both"], "gap_closed": None}


def test_duplicate_rows(gcbs, tmp_path):
    x, y, _ = related(12, 3)
    x, y = np.repeat(x, 5, axis=0), np.repeat(y, 5, axis=0)
    case = Case(tmp_path, x, y)
    for options in ({}, {"form": "simclr"}, {"relative_margin": 0}, {"absolute_margin": 0}):
        case.check(gcbs, 9, **options)
    same = Case(tmp_path, np.ones((20, 3), np.float32))
    report = same.check(gcbs, 4)
    assert report["loss_global"]["both"] == pytest.approx(np.log(20), rel=1e-6)
    assert same.check(gcbs, 4, relative_margin=0.1)["loss_global"]["both"] == 0, "all are suspects"


def test_y_left_out_other_types_and_unit_rows(gcbs, tmp_path):
    x, y, z = related(45, 7)
    Case(tmp_path, x).check(gcbs, 7)
    Case(tmp_path, x.astype(np.float16), y.astype(np.float16)).check(gcbs, 7)
    Case(tmp_path, x.astype(np.float64), y).check(gcbs, 7, negatives=z.astype(np.float16))
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
    Case(tmp_path, x.astype(np.float32), y.astype(np.float32)).check(gcbs, 7, normalised=True)


@pytest.mark.parametrize("options", [{}, {"direction": "x", "negatives": True}, {"direction": "y"}])
def test_per_batch(gcbs, tmp_path, options):
    x, y, z = related(75, 6)
    options = {**options, "negatives": z} if "negatives" in options else options
    case = Case(tmp_path, x, y)
    report = gcbs.json(*case.words(8, **options), "--per-batch", "batches.npy")
    found = np.load(tmp_path / "batches.npy")
    assert found.dtype == np.float64 and found.shape == (10, 2)
    np.testing.assert_allclose(found, case.losses(**options).per_batch(case.order, 8), rtol=1e-9, atol=1e-12)
    mean = np.average(found[:, 0], weights=[8] * 9 + [3])
    assert mean == pytest.approx(report["orders"][0]["loss_train"][options.get("direction", "both")])


# --- random orders ---


@pytest.mark.parametrize("n, d", [(60, 5), (1100, 8)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"form": "simclr", "direction": "x"},
        {"negatives": True, "direction": "x"},
        {"relative_margin": 0.1},
    ],
)
def test_random_orders(gcbs, tmp_path, n, d, options):
    x, y, z = related(n, d)
    options = {**options, "negatives": z} if "negatives" in options else options
    case = Case(tmp_path, x, y)
    found = gcbs.json(*case.words(16, trials=100, **options))["random"]
    trials = 100 if n < 100 else 12
    losses, probabilities = case.losses(**options, product=fast_similarities).random_losses(
        16, trials, np.random.default_rng(3)
    )
    error = losses.std(ddof=1) * np.sqrt(1 / trials + 1 / found["trials"])
    assert abs(found["loss_train"]["mean"] - losses.mean()) <= 6 * error
    assert 0.5 < found["loss_train"]["std"] / losses.std(ddof=1) < 2.5
    error = probabilities.std(ddof=1) * np.sqrt(1 / trials + 1 / found["trials"])
    assert abs(found["positive_probability"] - probabilities.mean()) <= 6 * error


def test_random_orders_are_those_of_the_seed(gcbs, tmp_path):
    x, y, _ = related(60, 5)
    Case(tmp_path, x, y)

    def random(*words):
        return gcbs.json("gap", "X.npy", "Y.npy", "-k", 8, "--method", "natural", *words)["random"]

    assert random("--seed", 4) == random("--seed", 4) != random("--seed", 5)
    one = random("--random-trials", 1)
    assert one["trials"] == 1 and one["loss_train"]["std"] == 0


# --- properties ---


def can_be_apart(ids, k):
    """Whether batches of k can keep these groups apart: the theorem of Gale and Ryser."""
    largest = np.sort(np.unique(ids, return_counts=True)[1])[::-1]
    t = np.arange(1, len(largest) + 1)
    places = len(ids) // k * np.minimum(k, t) + np.minimum(len(ids) % k, t)
    return bool((np.cumsum(largest) <= places).all())


def test_bounds_hold_whatever_the_input(gcbs, tmp_path):
    rng = np.random.default_rng(11)
    for round_ in range(200):
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 9))
        k = int(rng.integers(2, n + 1))
        x = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 6)
        y = x + rng.choice([0.01, 0.3, 5]) * rng.standard_normal((n, d)) if rng.random() < 0.7 else -x
        options = {
            "temperature": float(10.0 ** rng.uniform(-3, 0.5)),
            "direction": str(rng.choice(["x", "y", "both"])),
            "form": str(rng.choice(["clip", "simclr"])),
        }
        if rng.random() < 0.3:
            options["groups"] = [rng.integers(n, size=n)]
        if rng.random() < 0.3:
            options["relative_margin"] = float(rng.random())
        if rng.random() < 0.3 and options["form"] == "clip":
            options["negatives"] = rng.standard_normal((n, d))
        case = Case(tmp_path, x, y, seed=round_)
        apart = all(can_be_apart(ids, k) for ids in options.get("groups", []))
        methods = ["--method", "rcm", "--method", "chain"] if apart else []
        report = gcbs.json(*case.words(k, **options), *methods)
        direction = options["direction"]
        whole, oracle = report["loss_global"][direction], report["oracle"]["loss_train"]
        slack = 1e-9 * max(1, whole)
        assert report["random"]["loss_train"]["mean"] <= oracle + slack
        for order in report["orders"]:
            train, bounds = order["loss_train"][direction], order["bounds"]
            story = f"round {round_}, n {n}, d {d}, k {k}, {options}, {order}"
            assert 0 <= train <= oracle + slack and oracle <= whole + slack, story
            assert max(bounds["lemma2"], bounds["lemma3"]) <= train + slack, story
            assert order["gap"] <= min(bounds["theorem1"], bounds["theorem2"]) + slack, story
            assert k < n or (order["gap"] == 0 and order["gap_closed"] is None), story


# --- the same bytes ---


def comparable(report):
    """Without what may differ from run to run and machine to machine."""
    for part in (report, report["options"], *report["orders"]):
        for key in ("seconds", "peak_bytes", "threads", "isa", "stages"):
            part.pop(key, None)
    return json.dumps(report)


@pytest.mark.parametrize("n, d", [(130, 9), (1100, 33)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"form": "simclr", "temperature": 0.2},
        {"negatives": True, "groups": 2, "relative_margin": 0.2},
        {"temperature": 0.001},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_same_numbers_for_every_thread_count_and_instruction_set(gcbs, tmp_path, n, d, options):
    x, y, z = related(n, d)
    options = dict(options)
    if "groups" in options:
        options["groups"] = some_groups(n)
    if "negatives" in options:
        options["negatives"] = z
    size = 8 if "groups" in options else 32  # so small that the large groups can be kept apart
    words = [*Case(tmp_path, x, y).words(size, **options), "--method", "rcm"]
    runs = [["--threads", threads] for threads in (1, 2, 3)] + [["--isa", isa] for isa in gcbs.isas()]
    assert len({comparable(gcbs.json(*words, *run)) for run in runs}) == 1
