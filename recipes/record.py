"""Result lines: one run is one JSON line in recipes/results/. What is there is not run again."""

import importlib.metadata
import json
import math
import os
import platform
import re
from datetime import date
from pathlib import Path

import gcbs
import numpy as np
from scipy import stats

RESULTS = Path(__file__).resolve().parent / "results"
KEY = ("task", "encoder", "method", "rate", "seed")


def machine():
    """What the seconds were measured on."""
    lines = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = re.search(r"model name\s*:\s*(.*)", lines)
    return {
        "cpu": name.group(1) if name else platform.machine(),
        "cores": os.cpu_count(),
        "isa": gcbs.info().chosen,
    }


def versions():
    names = ("torch", "sentence-transformers", "transformers", "numpy")
    return {"gcbs": gcbs.__version__, "python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }


def path(task, encoder, folder=RESULTS):
    return folder / f"{task}-{encoder}.jsonl"


def read(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def done(file):
    """Keys of the runs that a file holds."""
    return {tuple(line[name] for name in KEY) for line in read(file)}


def append(file, line):
    """One write a line: two processes may share a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    stamped = line | {"machine": machine(), "versions": versions(), "date": date.today().isoformat()}
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps(stamped) + "\n")


def interval(values):
    """Mean and half of its 95 % interval (Student's t); nan for the half of one value."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return float(values.mean()), math.nan
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(half)


def best_rate(lines, metric="dev"):
    """The learning rate that a method's lowest seed did best with at the end, by the dev metric."""
    first = min(line["seed"] for line in lines)
    return max((line["curve"][-1][metric], -line["rate"]) for line in lines if line["seed"] == first)[1] * -1


def by_method(lines, metric="dev"):
    """{method: {seed: line}}, each at one rate: of those with the most seeds, the best by the mean of dev."""
    runs = {}
    for line in lines:
        runs.setdefault(line["method"], {}).setdefault(line["rate"], {})[line["seed"]] = line

    def worth(rate_and_seeds):
        rate, seeds = rate_and_seeds
        return len(seeds), np.mean([line["curve"][-1][metric] for line in seeds.values()]), -rate

    return {method: max(rates.items(), key=worth)[1] for method, rates in runs.items()}
