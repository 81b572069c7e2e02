"""What gcbs is measured against, each in a process of its own: one JSON object on stdout.

sgemm    OpenBLAS sgemm in blocks + scan (sgemm_scan.cpp), threshold given
faiss    faiss IndexFlatIP.range_search, threshold given
search   faiss IndexFlatIP.search, the best --top columns of every row
listing  the paper's listing (torch + scipy, chunk 3) on the CPU: its own threshold, whole order

    peers.py sgemm X.npy Y.npy --threads 2 --threshold 0.77 --edges found.npy
    peers.py tune sgemm --threads 2          seconds of every setting under this OPENBLAS_CORETYPE

Rows come in normalised; reading and normalising are not timed. Edges are written as uint64 keys
row << 32 | column, ascending, for run.py to compare; search writes N x top columns.
"""

import argparse
import ctypes
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from generate import DIM, ROOT, load_unit, unit

# rows x columns of a block of products
SGEMM_SETTINGS = [
    [256, 1024],
    [512, 1024],
    [512, 4096],
    [1024, 1024],
    [1024, 2048],
    [1536, 4096],
    [2048, 4096],
]
# queries a call (0: all at once), then faiss's own blocks: queries x rows of the index
FAISS_SETTINGS = [
    [0, 4096, 1024],
    [0, 1024, 1024],
    [0, 512, 8192],
    [4096, 4096, 1024],
]


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Sgemm:
    def __init__(self, build, threads):
        self.threads = threads
        self.library = ctypes.CDLL(str(build / "libbench_sgemm.so"))
        self.library.sgemm_scan_run.restype = ctypes.c_void_p
        self.library.sgemm_scan_edges.restype = ctypes.c_long
        for name in ("sgemm_scan_config", "sgemm_scan_core"):
            getattr(self.library, name).restype = ctypes.c_char_p

    def facts(self):
        return {
            "library": self.library.sgemm_scan_config().decode().strip(),
            "core": self.library.sgemm_scan_core().decode(),
        }

    def run(self, x, y, threshold, setting):
        begin = time.perf_counter()
        handle = ctypes.c_void_p(
            self.library.sgemm_scan_run(
                pointer(x),
                pointer(y),
                ctypes.c_long(len(x)),
                ctypes.c_long(x.shape[1]),
                ctypes.c_float(threshold),
                ctypes.c_int(self.threads),
                ctypes.c_long(setting[0]),
                ctypes.c_long(setting[1]),
            )
        )
        seconds = time.perf_counter() - begin
        if not handle:
            sys.exit("peers.py: the sgemm peer has no scan for this machine")
        return seconds, lambda: self.keys(handle)

    def keys(self, handle):
        parts = []
        for worker in range(self.threads):
            data = ctypes.POINTER(ctypes.c_uint64)()
            count = self.library.sgemm_scan_edges(handle, ctypes.c_int(worker), ctypes.byref(data))
            if count:
                parts.append(np.ctypeslib.as_array(data, (count,)).copy())
        self.library.sgemm_scan_free(handle)
        return np.concatenate(parts) if parts else np.empty(0, np.uint64)


class Faiss:
    def __init__(self, _build, threads):
        import faiss

        self.faiss = faiss
        faiss.omp_set_num_threads(threads)

    def facts(self):
        options = self.faiss.get_compile_options().strip()
        return {"library": f"faiss {self.faiss.__version__} {options}", "core": ""}

    def run(self, x, y, threshold, setting):
        batch, query_block, index_block = setting
        batch = batch or len(x)
        self.faiss.cvar.distance_compute_blas_query_bs = query_block
        self.faiss.cvar.distance_compute_blas_database_bs = index_block
        begin = time.perf_counter()
        index = self.faiss.IndexFlatIP(x.shape[1])
        index.add(y)
        found = [
            index.range_search(x[start : start + batch], float(np.float32(threshold)))
            for start in range(0, len(x), batch)
        ]
        seconds = time.perf_counter() - begin
        return seconds, lambda: self.keys(found, batch)

    def search(self, x, y, top, setting):
        """The best columns of every row; all at once, as faiss likes it here."""
        self.faiss.cvar.distance_compute_blas_query_bs = setting[1]
        self.faiss.cvar.distance_compute_blas_database_bs = setting[2]
        begin = time.perf_counter()
        index = self.faiss.IndexFlatIP(x.shape[1])
        index.add(y)
        _, labels = index.search(x, top)
        return time.perf_counter() - begin, labels

    @staticmethod
    def keys(found, batch):
        parts = []
        for call, (limits, _, labels) in enumerate(found):
            rows = np.repeat(np.arange(len(limits) - 1, dtype=np.uint64), np.diff(limits).astype(np.int64))
            parts.append((rows + np.uint64(call * batch)) << np.uint64(32) | labels.astype(np.uint64))
        return np.concatenate(parts)


def tune(peer, settings):
    """Seconds of every setting on rand 8,192 rows, m = 512; the best of two after a first that warms up."""
    rng = np.random.default_rng(1)
    x, y = (unit(rng.random((8192, DIM), dtype=np.float32)) for _ in range(2))
    threshold = float(np.quantile(x[:512] @ y.T, 1 - 512 / len(x)))
    peer.run(x[:1024], y[:1024], threshold, settings[0])
    trials = []
    for setting in settings:
        seconds = min(peer.run(x, y, threshold, setting)[0] for _ in range(2))
        trials.append({"setting": setting, "seconds": seconds})
    return trials


def listing(z1_outs, z2_outs, quantile):
    """The paper's compute_gcbs, line for line but for .cuda() and .cpu(); hands its graph back too."""
    import math
    import statistics

    import torch
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    start_time = time.perf_counter()
    # (1) Stack and normalize outputs
    src_train_full = torch.nn.functional.normalize(z1_outs)
    tgt_train_full = torch.nn.functional.normalize(z2_outs)
    z1_outs, z2_outs = [], []

    # (2) Estimate quantile
    chunk_size, num_samples, quantiles = 3, len(tgt_train_full), []
    for chunk_idx in range(math.ceil(len(tgt_train_full) / chunk_size)):
        mat_val = src_train_full[chunk_idx * chunk_size : (chunk_idx + 1) * chunk_size] @ tgt_train_full.T
        quantiles.append(float(torch.quantile(mat_val, quantile)))

    # (3) Get similarity graph thresholded on quantile
    row, col, data, quantile = [], [], [], statistics.median(quantiles)
    for chunk_idx in range(math.ceil(len(src_train_full) / chunk_size)):
        mat_val = src_train_full[chunk_idx * chunk_size : (chunk_idx + 1) * chunk_size] @ tgt_train_full.T
        ret = (mat_val.flatten() > quantile).nonzero(as_tuple=True)[0]
        row += ((ret - (ret % num_samples)) / num_samples + chunk_idx * chunk_size).int().tolist()
        col += (ret % num_samples).tolist()
        data += [1.0 for _ in range(len(ret))]

    # (4) Get permutation using graph bandwidth minimization on sparsified graph (cuthill-mckee)
    permutation = list(
        reverse_cuthill_mckee(csr_matrix((data, (row, col)), shape=(num_samples, num_samples)))
    )
    seconds = time.perf_counter() - start_time
    return seconds, permutation, quantile, row, col


def run_listing(options):
    import torch

    torch.set_num_threads(options.threads)
    x, y = (torch.from_numpy(np.load(path).astype(np.float32)) for path in (options.x, options.y))
    seconds, permutation, threshold, row, col = listing(x, y, 1 - options.neighbours / len(x))
    if not np.array_equal(np.sort(permutation), np.arange(len(x))):
        sys.exit("peers.py: the listing gave no permutation")
    keys = np.array(row, np.uint64) << np.uint64(32) | np.array(col, np.uint64)
    return {"seconds": seconds, "threshold": threshold, "library": f"torch {torch.__version__}"}, keys


def run_search(options):
    peer = Faiss(options.build, options.threads)
    x, y = load_unit(options.x), load_unit(options.y)
    peer.search(x[:512], y[:512], options.top, options.setting)
    seconds, labels = peer.search(x, y, options.top, options.setting)
    return {"seconds": seconds, **peer.facts()}, labels


def run_join(options):
    peer = {"sgemm": Sgemm, "faiss": Faiss}[options.peer](options.build, options.threads)
    x, y = load_unit(options.x), load_unit(options.y)
    peer.run(x[:512], y[:512], 2.0, options.setting)  # pages in code, starts thread pools
    seconds, keys = peer.run(x, y, options.threshold, options.setting)
    return {"seconds": seconds, "threshold": options.threshold, **peer.facts()}, keys()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("peer", choices=["sgemm", "faiss", "search", "listing", "tune"])
    parser.add_argument("x", help="X.npy; with tune: sgemm or faiss")
    parser.add_argument("y", nargs="?", help="Y.npy")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--neighbours", type=float)
    parser.add_argument("--top", type=int)
    parser.add_argument("--setting", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--edges", type=Path, help="write the edges found as sorted uint64 keys")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()

    if options.peer == "tune":
        kind, settings = {"sgemm": (Sgemm, SGEMM_SETTINGS), "faiss": (Faiss, FAISS_SETTINGS)}[options.x]
        peer = kind(options.build, options.threads)
        print(json.dumps({**peer.facts(), "trials": tune(peer, settings)}))
        return
    if options.setting is None and options.peer != "listing":
        options.setting = SGEMM_SETTINGS[4] if options.peer == "sgemm" else FAISS_SETTINGS[0]
    run = {"listing": run_listing, "search": run_search}.get(options.peer, run_join)
    result, found = run(options)
    result["edges"] = found.size
    if options.edges:
        if options.peer != "search":
            found.sort()
        np.save(options.edges, found)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
