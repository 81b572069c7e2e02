"""What was measured on what: the machine block of a results file, and the file's name."""

import importlib.metadata
import os
import platform
import re
import subprocess
from datetime import date
from pathlib import Path

FLAGS = (
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512_vnni",
    "avx512_bf16",
    "avx_vnni",
    "amx_tile",
    "amx_int8",
)
CODE = ("src", "include", "cli", "CMakeLists.txt")


def name_of(block):
    """Family and model tell chips apart that a hypervisor gives one name."""
    return f"{block['cpu']} (family {block['family']}, model {block['model']})"


def cpu_info():
    """The first processor's lines of /proc/cpuinfo."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    return {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())
    }


def memory_bytes(name="MemTotal"):
    match = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(match.group(1)) * 1024


def slug():
    """Family and model belong to it: hypervisors give several chips one name."""
    info = cpu_info()
    name = re.sub(r"\(r\)|\(tm\)|\bcpu\b|@.*", " ", info.get("model name", platform.machine()).lower())
    text = f"{name} family {info.get('cpu family', '?')} model {info.get('model', '?')}"
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def code_commit(root):
    """The last commit that touched the code measured; "+" where it has changed since."""
    commit = git(root, "log", "-1", "--format=%h", "--abbrev=10", "--", *CODE) or "unknown"
    return commit + ("+" if git(root, "status", "--porcelain", "--", *CODE) else "")


def describe(threads, peaks, root):
    info = cpu_info()
    return {
        "cpu": info.get("model name", platform.machine()),
        "family": info.get("cpu family"),
        "model": info.get("model"),
        "stepping": info.get("stepping"),
        "flags": [flag for flag in FLAGS if flag in info.get("flags", "").split()],
        "hypervisor": "hypervisor" in info.get("flags", "").split(),
        "cores": os.cpu_count(),
        "threads": threads,
        "memory_gib": round(memory_bytes() / 2**30, 1),
        "kernel": platform.release(),
        "compiler": peaks["compiler"],
        "isas": peaks["available"],
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "torch", "faiss-cpu")},
        },
        "peaks": peaks["peaks"],
        "date": date.today().isoformat(),
        "commit": code_commit(root),
    }
