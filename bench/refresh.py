"""What --from saves: orders of consecutive epochs, begun anew and from the last epoch's order.

    python bench/refresh.py                what `make bench-refresh` does

Trains the static encoder of recipes/ on CosQA with batches that pack makes, keeps the embeddings that each
epoch's order is made of, and orders them twice. Results go to bench/results/refresh/<CPU>.json, the table to
docs/orders.md.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import generate
import machine
import numpy as np
from orders import machine_line, per_cent, table, write_between
from programs import call, say
from record import ResultsFile

sys.path.insert(0, str(generate.ROOT))

RESULTS = generate.ROOT / "bench" / "results" / "refresh"
K = M = 64
EPOCHS = 8


def embeddings(data, folder):
    """Trains; the files of x and y at the start of every epoch, and of the groups."""
    import torch

    from recipes import code_search, spec

    torch.set_num_threads(1)  # its steps are milliseconds
    task = code_search.load(data)
    resolved = spec.resolve(spec.parse(f"pack:epochs={EPOCHS}"), task)
    run = task.run("static", resolved, rate=0.01, seed=0, per_epoch=1, threads=0)
    found, embed_all = [], run.embed_all

    def embed_and_keep():
        sides = embed_all()
        paths = [folder / f"{side}-{len(found)}.npy" for side in "xy"]
        for path, rows in zip(paths, sides, strict=True):
            np.save(path, rows)
        found.append(paths)
        return sides

    run.embed_all = embed_and_keep
    run.train()
    np.save(folder / "groups.npy", task.document_of_row.astype(np.int64))
    return found, folder / "groups.npy"


def order(program, files, groups, out, start=None):
    """Seconds of the order stage."""
    words = ["--from", start] if start else []
    report, _ = call(
        [
            *(program, "order", *files, "--groups", groups, "-k", K, "-m", M, "--method", "pack"),
            *("--relative-margin", "none"),
            *("-o", out, "--json", "--quiet", *words),
        ]
    )
    stages = {stage["name"]: stage["seconds"] for stage in report["stages"]}
    return {"seconds": stages["order"], "join_seconds": stages["join"], "swaps": report["swaps"]}


def closed(program, files, groups, orders):
    """Share of the gap that each order closes."""
    words = [word for name, path in orders.items() for word in ("--order", f"{name}={path}")]
    report, _ = call(
        [program, "gap", *files, "--groups", groups, "-k", K, "-m", M, "--json", "--quiet", *words]
    )
    return {order["name"]: order["gap_closed"] for order in report["orders"]}


def render(content):
    """The table of docs/orders.md."""
    rows = []
    for epoch, case in content["cases"].items():
        anew, again = case["anew"], case["from"]
        rows.append(
            [
                epoch,
                f"{anew['seconds']:.2f} s, {per_cent(anew['closed'])}",
                f"{again['seconds']:.2f} s, {per_cent(again['closed'])}",
                f"{again['seconds'] / anew['seconds']:.2f}",
            ]
        )
    block = content["machine"]
    return "\n".join(
        [
            *table(["epoch", "anew", "--from", "time"], rows),
            "",
            machine_line(block, "bench/refresh.py"),
        ]
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gcbs", type=Path, default=generate.ROOT / "build" / "gcbs")
    parser.add_argument("--data", type=Path, default=generate.SHARED, help="folder of the shared real data")
    options = parser.parse_args()
    results = ResultsFile(RESULTS / f"{machine.slug()}.json")
    block = machine.describe(2, {"compiler": None, "available": [], "peaks": []}, generate.ROOT)
    results.set_machine({key: value for key, value in block.items() if value})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        epochs, groups = embeddings(options.data, folder)
        last = None
        for epoch, files in enumerate(epochs):
            anew = order(options.gcbs, files, groups, folder / "anew.npy")
            if last is None:
                (folder / "anew.npy").rename(folder / "last.npy")
            else:
                again = order(options.gcbs, files, groups, folder / "next.npy", last)
                both = {"anew": folder / "anew.npy", "from": folder / "next.npy"}
                shares = closed(options.gcbs, files, groups, both)
                (folder / "next.npy").rename(last)
                anew["closed"], again["closed"] = shares["anew"], shares["from"]
                results.save(str(epoch), {"anew": anew, "from": again})
                say(f"epoch {epoch}: anew {anew}, from {again}")
            last = folder / "last.npy"
    write_between(generate.ROOT / "docs" / "orders.md", "refresh", render(results.content))


if __name__ == "__main__":
    main()
