"""The documents: links lead somewhere, commands run, flags exist.

Convention: a fenced block whose info string is `sh runnable` or `python runnable` is run, in the order of the
document, in one folder a document. The folder holds X.npy, Y.npy and data.jsonl, a line a row; `gcbs` and
`python` are on the PATH, and Python blocks find a `dataset` as long as X. A block `text output` right after
one is its expected stdout.
"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("GCBS_PROGRAM", ROOT / "build" / "gcbs")).resolve()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNABLE = ("sh runnable", "python runnable")
OUTPUT = "text output"
ROWS = 300

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-z])(?![\w-])")


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks_of(document):
    """(info string, text) of every fenced block."""
    return [(info.strip(), text) for info, text in FENCE.findall(document.read_text(encoding="utf-8"))]


def is_runnable(document):
    return any(info in RUNNABLE for info, _ in blocks_of(document))


def prose_of(document):
    """The document without fenced blocks."""
    return FENCE.sub("", document.read_text(encoding="utf-8"))


def anchors_of(document):
    titles = re.findall(r"^#+ +(.+)$", prose_of(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


VERBS = ("order", "gap", "compare", "mine", "info")


@pytest.fixture(scope="module")
def help_texts():
    """The help of each verb."""
    texts = {}
    for verb in VERBS:
        done = subprocess.run([PROGRAM, verb, "--help"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        texts[verb] = done.stdout
    return texts


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with two embedding files, and a PATH on which the program and this Python are found."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, target in (("gcbs", PROGRAM), ("python", sys.executable)):
        (tools / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        (tools / name).chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    x = np.random.default_rng(0).standard_normal((ROWS, 16))
    y = x + 0.3 * np.random.default_rng(1).standard_normal(x.shape)
    np.save(folder / "X.npy", x.astype(np.float32))
    np.save(folder / "Y.npy", y.astype(np.float32))
    (folder / "data.jsonl").write_text("".join(f'{{"id": {i}}}\n' for i in range(ROWS)))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


def run_shell(text):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_python(text, names):
    modules = re.findall(r"^(?:import|from) +(\w+)", text, re.MULTILINE)
    if any(importlib.util.find_spec(module) is None for module in modules):
        return None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "<document>", "exec"), names)
    return out.getvalue()


def test_there_are_documents_and_runnable_blocks():
    assert len(DOCUMENTS) > 8
    assert sum(info in RUNNABLE for document in DOCUMENTS for info, _ in blocks_of(document)) >= 6


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_info_strings_are_known(document):
    known = {*RUNNABLE, OUTPUT, "sh", "python", "cpp", "cmake", "json", "text", "bibtex", ""}
    assert {info for info, _ in blocks_of(document)} <= known


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for target in LINK.findall(prose_of(document)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.is_relative_to(ROOT), target
        assert file.exists(), f"{name_of(document)} links to {target}"
        if anchor:
            assert anchor in anchors_of(file), f"{name_of(document)} links to {target}"


@pytest.mark.parametrize("document", [*filter(is_runnable, DOCUMENTS)], ids=name_of)
def test_runnable_blocks_run(document, workplace):
    names = {"dataset": list(range(ROWS))}
    printed = None
    for info, text in blocks_of(document):
        if info == "sh runnable":
            printed = run_shell(text)
        elif info == "python runnable":
            printed = run_python(text, names)
        elif info == OUTPUT:
            assert printed == text
    if "loader" in names:  # the README's training loop: the order's batches, in another sequence
        batches = [set(batch.tolist()) for batch in names["loader"]]
        order = names["gcbs"].order(np.load("X.npy"), np.load("Y.npy"), batch_size=64).tolist()
        assert [len(batch) for batch in batches] == [64, 64, 64, 64, ROWS % 64]
        assert all(set(order[first : first + 64]) in batches for first in range(0, ROWS, 64))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_flags_exist(document, help_texts):
    """Flags of `gcbs VERB ...` commands are that verb's; `--flag` or `-f` in the prose is some verb's."""
    text = document.read_text(encoding="utf-8")
    for verb, help_text in help_texts.items():
        commands = [command.split("#")[0] for command in re.findall(rf"\bgcbs {verb}\b[^\n`|]*", text)]
        mentioned = {flag for command in commands for flag in FLAG.findall(command)}
        assert mentioned <= set(FLAG.findall(help_text)), verb
    mentioned = {
        flag for part in re.findall(r"`(-[^`]*)`", prose_of(document)) for flag in FLAG.findall(part)
    }
    known = "".join(help_texts.values())
    if Path(document).name == "benchmarks.md":  # the one page that names flags of the benchmark's own scripts
        known += "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bench").glob("*.py"))
    assert mentioned <= set(FLAG.findall(known))


def test_first_screen_of_the_readme():
    """One sentence, a picture before and after, a command, a measured table: before the first heading."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    screen = text[: text.index("\n## ")]
    for needed in ("docs/order.png", "gcbs order", "<!-- begin summary -->", "<!-- end summary -->"):
        assert needed in screen
    assert (ROOT / "docs" / "order.png").stat().st_size < 150_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_path_of_one_machine(document):
    assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/", document.read_text(encoding="utf-8"))


def test_tables_are_what_the_results_say():
    subprocess.run([sys.executable, ROOT / "tools" / "render_benchmarks.py", "--check"], check=True)


def test_the_api_page_is_what_the_docstrings_say():
    subprocess.run([sys.executable, ROOT / "tools" / "render_api.py", "--check"], check=True)
