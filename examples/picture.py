"""Draws the README's picture from the demo's files: the kept edges in random order and in the order of gcbs.

An edge (i, j) is drawn at the positions that the order gives i and j; the batches are squares on the
diagonal. The numbers in the picture are also written beside it as JSON.

    python examples/picture.py --input build/demo --output docs/order.png
"""

import argparse
import json
import platform
import sys
from pathlib import Path

import matplotlib
import numpy as np
from demo import edges_in_batches, random_orders

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

INSIDE, OUTSIDE = "#c1121f", "#3d5a80"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--input", type=Path, default=Path("build/demo"), help="folder that the demo wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/order.png"))
    parser.add_argument("-k", "--batch-size", type=int, default=64)
    options = parser.parse_args()
    needed = ("order.npy", "edges.npy", "report.json")
    missing = [name for name in needed if not (options.input / name).exists()]
    if missing:
        sys.exit(f"picture: {options.input} has no {' and no '.join(missing)}.\nRun `make demo` first.")
    order, edges = np.load(options.input / "order.npy"), np.load(options.input / "edges.npy")
    report = json.loads((options.input / "report.json").read_text(encoding="utf-8"))
    counts = draw(order, edges, options.batch_size, options.output)
    facts = {key: report[key] for key in ("version", "method", "n", "d", "threshold", "edges")}
    facts |= {"python": platform.python_version(), "k": options.batch_size, "edges_in_batch": counts}
    options.output.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return 0


def draw(order: np.ndarray, edges: np.ndarray, batch_size: int, output: Path) -> dict[str, int]:
    figure, panels = plt.subplots(1, 2, figsize=(9, 5), dpi=110, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1, w_pad=0.1)
    counts = {}
    for panel, name, some_order in zip(
        panels, ("random", "gcbs"), (random_orders(len(order))[0], order), strict=True
    ):
        counts[name] = draw_matrix(panel, some_order, edges, batch_size)
        panel.set_title(f"{name} order: {counts[name]:,} edges inside batches", fontsize=11)
    figure.supxlabel(
        f"{len(order):,} functions of the Python standard library, {len(edges):,} edges (hard negatives), "
        f"batches of {batch_size} on the diagonal",
        fontsize=9,
    )
    figure.savefig(output, metadata={"Software": None})
    return counts


def draw_matrix(panel, order: np.ndarray, edges: np.ndarray, batch_size: int) -> int:
    """Edges counted in cells of a quarter batch: the more, the darker; red inside batches. Returns those."""
    cell = max(1, batch_size // 4)
    cells = -(-len(order) // cell)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    row, column = position[edges].T // cell
    inside = edges_in_batches(order, edges, batch_size) >= 0
    image = np.ones((cells, cells, 3))
    for chosen, colour in ((~inside, OUTSIDE), (inside, INSIDE)):
        count = np.zeros((cells, cells))
        np.add.at(count, (row[chosen], column[chosen]), 1)
        shade = np.where(count > 0, np.minimum(1, 0.45 + 0.2 * np.log2(np.maximum(count, 1))), 0)[..., None]
        image = image * (1 - shade) + np.array(matplotlib.colors.to_rgb(colour)) * shade
    panel.imshow(image, interpolation="nearest")
    panel.set(xticks=[], yticks=[])
    return int(np.count_nonzero(inside))


if __name__ == "__main__":
    sys.exit(main())
