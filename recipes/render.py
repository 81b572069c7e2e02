"""Writes the tables and curves of docs/results.md from recipes/results/*.jsonl.

    python -m recipes.render            rewrite the page and its pictures
    python -m recipes.render --check    fail where the page is not what would be written

A marker is a pair of lines <!-- begin NAME --> and <!-- end NAME -->; the words around them are written by
hand, the tables never are. NAME is what (table, rates, time, curve, losses), a file of results, and perhaps
the one setting that the table is about. losses are those of recipes/results/figures/ (--figures). "summary
defaults" is the table of all tasks, "summary runs" says what all of it took.
"""

import argparse
import math
import re
import sys
from pathlib import Path

from . import record
from .spec import DEFAULT, parse

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results.md"
MARKER = re.compile(
    r"<!-- begin (\w+) ([\w-]+)(?: ([\w-]+))? -->\n(.*?)<!-- end \1 \2(?: \3)? -->", re.DOTALL
)
NOTHING = "Not run yet.\n"
BASE = "random"
PARTS = ("train", "extra_forward", "order")
CURVES = (BASE, DEFAULT, "pack", "rcm", "pack:block=8", "random:extra=16", "random:mine=1")
"""methods whose learning is drawn"""
SUMMARY = (
    ("code-search-5000-minilm", "test", "code search, MiniLM: MRR"),
    ("code-search-static", "test", "code search, static: MRR"),
    ("sentences-10000-minilm", "test", "captions, MiniLM: MRR"),
    ("sentences-10000-minilm", "sts", "captions, MiniLM: STS"),
    ("sentences-static", "test", "captions, static: MRR"),
    ("sentences-static", "sts", "captions, static: STS"),
    ("sentences-triples-minilm", "test", "SNLI triples, MiniLM: STS"),
    ("sentences-triples-minilm-prompts", "test", "SNLI triples, MiniLM's prompts: STS"),
    ("sentences-triples-static", "test", "SNLI triples, static: STS"),
    ("vision-resnet", "test", "CIFAR-10, small net: kNN"),
    ("vision-imagenette-resnet", "test", "Imagenette, small net: kNN"),
)
"""what the table of all tasks shows: results, metric, how it is called"""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def spread(values, sign=""):
    """Mean and 95 % interval."""
    mean, half = record.interval(values)
    mean = round(mean, 1) + 0.0  # no -0.0
    return f"{mean:{sign}.1f}" + ("" if math.isnan(half) else f" ± {half:.1f}")


def final(line, metric="test"):
    return line["curve"][-1][metric]


def paired(found, method, metric, base=BASE):
    """Differences to random on the seeds that both have."""
    seeds = sorted(set(found[method]) & set(found.get(base, {})))
    return [final(found[method][seed], metric) - final(found[base][seed], metric) for seed in seeds]


def share_of_steps(found, method, metric="test", base=BASE):
    """Steps to the first measurement that is not below random's final score, as shares of random's steps."""
    shares = []
    for seed in sorted(set(found[method]) & set(found.get(base, {}))):
        aim = found[base][seed]
        reached = [p["step"] for p in found[method][seed]["curve"] if p[metric] >= final(aim, metric)]
        shares.append(reached[0] / aim["steps"] if reached else math.inf)
    return shares


def base_of(found, method, section):
    """Random batches with the same setting, where they were run; else plain random."""
    own = f"{BASE}:{section}={settings(method).get(section)}"
    return own if own in found else BASE


def results(lines, metrics, section=None):
    """One row a method: final metrics over seeds, difference to random, cost."""
    found = record.by_method(lines)
    bases = {method: base_of(found, method, section) for method in found}
    rows = []
    for method in found:
        if method == BASE and BASE not in [bases[other] for other in found if other != BASE]:
            continue
        runs = [found[method][seed] for seed in sorted(found[method])]
        base = next(iter(found[bases[method]].values())) if bases[method] in found else None
        cells = [f"`{method}`", f"{runs[0]['rate']:g}", str(len(runs))]
        for metric in metrics:
            cells.append(spread([final(run, metric) for run in runs]))
            differences = paired(found, method, metric, bases[method])
            cells.append("" if method == bases[method] or not differences else spread(differences, "+"))
        shares = share_of_steps(found, method, base=bases[method])
        mean = sum(shares) / len(shares) if shares else math.inf
        cells.append("never" if math.isinf(mean) else f"{100 * mean:.0f} %")
        cells.append(f"{runs[0]['steps'] / base['steps']:.2f}" if base else "")
        cells.append(f"{runs[0]['encoded'] / base['encoded']:.2f}" if base else "")
        rows.append((record.interval([final(run, metrics[0]) for run in runs])[0], cells))
    head = ["method", "rate", "seeds"]
    for metric in metrics:
        head += [metric, "over random"]
    head += ["steps to random's end", "steps", "encodings"]
    return table(head, [cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def summary(methods=(DEFAULT, "pack", "rcm", "random:mine=1")):
    """Differences to random on every task."""
    rows = []
    for name, metric, title in SUMMARY:
        found = record.by_method(record.read(record.RESULTS / f"{name}.jsonl"))
        if BASE not in found:
            continue
        cells = [title, spread([final(run, metric) for run in found[BASE].values()])]
        for method in methods:
            differences = paired(found, method, metric) if method in found else []
            many = f" ({len(differences)})" if differences else ""
            cells.append(spread(differences, "+") + many if differences else "")
        rows.append(cells)
    names = ["the default" if method == DEFAULT else f"`{method}`" for method in methods]
    return table(["task", "random", *names], rows)


def all_runs():
    """What every line of the results took together."""
    lines = [line for path in sorted(record.RESULTS.rglob("*.jsonl")) for line in record.read(path)]
    hours = sum(line["elapsed"] for line in lines) / 3600
    return f"{len(lines)} runs, {hours:.1f} hours of one thread, two runs at a time.\n"


def rates(lines):
    """The tuning: dev at the end, by learning rate, on the first seed; in bold the rate of the tables."""
    tried = sorted({line["rate"] for line in lines})
    rows = []
    for method, taken in record.by_method(lines).items():
        own = {line["rate"]: line for line in lines if line["method"] == method and line["seed"] == 0}
        marks = {rate: "**" if rate == taken[0]["rate"] else "" for rate in own}
        cells = [f"{marks[r]}{final(own[r], 'dev'):.1f}{marks[r]}" if r in own else "" for r in tried]
        rows.append([f"`{method}`", *cells])
    return table(["method", *[f"{rate:g}" for rate in tried]], rows)


def seconds(lines):
    """Seconds an epoch of the fastest run, as in the paper's table of run times."""
    rows = []
    for method in dict.fromkeys(line["method"] for line in lines):
        runs = [line for line in lines if line["method"] == method]
        fastest = min(runs, key=lambda run: run["seconds"]["train"] / run["options"]["epochs"])
        parts = [fastest["seconds"][name] / fastest["options"]["epochs"] for name in PARTS]
        rows.append([f"`{method}`", *[f"{value:.2f}" for value in parts]])
    return table(["method", "forward and backward", "extra forward", "neighbours and order"], rows)


def plotting():
    """pyplot, for pictures that are the same each time."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "gcbs"
    return plt


def picture(lines, path, methods, metric="test"):
    """Mean curve of some methods over seeds."""
    import numpy as np

    plt = plotting()
    found = record.by_method(lines)
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for method in methods:
        runs = list(found.get(method, {}).values())
        if runs:
            steps = [point["step"] for point in runs[0]["curve"]]
            scores = np.mean([[point[metric] for point in run["curve"]] for run in runs], axis=0)
            axes.plot(steps, scores, label=method, color="0.3" if method == BASE else None)
    axes.set(xlabel="steps", ylabel=f"{metric} MRR x 100")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def losses(lines):
    """The paper's figures in numbers, at the start of the last epoch."""
    rows = []
    base = next(line for line in lines if line["method"] == BASE)["figures"][-1]

    def gap(figure):
        return figure["loss_global"] - figure["loss_train"]

    for line in lines:
        last = line["figures"][-1]
        rows.append(
            [
                f"`{line['method']}`",
                f"{last['loss_global']:.3f}",
                f"{100 * (last['loss_global'] / base['loss_global'] - 1):+.0f} %",
                f"{last['loss_train']:.3f}",
                f"{100 * (gap(last) / gap(base) - 1):+.0f} %",
                f"{last['positive_probability_global']:.3f}",
            ]
        )
    head = ["method", "L_global", "against random", "L_train", "gap against random", "positive's probability"]
    return table(head, rows) + "".join(map(staleness, lines))


def staleness(line):
    """Of the embeddings that an order without an extra pass is made from; nothing for other orders."""
    shares = [figure["kept_by_fresh_pass"] for figure in line["figures"] if "kept_by_fresh_pass" in figure]
    if not shares:
        return ""
    words = ", ".join(f"{100 * share:.0f} %" for share in shares)
    return f"\nEdges of `{line['method']}` that a fresh pass would keep, from the second epoch on: {words}.\n"


def picture_of_losses(lines, path):
    """L_global and L_train by epoch, the positive's probability, the loss of each step."""
    plt = plotting()
    figure, (one, two, three) = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    others = [line["method"] for line in lines if line["method"] != BASE]
    colors = dict(zip(others, [f"C{n}" for n in range(10) if n != 7], strict=False)) | {
        BASE: "0.3"
    }  # C7: grey
    for line in lines:
        color = colors[line["method"]]
        found = line["figures"]
        epochs = [point["epoch"] for point in found]
        one.plot(epochs, [point["loss_global"] for point in found], color=color)
        one.plot(epochs, [point["loss_train"] for point in found], color=color, linestyle="--")
        shares = [point["positive_probability_global"] for point in found]
        two.plot(epochs, shares, color=color, label=line["method"])
        steps = [(point["epoch"], point["loss_of_steps"]) for point in found]
        at_epochs = [epoch + n / len(means) for epoch, means in steps for n in range(len(means))]
        three.plot(at_epochs, [mean for _, means in steps for mean in means], color=color, linewidth=0.8)
        if line["method"] == BASE:
            three.plot(epochs, [point["loss_random"] for point in found], "k:", label="expected, random")
    one.set(title="L_global, L_train (dashed)", xlabel="epoch", yscale="log")
    two.set(title="softmax share of the positive, all pairs", xlabel="epoch")
    three.set(title="loss a step", xlabel="epoch", yscale="log")
    for axes in (one, two, three):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def ours(name, lines):
    """Which lines a part of the page is about: `main` (the task's defaults), or one setting varied.

    A setting is varied where a method was run with it and without it: both are shown.
    """
    main = ("method", "block", "extra", "mine", "relative_margin", "groups", "mask", "epochs", "skip")
    if name in (None, "main"):
        return [line for line in lines if not _varied(line, main)]
    run = {line["method"] for line in lines}
    without = {method: leave_out(method, name) for method in run if name in settings(method)}
    varied = {method for pair in without.items() if pair[1] in run for method in pair}
    return [line for line in lines if line["method"] in varied | {BASE}]


def settings(method):
    """{name: value} as they are typed."""
    return dict(word.split("=") for word in method.partition(":")[2].split(",") if word)


def leave_out(method, name):
    """The method as it is typed without a setting."""
    kind, _, words = method.partition(":")
    kept = [word for word in words.split(",") if word and not word.startswith(f"{name}=")]
    return kind + (":" + ",".join(kept) if kept else "")


def _varied(line, known):
    parse(line["method"])
    return set(settings(line["method"])) - set(known)


def part(kind, name, section, draw):
    """What stands between two markers; draw: write the picture that belongs to it, too."""
    if kind == "summary":
        return all_runs() if name == "runs" else summary()
    folder = record.RESULTS / "figures" if kind == "losses" else record.RESULTS
    lines = record.read(folder / f"{name}.jsonl")
    if not lines:
        return NOTHING
    if kind == "losses":
        if draw:
            picture_of_losses(lines, PAGE.parent / f"losses-{name}.svg")
        return f"![Losses during training](losses-{name}.svg)\n\n" + losses(lines)
    lines = ours(section, lines)
    if kind == "table":
        return results(lines, ["test", "sts"] if "sts" in lines[0]["curve"][-1] else ["test"], section)
    if kind == "rates":
        return rates(lines)
    if kind == "time":
        return seconds(lines)
    if kind == "curve":
        if draw:
            picture(lines, PAGE.parent / f"results-{name}.svg", CURVES)
        return f"![Test MRR during training](results-{name}.svg)\n"
    raise SystemExit(
        f"docs/results.md asks for {kind!r}, which is not table, rates, time, curve, losses or summary"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    page = PAGE.read_text(encoding="utf-8")

    def fill(match):
        kind, name, section, _ = match.groups()
        words = " ".join(filter(None, (kind, name, section)))
        return f"<!-- begin {words} -->\n{part(kind, name, section, not check)}<!-- end {words} -->"

    written = MARKER.sub(fill, page)
    if check:
        sys.exit(0 if written == page else "docs/results.md is not what its result lines say: make results")
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
