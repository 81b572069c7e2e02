#!/usr/bin/env bash
# The same bytes on another machine: orders and edges of the native program against the aarch64 one's.
set -euo pipefail
cd "$(dirname "$0")/.."
work=build/aarch64/compare
mkdir -p "$work"

.venv/bin/python - "$work" <<'PYTHON'
import sys

import numpy

random = numpy.random.default_rng(1)
for name in "xy":
    numpy.save(f"{sys.argv[1]}/{name}.npy", random.random((500, 37), dtype=numpy.float32))
PYTHON

order() {  # order OUTPUT PROGRAM...
  "${@:2}" order "$work/x.npy" "$work/y.npy" -k 8 -m 16 --quiet -o "$work/$1.order.npy" --edges "$work/$1.edges.npy"
}
order native build/gcbs
order aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/gcbs
for kind in order edges; do
  cmp "$work/native.$kind.npy" "$work/aarch64.$kind.npy"
done
echo "aarch64 gives the same bytes: $(du -b "$work/native.edges.npy" | cut -f1) bytes of edges, 500 rows ordered"
