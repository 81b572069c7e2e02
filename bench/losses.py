"""Benchmarks of `gcbs mine`, `gcbs gap` and `gcbs compare`, each case with the answer checked first.

mine     the 5 hardest negatives a row, against faiss IndexFlatIP.search for 6 (a row's own is dropped)
compare  random, rcm and chain at once, shortcuts off: the global loss beside the exact join, and memory
trials   the loss of 10,000 random orders, as in the paper's figure
"""

import statistics
import threading
from dataclasses import dataclass
from pathlib import Path

import check
import generate
import numpy as np
from generate import CHUNK, DIM
from programs import Failed, blas, installed, peer_command, say, start
from record import spread


@dataclass(frozen=True)
class LossCase:
    kind: str
    n: int
    rounds: int = 1
    data: str = "rand"
    k: int = 64
    m: int = 64
    top: int = 5
    trials: int = 1
    dim: int = DIM
    peers: tuple = ()

    @property
    def key(self):
        return f"{self.kind}-{self.data}-{self.n}"


def standard():
    yield LossCase("mine", 50_000, rounds=2, peers=("faiss",))
    yield LossCase("compare", 100_000, m=512)
    yield LossCase("trials", 24_927, trials=10_000)


class AnonymousMemory(threading.Thread):
    """The most a process holds beside mapped files, looked at 20 times a second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status, self.most, self.ended = Path(f"/proc/{pid}/status"), 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.05):
            try:
                lines = self.status.read_text().splitlines()
            except OSError:
                return
            held = [int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon")]
            self.most = max([self.most, *held])

    def finish(self):
        self.ended.set()
        self.join()
        return self.most


def run_gcbs(programs, *words):
    """The report of a run of gcbs: stages by name, wall seconds, memory."""
    process = start([programs.program, *words, "--threads", programs.threads, "--json", "--quiet"])
    memory = AnonymousMemory(process.pid)
    report, seconds = process.finish()
    report["stages"] = {stage["name"]: stage["seconds"] for stage in report["stages"]}
    return {**report, "whole": seconds, "anonymous_bytes": memory.finish()}


def similarities(files, rows, columns):
    """s of each row and its columns in float64."""
    x, y = (np.load(path, mmap_mode="r") for path in files)
    found = np.empty(columns.shape)
    for start_ in range(0, len(rows), CHUNK):
        some = slice(start_, start_ + CHUNK)
        left = generate.unit(x[rows[some]].astype(np.float32)).astype(np.float64)
        for rank in range(columns.shape[1]):
            right = generate.unit(y[columns[some, rank]].astype(np.float32)).astype(np.float64)
            found[some, rank] = np.einsum("ij,ij->i", left, right)
    return found


def compare_negatives(ours, theirs, files):
    """Two N x L arrays of columns; those that differ must tie up to float32."""
    rows = np.flatnonzero((ours != theirs).any(axis=1))
    worst = 0.0
    if len(rows):
        apart = similarities(files, rows, ours[rows]) - similarities(files, rows, theirs[rows])
        worst = float(np.abs(apart).max())
    differing = int((ours != theirs).sum())
    return {"edges": ours.size, "differing": differing, "worst": worst, "agree": worst < check.TOLERANCE}


def without_own(labels):
    """The first L of L + 1 columns a row, its own left out."""
    own = labels == np.arange(len(labels))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    return labels[~own].reshape(len(labels), -1)


def measure_mine(bench, case, files, folder):
    programs, timed, peers = bench.programs, [], {}

    def run_ours():
        programs.peaks(0.1, bench.peaks["available"][0])
        timed.append(run_gcbs(programs, "mine", *files, "--top", case.top, "-o", folder / "ours.npy"))
        timed[-1]["similarity"] = timed[-1]["stages"]["prepare"] + timed[-1]["stages"]["join"]
        say(f"  gcbs: {timed[-1]['similarity']:.3f} s")

    run_ours()
    timed.clear()  # the first one brought the files into memory
    if installed("faiss"):
        tuned = programs.tune("faiss")
        command = [*peer_command("search", files, programs), "--top", case.top + 1]
        command += ["--setting", ",".join(map(str, tuned["setting"])), "--edges", folder / "theirs.npy"]
        runs, verdict = [], None
        run_ours()
        for _ in range(bench.options.rounds or case.rounds):
            found = start(command, blas(tuned["coretype"])).finish()[0]
            runs.append(found["seconds"])
            say(f"  faiss: {found['seconds']:.3f} s")
            if verdict is None:
                theirs = without_own(np.load(folder / "theirs.npy"))
                verdict = compare_negatives(np.load(folder / "ours.npy"), theirs, files)
                if not verdict["agree"]:
                    raise Failed(f"faiss and gcbs differ: {verdict}")
            run_ours()
        beside = [(a["similarity"] + b["similarity"]) / 2 for a, b in zip(timed, timed[1:], strict=False)]
        ratios = [theirs / ours for theirs, ours in zip(runs, beside, strict=True)]
        peers["faiss"] = {"library": found["library"], "check": verdict, "seconds": spread(runs)}
        peers["faiss"] |= {"against": "similarity", "ratio": spread(ratios)}
    else:
        run_ours()
        say("  faiss left out: its packages are not installed")
    return figures(bench, case, timed) | {"peers": peers, "top": case.top}


def measure_compare(bench, case, files, folder):
    words = ["compare", *files, "-k", case.k, "-m", case.m, "--methods", "random,rcm,chain"]
    words += ["--shortcut", "off", "--random-trials", case.trials]
    report = run_gcbs(bench.programs, *words)
    check_global(report, files)
    ratio = report["stages"]["global"] / report["stages"]["join"]
    say(f"  global {report['stages']['global']:.1f} s, join {report['stages']['join']:.1f} s")
    return figures(bench, case, [report]) | {"global_to_join": ratio}


def check_global(report, files, count=48):
    """The direction of x over all pairs: a few anchors in float64 give its mean up to their spread."""
    x, y = (np.load(path, mmap_mode="r") for path in files)
    rows = np.random.default_rng(5).choice(len(x), count, replace=False)
    anchors = generate.unit(x[rows].astype(np.float32)).astype(np.float64)
    sums, positives = np.zeros(count), np.empty(count)
    tau = report["options"]["temperature"]
    for first in range(0, len(y), CHUNK):
        s = anchors @ generate.unit(y[first : first + CHUNK].astype(np.float32)).astype(np.float64).T
        sums += np.exp(s / tau - 1 / tau).sum(axis=1)
        inside = (rows >= first) & (rows < first + s.shape[1])
        positives[inside] = s[inside, rows[inside] - first]
    losses = np.log(sums) + 1 / tau - positives / tau
    apart = abs(losses.mean() - report["loss_global"]["x"])
    if not apart <= 5 * losses.std() / np.sqrt(count):
        raise Failed(f"L_global {report['loss_global']['x']} is {apart} from that of {count} anchors")


def measure_trials(bench, case, files, folder):
    np.save(folder / "order.npy", np.arange(case.n))
    words = ["gap", *files, "-k", case.k, "-m", case.m, "--order", folder / "order.npy"]
    report = run_gcbs(bench.programs, *words, "--random-trials", case.trials)
    # Rows of these data are drawn at random: the order they come in is one more trial.
    random, own = report["random"]["loss_train"], report["orders"][0]["loss_train"]["both"]
    if not abs(own - random["mean"]) <= 6 * random["std"]:
        raise Failed(f"random orders have {random}, the order of the file {own}")
    say(f"  random {report['stages']['random']:.1f} s")
    return figures(bench, case, [report]) | {"trials": case.trials}


def figures(bench, case, timed):
    last = timed[-1]
    names = ("kind", "data", "n", "dim", "m", "k")
    stages = {name: statistics.median([run["stages"][name] for run in timed]) for name in last["stages"]}
    return {
        **{name: getattr(case, name) for name in names},
        "threads": bench.options.threads,
        "isa": last["isa"],
        "version": last["version"],
        "seconds": spread([run["whole"] for run in timed]),
        "similarity": spread([run.get("similarity", run["whole"]) for run in timed]),
        "stages": stages,
        "peak_bytes": last["peak_bytes"],
        "anonymous_bytes": max(run["anonymous_bytes"] for run in timed),
    }


MEASURES = {"mine": measure_mine, "compare": measure_compare, "trials": measure_trials}
