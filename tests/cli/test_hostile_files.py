"""Inputs that are broken, lie, or are no files at all: exit 3, words, no output, no hang."""

import json
import os
import pathlib
import shutil
import struct
import tempfile

import numpy as np
import pytest


def npy(header, data=b"", version=(1, 0), length=None):
    """A .npy file with any header text and, if told so, a lie about its length."""
    text = header.encode() if isinstance(header, str) else header
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    field = "<H" if version[0] == 1 else "<I"
    stated = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack(field, stated) + text + data


def header(shape="(4, 3)", descr="'<f4'", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


GOOD = np.ones((4, 3), np.float32).tobytes()

NPY = {
    "empty file": b"",
    "a few bytes": b"\x93NUM",
    "wrong magic": b"PK\x03\x04" + bytes(200),
    "text": b"0.1 0.2 0.3\n" * 50,
    "unknown version": npy(header(), GOOD, version=(9, 0)),
    "header cut": npy(header(), GOOD)[:40],
    "header length past the end": npy(header(), GOOD, length=60_000),
    "header length zero": npy(header(), GOOD, length=0),
    "header length 4 GiB": npy(header(), GOOD, version=(2, 0), length=0xFFFFFFFF),
    "header is no dictionary": npy("[1, 2, 3]", GOOD),
    "header is garbage": npy(b"\xff\x00{{{{((((" * 20, GOOD),
    "header nested deep": npy("{" * 20_000, GOOD),
    "no shape": npy("{'descr': '<f4', 'fortran_order': False}", GOOD),
    "data cut": npy(header(), GOOD[:-1]),
    "no data": npy(header()),
    "shape overflows": npy(header("(4294967296, 4294967296)"), GOOD),
    "shape overflows with the item": npy(header("(4611686018427387905, 1)"), GOOD),
    "shape has forty digits": npy(header("(" + "9" * 40 + ", 3)"), GOOD),
    "shape negative": npy(header("(-4, 3)"), GOOD),
    "shape of one": npy(header("(12,)"), GOOD),
    "shape of three": npy(header("(2, 2, 3)"), GOOD),
    "shape of none": npy(header("()"), GOOD),
    "no rows": npy(header("(0, 3)")),
    "no columns": npy(header("(4, 0)")),
    "fortran order": npy(header(order="True"), GOOD),
    "integers": npy(header(descr="'<i4'"), GOOD),
    "complex": npy(header("(2, 3)", descr="'<c8'"), GOOD),
    "records": npy(header(descr="[('a', '<f4')]"), GOOD),
    "pickled objects": npy(header(descr="'|O'"), GOOD),
}


def safetensors(table, data=b"", length=None):
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(dtype="F32", shape=(4, 3), offsets=(0, 48)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


SAFETENSORS = {
    "empty file": b"",
    "seven bytes": bytes(7),
    "header length past the end": safetensors({"a": tensor()}, GOOD, length=10_000),
    "header length all ones": safetensors({"a": tensor()}, GOOD, length=2**64 - 1),
    "header is no JSON": safetensors(b"{{{{", GOOD),
    "header is a list": safetensors([1, 2], GOOD),
    "header nested deep": safetensors(b"[" * 200_000, GOOD),
    "no tensor": safetensors({"__metadata__": {"a": "b"}}, GOOD),
    "data cut": safetensors({"a": tensor()}, GOOD[:-1]),
    "offsets past the end": safetensors({"a": tensor(offsets=(48, 96))}, GOOD),
    "offsets backwards": safetensors({"a": tensor(offsets=(48, 0))}, GOOD),
    "offsets negative": safetensors({"a": tensor(offsets=(-48, 0))}, GOOD),
    "offsets do not fit the shape": safetensors({"a": tensor(shape=(5, 3))}, GOOD),
    "shape overflows": safetensors({"a": tensor(shape=(2**32, 2**32))}, GOOD),
    "shape negative": safetensors({"a": tensor(shape=(-4, 3))}, GOOD),
    "shape of words": safetensors({"a": {**tensor(), "shape": ["4", "3"]}}, GOOD),
    "integers": safetensors({"a": tensor(dtype="I32")}, GOOD),
    "no rows": safetensors({"a": tensor(shape=(0, 3), offsets=(0, 0))}),
}


def refused(gcbs, file, **options):
    """Exit 3 with words that name the file, and nothing left in the folder."""
    before = set(os.listdir(gcbs.folder))
    words = options.pop("words", ["-k", "2"])
    name = options.pop("name", file.split(":")[0])
    done = gcbs.fails("order", file, *words, "-o", "order.npy", code=3, says=name, timeout=10, **options)
    assert set(os.listdir(gcbs.folder)) == before, "a run that fails leaves nothing behind"
    return done.stderr


@pytest.mark.parametrize("what", NPY)
def test_npy(gcbs, tmp_path, what):
    (tmp_path / "bad.npy").write_bytes(NPY[what])
    refused(gcbs, "bad.npy")


@pytest.mark.parametrize("what", SAFETENSORS)
def test_safetensors(gcbs, tmp_path, what):
    (tmp_path / "bad.safetensors").write_bytes(SAFETENSORS[what])
    refused(gcbs, "bad.safetensors")


def test_safetensors_names(gcbs, tmp_path):
    two = {"a": tensor(), "b": tensor(offsets=(48, 96))}
    (tmp_path / "two.safetensors").write_bytes(safetensors(two, GOOD + GOOD))
    assert "a" in refused(gcbs, "two.safetensors")
    assert "c" in refused(gcbs, "two.safetensors:c")
    gcbs("order", "two.safetensors:b", "-k", 2, "-o", "order.npy")


def test_a_pickle_from_numpy_itself(gcbs, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[1, "a"], [2, "b"]], dtype=object), allow_pickle=True)
    refused(gcbs, "objects.npy")


def test_missing_folder_and_unknown_kind(gcbs, tmp_path):
    refused(gcbs, "none.npy")
    (tmp_path / "folder.npy").mkdir()
    refused(gcbs, "folder.npy")
    refused(gcbs, "folder.npy/none.npy")
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    refused(gcbs, "loop.npy")
    refused(gcbs, "n" * 300 + ".npy")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_devices(gcbs, device):
    refused(gcbs, device)


def test_a_pipe_without_a_writer_does_not_hang(gcbs, tmp_path):
    os.mkfifo(tmp_path / "pipe.npy")
    refused(gcbs, "pipe.npy")


@pytest.fixture
def open_folder():
    """A folder that other users can reach; pytest's own are private."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_unreadable(gcbs, open_folder):
    np.save(open_folder / "secret.npy", np.ones((4, 3), np.float32))
    (open_folder / "secret.npy").chmod(0)
    options = {}
    if os.geteuid() == 0:
        nobody = 65534
        options = {"user": nobody, "group": nobody, "extra_groups": []}
        try:
            gcbs("--version", cwd=open_folder, **options)
        except (PermissionError, AssertionError):
            pytest.skip("nobody cannot run the program where it stands")
    gcbs.folder = open_folder
    assert "ermission" in refused(gcbs, "secret.npy", **options)


@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "Inf"), (-np.inf, "Inf")])
def test_values_that_are_no_numbers_are_named_by_row(gcbs, pair, tmp_path, value, word):
    x = pair[0].copy()
    x[203, 7] = x[250, 0] = value
    np.save(tmp_path / "bad.npy", x)
    said = refused(gcbs, "bad.npy")
    assert "203" in said and word.lower() in said.lower()
    assert "203" in refused(gcbs, "X.npy", words=["bad.npy", "-k", "2"], name="bad.npy")


def test_zero_row_is_named(gcbs, pair, tmp_path):
    x = pair[0].copy()
    x[[17, 90]] = 0
    np.save(tmp_path / "bad.npy", x)
    assert "17" in refused(gcbs, "bad.npy")


def test_shapes_that_differ(gcbs, pair, tmp_path):
    np.save(tmp_path / "short.npy", pair[1][:-1])
    np.save(tmp_path / "narrow.npy", pair[1][:, :-1])
    said = refused(gcbs, "X.npy", words=["short.npy", "-k", "2"])
    assert "300" in said and "299" in said
    said = refused(gcbs, "X.npy", words=["narrow.npy", "-k", "2"])
    assert "24" in said and "23" in said


def test_flags_that_do_not_fit_the_data(gcbs, pair, tmp_path):
    said = refused(gcbs, "X.npy", words=["-k", "301"], name="301")
    assert "300" in said
    said = refused(gcbs, "X.npy", words=["-k", "8", "-m", "300.5"], name="300.5")
    assert "300" in said
    refused(gcbs, "X.npy", words=["-k", "18446744073709551615"], name="18446744073709551615")
    np.save(tmp_path / "one.npy", pair[0][:1])
    refused(gcbs, "one.npy", words=["-k", "2"], name="1")
