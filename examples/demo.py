"""The main job on real data: which functions of the Python standard library should share a batch?

Collects docstring/code pairs (stdlib_pairs.py), embeds them (lsa.py), writes X.npy and Y.npy, runs
`gcbs order`, and shows what came out: how many hard negatives the batches hold, one batch beside a random
one, and, where the Python package is installed, a page of pictures: report.html.

    python examples/demo.py --program build/gcbs --output build/demo
"""

import argparse
import json
import platform
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
from lsa import embed_pairs
from stdlib_pairs import collect_pairs

SHUFFLES = 20  # random orders that the mean is taken over
SHOWN = 8  # texts printed of a batch


def main() -> int:
    options = parse_arguments()
    program = find_program(options.program)
    options.output.mkdir(parents=True, exist_ok=True)
    pairs = write_embeddings(options.output)
    report = run_program(program, options)
    order = np.load(options.output / "order.npy")
    edges = np.load(options.output / "edges.npy")
    show_report(report, options.quantile)
    show_edges_in_batches(order, edges, options.batch_size)
    show_batches(pairs, order, edges, options.batch_size)
    write_report(pairs, options)
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/gcbs", help="the gcbs program (default: build/gcbs)")
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="folder to write to")
    parser.add_argument("-k", "--batch-size", type=int, default=64)
    parser.add_argument("-q", "--quantile", type=float, default=0.999)
    return parser.parse_args()


def find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        sys.exit(f"demo: there is no program at {name}.\nBuild it with `make`, or name it with --program.")
    return found


def write_embeddings(folder: Path):
    """Writes X.npy, Y.npy and texts.tsv (row by row what they embed); returns the pairs in that order."""
    start = time.perf_counter()
    pairs = collect_pairs()
    collected = time.perf_counter()
    x, y, kept = embed_pairs([pair.text for pair in pairs], [pair.code for pair in pairs])
    embedded = time.perf_counter()
    pairs = [pairs[i] for i in kept]
    np.save(folder / "X.npy", x)
    np.save(folder / "Y.npy", y)
    texts = "".join(f"{pair.name}\t{pair.text}\n" for pair in pairs)
    (folder / "texts.tsv").write_text(texts, encoding="utf-8")
    print("Docstrings (X) and code (Y) of the standard library of Python", platform.python_version())
    print(f"  N  {len(pairs):,} functions, collected in {collected - start:.1f} s")
    print(f"  d  {x.shape[1]}, TF-IDF + SVD in {embedded - collected:.1f} s\n")
    return pairs


def run_program(program: str, options) -> dict:
    folder = options.output
    command = [program, "order", folder / "X.npy", folder / "Y.npy", "-k", options.batch_size]
    command += ["-q", options.quantile, "-o", folder / "order.npy", "--edges", folder / "edges.npy", "--json"]
    # No model was trained: most of what is close is closer than its own positive, which proves nothing yet.
    command += ["--relative-margin", "none"]
    command = [str(part) for part in command]
    print("$", shlex.join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"demo: the program stopped with exit code {done.returncode}; what it said is above.")
    (folder / "report.json").write_text(done.stdout, encoding="utf-8")
    return json.loads(done.stdout)


def show_report(report: dict, quantile: float) -> None:
    stages = [f"{stage['name']} {stage['seconds']:.3f}" for stage in report["stages"]]
    value = report["threshold"]["value"]
    print(f"  N x d      {report['n']:,} x {report['d']}")
    print(f"  threshold  {value:.6f}, the {quantile}-quantile of all N x N similarities")
    print(f"  edges      {report['edges']:,} hard negatives: similarity above the threshold")
    print(f"  seconds    {report['seconds']:.3f} on {report['threads']} thread(s), {report['isa']}")
    indent = " " * 13
    print(textwrap.fill("  ".join(stages), 100, initial_indent=indent, subsequent_indent=indent))


def edges_in_batches(order: np.ndarray, edges: np.ndarray, batch_size: int) -> np.ndarray:
    """For each edge the batch that both of its ends are in, or -1."""
    batch = np.empty(len(order), dtype=np.int64)
    batch[order] = np.arange(len(order)) // batch_size
    ends = batch[edges]
    return np.where(ends[:, 0] == ends[:, 1], ends[:, 0], -1)


def random_orders(count: int):
    return [np.random.default_rng(seed).permutation(count) for seed in range(SHUFFLES)]


def show_edges_in_batches(order: np.ndarray, edges: np.ndarray, batch_size: int) -> None:
    def inside(some_order):
        return np.count_nonzero(edges_in_batches(some_order, edges, batch_size) >= 0)

    ours = inside(order)
    random = np.mean([inside(shuffled) for shuffled in random_orders(len(order))])
    print(f"\nEdges whose two ends share a batch of {batch_size}")
    print(f"  random order  {random:8,.0f}  {random / len(edges):6.1%}  (mean of {SHUFFLES} shuffles)")
    print(f"  gcbs order    {ours:8,.0f}  {ours / len(edges):6.1%}  ({ours / random:.1f} times as many)")


def show_batches(pairs, order: np.ndarray, edges: np.ndarray, batch_size: int) -> None:
    """The gcbs batch with most edges, beside the first batch of a shuffle: their most connected texts."""
    shuffled = random_orders(len(order))[0]
    columns = []
    for name, some_order, choose in (("random", shuffled, lambda sizes: 0), ("gcbs", order, np.argmax)):
        batch_of_edge = edges_in_batches(some_order, edges, batch_size)
        sizes = np.bincount(batch_of_edge[batch_of_edge >= 0], minlength=1)
        batch = int(choose(sizes))
        degree = np.bincount(edges[batch_of_edge == batch].ravel(), minlength=len(order))
        rows = some_order[batch * batch_size : (batch + 1) * batch_size]
        shown = rows[np.argsort(-degree[rows], kind="stable")][:SHOWN]
        title = f"{name} order, batch {batch}: {sizes[batch]} edges inside"
        columns.append([title, ""] + [pairs[row].text for row in shown])
    width = max(40, min(shutil.get_terminal_size((120, 24)).columns, 160) - 8) // 2
    print(f"\n{SHOWN} of the {batch_size} docstrings of one batch\n")
    for left, right in zip(*columns, strict=True):
        print(f"  {clip(left, width):{width}}    {clip(right, width)}".rstrip())
    print("\nOn the left the topic alone tells a function from the rest of its batch: little to learn there.")
    print("On the right a model has to learn the details. `gcbs order` makes batches like the right one.")


def write_report(pairs, options) -> None:
    """The same order in pictures; what the package lacks is said."""
    try:
        import gcbs
        from gcbs.report import report
    except ImportError:
        print("\nNo report.html: it needs the Python package, with matplotlib (pip install '.[report]').")
        return
    folder = options.output
    labels = [(pair.text, pair.code) for pair in pairs]
    try:
        done = report(
            np.load(folder / "X.npy"),
            np.load(folder / "Y.npy"),
            batch_size=options.batch_size,
            quantile=options.quantile,
            relative_margin=None,
            labels=labels,
            path=folder / "report.html",
            svg=folder / "plots",
        )
    except gcbs.Error as error:
        print(f"\nNo report.html: {error}")
        return
    print(f"\nAll of it in pictures: {done.path} (and each of them in {folder / 'plots'})")


def clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."


if __name__ == "__main__":
    sys.exit(main())
