"""Data sets of the benchmarks, made once and kept as .npy files.

rand   uniform [0, 1) rows, as in the paper's listing: no structure, the hardest case for a filter.
clu    1,000 clusters in a 128-dimensional subspace, spectrum r^-0.5, sizes like r^-0.3, a common mean and
       noise outside: what embeddings of text look like, roughly.
cosqa  19,604 queries and codes of CosQA as all-MiniLM-L6-v2 embeds them (384 values, float16), from the
       shared data; absent where that is.

Rows are drawn a chunk at a time, each chunk from its own seed: a million rows need no more memory than ten
thousand. A file appears under its name only when it is whole.

    python bench/generate.py rand 10000
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np

DIM = 768
CHUNK = 8192
ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "bench-data"
SHARED = ROOT.parent / "shared" / "data"
COSQA_ROWS, COSQA_DIM = 19_604, 384


def unit(rows):
    """Rows divided by their norms, float32; norms in float64 as the library defines them."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / norms[:, None]).astype(np.float32)


def rand_chunks(n, seed=1):
    for start in range(0, n, CHUNK):
        rng = np.random.default_rng([seed, start])
        size = (min(CHUNK, n - start), DIM)
        yield rng.random(size, dtype=np.float32), rng.random(size, dtype=np.float32)


def clu_chunks(n, seed=1, clusters=1000, rank=128, within=0.6, noise=0.25, mean=0.3, pair_noise=0.2):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((DIM, rank)))[0].T.astype(np.float32)
    spectrum = np.arange(1, rank + 1) ** -0.5
    spectrum = (spectrum / np.linalg.norm(spectrum)).astype(np.float32)
    centres = rng.standard_normal((clusters, rank), dtype=np.float32) * spectrum
    common = rng.standard_normal(DIM, dtype=np.float32)
    common *= np.sqrt(mean) / np.linalg.norm(common)
    sizes = np.arange(1, clusters + 1) ** -0.3
    for start in range(0, n, CHUNK):
        rng = np.random.default_rng([seed, start])
        rows = min(CHUNK, n - start)

        def normal(width, rng=rng, rows=rows):
            return rng.standard_normal((rows, width), dtype=np.float32)

        chosen = rng.choice(clusters, rows, p=sizes / sizes.sum())
        latent = centres[chosen] + np.float32(within) * spectrum * normal(rank)
        pair = []
        for _ in range(2):
            inner = (latent + np.float32(pair_noise) * spectrum * normal(rank)) @ basis
            pair.append(unit(inner + common + np.float32(np.sqrt(noise / DIM)) * normal(DIM)))
        yield tuple(pair)


def file_bytes(name, n):
    """Bytes that the two files of a data set take."""
    return 0 if name == "cosqa" else 2 * n * DIM * 4


def write_pair(paths, n, chunks, say):
    parts = [path.with_name(path.name + f".part{os.getpid()}") for path in paths]
    try:
        with open(parts[0], "wb") as x_file, open(parts[1], "wb") as y_file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (n, DIM)}
            for file in (x_file, y_file):
                np.lib.format.write_array_header_1_0(file, header)
            done = 0
            for x, y in chunks:
                x.tofile(x_file)
                y.tofile(y_file)
                done += len(x)
                if n >= 100_000 and done // 100_000 != (done - len(x)) // 100_000:
                    say(f"  {done:,} of {n:,} rows")
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def cosqa(cache, shared):
    x = shared / "cosqa_minilm_x.f16.npy"
    if not x.exists():
        return None
    y = cache / "cosqa-y.npy"
    if not y.exists():
        codes = np.load(shared / "cosqa_minilm_codes.f16.npy")
        part = y.with_name(f"cosqa-y.part{os.getpid()}.npy")
        np.save(part, codes[np.load(shared / "cosqa_minilm_code_of_row.i32.npy")])
        part.replace(y)
    return x, y


def ensure(name, n, cache=CACHE, shared=SHARED, say=lambda text: print(text, file=sys.stderr)):
    """The files (x, y) of a data set, made when they are not there; None where its source is absent."""
    cache.mkdir(parents=True, exist_ok=True)
    if name == "cosqa":
        return cosqa(cache, shared)
    paths = [cache / f"{name}-{n}-{side}.npy" for side in "xy"]
    if not all(path.exists() for path in paths):
        say(f"making {name}, {n:,} x {DIM} ({file_bytes(name, n) / 1e9:.1f} GB)")
        write_pair(paths, n, {"rand": rand_chunks, "clu": clu_chunks}[name](n), say)
    return tuple(paths)


def load_unit(path):
    """The rows of a file as float32 unit vectors, converted a chunk at a time."""
    source = np.load(path, mmap_mode="r")
    rows = np.empty(source.shape, np.float32)
    for start in range(0, len(source), CHUNK):
        rows[start : start + CHUNK] = unit(source[start : start + CHUNK].astype(np.float32))
    return rows


def main():
    parser = argparse.ArgumentParser(description="Make a benchmark's data set.")
    parser.add_argument("name", choices=["rand", "clu", "cosqa"])
    parser.add_argument("rows", type=int, nargs="?", default=10_000)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder of the shared real data")
    options = parser.parse_args()
    files = ensure(options.name, options.rows, options.cache, options.data)
    print(*files if files else ["shared data not found"], sep="\n")


if __name__ == "__main__":
    main()
