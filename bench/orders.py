"""How much of the gap each order closes: rcm, pack and its peers, on five kinds of embeddings.

    python bench/orders.py                         all of it, about an hour; goes on where it stopped
    python bench/orders.py --cases 'minilm-k64*'   some of the cells (--list names them)

Each cell is one `gcbs compare`: one objective, one referee. Peers are given the edges of gcbs and come back
as orders. Results go to bench/results/orders/<CPU>.json, tables to docs/orders.md.

Peers, with their defaults: metis (pymetis, recursive bisection off), kaminpar (default context, eps 0.03),
kmeans (faiss, N / k centres of x + y; rows go to the nearest centre with room). Partitions that are not of
exactly k rows are made so: what is over k is taken off the end of a part and fills the parts below k.
"""

import argparse
import fnmatch
import gzip
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import generate
import machine
import numpy as np
from programs import call, say
from record import ResultsFile

sys.path.insert(0, str(generate.ROOT / "examples"))

RESULTS = generate.ROOT / "bench" / "results" / "orders"
PEERS = ("metis", "kaminpar", "kmeans")
ROWS = 20_000


@dataclass(frozen=True)
class Cell:
    data: str
    k: int
    m: int

    @property
    def key(self):
        return f"{self.data}-k{self.k}-m{self.m}"

    @property
    def is_main(self):
        """Where peers and every effort run too."""
        return (self.k, self.m) == (64, 64)


def cells():
    for data in DATA:
        yield Cell(data, 64, 64)
    for data in DATA:
        for k in (16, 64, 256, 1024):
            for m in (16, 64, 256):
                if (k, m) != (64, 64):
                    yield Cell(data, k, m)


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def cosqa_texts(shared):
    codes = {
        row["code_id"]: row["code"] for row in map(json.loads, lines_of(shared / "cosqa_codes.jsonl.gz"))
    }
    rows = [json.loads(line) for line in lines_of(shared / "cosqa_queries.jsonl.gz")]
    rows = [row for row in rows if row["qa_split"] == "train"]
    return [row["query"] for row in rows], [codes[row["code_id"]] for row in rows]


def captions(shared):
    rows = [line.split("\t") for line in lines_of(shared / "multi30k_en5.tsv.gz")[1:]]
    rows = [row for row in rows if row[0] == "train"]
    return [row[3] for row in rows], [row[4] for row in rows]


def by_lsa(texts):
    def ensure(name, cache, shared):
        from lsa import embed_pairs

        paths = [cache / f"{name}-{side}.npy" for side in "xy"]
        if not all(path.exists() for path in paths):
            x, y, _ = embed_pairs(*texts(shared))
            np.save(paths[0], x)
            np.save(paths[1], y)
        return tuple(paths)

    return ensure


DATA = {
    "lsa": by_lsa(cosqa_texts),
    "minilm": lambda name, cache, shared: generate.ensure("cosqa", generate.COSQA_ROWS, cache, shared),
    "captions": by_lsa(captions),
    "clu": lambda name, cache, shared: generate.ensure("clu", ROWS, cache, shared),
    "rand": lambda name, cache, shared: generate.ensure("rand", ROWS, cache, shared),
}
TEXT = ("lsa", "minilm", "captions")


def cut_exactly(parts, n, k):
    """An order whose blocks of k are the parts, as far as their sizes allow."""
    parts = [list(np.flatnonzero(parts == part)) for part in range(int(parts.max()) + 1)]
    parts.sort(key=len, reverse=True)
    sizes = [min(k, n - first) for first in range(0, n, k)]
    spare = [row for part in parts[len(sizes) :] for row in part]
    blocks = [part[:size] for part, size in zip(parts, sizes, strict=False)]
    blocks += [[] for _ in range(len(sizes) - len(blocks))]
    for part, size in zip(parts, sizes, strict=False):
        spare += part[size:]
    for block, size in zip(blocks, sizes, strict=True):
        while len(block) < size:
            block.append(spare.pop())
    return np.array([row for block in blocks for row in block], np.int64)


def adjacency(edges, n):
    import scipy.sparse

    graph = scipy.sparse.csr_matrix((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(n, n))
    graph = ((graph + graph.T) > 0).astype(np.int8).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def metis(files, edges, n, k, folder):
    import pymetis

    graph = adjacency(edges, n)
    lists = pymetis.CSRAdjacency(adj_starts=graph.indptr, adjacent=graph.indices)
    _, parts = pymetis.part_graph(-(-n // k), adjacency=lists)
    return np.array(parts)


def kaminpar(files, edges, n, k, folder):
    import kaminpar

    graph = adjacency(edges, n)
    path = folder / "graph.metis"
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{n} {graph.nnz // 2}\n")
        for row in range(n):
            file.write(
                " ".join(map(str, graph.indices[graph.indptr[row] : graph.indptr[row + 1]] + 1)) + "\n"
            )
    loaded = kaminpar.load_graph(str(path), kaminpar.GraphFileFormat.METIS)
    solver = kaminpar.KaMinPar(2, kaminpar.default_context())
    return np.array(solver.compute_partition(loaded, k=-(-n // k)))


def kmeans(files, edges, n, k, folder):
    import faiss

    x, y = (generate.load_unit(path) for path in files)
    rows = generate.unit(x + y)
    parts = -(-n // k)
    model = faiss.Kmeans(
        rows.shape[1], parts, niter=10, seed=1, spherical=True, max_points_per_centroid=10**9
    )
    model.train(rows)
    score, nearest = model.index.search(rows, min(64, parts))
    free, part = np.full(parts, k), np.full(n, -1)
    for row in np.argsort(-score[:, 0], kind="stable"):
        for centre in nearest[row]:
            if free[centre] > 0:
                free[centre] -= 1
                part[row] = centre
                break
    left = np.flatnonzero(part < 0)
    part[left] = np.repeat(np.arange(parts), free)[: len(left)]
    return part


def compare(program, files, cell, *words):
    report, seconds = call(
        [
            *(program, "compare", *files, "-k", cell.k, "-m", cell.m, "--random-trials", 20),
            *("--json", "--quiet", *words),
        ]
    )
    return report, seconds


def closed_of(report, order):
    return {
        "closed": order["gap_closed"],
        "edges_in_batch": order["edges_in_batch"],
        "seconds": order["seconds"],
    }


def measure(program, files, cell, folder):
    """Every order's share of the gap, and how far each gets from rcm to the oracle."""
    peers = []
    found = {}
    if cell.is_main:
        edges_path = folder / "edges.npy"
        call(
            [
                *(program, "order", *files, "-k", cell.k, "-m", cell.m, "--edges", edges_path),
                *("-o", folder / "rcm.npy", "--json", "--quiet"),
            ]
        )
        edges = np.load(edges_path)
        n = len(np.load(files[0], mmap_mode="r"))
        for peer in PEERS:
            begin = time.perf_counter()
            order = cut_exactly(globals()[peer](files, edges, n, cell.k, folder), n, cell.k)
            found[peer] = {"seconds": time.perf_counter() - begin}
            np.save(folder / f"{peer}.npy", order)
            peers += ["--order", f"{peer}={folder / peer}.npy"]
    report, _ = compare(program, files, cell, "--methods", "rcm,chain,pack", *peers)
    for order in report["orders"]:
        found[order["name"]] = closed_of(report, order) | found.get(order["name"], {})
    if cell.is_main:
        for effort in ("fast", "best"):
            efforts, _ = compare(program, files, cell, "--methods", "pack", "--effort", effort)
            found[f"pack {effort}"] = closed_of(efforts, efforts["orders"][0])
    random = report["random"]["loss_train"]["mean"]
    gap = report["loss_global"]["both"] - random
    oracle = (report["oracle"]["loss_train"] - random) / gap
    start = found["rcm"]["closed"]
    for order in found.values():
        order["way"] = (order["closed"] - start) / (oracle - start)
    stages = {stage["name"]: stage["seconds"] for stage in report["stages"]}
    return {
        "loss_global": report["loss_global"]["both"],
        "loss_random": random,
        "oracle": oracle,
        "join_seconds": stages["join"],
        "orders": found,
    }


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + [
        "| " + " | ".join(row) + " |" for row in rows
    ]


def per_cent(value):
    return f"{100 * value:.{1 if abs(value) >= 0.01 else 2}f} %"


def machine_line(block, script):
    """What the figures above it were measured on, and by what."""
    return f"*{machine.name_of(block)}, {block['threads']} threads, {block['date']}; `{script}`.*"


def render(content):
    """The tables of docs/orders.md."""
    cells_ = content["cases"]
    main = [Cell(data, 64, 64) for data in DATA if Cell(data, 64, 64).key in cells_]
    names = ("rcm", "chain", "metis", "kaminpar", "kmeans", "pack fast", "pack", "pack best")
    lines = ["Share of the random order's gap that is closed, k = 64, m = 64:", ""]
    lines += table(
        ["", *(cell.data for cell in main)],
        [[name, *(per_cent(cells_[c.key]["orders"][name]["closed"]) for c in main)] for name in names]
        + [["oracle", *(per_cent(cells_[c.key]["oracle"]) for c in main)]],
    )
    lines += [
        "",
        "The way from rcm to the per-row oracle, and seconds to order (graph included; peers: theirs alone):",
        "",
    ]
    lines += table(
        ["", *(cell.data for cell in main)],
        [
            [
                name,
                *(
                    f"{per_cent(order['way'])}, {order['seconds']:.2g} s"
                    for order in (cells_[c.key]["orders"][name] for c in main)
                ),
            ]
            for name in names[2:]
        ],
    )
    lines += ["", "Closed by rcm / pack / the oracle for other batch sizes and neighbours:", ""]
    grid = [(k, m) for k in (16, 64, 256, 1024) for m in (16, 64, 256)]
    lines += table(
        ["k, m", *DATA],
        [
            [
                f"{k}, {m}",
                *(
                    " / ".join(
                        f"{100 * share:.0f}"
                        for share in (
                            cells_[key]["orders"]["rcm"]["closed"],
                            cells_[key]["orders"]["pack"]["closed"],
                            cells_[key]["oracle"],
                        )
                    )
                    if (key := Cell(data, k, m).key) in cells_
                    else "-"
                    for data in DATA
                ),
            ]
            for k, m in grid
        ],
    )
    lines += ["", machine_line(content["machine"], "bench/orders.py")]
    return "\n".join(lines)


def write_between(path, name, lines):
    """Replaces what stands between the two comments of that name."""
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, rest = text.split(begin)
    path.write_text(before + begin + lines + "\n" + end + rest.split(end)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default="*", help="only the cells whose name fits this pattern")
    parser.add_argument("--redo", action="store_true", help="measure again what is measured")
    parser.add_argument("--list", action="store_true", help="name the cells and stop")
    parser.add_argument("--gcbs", type=Path, default=generate.ROOT / "build" / "gcbs")
    parser.add_argument("--cache", type=Path, default=generate.CACHE)
    parser.add_argument("--data", type=Path, default=generate.SHARED, help="folder of the shared real data")
    options = parser.parse_args()
    chosen = [cell for cell in cells() if fnmatch.fnmatch(cell.key, options.cases)]
    if options.list:
        return print("\n".join(cell.key for cell in chosen))
    options.cache.mkdir(parents=True, exist_ok=True)
    results = ResultsFile(RESULTS / f"{machine.slug()}.json")
    block = machine.describe(2, {"compiler": None, "available": [], "peaks": []}, generate.ROOT)
    block["versions"] |= {name: machine.version(name) for name in ("pymetis", "kaminpar")}
    results.set_machine({key: value for key, value in block.items() if value})
    for cell in chosen:
        if results.case(cell.key) and not options.redo:
            continue
        if cell.data in TEXT and not options.data.exists():
            say(f"{cell.key}: skipped, no shared data at {options.data}")
            continue
        files = DATA[cell.data](cell.data, options.cache, options.data)
        with tempfile.TemporaryDirectory(dir=options.cache) as folder:
            result = measure(options.gcbs, files, cell, Path(folder))
        results.save(cell.key, result)
        shares = (f"{name} {per_cent(order['closed'])}" for name, order in result["orders"].items())
        say(f"{cell.key}: {', '.join(shares)}, oracle {per_cent(result['oracle'])}")
    write_between(generate.ROOT / "docs" / "orders.md", "orders", render(results.content))
    return None


if __name__ == "__main__":
    main()
