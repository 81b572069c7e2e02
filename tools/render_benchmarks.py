"""Puts the tables of docs/benchmarks.md and README.md between their markers, from bench/results/*.json.

    python tools/render_benchmarks.py            rewrite the pages
    python tools/render_benchmarks.py --check    fail where a page is not what would be written

A marker is a pair of lines <!-- begin NAME --> and <!-- end NAME -->; the words around them are written by
hand, the tables never are.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import floors  # noqa: E402
from machine import name_of  # noqa: E402

KERNELS = ("amx_int8", "avx512_vnni", "avx2")
NOTHING = "Not measured yet."


def table(head, rows):
    if not rows:
        return NOTHING
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value, digits=3):
    """Three significant digits, without an exponent."""
    if value is None:
        return "-"
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if abs(value) >= 10 ** (digits - 1) else text


def spread(value, unit=""):
    """Median, with lowest and highest where there was more than one run."""
    if value is None:
        return "-"
    text = number(value["median"]) + unit
    return f"{text} ({number(value['low'])}-{number(value['high'])})" if value["runs"] > 1 else text


def cases_of(content, wanted=lambda case: True):
    """Order cases by data and size; the star is not one of them."""
    found = [(key, case) for key, case in content["cases"].items() if "whole" in case and wanted(case)]
    return sorted(
        found, key=lambda item: (item[1]["data"] != "rand", item[1]["data"], item[1]["n"], item[1]["m"])
    )


def each_machine(results, render):
    """One table a machine, under its name."""
    parts = [f"**{name_of(content['machine'])}**\n\n{render(content)}" for content in results]
    return "\n\n".join(parts) or NOTHING


def machines(results):
    rows = []
    for content in results:
        about = content["machine"]
        versions = [f"{name} {version}" for name, version in about["versions"].items() if version]
        peers = [
            f"{name}: {tuned['library']}, {tuned['coretype']}"
            for name, tuned in about.get("tuned", {}).items()
        ]
        rows.append(
            (
                name_of(about),
                ", ".join(about["isas"]),
                f"{about['threads']} of {about['cores']}",
                f"{about['memory_gib']} GiB",
                about["kernel"],
                about["compiler"],
                ", ".join(versions + peers),
                about["date"],
            )
        )
    return table(
        ("CPU", "instruction sets", "threads", "memory", "kernel", "compiler", "versions", "date"), rows
    )


def peaks(results):
    def render(content):
        rows = [
            (peak["isa"], peak["type"], peak["instructions"], number(peak["gops_1"]), number(peak["gops"]))
            for peak in content["machine"]["peaks"]
        ]
        threads = content["machine"]["threads"]
        return table(("set", "type", "instructions", "GOP/s, 1 thread", f"GOP/s, {threads} threads"), rows)

    return each_machine(results, render)


def judged(results):
    rows = [
        (", ".join(v.floor.isas), v.floor.text, v.target, v.measured, v.verdict, v.machine)
        for v in floors.judge(results)
    ]
    return table(("set", "floor", "target", "measured", "", "machine"), rows)


def orders(results):
    def render(content):
        rows = []
        for _, case in cases_of(content, lambda case: not case["flags"]):
            stages = ", ".join(f"{name} {number(value)}" for name, value in case["stages"].items())
            share = f"{case['peak_share']:.0%}" if case["peak_share"] else "-"
            memory = f"{case['peak_bytes'] / 1e9:.2f} GB"
            size = (case["data"], f"{case['n']:,} x {case['dim']}", case["m"], case["k"])
            rows.append((*size, spread(case["whole"], " s"), stages, share, memory, case["commit"]))
        head = (
            "data",
            "N x d",
            "m",
            "k",
            "whole order",
            "stages, s",
            "join, share of peak",
            "memory",
            "commit",
        )
        return table(head, rows)

    return each_machine(results, render)


def peers(results):
    def render(content):
        rows = []
        for _, case in cases_of(content, lambda case: case["peers"]):
            for name, peer in case["peers"].items():
                own = spread(case[peer["against"]], " s")
                differing = f"{peer['check']['differing']} of {peer['check']['edges']:,}"
                size = (case["data"], f"{case['n']:,}", case["m"], case["isa"])
                rows.append(
                    (*size, name, spread(peer["seconds"], " s"), own, spread(peer["ratio"], "x"), differing)
                )
        head = (
            "data",
            "N",
            "m",
            "set",
            "peer",
            "peer's time",
            "ours",
            "ratio",
            "edges that differ within 1e-6 of t",
        )
        return table(head, rows)

    return each_machine(results, render)


def losses(results):
    """Mining, losses and the referee."""

    def render(content):
        rows = []
        for case in content["cases"].values():
            if "kind" not in case:
                continue
            stages = ", ".join(f"{name} {number(value)}" for name, value in case["stages"].items())
            peer = case.get("peers", {}).get("faiss")
            beside = "-"
            if peer:
                check = peer["check"]
                ties = f"{check['differing']} of {check['edges']:,} differ, by ties"
                beside = f"{spread(peer['seconds'], ' s')}: {spread(peer['ratio'], 'x')}; {ties}"
            memory = f"{case['peak_bytes'] / 1e9:.2f} GB"
            size = (case["kind"], case["data"], f"{case['n']:,} x {case['dim']}", case["isa"])
            rows.append((*size, spread(case["seconds"], " s"), stages, memory, beside, case["commit"]))
        head = ("case", "data", "N x d", "set", "whole", "stages, s", "memory", "faiss", "commit")
        return table(head, rows)

    return each_machine(results, render)


def variants(results):
    def render(content):
        rows = []
        for _, case in cases_of(content, lambda case: case["flags"]):
            size = (case["data"], f"{case['n']:,}", case["m"], " ".join(case["flags"]), case["isa"])
            share = f"{case['peak_share']:.0%}" if case["peak_share"] else "-"
            seconds = (spread(case["whole"], " s"), spread(case["similarity"], " s"))
            rows.append((*size, *seconds, share, f"{number(case['stages']['order'])} s"))
        head = (
            "data",
            "N",
            "m",
            "flags",
            "set",
            "whole order",
            "prepare + threshold + join",
            "join, share of peak",
            "order",
        )
        return table(head, rows)

    return each_machine(results, render)


def star(results):
    rows = [
        (name_of(content["machine"]), f"{run['vertices']:,}", f"{1e3 * run['order_seconds']:.2f} ms")
        for content in results
        for run in content["cases"].get("star", {}).get("runs", [])
    ]
    return table(("CPU", "vertices", "rcm"), rows)


def unproven(results):
    """Instruction sets whose kernels no committed result has run."""
    ran = {case["isa"] for content in results for _, case in cases_of(content)}
    missing = [isa for isa in KERNELS if isa not in ran]
    if not missing:
        return "Every kernel has run on its real instructions."
    words = "No committed result has run these kernels on their real instructions yet"
    return f"{words}: {', '.join(missing)}. Their loop nests are tested on stand-ins."


# Seconds of the paper's code on one A40 GPU, by N (Sachidananda, Yang and Zhu 2023, appendix on runtime).
PAPER_GPU = {10_000: 2.56, 50_000: 14.77, 100_000: 34.68, 500_000: 322.52, 1_000_000: 1013.19}


def summary(results):
    """README's table: whole orders on the machine that has ordered the most rows, and ratios to the peers."""
    content = max(results, key=lambda content: max(case.get("n", 0) for case in content["cases"].values()))
    rows = []
    for _, case in cases_of(content, lambda case: not case["flags"]):
        ratios = [
            f"{number(case['peers'][name]['ratio']['median'])}x" if name in case["peers"] else "-"
            for name in PEERS
        ]
        gpu = PAPER_GPU.get(case["n"]) if case["data"] == "rand" else None
        seconds = f"{number(case['whole']['median'])} s"
        theirs = f"{number(gpu)} s" if gpu else "-"
        size = f"{case['n']:,} x {case['dim']}"
        rows.append((case["data"], size, case["m"], seconds, theirs, *ratios))
    head = ("data", "N x d", "edges a row", "gcbs", "the paper, one A40 GPU")
    machine = f"{name_of(content['machine'])}, {content['machine']['threads']} threads, files to order:"
    return machine + "\n\n" + table((*head, *(f"against {name}" for name in PEERS)), rows)


PEERS = ("sgemm", "faiss", "listing")
SECTIONS = {
    "machines": machines,
    "floors": judged,
    "peaks": peaks,
    "orders": orders,
    "peers": peers,
    "losses": losses,
    "variants": variants,
    "star": star,
    "unproven": unproven,
}


def rendered(text, results, sections):
    for name, section in sections.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"no marker for {name}")
        body = section(results) + "\n"
        text = pattern.sub(lambda match, body=body: match.group(1) + body + match.group(2), text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    options = parser.parse_args()
    results = [json.loads(path.read_text()) for path in sorted(options.results.glob("*.json"))]
    for page, sections in PAGES.items():
        before = (ROOT / page).read_text()
        after = rendered(before, results, sections)
        if options.check and before != after:
            sys.exit(f"{page} is not what bench/results says: run tools/render_benchmarks.py")
        if not options.check:
            (ROOT / page).write_text(after)


PAGES = {"docs/benchmarks.md": SECTIONS, "README.md": {"summary": summary}}

if __name__ == "__main__":
    main()
