"""Help, version, completion, and command lines that are wrong whatever the data."""

import json
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

VERBS = ["order", "gap", "compare", "mine", "info", "completion"]
COMPLETIONS = ROOT / "cli" / "completions"


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))


def test_version(gcbs):
    assert re.fullmatch(r"gcbs \d+\.\d+\.\d+\n", gcbs("--version").stdout)
    assert gcbs("order", "--version").stdout == gcbs("--version").stdout


@pytest.mark.parametrize("words", [["--help"], ["-h"], *([verb, "--help"] for verb in VERBS)])
def test_help_goes_to_stdout_and_fits_a_terminal(gcbs, words):
    done = gcbs(*words)
    assert done.stderr == ""
    assert "Usage: gcbs" in done.stdout and "Example:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 82


@pytest.mark.parametrize("words", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_examples_in_the_help_run_as_printed(gcbs, pair, words):
    example = gcbs(*words).stdout.split("Example:\n")[1].split("\n\n")[0]
    commands = [line.split() for line in example.splitlines()]
    assert commands
    for command in commands:
        assert command[0] == "gcbs"
        gcbs(*command[1:])


def test_no_words_is_a_usage_error(gcbs):
    gcbs.fails(code=2, says="gcbs --help")


@pytest.mark.parametrize(
    "words, says",
    [
        (["ordr"], "did you mean gcbs order?"),
        (["frobnicate"], "the verbs are order, gap, compare, mine, info"),
        (["--frobnicate"], "unknown flag --frobnicate"),
        (["order", "X.npy", "--metod", "rcm"], "did you mean --method?"),
        (["order", "X.npy", "--normalized"], "did you mean --normalised?"),
        (["order", "X.npy", "--memory-limt=8G"], "did you mean --memory-limit?"),
        (["order", "X.npy", "Y.npy", "Z.npy", "-k", "8", "-o", "o.npy"], "unexpected argument 'Z.npy'"),
        (["order"], "X is missing"),
        (["order", "X.npy", "-k", "8"], "-o is missing"),
        (["order", "X.npy", "-o", "o.npy"], "-k is missing"),
        (["order", "X.npy", "-k"], "has no value"),
        (["order", "X.npy", "-k", "8", "-k", "9", "-o", "o.npy"], "more than once"),
        (["order", "X.npy", "-k", "8", "-o", "o.npy", "--json=3"], "--json takes no value"),
        (["info", "X.npy"], "unexpected argument 'X.npy'"),
        (["completion"], "bash and zsh"),
        (["completion", "fish"], "'fish'"),
    ],
)
def test_wrong_words(gcbs, pair, words, says):
    gcbs.fails(*words, code=2, says=says)


@pytest.mark.parametrize(
    "words",
    [
        ["-k", "1"],
        ["-k", "0"],
        ["-k", "-5"],
        ["-k", "8.5"],
        ["-k", "eight"],
        ["-k", ""],
        ["-k", "99999999999999999999"],
        ["-q", "1"],
        ["-q", "-0.1"],
        ["-q", "nan"],
        ["-q", "0,5"],
        ["-m", "0"],
        ["-m", "-3"],
        ["-m", "inf"],
        ["-m", "8", "-q", "0.5"],
        ["--method", "best"],
        ["--threshold", "fuzzy"],
        ["--shortcut", "automatic"],
        ["--isa", "sse9"],
        ["--threads", "-1"],
        ["--threads", "many"],
        ["--threads", "1000000"],
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--memory-limit", "0"],
        ["--memory-limit", "8X"],
        ["--memory-limit", "G"],
        ["--memory-limit", "-8G"],
        ["--memory-limit", "1e40G"],
        ["--paper", "--method", "cm"],
        ["--paper", "--threshold", "exact"],
        ["--edges", "e.npy", "--method", "random"],
        ["--edges", ""],
        ["-o", ""],
    ],
)
def test_wrong_values_are_found_before_any_file_is_read(gcbs, words):
    given = [] if "-k" in words else ["-k", "8"]
    output = [] if "-o" in words else ["-o", "o.npy"]
    done = gcbs.fails("order", "no-such-file.npy", *given, *output, *words, code=2)
    assert words[0] in done.stderr


def test_empty_environment_and_closed_streams(gcbs, pair, program_path, tmp_path):
    script = f"'{program_path}' order X.npy -k 8 -o o.npy --json <&- >&- 2>&-"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env={}, check=False)
    assert done.returncode == 5, "the object could not be printed"
    assert (tmp_path / "o.npy").read_bytes()[:6] == b"\x93NUMPY"


def test_info(gcbs):
    lines = dict(line.split(None, 1) for line in gcbs("info").stdout.splitlines())
    assert list(lines) == ["version", "compiled", "available", "chosen", "cores"]
    report = json.loads(gcbs("info", "--json").stdout)
    assert report["available"][-1] == "scalar"
    assert set(report["available"]) <= set(report["compiled"])
    assert report["chosen"] == report["isa"] == report["available"][0] == lines["chosen"]
    assert report["cores"] == int(lines["cores"]) >= 1


def test_info_obeys_the_environment(gcbs):
    report = json.loads(gcbs("info", "--json", env={"GCBS_ISA": "scalar"}).stdout)
    assert report["chosen"] == "scalar"
    gcbs.fails("info", code=2, says="GCBS_ISA=sse9", env={"GCBS_ISA": "sse9"})


@pytest.mark.parametrize("shell, name", [("bash", "gcbs.bash"), ("zsh", "_gcbs")])
def test_completion_prints_the_installed_script_and_it_knows_every_flag(gcbs, shell, name):
    script = gcbs("completion", shell).stdout
    assert script == (COMPLETIONS / name).read_text()
    for verb in VERBS:
        assert verb in script
        missing = flags_in(gcbs(verb, "--help").stdout.split("Example:")[0]) - flags_in(script)
        assert not missing, f"{name} lacks {missing} of gcbs {verb}"


@pytest.mark.parametrize(
    "typed, offered",
    [
        (["gcbs", "o"], {"order"}),
        (["gcbs", "order", "--me"], {"--method", "--memory-limit"}),
        (["gcbs", "order", "--method", "c"], {"cm", "chain"}),
        (["gcbs", "order", ""], {"X.npy", "Y.npy"}),
        (["gcbs", "order", "X.npy", "-k", "8", "-o", "Y"], {"Y.npy"}),
        (["gcbs", "order", "X.npy", "--reorder", "n"], {"notes.txt"}),
        (["gcbs", "order", "--reo"], {"--reorder", "--reordered"}),
        (["gcbs", "info", "--j"], {"--json"}),
        (["gcbs", "completion", ""], {"bash", "zsh", "-h", "--help", "--version"}),
    ],
)
def test_bash_completes(program_path, pair, tmp_path, typed, offered):
    (tmp_path / "notes.txt").touch()
    words = " ".join(f"'{word}'" for word in typed)
    script = (
        f"source <('{program_path}' completion bash); COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; "
    )
    script += "_gcbs; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
def test_zsh_accepts_the_script():
    subprocess.run(["zsh", "-n", str(COMPLETIONS / "_gcbs")], check=True)
