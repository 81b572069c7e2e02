"""python -m gcbs: the report from files, in the manners of the program; other verbs are the program's."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from report_data import make_pairs

pytest.importorskip("matplotlib")

ROOT_FLAGS = ("-k", "20", "-o", "page.html", "--methods", "rcm", "--random-trials", "5")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of 60 pairs, and a PATH without a program."""
    x, y = (side.astype(np.float32) for side in make_pairs(60))
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "Y.npy", y)
    np.save(tmp_path / "groups.npy", np.arange(60) // 2)
    (tmp_path / "labels.txt").write_text("".join(f"text {i}\tcode {i}\n" for i in range(60)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path


def run(*words, code=0):
    command = [sys.executable, "-m", "gcbs", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def svgs(page):
    """What is drawn, without times."""
    return re.sub(r'<section id="run">.*', "", page.read_text(), flags=re.DOTALL)


def test_a_report_is_written_and_read_to_the_user(folder):
    done = run("report", "X.npy", "Y.npy", *ROOT_FLAGS, "--labels", "labels.txt", "--svg", "plots")
    assert done.stdout == ""
    assert "closes" in done.stderr and "written  page.html" in done.stderr
    assert "text 1" in (folder / "page.html").read_text() and (folder / "plots" / "losses.svg").exists()
    done = run("report", "X.npy", "Y.npy", *ROOT_FLAGS, "--quiet", "--json")
    assert done.stderr == ""
    about = json.loads(done.stdout)
    assert about["schema"] == 1 and about["command"] == "report" and about["output"] == "page.html"
    assert about["n"] == 60 and about["options"]["batch_size"] == 20 and about["gap_closed"] > 0


def test_flags_reach_the_engine(folder):
    words = ["--method", "pack", "-q", "0.9", "--groups", "groups.npy", "--groups", "duplicates"]
    words += ["--relative-margin=0.05", "--temperature", "0.1", "--seed", "3", "--symmetric"]
    about = json.loads(run("report", "X.npy", "Y.npy", *ROOT_FLAGS, *words, "--json").stdout)["options"]
    wanted = {"method": "pack", "quantile": 0.9, "relative_margin": 0.05, "temperature": 0.1, "seed": 3}
    assert {name: about[name] for name in wanted} == wanted
    assert about["symmetric"] is True and len(about["groups"]) == 2


@pytest.mark.parametrize(
    "words, margin", [([], 0), (["--relative-margin", "none"], None), (["--max-score", "0.9"], None)]
)
def test_the_margin_is_the_programs(folder, words, margin):
    done = run("report", "X.npy", "Y.npy", *ROOT_FLAGS, "--quiet", "--json", *words)
    assert json.loads(done.stdout)["options"]["relative_margin"] == margin


def test_every_file_format_gives_the_same_page(folder):
    x = np.round(4 * np.load("X.npy"))  # small whole numbers are exact in all formats
    halves = (x.view("<u4") >> 16).astype("<u2")
    assert np.array_equal((halves.astype("<u4") << 16).view("<f4"), x)
    np.save("single.npy", x)
    np.save("bfloat.npy", halves.view("V2"))
    tensors = {
        "a": ("F32", x.tobytes()),
        "b": ("BF16", halves.tobytes()),
        "c": ("F16", x.astype("<f2").tobytes()),
    }
    header, at = {}, 0
    for name, (kind, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    blob = len(text).to_bytes(8, "little") + text + b"".join(data for _, data in tensors.values())
    (folder / "all.safetensors").write_bytes(blob)
    pages = []
    for name in ("single.npy", "bfloat.npy", *(f"all.safetensors:{name}" for name in tensors)):
        run("report", name, *ROOT_FLAGS, "--quiet")
        pages.append(svgs(folder / "page.html"))
    assert len(set(pages)) == 1
    assert "no tensor 'd'" in run("report", "all.safetensors:d", *ROOT_FLAGS, code=3).stderr
    assert "several tensors" in run("report", "all.safetensors", *ROOT_FLAGS, code=3).stderr
    (folder / "cut.safetensors").write_bytes(blob[:-1])
    assert "ends before" in run("report", "cut.safetensors:c", *ROOT_FLAGS, code=3).stderr


WRONG = {
    "report": (2, "the embedding file X is missing"),
    "report X.npy -o page.html": (2, "-k is missing"),
    "report X.npy -k 20": (2, "-o is missing"),
    "report X.npy -k": (2, "--batch-size has no value"),
    "report X.npy -k 1 -o page.html": (2, "-k cannot be '1'"),
    "report X.npy -k x -o page.html": (2, "-k cannot be 'x'"),
    "report X.npy Y.npy Z.npy -k 20 -o page.html": (2, "unexpected argument 'Z.npy'"),
    "report X.npy -k 20 -o page.html --metod rcm": (2, "did you mean --method?"),
    "report X.npy -k 20 -o page.html --method best": (2, "it takes one of rcm, cm, chain, pack"),
    "report X.npy -k 20 -o page.html --temperature 0": (2, "it takes a number above 0"),
    "report X.npy -k 20 -o page.html --quantile 1": (2, "-q cannot be '1'"),
    "report X.npy -k 20 -o page.html -q 0.9 -m 3": (2, "-q and -m contradict each other"),
    "report X.npy -k 20 -o page.html --memory-limit much": (2, "--memory-limit cannot be 'much'"),
    "report X.npy -k 20 -o X.npy": (2, "X.npy is both an input and an output"),
    "report none.npy -k 20 -o page.html": (3, "there is no such file"),
    "report . -k 20 -o page.html": (3, "it is a directory"),
    "report labels.txt -k 20 -o page.html": (3, "give a .npy (numpy.save) or .safetensors file"),
    "report groups.npy -k 20 -o page.html": (3, "its values have type '<i8', not float32"),
    "report X.npy -k 99 -o page.html": (3, "a batch of 99 is larger than the data"),
    "report X.npy -k 20 -o page.html --labels none.txt": (3, "cannot read none.txt"),
    "report X.npy -k 20 -o none/page.html": (5, "there is no folder none"),
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_say_what_why_and_how_to_fix_it(folder, words):
    code, problem = WRONG[words]
    before = sorted(folder.iterdir())
    told = run(*words.split(), code=code).stderr
    assert told.startswith("gcbs: error: ") and problem in told
    assert "\n  why: " in told and "\n  fix: " in told
    assert sorted(folder.iterdir()) == before


SHARED = [words for words in WRONG if "-o page.html -" in words and "labels" not in words]


@pytest.mark.parametrize("words", [*SHARED, "report X.npy -k 1 -o page.html", "report . -k 20 -o page.html"])
def test_wrong_values_are_told_in_the_programs_words(folder, program, words):
    theirs = subprocess.run([program, "order", *words.split()[1:]], capture_output=True, text=True)
    ours = run(*words.split(), code=theirs.returncode)
    assert theirs.stderr == ours.stderr.replace("python -m gcbs report", "gcbs order")


def test_other_verbs_are_the_programs(folder, program, monkeypatch):
    (folder / "bin").mkdir()
    os.symlink(program, folder / "bin" / "gcbs")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    for words in (["--version"], ["order", "X.npy", "-k", "20"]):
        ours = subprocess.run([sys.executable, "-m", "gcbs", *words], capture_output=True, text=True)
        theirs = subprocess.run([program, *words], capture_output=True, text=True)
        assert (ours.returncode, ours.stdout, ours.stderr) == (
            theirs.returncode,
            theirs.stdout,
            theirs.stderr,
        )


def test_without_a_program_other_verbs_say_so(folder):
    code = (
        "import runpy, sys, sysconfig\n"
        "sys.executable, sysconfig.get_path = '/nowhere/python', lambda _: '/nowhere'\n"
        "sys.argv = ['gcbs', 'info']\n"
        "runpy.run_module('gcbs', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 4
    assert "no program gcbs to run 'info'" in done.stderr and "pip install gcbs" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_nothing_behind(folder, number, code):
    x = np.random.default_rng(0).normal(size=(20000, 64)).astype(np.float32)
    np.save("large.npy", x)
    words = ["report", "large.npy", "-k", "64", "-o", "page.html", "--method", "pack", "--effort", "best"]
    before = sorted(folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-m", "gcbs", *words],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as job:
        time.sleep(3)
        job.send_signal(number)
        told = job.communicate(timeout=30)[1]
    assert job.returncode == code and "gcbs: interrupted" in told, told
    assert sorted(folder.iterdir()) == before


def test_help_names_every_flag(folder):
    told = run("report", "--help").stdout
    for flag in ("--batch-size", "--labels", "--svg", "--relative-margin", "--random-trials", "Exit codes"):
        assert flag in told
    assert (
        run("report", "--version").stdout
        == subprocess.run(
            [sys.executable, "-c", "import gcbs; print('gcbs', gcbs.__version__)"],
            capture_output=True,
            text=True,
        ).stdout
    )
