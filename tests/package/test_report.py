"""gcbs.report: what it draws is what the engine measures, and its words say what that means."""

import doctest
import subprocess
import sys
import tracemalloc

import gcbs
import numpy as np
import pytest
from gcbs._options import GapOptions, words_of
from report_data import make_pairs

pytest.importorskip("matplotlib")

from gcbs.report import _contrasts, _graph, _sample, _words, report  # noqa: E402
from gcbs.report._collect import collect  # noqa: E402

# --- what is drawn is what the engine measures


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "x"},
        {"direction": "y", "temperature": 0.01},
        {"form": "simclr"},
        {"groups": "duplicates"},
        {"groups": np.arange(300) // 3},
        {"relative_margin": 0.1},
        {"absolute_margin": 0.2, "max_score": 0.7},
        {"relative_margin": 0.1, "symmetric": True},
        {"relative_margin": 0.1, "guide_x": make_pairs(seed=5)[0]},
        {"extra": 4},
        {"normalised": True},
    ],
    ids=str,
)
def test_sampled_probabilities_are_the_engines(options):
    x, y = make_pairs()
    y[7], x[20] = y[8], x[40]
    if "normalised" in options:
        x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
        x, y = x.astype(np.float32), y.astype(np.float32)
    of_order = {name: value for name, value in options.items() if name not in ("direction", "form")}
    plan = gcbs.plan(x, y, batch_size=30, **{"relative_margin": None} | of_order)
    gap = gcbs.gap(x, y, batch_size=30, orders=plan.order, **options)
    rows = [_contrasts.Rows(side, "normalised" in options) for side in (x, y)]
    contrasts = _contrasts.Contrasts(*rows, words_of("gap", options, GapOptions))
    anchors = np.arange(len(x))
    among_all = _sample.among_all(contrasts, anchors)
    in_batches = _sample.in_batches(contrasts, anchors, plan.order, 30, plan.extra)
    assert among_all.positive_probabilities().mean() == pytest.approx(gap.positive_probability, abs=1e-6)
    mean = in_batches.positive_probabilities().mean()
    assert mean == pytest.approx(gap["order"].positive_probability, abs=1e-6)


def test_batches_larger_than_a_chunk_are_looked_at_whole(monkeypatch):
    x, y = make_pairs(120)
    contrasts = _contrasts.Contrasts(_contrasts.Rows(x), _contrasts.Rows(y), {})
    whole = _sample.in_batches(contrasts, np.arange(120), np.arange(120), 120)
    monkeypatch.setattr(_sample, "CHUNK", 7)
    parts = _sample.in_batches(contrasts, np.arange(120), np.arange(120), 120)
    assert np.array_equal(whole.counts, parts.counts)
    assert whole.positive_probabilities() == pytest.approx(parts.positive_probabilities())
    assert whole.margins() == pytest.approx(parts.margins())


def test_histograms_hold_every_negative_once():
    x, y = make_pairs(90)
    contrasts = _contrasts.Contrasts(_contrasts.Rows(x), _contrasts.Rows(y), {})
    assert _sample.among_all(contrasts, np.arange(90)).counts.sum() == 2 * 90 * 89
    assert _sample.in_batches(contrasts, np.arange(90), np.arange(90), 30).counts.sum() == 2 * 90 * 29


def test_spy_and_degrees_count_every_edge(monkeypatch):
    monkeypatch.setattr(_graph, "EDGES_AT_A_TIME", 100)
    x, y = make_pairs(1000)
    plan = gcbs.plan(x, y, batch_size=16, edges=True, relative_margin=None)
    spy = _graph.spy("order", plan.edges, plan.order, 16)
    batch = np.empty(1000, dtype=int)
    batch[plan.order] = np.arange(1000) // 16
    together = batch[plan.edges[:, 0]] == batch[plan.edges[:, 1]]
    gap = gcbs.gap(x, y, batch_size=16, orders=plan.order)
    assert spy.inside == together.sum() == gap["order"].edges_in_batch
    assert spy.far.inside.sum() + spy.far.outside.sum() == len(plan.edges)
    position = np.argsort(plan.order)[plan.edges]
    first, last = spy.near.first, spy.near.first + spy.near.rows
    assert first % 16 == 0
    near = ((position >= first) & (position < last)).all(axis=1)
    assert spy.near.inside.sum() + spy.near.outside.sum() == near.sum() > 0
    found = _graph.degrees(plan.edges, 1000)
    assert found.of_x.sum() == found.of_y.sum() == 1000
    assert found.of_x[0] == plan.rows_without_edges
    assert found.most == max(np.bincount(plan.edges[:, side]).max() for side in (0, 1))


def test_degrees_go_where_their_names_say():
    degree = np.array([0, 1, 2, 3, 4, 5, 8, 9, 16])
    rows = np.repeat(np.arange(len(degree)), degree)
    found = _graph.degrees(np.stack([rows, rows], axis=1).astype(np.int32), len(degree))
    named = dict(zip(found.names, found.of_x.tolist(), strict=True))
    assert named == {"0": 1, "1": 1, "2": 1, "3–4": 2, "5–8": 2, "9–16": 2}


def test_chance_is_what_random_orders_hold():
    x, y = make_pairs(400)
    found = collect(x, y, 24, None, {"methods": []})
    plan = gcbs.plan(x, y, batch_size=24, edges=True)
    inside = [
        _graph.spy("", plan.edges, np.random.default_rng(seed).permutation(400), 24).inside
        for seed in range(200)
    ]
    assert found.random_edges == pytest.approx(np.mean(inside), rel=0.02)


# --- large data: a sample, always the same, in bounded memory


def test_a_sample_is_always_the_same_and_sorted():
    rows = _sample.sample_rows(100_000, 2048, seed=3)
    assert len(set(rows.tolist())) == 2048 and np.all(np.diff(rows) > 0)
    assert np.array_equal(rows, _sample.sample_rows(100_000, 2048, seed=3))
    assert not np.array_equal(rows, _sample.sample_rows(100_000, 2048, seed=4))
    assert np.array_equal(_sample.sample_rows(50, 2048, 0), np.arange(50))


def test_memory_does_not_grow_with_the_rows():
    peaks = []
    for count in (4096, 32768):
        x, y = (_contrasts.Rows(side.astype(np.float32)) for side in make_pairs(count, 8))
        contrasts = _contrasts.Contrasts(x, y, {"relative_margin": 0.1})
        tracemalloc.start()
        _sample.among_all(contrasts, np.arange(256))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 50e6


# --- the words


def reading(x, y=None, **options):
    found = collect(x, y, 30, None, {"methods": [], "random_trials": 10, **options})
    alarm, said = _words.about_false_negatives(found)
    return found, alarm, " ".join(said)


def test_the_title_says_how_much_is_closed(tmp_path):
    done = report(*make_pairs(), batch_size=30, methods=[], path=tmp_path / "page.html")
    text = done.path.read_text(encoding="utf-8")
    closed = done.gap["this order"].gap_closed
    assert f"closes {_words.percent(closed)} of the gap" in text
    assert f"closes {_words.percent(closed)}".replace("\N{NO-BREAK SPACE}", " ") in str(done)


def test_equal_rows_in_batches_are_named_with_what_helps():
    x, y = make_pairs()
    x[:150] = x[150:]
    found, alarm, said = reading(x, y)
    assert alarm and found.duplicates == 300 and found.duplicates_in_batch > 0
    assert "--groups duplicates" in said
    found, _, said = reading(x, y, groups="duplicates")
    assert found.duplicates == 300 and found.duplicates_in_batch == 0
    assert "--groups duplicates" not in said and "none of them" in said


def test_negatives_above_their_positive_are_named_with_what_helps():
    _, alarm, said = reading(*make_pairs(noise=2.0), relative_margin=None)
    assert alarm and "likely" in said and "--relative-margin 0.05" in said
    _, alarm, said = reading(*make_pairs(noise=0.01), relative_margin=None)
    assert not alarm and "unlikely" in said and "--relative-margin" not in said


def test_where_no_order_helps_it_is_said():
    found, _, _ = reading(*make_pairs(), temperature=20.0)
    assert "hardly matters who shares a batch" in _words.about_the_gap(found)
    x = np.random.default_rng(0).normal(size=(300, 64))
    assert "little left to learn" in _words.about_the_gap(reading(x)[0])
    found = collect(*make_pairs(30), 30, None, {"methods": []})
    assert "one batch" in _words.about_the_gap(found) and "no gap" in _words.title(found)


def test_the_example_of_the_docstring_runs():
    done = doctest.testmod(sys.modules["gcbs.report"])
    assert done.attempted >= 4 and done.failed == 0


def test_a_better_method_is_named():
    found = collect(*make_pairs(600), 30, None, {"method": "random"})
    best = max(found.gap.orders, key=lambda order: order.gap_closed)
    assert best.name == "pack"
    assert f"`--method pack` would close {_words.percent(best.gap_closed)}" in _words.about_the_gap(found)


# --- errors


def test_labels_must_be_as_many_as_rows(tmp_path):
    with pytest.raises(gcbs.InputError, match="59 labels for 60 rows"):
        report(*make_pairs(60), batch_size=20, labels=["a"] * 59, path=tmp_path / "page.html")


def test_unknown_options_are_named_with_what_was_meant(tmp_path):
    with pytest.raises(TypeError, match="'metod'; did you mean 'method'"):
        report(*make_pairs(60), batch_size=20, metod="rcm", path=tmp_path / "page.html")


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(gcbs.Error, match="there is no folder") as caught:
        report(*make_pairs(60), batch_size=20, path=tmp_path / "nowhere" / "page.html")
    assert caught.value.kind == "resource"
    (tmp_path / "folder").mkdir()
    with pytest.raises(gcbs.Error, match="cannot write") as caught:
        report(*make_pairs(60), batch_size=20, methods=[], path=tmp_path / "folder")
    assert caught.value.kind == "resource"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(gcbs.InputError):
        report(np.zeros((60, 4)), batch_size=20, path=tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy, gcbs, gcbs.report\n"
        "try: sys.modules['gcbs.report'].report(numpy.eye(4), batch_size=2)\n"
        "except gcbs.Error as error: print(error.kind, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("unsupported ") and "pip install 'gcbs[report]'" in done.stdout, done.stderr
