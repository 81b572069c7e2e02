"""Writes the seed files of the fuzz targets into corpus/ beside this script. Needs nothing but Python."""

import json
import struct
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def npy(descr="<f4", order="False", shape="(2, 3)", data=bytes(range(1, 25)), major=1, length=None):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    width = "<H" if major == 1 else "<I"
    return b"\x93NUMPY" + bytes([major, 0]) + struct.pack(width, length or len(header)) + header + data


def safetensors(tensors, data=bytes(range(1, 25)), length=None):
    header = tensors if isinstance(tensors, bytes) else json.dumps(tensors).encode()
    return struct.pack("<Q", length or len(header)) + header + data


def tensor(dtype="F32", shape=(2, 3), offsets=(0, 24)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


SEEDS = {
    "fuzz_npy": {
        "f4": npy(),
        "f2": npy("<f2", data=bytes(range(1, 13))),
        "f8": npy("<f8", shape="(1, 3)"),
        "bf16": npy("<V2", data=bytes(range(1, 13))),
        "v2": npy(major=2),
        "v3": npy(major=3),
        "fortran": npy(order="True"),
        "fortran_column": npy(order="True", shape="(6, 1)"),
        "swapped": npy(">f4"),
        "object": npy("|O"),
        "structured": npy().replace(b"'<f4'", b"[('a', '<f4')]", 1),
        "one_dimension": npy(shape="(6,)"),
        "negative": npy(shape="(-2, 3)"),
        "overflow": npy(shape="(4294967296, 4294967296)"),
        "short": npy(data=b"123"),
        "length_lies": npy(length=60000),
        "python2": npy(shape="(2L, 3L)"),
    },
    "fuzz_safetensors": {
        "f32": safetensors({"emb": tensor()}),
        "f16": safetensors({"emb": tensor("F16", offsets=(0, 12))}),
        "bf16": safetensors({"emb": tensor("BF16", offsets=(1, 13))}),
        "f64": safetensors({"emb": tensor("F64", (1, 3))}),
        "metadata": safetensors({"__metadata__": {"format": "pt"}, "b": tensor(shape=(6,)), "emb": tensor()}),
        "two": safetensors({"a": tensor(), "emb": tensor()}),
        "twice": safetensors(b'{"emb":{"dtype":"F32"},"emb":{"dtype":"F32"}}'),
        "overflow": safetensors({"emb": tensor(shape=(4294967296, 4294967296))}),
        "offsets": safetensors({"emb": tensor(offsets=(24, 0))}),
        "nested": safetensors(b'{"a":' + b"[" * 64),
        "length_lies": safetensors({"emb": tensor()}, length=1 << 40),
        "empty": safetensors({}),
    },
    "fuzz_records": {
        "lines": b'{"a": 1}\n{"a": 2}\n',
        "crlf": b"a\r\nb\r\n",
        "open_end": b"a\nb",
        "blank": b"a\n\nb\n\n\r\n",
        "quoted": b'h,i\n1,"a\nb"\n2,"c ""d"""\n',
        "semicolons": b'1;"a\n";b\n',
        "text_quotes": b'5" disk\n"a"b"\n',
        "unclosed": b'a\n,"b\n',
        "mark": b'\xef\xbb\xbf"a\nb"\nc\n',
        "array": b"[1,\n2]\n",
        "gzip": b"\x1f\x8b\x08\x00",
        "utf16": b"\xff\xfea\x00\n\x00",
    },
}

for target, seeds in SEEDS.items():
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (CORPUS / target / name).write_bytes(content)
