"""Progress and colour: one line drawn over on a terminal, plain rare lines in a log."""

import re
import signal
import subprocess

import pytest
from screen import Screen

IN_THE_JOIN = r"join "
FAR_IN_THE_JOIN = r"join .*\d+ %.* left"


def start(gcbs, screen, words, **environment):
    """The program with its stderr on the screen."""
    environment = {"TERM": "xterm", **environment}
    process = gcbs.start(*words, env=environment, stdout=subprocess.PIPE, stderr=screen.descriptor)
    screen.close_program_side()
    return process


def stop(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=5) == 130


def test_progress_line_has_stage_percent_rate_and_time_left(gcbs, long_run):
    screen = Screen(columns=100)
    process = start(gcbs, screen, long_run)
    match = screen.wait_for(r"\r\x1b\[Kjoin +\[=*>? *\] +\d+ %  [\d.]+ [kMG] pairs/s  [\d:]+ \w+ left")
    assert len(match[0]) - len("\r\x1b[K") < 100
    assert "\n" not in screen.text, "one line, drawn over"
    stop(process)
    screen.read(1)
    assert [line for line in screen.shown() if line] == ["gcbs: interrupted"], "the line is gone in the end"


def test_narrow_terminals_are_not_overrun(gcbs, long_run):
    screen = Screen(columns=30)
    process = start(gcbs, screen, long_run)
    screen.wait_for(FAR_IN_THE_JOIN)
    stop(process)
    lines = re.findall(r"\r\x1b\[K([^\r\n]*)", screen.text)
    assert max(map(len, lines)) < 30


def test_a_short_run_shows_no_progress_but_the_summary_in_colour(gcbs, pair):
    screen = Screen()
    process = start(gcbs, screen, ["order", "X.npy", "-k", 16, "-o", "o.npy"])
    assert process.wait(timeout=20) == 0
    text = screen.read(0.5)
    assert "\x1b[2mpairs\x1b[0m" in text
    assert "300 x 24" in text


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}])
def test_no_colour_when_asked(gcbs, pair, environment):
    screen = Screen()
    process = start(gcbs, screen, ["order", "X.npy", "-k", 16, "-o", "o.npy"], **environment)
    assert process.wait(timeout=20) == 0
    assert "\x1b[" not in screen.read(0.5).replace("\r\x1b[K", "")


def test_an_empty_no_color_means_nothing(gcbs):
    screen = Screen()
    process = start(gcbs, screen, ["order", "none.npy", "-k", 16, "-o", "o.npy"], NO_COLOR="")
    assert process.wait(timeout=20) == 3
    assert "\x1b[1;31merror:\x1b[0m" in screen.read(0.5)


def test_a_dumb_terminal_is_not_drawn_over(gcbs, long_run):
    screen = Screen()
    process = start(gcbs, screen, long_run, TERM="dumb")
    screen.wait_for(r"gcbs: join \d+ %, [\d.]+ [kMG] pairs/s, [\d:]+ \w+ left\r\n")
    stop(process)
    assert "\x1b" not in screen.text


def test_plain_lines_in_a_log(gcbs, long_run):
    process = gcbs.start(*long_run, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    assert re.fullmatch(r"gcbs: (\w+)( \d+ %(, [\d.]+ [kMG] \w+/s, [\d:]+ \w+ left)?)?\n", line)
    stop(process)
    assert process.stderr.read() == "gcbs: interrupted\n"


def test_quiet_draws_nothing(gcbs, long_run):
    screen = Screen()
    process = start(gcbs, screen, [*long_run, "--quiet"])
    assert screen.read(1.5) == ""
    stop(process)
