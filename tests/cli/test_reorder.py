"""--reorder and --reordered: the records of text files in the sequence of the order, byte for byte."""

import csv
import gzip
import io
import json
import os
import random
import signal
import subprocess

import numpy as np
import pytest
from screen import Screen
from test_outputs import listing, mounted
from test_signals import wait_until_mapped
from test_terminal import IN_THE_JOIN, start

ROWS = 300
ORDER = ["order", "X.npy", "Y.npy", "-k", 16, "-o", "order.npy"]


def lines(count=ROWS, end=b"\n", text="a record, its number {}, and \u00fc"):
    return [text.format(i).encode() + end for i in range(count)]


def table(separator, count=ROWS, seed=1, end="\r\n"):
    """Records of a .csv file as Python writes them: quotes, separators and newlines in the fields."""
    draw = random.Random(seed)
    alphabet = 'ab,;"\n \t\u00fc' + end  # Python quotes a \r only where lines end with one
    records = []
    for i in range(count):
        row = ["".join(draw.choices(alphabet, k=draw.randrange(9))) for _ in range(2)]
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=separator, lineterminator=end).writerow([i, *row])
        records.append(out.getvalue().encode())
    return records


def reordered(gcbs, content, name="data.jsonl", words=()):
    """What the program makes of the file, and the order that it wrote beside it."""
    (gcbs.folder / name).write_bytes(content)
    gcbs(*ORDER, "--reorder", name, "--reordered", "out", *words)
    return (gcbs.folder / "out").read_bytes(), np.load(gcbs.folder / "order.npy")


@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data.tsv", "data.csv", "data.TXT", "train.en"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_come_out_in_the_order(gcbs, pair, name, end):
    records = lines(end=end)
    out, order = reordered(gcbs, b"".join(records), name)
    assert sorted(order) == list(range(ROWS)) and list(order) != list(range(ROWS))
    assert out == b"".join(records[row] for row in order)


@pytest.mark.parametrize(
    "words", [["--block", 4, "--epoch", 3], ["--random-share", 0.5], ["--method", "random"]]
)
def test_the_file_follows_the_order_that_is_written(gcbs, pair, words):
    records = lines()
    out, order = reordered(gcbs, b"".join(records), words=words)
    assert out == b"".join(records[row] for row in order)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("header", [b"", b'"a\nheader"\r\n'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_records_may_hold_newlines(gcbs, pair, separator, header, end):
    records = table(separator, end=end)
    assert sum(record.count(b"\n") > 1 for record in records) > 50
    out, order = reordered(gcbs, header + b"".join(records), "data.csv")
    assert out == header + b"".join(records[row] for row in order)
    rows = list(csv.reader(io.StringIO(out.decode(), newline=""), delimiter=separator))
    assert [int(row[0]) for row in rows[bool(header) :]] == order.tolist(), "and Python reads it so"


def test_csv_records_are_those_that_python_reads(gcbs, tmp_path):
    """Quotes in odd places too: what the csv module takes for a record stays one."""
    draw = random.Random(2)
    texts = [
        "".join(draw.choices(["a", ",", '"', '""', "\n", "\r\n", ',"', '",'], k=60)) for _ in range(1000)
    ]
    tried = 0
    for text in texts:
        reader = csv.reader(io.StringIO(text, newline=""))
        ends = [reader.line_num for _ in reader]
        pieces = text.splitlines(keepends=True)
        records = ["".join(pieces[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
        if len(records) < 4 or records[-1].count('"') or not records[-1].strip() or tried == 40:
            continue  # few, unclosed at the end, or blank there
        tried += 1
        np.save(tmp_path / "X.npy", np.random.default_rng(tried).random((len(records), 4), dtype=np.float32))
        (tmp_path / "data.csv").write_bytes(text.encode())
        words = ["--method", "random", "--reorder", "data.csv", "--reordered", "out.csv"]
        gcbs("order", "X.npy", "-k", 2, "-o", "order.npy", *words)
        if not records[-1].endswith("\n"):
            records[-1] += "\r\n" if records[0].endswith("\r\n") else "\n"
        order = np.load(tmp_path / "order.npy")
        assert (tmp_path / "out.csv").read_bytes() == "".join(records[row] for row in order).encode()
    assert tried == 40


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_header_and_byte_order_mark_stay_first(gcbs, pair, mark):
    records, header = lines(text="{}\ta"), b"query\tdocument\n"
    out, order = reordered(gcbs, mark + header + b"".join(records), "data.tsv")
    assert out == mark + header + b"".join(records[row] for row in order)
    out, order = reordered(gcbs, mark + b"".join(records), "data.jsonl")
    assert out == mark + b"".join(records[row] for row in order)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_last_record_without_a_line_end_is_given_one(gcbs, pair, end):
    records = lines(end=end)
    out, order = reordered(gcbs, b"".join(records)[: -len(end)])
    assert out == b"".join(records[row] for row in order)


def test_empty_records_are_records_and_blank_ends_are_not(gcbs, pair):
    records = [b"\n" if i % 3 == 0 else line for i, line in enumerate(lines())]
    for ending in (b"", b"\n", b"\n\r\n\n"):
        out, order = reordered(gcbs, b"".join(records) + ending, "data.txt")
        assert out == b"".join(records[row] for row in order)
    records[-2:] = [b"\n", b"\n"]
    out, order = reordered(gcbs, b"".join(records), "data.txt")
    assert out == b"".join(records[row] for row in order), "blank, but needed"


def test_bytes_that_are_no_utf8_stay_as_they_are(gcbs, pair):
    draw = random.Random(4)
    kept = [byte for byte in range(256) if byte not in (0, 10)]
    records = [bytes(draw.choices(kept, k=40)) + b"\n" for _ in range(ROWS)]
    records[0] = b"a\n"
    out, order = reordered(gcbs, b"".join(records))
    assert out == b"".join(records[row] for row in order)


def test_several_files(gcbs, pair, tmp_path):
    queries, documents = lines(text="q{}"), table(",")
    (tmp_path / "q.txt").write_bytes(b"".join(queries))
    (tmp_path / "d.csv").write_bytes(b"".join(documents))
    words = ["--reorder", "q.txt", "--reorder", "d.csv", "--reordered", "q.out", "--reordered", "d.out"]
    report = gcbs.json(*ORDER, *words)
    order = np.load(tmp_path / "order.npy")
    assert (tmp_path / "q.out").read_bytes() == b"".join(queries[row] for row in order)
    assert (tmp_path / "d.out").read_bytes() == b"".join(documents[row] for row in order)
    assert report["options"]["reorder"] == ["q.txt", "d.csv"]
    assert report["options"]["reordered"] == ["q.out", "d.out"]
    assert report["stages"][-1]["name"] == "write"
    done = gcbs(*ORDER, *words)
    assert "q.out" in done.stderr and "d.out" in done.stderr
    assert gcbs.json(*ORDER)["options"]["reorder"] == []


@pytest.mark.parametrize(
    "name, count",
    [("data.jsonl", 299), ("data.jsonl", 301), ("data.txt", 301), ("data.tsv", 302), ("data.csv", 299)],
)
def test_a_wrong_count_is_found_before_the_work(gcbs, long_run, long_rows, tmp_path, name, count):
    (tmp_path / name).write_bytes(b"".join(lines(count)))
    words = ["--reorder", name, "--reordered", "out"]
    says = [f"{name} has {count} ", f"for {len(long_rows)} rows"]
    gcbs.fails(*long_run, *words, code=3, says=says, timeout=5)
    np.save(tmp_path / "long.npy", np.eye(ROWS, 4, dtype=np.float32) + 1)
    gcbs.fails(*long_run, *words, code=3, says=[f"{name} has {count} ", f"for {ROWS} rows"])
    assert listing(tmp_path) == sorted([name, "long.npy"])


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("none.jsonl", None, "no such file"),
        ("empty.jsonl", b"", "empty"),
        ("data.jsonl.gz", gzip.compress(b"".join(lines())), "gunzip"),
        ("data.jsonl", gzip.compress(b"".join(lines())), "gunzip"),
        ("data.json", json.dumps(list(range(ROWS))).encode(), "jq"),
        ("data.json", json.dumps(list(range(ROWS - 2)), indent=1).encode(), "jq"),
        ("data.txt", b"".join(lines()).decode().encode("utf-16"), "UTF-16"),
        ("data.parquet", b"PAR1" + bytes(400) + b"PAR1", "binary"),
        ("data.csv", b"a,b\n" * 299 + b'"a,b\n', "record 300"),
    ],
)
def test_files_that_hold_no_records(gcbs, pair, tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    before = listing(tmp_path)
    gcbs.fails(*ORDER, "--reorder", name, "--reordered", "out", code=3, says=[name, says])
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    "words, says",
    [
        (["--reorder", "a.jsonl"], "--reordered is missing"),
        (["--reordered", "a.jsonl"], "--reorder is missing"),
        (
            ["--reorder", "a", "--reorder", "b", "--reordered", "c"],
            "--reorder is there 2 times, --reordered 1",
        ),
        (["--reorder", "", "--reordered", "c"], "the name after --reorder is missing"),
        (["--reorder", "a", "--reordered", ""], "the name after --reordered is missing"),
        (["--reorder", "a.jsonl", "--reordered", "b.jsonl.gz"], "leave out .gz"),
        ([word for i in range(33) for word in ("--reorder", f"a{i}", "--reordered", f"b{i}")], "at most 32"),
    ],
)
def test_flags_that_do_not_fit_each_other(gcbs, words, says):
    gcbs.fails("order", "no-such-file.npy", "-k", 16, "-o", "o.npy", *words, code=2, says=says)


def test_an_output_is_neither_an_input_nor_another_output(gcbs, pair, tmp_path):
    (tmp_path / "data.jsonl").write_bytes(b"".join(lines()))
    (tmp_path / "other.jsonl").write_bytes(b"".join(lines()))
    os.symlink("data.jsonl", tmp_path / "alias.jsonl")
    os.link(tmp_path / "data.jsonl", tmp_path / "hard.jsonl")
    before = listing(tmp_path)
    for output in ("data.jsonl", "./data.jsonl", "alias.jsonl", "hard.jsonl", "X.npy", "order.npy"):
        gcbs.fails(*ORDER, "--reorder", "data.jsonl", "--reordered", output, code=2)
    both = ["--reorder", "data.jsonl", "--reorder", "other.jsonl", "--reordered", "a", "--reordered"]
    for output in ("./a", "data.jsonl"):
        gcbs.fails(*ORDER, *both, output, code=2)
    assert listing(tmp_path) == before
    assert (tmp_path / "data.jsonl").read_bytes() == b"".join(lines())


@pytest.mark.parametrize("place", ["nowhere/out", ".", "/dev/full"])
def test_places_that_take_no_file_are_refused_before_the_work(gcbs, long_run, tmp_path, place):
    (tmp_path / "data.jsonl").write_bytes(b"".join(lines(30_000)))
    words = ["--reorder", "data.jsonl", "--reordered", place]
    gcbs.fails(*long_run, *words, code=5, says=place, timeout=5)
    assert listing(tmp_path) == ["data.jsonl", "long.npy"]


def test_all_outputs_or_none(gcbs, pair, tmp_path):
    for name, text in (("small.txt", "{}"), ("large.txt", "{}" + "x" * 100)):
        (tmp_path / name).write_bytes(b"".join(lines(text=text)))
    (tmp_path / "small.out").write_text("old")
    before = listing(tmp_path)
    for first, second in (("small", "large"), ("large", "small")):
        words = ["--reorder", f"{first}.txt", "--reordered", f"{first}.out"]
        words += ["--reorder", f"{second}.txt", "--reordered", f"{second}.out"]
        gcbs.fails(*ORDER, *words, code=5, says="large.out", file_kib=8)
        assert listing(tmp_path) == before
        assert (tmp_path / "small.out").read_text() == "old"


def test_full_disk(gcbs, pair, tmp_path):
    (tmp_path / "data.jsonl").write_bytes(b"".join(lines(text="{}" + "x" * 1000)))
    with mounted(tmp_path / "small", "size=64k") as small:
        words = ["--reorder", "data.jsonl", "--reordered", "small/out.jsonl"]
        gcbs.fails(*ORDER, *words, code=5, says=["small/out.jsonl", "disk is full"])
        assert listing(small) == []
    assert "order.npy" not in listing(tmp_path)


def test_ctrl_c_in_the_join_leaves_nothing(gcbs, long_run, tmp_path):
    (tmp_path / "data.jsonl").write_bytes(b"".join(lines(30_000)))
    screen = Screen()
    process = start(gcbs, screen, [*long_run, "--reorder", "data.jsonl", "--reordered", "out.jsonl"])
    screen.wait_for(IN_THE_JOIN)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=5) == 130
    assert listing(tmp_path) == ["data.jsonl", "long.npy"]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_of_writing_leaves_nothing(gcbs, pair, tmp_path, number, code):
    large = b"".join(lines(text="{}" + "x" * 400_000))  # 120 MB
    (tmp_path / "data.jsonl").write_bytes(large)
    (tmp_path / "out.jsonl").write_text("old")
    before = listing(tmp_path)
    words = [*ORDER, "--reorder", "data.jsonl", "--reordered", "out.jsonl", "--reorder", "data.jsonl"]
    process = gcbs.start(*words, "--reordered", "again.jsonl", stderr=subprocess.PIPE)

    def bytes_of_temporaries():
        sizes = [entry.stat().st_size for entry in os.scandir(tmp_path) if entry.name.startswith(".gcbs-")]
        return sum(sizes)

    while process.poll() is None:
        try:
            if bytes_of_temporaries() > 0:  # the probes before the work are empty
                break
        except FileNotFoundError:
            pass
    process.send_signal(number)
    words = process.communicate(timeout=30)[1]
    if process.returncode == 0:
        pytest.skip("this disk is faster than the test")
    assert process.returncode == code
    assert words.endswith(b"gcbs: interrupted\n")
    assert listing(tmp_path) == before
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_a_file_that_shrinks_before_it_is_written_out(gcbs, tmp_path):
    count = 6000
    np.save(tmp_path / "X.npy", np.random.default_rng(3).random((count, 32), dtype=np.float32))
    (tmp_path / "data.jsonl").write_bytes(b"".join(lines(count)))
    slow = ["--isa", "scalar", "--threads", 1, "--shortcut", "off"]
    words = ["order", "X.npy", "-k", 16, "-o", "order.npy", "--reorder", "data.jsonl", "--reordered", "out"]
    process = gcbs.start(*words, *slow, stderr=subprocess.PIPE)
    wait_until_mapped(process, "data.jsonl")
    os.truncate(tmp_path / "data.jsonl", 4096)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 3, said
    assert "data.jsonl shrank" in said
    assert listing(tmp_path) == ["X.npy", "data.jsonl"]
