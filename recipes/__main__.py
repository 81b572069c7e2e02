"""The paper's experiments, run end to end.

    python -m recipes code-search          every method, its learning rate tuned, all seeds
    python -m recipes code-search --methods "random pack:block=8" --seeds 2 --rates 0.02
    python -m recipes sentences-triples --data DIR --encoder minilm

One JSON line a run in recipes/results/; a run that is there is skipped, so that an interrupted recipe goes on
where it was. Two processes may share the work: --part 0/2 and --part 1/2 (each takes its own methods).
"""

import argparse
import time
from functools import partial

from tqdm import tqdm

from . import code_search, files, record, sentences, spec, vision

TASKS = {
    "code-search": code_search.load,
    "code-search-docstrings": partial(code_search.load, docstrings=True),
    "code-search-5000": partial(code_search.load, rows=5000),
    "sentences": sentences.load,
    "sentences-10000": partial(sentences.load, rows=10_000),
    "sentences-triples": sentences.load_triples,
    "vision": vision.load,
    "vision-imagenette": vision.load_imagenette,
}


def main():
    given = arguments()
    task = TASKS[given.name](files.folder(given.data))
    if given.threads:
        import torch

        torch.set_num_threads(given.threads)
    encoder = given.encoder or next(iter(task.rates))
    how = f"{encoder}-trainer" if given.trainer else encoder
    file = record.path(task.name, how, given.results or record.RESULTS)
    part, parts = map(int, given.part.split("/"))
    methods = (given.methods.split() if given.methods else list(task.methods))[part::parts]
    rates = [float(rate) for rate in given.rates.split(",")] if given.rates else rates_of(task, encoder)
    seeds = range(given.seeds or task.seeds)
    for method in methods:
        for rate in rates:
            run(task, encoder, method, rate, seeds[0], file, given)
        own = [line for line in record.read(file) if line["method"] == method and line["rate"] in rates]
        for seed in seeds[1:]:
            run(task, encoder, method, record.best_rate(own), seed, file, given)


def rates_of(task, encoder):
    """The learning rates to choose from where none are given."""
    known = encoder.removesuffix("-dense")
    if known not in task.rates:
        others = ", ".join(task.rates)
        raise SystemExit(f"{task.name} knows no learning rates of {encoder}, only of {others}: give --rates")
    return list(task.rates[known])


def run(task, encoder, method, rate, seed, file, given):
    """One run, unless its line is there."""
    key = {"task": task.name, "encoder": encoder, "method": method, "rate": rate, "seed": seed}
    if tuple(key.values()) in record.done(file):
        return
    resolved = spec.resolve(spec.parse(method), task)
    began = time.perf_counter()
    trainer = task.run(encoder, resolved, rate, seed, given.per_epoch, given.threads, given.trainer)
    with tqdm(total=trainer.total, desc=f"{method} rate {rate:g} seed {seed}", disable=None) as bar:

        def show(step, dev, **_):
            bar.update(step - bar.n)
            bar.set_postfix(dev=f"{dev:.1f}")

        trainer.report, trainer.look = show, given.figures
        curve = trainer.train()
    line = key | {
        "options": {name: value for name, value in vars(resolved).items() if name not in ("text", "sampler")}
        | resolved.sampler,
        "through": trainer.through,
        "steps": trainer.total,
        "encoded": trainer.encoded,
        "refreshed": trainer.refreshed,
        "seconds": {name: round(value, 3) for name, value in trainer.clock.seconds.items()},
        "elapsed": round(time.perf_counter() - began, 1),
        "curve": curve,
        **({"figures": trainer.figures} if given.figures else {}),
    }
    record.append(file, line)
    last = {name: value for name, value in curve[-1].items() if name != "step"}
    print(f"{method} rate {rate:g} seed {seed}: {last} in {line['elapsed']} s", flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        prog="python -m recipes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=TASKS)
    parser.add_argument("--methods", help="specs, separated by spaces; default: the task's list")
    parser.add_argument("--seeds", type=int, help="how many; default: the task's")
    parser.add_argument("--rates", help="learning rates to choose from, on seed 0 and dev")
    parser.add_argument("--data", help="folder of the data files; default $GCBS_DATA, or data/")
    parser.add_argument("--encoder", help="static (default for text) or minilm; resnet for vision")
    parser.add_argument("--results", type=files.Path, help="folder of the result lines")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are")
    parser.add_argument("--figures", action="store_true", help="losses at the start of every epoch, too")
    parser.add_argument("--trainer", action="store_true", help="by sentence-transformers' trainer")
    parser.add_argument(
        "--per-epoch", type=int, default=4, help="evaluations an epoch; 0: before and after training only"
    )
    parser.add_argument("--part", default="0/1", help="take every n-th method from the i-th on: i/n")
    return parser.parse_args()


if __name__ == "__main__":
    main()
