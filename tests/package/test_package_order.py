"""gcbs.order and gcbs.plan: the program's bytes, whatever the embeddings come in."""

import json
import subprocess

import gcbs
import numpy as np
import pytest

CHOICES = [
    {},
    {"method": "pack", "neighbours": 40},
    {"method": "chain", "quantile": 0.9},
    {"method": "random", "seed": 5},
    {"paper": True},
    {"block": 6, "epoch": 3, "seed": 2},
    {"relative_margin": 0.05, "symmetric": True, "neighbours": 10},
    {"groups": "duplicates", "random_share": 0.5},
    {"method": "pack", "effort": "fast", "objective": "edges", "extra": 5, "temperature": 0.1},
]


def flags_of(options, folder):
    flags = []
    for name, value in options.items():
        flags.append("--" + name.replace("_", "-"))
        if value is not True:
            flags.append(str(value))
    if "extra" in options:
        flags += ["--extra-output", str(folder / "extra.npy")]
    return flags


@pytest.mark.parametrize("options", CHOICES, ids=lambda options: "-".join(options) or "default")
def test_same_bytes_as_the_program(program, pairs, options, tmp_path):
    for name, side in zip("xy", pairs, strict=True):
        np.save(tmp_path / f"{name}.npy", side)
    files = [tmp_path / "x.npy", tmp_path / "y.npy"]
    out = ["-o", tmp_path / "order.npy", "--edges", tmp_path / "edges.npy"]
    if options.get("method") == "random":
        out = out[:2]
    done = subprocess.run(
        [program, "order", *files, "-k", "12", *flags_of(options, tmp_path), *out, "--json", "--quiet"],
        check=True,
        capture_output=True,
    )
    about = json.loads(done.stdout)
    plan = gcbs.plan(*pairs, batch_size=12, edges="--edges" in out, **options)
    assert plan.order.dtype == np.int64
    assert np.array_equal(plan.order, np.load(tmp_path / "order.npy"))
    assert np.array_equal(gcbs.order(*pairs, batch_size=12, **options), plan.order)
    assert plan.edge_count == about["edges"]
    if "--edges" in out:
        assert np.array_equal(plan.edges, np.load(tmp_path / "edges.npy"))
    if "extra" in options:
        assert np.array_equal(plan.extra, np.load(tmp_path / "extra.npy"))
    if about["threshold"]:
        assert plan.threshold.value == about["threshold"]["value"]
    if about["verdict"]:
        assert plan.verdict.gap_closed == about["verdict"]["gap_closed"]
    for name in ("moved", "suspects_in_batch", "rows_without_edges", "batches"):
        assert getattr(plan, name) == about[name]


def forms(values):
    """The same numbers, held in many ways."""
    yield "float64", values.astype(np.float64)
    yield "fortran", np.asfortranarray(values)
    yield "every second row", np.repeat(values, 2, axis=0)[::2]
    yield "columns of a wider matrix", np.hstack([values, values])[:, : values.shape[1]]
    yield "rows backwards twice", values[::-1].copy()[::-1]
    yield "swapped bytes", values.astype(values.dtype.newbyteorder())
    yield "lists", values.tolist()
    yield "buffer", memoryview(np.ascontiguousarray(values))
    readonly = values.copy()
    readonly.setflags(write=False)
    yield "read-only", readonly


def test_every_way_to_hold_the_same_numbers(pairs):
    x, y = pairs
    wanted = gcbs.order(x, y, batch_size=12)
    for name, held in forms(x):
        assert np.array_equal(gcbs.order(held, y, batch_size=12), wanted), name


def test_mapped_file(pairs, tmp_path):
    x, y = pairs
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(gcbs.order(mapped, y, batch_size=12), gcbs.order(x, y, batch_size=12))


def test_torch_tensors(pairs):
    torch = pytest.importorskip("torch")
    x, y = (torch.from_numpy(side) for side in pairs)
    wanted = gcbs.order(*pairs, batch_size=12)
    assert np.array_equal(gcbs.order(x, y, batch_size=12), wanted)
    assert np.array_equal(gcbs.order(x.clone().requires_grad_(), y, batch_size=12), wanted)
    assert np.array_equal(gcbs.order(x.t().contiguous().t(), y, batch_size=12), wanted)
    for dtype in (torch.bfloat16, torch.float16):
        low = x.to(dtype)
        assert np.array_equal(
            gcbs.order(low, y, batch_size=12), gcbs.order(low.float().numpy(), y, batch_size=12)
        )


def test_jax_arrays(pairs):
    jax = pytest.importorskip("jax")
    x, y = (jax.numpy.asarray(side) for side in pairs)
    assert np.array_equal(gcbs.order(x, y, batch_size=12), gcbs.order(*pairs, batch_size=12))


class Elsewhere:
    """A tensor on a graphics card, as DLPack shows it."""

    def __init__(self, values):
        self.values = values

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        raise AssertionError("nothing on another device is borrowed")

    def cpu(self):
        return self.values


def test_other_devices_are_refused_or_copied(pairs):
    x, y = pairs
    with pytest.raises(gcbs.InputError, match=r"x is on another device.*x\.cpu\(\), or copy=True"):
        gcbs.order(Elsewhere(x), y, batch_size=12)
    copied = gcbs.order(Elsewhere(x), y, batch_size=12, copy=True)
    assert np.array_equal(copied, gcbs.order(x, y, batch_size=12))


def test_one_matrix_is_two_views_of_itself(pairs):
    x, _ = pairs
    assert np.array_equal(gcbs.order(x, batch_size=12), gcbs.order(x, x, batch_size=12))
    assert np.array_equal(gcbs.order(x, batch_size=12), gcbs.order(x, x.copy(), batch_size=12))


def test_groups_come_as_one_list_or_several(pairs):
    ids = np.arange(600) // 3
    others = (np.arange(600) % 200).tolist()
    one = gcbs.order(*pairs, batch_size=12, groups=ids)
    assert all(len(set(ids[one[p : p + 12]])) == 12 for p in range(0, 600, 12))
    both = gcbs.order(*pairs, batch_size=12, groups=[ids, others, "duplicates"])
    for lists in (ids, np.array(others)):
        assert all(len(set(lists[both[p : p + 12]])) == 12 for p in range(0, 600, 12))


def test_guides_judge(pairs):
    x, y = pairs
    found = gcbs.plan(x, y, batch_size=12, relative_margin=0.1, guide_x=y, guide_y=x)
    assert found.suspects_in_batch is not None
    assert not np.array_equal(found.order, gcbs.order(x, y, batch_size=12))


def test_start_is_improved(pairs):
    last = gcbs.order(*pairs, batch_size=12, method="pack")
    again = gcbs.order(*pairs, batch_size=12, method="pack", start=last)
    gap = gcbs.gap(*pairs, batch_size=12, orders={"last": last, "again": again})
    assert gap["again"].loss_train.both >= gap["last"].loss_train.both - 1e-9


def test_plan_is_its_batches(pairs):
    plan = gcbs.plan(*pairs, batch_size=13)
    batches = list(plan)
    assert len(batches) == len(plan) == plan.batches == 47
    assert [len(batch) for batch in batches] == [13] * 46 + [2]
    assert np.array_equal(np.concatenate(batches), plan.order)
    assert "verdict" in str(plan)
    assert "closes" in str(plan)
    assert plan._repr_html_().startswith("<table")
    assert len(repr(plan)) < 1000
