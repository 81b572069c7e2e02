"""The programs of a benchmark, each run in a process of its own: gcbs, its peers, the peak probe."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import check
import machine

HERE = Path(__file__).resolve().parent
LOUD_ROWS = 150_000  # from here on gcbs may show its progress


class Failed(Exception):
    """A program ended badly or gave a wrong answer."""


def say(text=""):
    print(text, flush=True)


class Started:
    """A program at work."""

    def __init__(self, command, env, loud):
        self.command = [str(part) for part in command]
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=None if loud else subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.pid = self.process.pid

    def finish(self):
        """The JSON it prints and the seconds it took; Failed with its last words if it failed."""
        out, err = self.process.communicate()
        seconds = time.perf_counter() - self.begin
        if self.process.returncode != 0:
            name = " ".join(Path(part).name for part in self.command[:3])
            words = (err or "").strip()[-600:]
            raise Failed(f"{name} ended with {self.process.returncode}: {words}")
        return json.loads(out), seconds


def start(command, env=None, loud=False):
    return Started(command, env, loud)


def call(command, env=None, loud=False):
    return start(command, env, loud).finish()


def peer_command(name, files, programs):
    return [
        *(sys.executable, HERE / "peers.py", name, *files),
        *("--threads", programs.threads, "--build", programs.build),
    ]


def installed(peer):
    """Whether the packages of a peer are there."""
    needs = {"faiss": ("faiss",), "listing": ("torch", "scipy")}.get(peer, ())
    return all(importlib.util.find_spec(name) for name in needs)


class Programs:
    def __init__(self, program, build, threads):
        self.program, self.build, self.threads = program, build, threads
        self.tuned, self.best_peak = {}, {}

    def peaks(self, seconds, isa=None):
        """Probes the peaks; `best_peak` keeps the best int8 figure of each set, all threads, 10^9 operations
        a second. Probed beside every run of gcbs, so that both see the same machine."""
        command = [self.build / "bench_peaks", "--seconds", seconds]
        command += ["--threads", self.threads] if self.threads else []
        found = call(command + (["--isa", isa] if isa else []))[0]
        for peak in found["peaks"]:
            if peak["type"] == "int8":
                self.best_peak[peak["isa"]] = max(peak["gops"], self.best_peak.get(peak["isa"], 0))
        return found

    def gcbs(self, case, files, folder, edges=None, flags=()):
        """The report of one `gcbs order`, with the wall seconds of the process and the sum of the stages
        that the peers are compared with."""
        command = [self.program, "order", *files, "-k", case.k, "-m", case.m]
        plain = {"--method": "rcm", "--relative-margin": "none"}  # the paper's order, unless the case says
        command += [word for pair in plain.items() if pair[0] not in case.flags for word in pair]
        command += ["--threads", self.threads, "--json", "-o", folder / "order.npy", *case.flags, *flags]
        command += ["--edges", edges] if edges else []
        command += ["--extra-output", folder / "extra.npy"] if "--extra" in case.flags else []
        loud = case.n >= LOUD_ROWS
        report, wall = call(command + ([] if loud else ["--quiet"]), loud=loud)
        if not check.is_permutation(folder / "order.npy", case.n):
            raise Failed("gcbs order gave no permutation")
        report["stages"] = {stage["name"]: stage["seconds"] for stage in report["stages"]}
        report["whole"] = wall
        report["similarity"] = sum(report["stages"].get(name, 0) for name in ("prepare", "threshold", "join"))
        return report

    def peer(self, name, case, files, threshold, edges=None):
        """What peers.py says of one run; the threshold is given, except to the listing."""
        command = peer_command(name, files, self) + (["--edges", edges] if edges else [])
        if name == "listing":
            return call([*command, "--neighbours", case.m])[0]
        tuned = self.tune(name)
        command += ["--threshold", repr(threshold), "--setting", ",".join(map(str, tuned["setting"]))]
        return {**call(command, blas(tuned["coretype"]))[0], "coretype": tuned["coretype"]}

    def tune(self, name):
        """The fastest OPENBLAS_CORETYPE and block sizes of a peer on this machine, tried once a run."""
        if name not in self.tuned:
            kinds = ["default", "Haswell", "Zen"]
            if "avx512f" in machine.cpu_info().get("flags", "").split():
                kinds += ["SkylakeX", "Cooperlake", "Sapphirerapids"]
            trials = []
            for kind in kinds:
                command = [sys.executable, HERE / "peers.py", "tune", name, "--threads", self.threads]
                tried = call([*command, "--build", self.build], blas(kind))[0]
                best = min(tried.pop("trials"), key=lambda trial: trial["seconds"])
                trials.append({"coretype": kind, **tried, **best})
            best = min(trials, key=lambda trial: trial["seconds"])
            self.tuned[name] = {**best, "tried": {trial["coretype"]: trial["seconds"] for trial in trials}}
            say(f"  {name}: {best['library']}, OPENBLAS_CORETYPE={best['coretype']}, {best['setting']}")
        return self.tuned[name]


def blas(coretype):
    return {} if coretype == "default" else {"OPENBLAS_CORETYPE": coretype}
