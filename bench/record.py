"""A results file: one a CPU model, cases merged by key, written whole or not at all."""

import json
import os
import statistics


def spread(values):
    return {
        "median": statistics.median(values),
        "low": min(values),
        "high": max(values),
        "runs": len(values),
    }


def rounded(value, digits=5):
    """Five significant digits: more would be noise, and diffs would be unreadable."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return value


class ResultsFile:
    def __init__(self, path):
        self.path = path
        self.content = {"schema": 1, "machine": {}, "cases": {}}
        if path.exists():
            self.content = json.loads(path.read_text())

    def case(self, key):
        return self.content["cases"].get(key)

    def set_machine(self, machine):
        known = self.content["machine"]
        if known and (known["cpu"], known["model"]) != (machine["cpu"], machine["model"]):
            raise SystemExit(f"{self.path} holds the results of another CPU: {known['cpu']}")
        self.content["machine"] = {**known, **machine}

    def save(self, key=None, result=None):
        if key:
            answer = {"threshold": result["threshold"]} if "threshold" in result else {}  # keeps its digits
            self.content["cases"][key] = rounded(result) | answer
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.content["machine"] = rounded(self.content["machine"])
        part = self.path.with_name(f"{self.path.name}.part{os.getpid()}")
        part.write_text(json.dumps(self.content, indent=1) + "\n")
        part.replace(self.path)
