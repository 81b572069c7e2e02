"""The benchmarks: answers compared first, then gcbs and its peers timed in turn, in one run.

    python bench/run.py                    what `make bench` does
    python bench/run.py --large            275,602 to 1,000,000 rows, without peers; goes on where it stopped
    python bench/run.py --cases 'rand-1*'  some of the cases (--list names them)
    python bench/run.py --skip-gcbs        the peers alone, against each other

A case's result goes into bench/results/<CPU>.json as soon as it is there. Seconds of gcbs: "whole" is the
wall time of the process, files to order.npy; "similarity" is prepare + threshold + join, what the peers
sgemm and faiss are compared with, although they are given the threshold.
"""

import argparse
import fnmatch
import os
import shutil
import statistics
import sys
import tempfile
from datetime import date
from pathlib import Path

import cases
import check
import floors
import generate
import losses
import machine
import numpy as np
from programs import HERE, Failed, Programs, call, installed, say
from record import ResultsFile, spread

ROOT = generate.ROOT
SPOT_CHECK_ROWS = 300_000  # above it the edge file is too big to write for a check


class Bench:
    def __init__(self, options):
        self.options = options
        self.programs = Programs(options.gcbs, options.build, options.threads)
        self.peaks = self.programs.peaks(1)
        self.programs.threads = options.threads = self.peaks["threads"]
        self.results = ResultsFile(options.results / f"{machine.slug()}.json")
        self.results.set_machine(machine.describe(options.threads, self.peaks, ROOT))
        self.commit = self.results.content["machine"]["commit"]
        self.failed = []

    def run(self, chosen, resume):
        for case in chosen:
            known = self.results.case(case.key)
            if resume and known and known["commit"] == self.commit and not self.commit.endswith("+"):
                say(f"{case.key}: already measured at {self.commit}")
                continue
            if not self.has_room(case):
                continue
            files = generate.ensure(case.data, case.n, self.options.cache, self.options.data, say)
            if files is None:
                say(f"{case.key}: skipped, no shared data at {self.options.data}")
                continue
            say(case.key)
            try:
                with tempfile.TemporaryDirectory(dir=self.options.cache) as folder:
                    measure = losses.MEASURES.get(getattr(case, "kind", None))
                    if measure:
                        result = self.stamp() | measure(self, case, files, Path(folder))
                    else:
                        result = self.measure(case, files, Path(folder))
            except Failed as failure:
                self.failed.append(case.key)
                say(f"  FAILED: {failure}")
                continue
            self.results.content["machine"]["tuned"] = self.programs.tuned
            self.results.save(case.key, result)
            say("  " + line_of(result))

    def stamp(self):
        return {"date": date.today().isoformat(), "commit": self.commit, "load": os.getloadavg()[0]}

    def has_room(self, case):
        """Whether memory and disk suffice; says what is short."""
        missing = not (self.options.cache / f"{case.data}-{case.n}-y.npy").exists()
        edges = 24 * case.n * case.m if case.n <= SPOT_CHECK_ROWS else 0
        need = {
            "disk": missing * generate.file_bytes(case.data, case.n) + edges,
            "memory": 6 * case.n * case.dim + 8 * case.n * case.m + 100 * case.n,
        }
        have = {
            "disk": shutil.disk_usage(self.options.cache).free,
            "memory": machine.memory_bytes("MemAvailable"),
        }
        for what in need:
            if need[what] > have[what]:
                gigabytes = f"{need[what] / 1e9:.1f} GB of {what} needed, {have[what] / 1e9:.1f} there"
                say(f"{case.key}: skipped, {gigabytes}")
                return False
        return True

    def measure(self, case, files, folder):
        """Ours runs before, between and after the peers: each peer is compared with its two neighbours."""
        load = os.getloadavg()[0]
        ours, threshold, checked = self.answer(case, files, folder)
        isa = case.isa or self.peaks["available"][0]
        timed, peers = [], {}

        def run_ours():
            if not self.options.skip_gcbs:
                self.programs.peaks(0.1, isa)
                timed.append(self.programs.gcbs(case, files, folder))

        names = [name for name in case.peers if installed(name)]
        for name in sorted(set(case.peers) - set(names)):
            say(f"  {name} left out: its packages are not installed")
        for round_ in range(self.options.rounds or case.rounds):
            for name in names:
                run_ours()
                edges = None if round_ else folder / "theirs.npy"
                found = self.programs.peer(name, case, files, threshold, edges)
                if round_ == 0:
                    verdict = self.compare(name, case, files, folder, ours, found)
                    peers[name] = {"library": found["library"], "check": verdict, "runs": [], "after": []}
                    peers[name] |= {key: found[key] for key in ("coretype", "core") if found.get(key)}
                peers[name]["runs"].append(found["seconds"])
                peers[name]["after"].append(len(timed) - 1)
                say(f"  {name}: {found['seconds']:.3f} s")
            if not names:
                run_ours()
        if names:
            run_ours()
        if timed and ours is None and not check.is_likely_count(timed[-1]["edges"], case.n, case.m):
            raise Failed(f"{timed[-1]['edges']:,} edges are not what m = {case.m} leaves")
        result = {name: getattr(case, name) for name in ("data", "n", "dim", "m", "k", "flags")}
        result |= {"threads": self.options.threads, "date": date.today().isoformat(), "commit": self.commit}
        result |= {"load": load, "check": checked, "threshold": threshold}
        result |= own_figures(case, timed, self.programs.best_peak.get(isa))
        result["peers"] = {name: peer_figures(name, entry, timed) for name, entry in peers.items()}
        return result

    def answer(self, case, files, folder):
        """The edges to compare with, the threshold, how they were checked. Brings the files into memory."""
        if self.options.skip_gcbs:
            threshold = check.sampled_threshold(*files, case.m)
            self.programs.peer("sgemm", case, files, threshold, folder / "ours.npy")
            return check.off_diagonal(np.load(folder / "ours.npy")), threshold, {"against": "nothing"}
        if case.n > SPOT_CHECK_ROWS:
            return None, None, {"against": "nothing, but for the number of edges"}
        report = self.programs.gcbs(case, files, folder, edges=folder / "edges.npy")
        threshold = report["threshold"]["value"]
        edges = np.load(folder / "edges.npy", mmap_mode="r")
        if len(edges) != report["edges"]:
            raise Failed(f"gcbs wrote {len(edges):,} edges and reports {report['edges']:,}")
        found = check.spot_check(edges, *files, threshold, case.margin)
        if not found["agree"]:
            raise Failed(f"gcbs edges differ from float64 sums: {found}")
        return check.keys_of(edges), threshold, {"against": "float64", **found}

    def compare(self, name, case, files, folder, ours, found):
        """The edges of a peer against ours; Failed where they part."""
        theirs = np.load(folder / "theirs.npy")
        if name == "listing" and self.options.skip_gcbs:  # its own threshold, the diagonal kept
            self.programs.peer("sgemm", case, files, found["threshold"], folder / "paper.npy")
            ours = np.load(folder / "paper.npy")
        elif name == "listing":
            self.programs.gcbs(case, files, folder, edges=folder / "paper.npy", flags=("--paper",))
            ours = check.keys_of(np.load(folder / "paper.npy"))
        else:
            theirs = check.off_diagonal(theirs)
        x, y = (generate.load_unit(path) for path in files)
        verdict = check.compare(ours, theirs, x, y, found["threshold"])
        if not verdict["agree"]:
            raise Failed(f"{name} and gcbs differ: {verdict}")
        say(f"  {name}: same {verdict['edges']:,} edges, but for {verdict['differing']} within 1e-6 of t")
        return verdict

    def star(self):
        """rcm on stars: seconds grow with the edges, not with degree squared."""
        say("star")
        try:
            found = call([self.options.build / "bench_star"])[0]
        except Failed as failure:
            self.failed.append("star")
            say(f"  FAILED: {failure}")
            return
        self.results.save("star", {**found, "date": date.today().isoformat(), "commit": self.commit})
        say(
            ", ".join(f"  {run['vertices']:,} vertices {run['order_seconds']:.4f} s" for run in found["runs"])
        )


def own_figures(case, timed, peak):
    if not timed:
        return {}
    last = timed[-1]
    stages = {name: statistics.median([run["stages"][name] for run in timed]) for name in last["stages"]}
    join_gops = 2e-9 * case.n**2 * case.dim / stages["join"]
    return {
        "isa": last["isa"],
        "version": last["version"],
        "threshold": last["threshold"]["value"],
        "edges": last["edges"],
        "whole": spread([run["whole"] for run in timed]),
        "similarity": spread([run["similarity"] for run in timed]),
        "stages": stages,
        "peak_bytes": last["peak_bytes"],
        "join_gops": join_gops,
        "peak_gops": peak,
        "peak_share": join_gops / peak if peak else None,
    }


def peer_figures(name, entry, timed):
    runs, after = entry.pop("runs"), entry.pop("after")
    figures = {**entry, "seconds": spread(runs)}
    if timed:
        against = "whole" if name == "listing" else "similarity"
        beside = [(timed[at][against] + timed[at + 1][against]) / 2 for at in after]
        figures |= {"against": against, "ratio": spread([a / b for a, b in zip(runs, beside, strict=True)])}
    return figures


def line_of(result):
    text = []
    if "kind" in result:
        text += [f"{result['isa']}, {result['threads']} threads: whole {result['seconds']['median']:.3f} s"]
        text += [f"memory {result['peak_bytes'] / 1e9:.2f} GB"]
    if "whole" in result:
        text += [f"{result['isa']}, {result['threads']} threads: whole {result['whole']['median']:.3f} s"]
        text += [f"similarity {result['similarity']['median']:.3f} s"]
        text += [f"join {result['peak_share']:.0%} of peak"] if result["peak_share"] else []
    for name, peer in result.get("peers", {}).items():
        ratio = f" ({peer['ratio']['median']:.2f}x)" if "ratio" in peer else ""
        text.append(f"{name} {peer['seconds']['median']:.3f} s{ratio}")
    return ", ".join(text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--large", action="store_true", help="the big sizes, without peers, resumed")
    parser.add_argument("--redo", action="store_true", help="with --large: measure again what is measured")
    parser.add_argument("--cases", default="*", help="only the cases whose name fits this pattern")
    parser.add_argument("--rounds", type=int, help="how often each peer runs, instead of the case's number")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--skip-gcbs", action="store_true", help="peers only, into build/bench-results")
    parser.add_argument("--threads", type=int, help="of gcbs and every peer; default: the usable cores")
    parser.add_argument("--gcbs", type=Path, default=ROOT / "build" / "gcbs", help="the program")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench", help="folder of bench_peaks")
    parser.add_argument("--cache", type=Path, default=generate.CACHE, help="folder for generated data")
    parser.add_argument("--data", type=Path, default=generate.SHARED, help="folder of the shared real data")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    if options.results is None:
        options.results = ROOT / "build" / "bench-results" if options.skip_gcbs else HERE / "results"
    needed = [options.build / "bench_peaks"] + ([] if options.skip_gcbs else [options.gcbs])
    for path in needed:
        if not path.exists():
            sys.exit(f"{path} is not there: build it first (make bench does)")
    return options


def main():
    options = parse()
    options.cache.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    isas = bench.peaks["available"]
    chosen = [
        case
        for case in (cases.large() if options.large else (*cases.standard(isas), *losses.standard()))
        if fnmatch.fnmatch(case.key, options.cases)
        and (not options.skip_gcbs or (case.peers and not hasattr(case, "kind")))
    ]
    if options.list:
        say("\n".join(case.key for case in chosen))
        return
    about = bench.results.content["machine"]
    say(f"{about['cpu']}, family {about['family']}, model {about['model']}, {options.threads} threads")
    for peak in bench.peaks["peaks"]:
        say(f"  {peak['instructions']} ({peak['type']}): {peak['gops']} GOP/s, one thread {peak['gops_1']}")
    bench.run(chosen, resume=options.large and not options.redo)
    if not options.large and not options.skip_gcbs and fnmatch.fnmatch("star", options.cases):
        bench.star()
    if not options.skip_gcbs:
        say("\nfloors that this machine has shown")
        for row in floors.judge([bench.results.content]):
            if row.measured != "-":
                say(f"  {row.text} {row.target}: {row.measured} {row.verdict}")
    if bench.failed:
        sys.exit(f"failed: {', '.join(bench.failed)}")


if __name__ == "__main__":
    main()
