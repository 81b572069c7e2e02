"""Files compiled with -m flags hold no weak symbol, in any build type.

The linker keeps one copy of a weak function for the whole program. Were it the copy of a file built
for AVX-512, a machine without it would stop on an illegal instruction far from any kernel.
"""

import json
import shlex
import subprocess

import pytest
from source_tree import BUILD, ROOT

# A pointer to the unwinder's routine, which g++ emits at -O0: data, and the same in every object.
HARMLESS = {"DW.ref.__gxx_personality_v0"}


def compile_commands():
    """Source path from the root -> (folder, arguments) of the release build, kernels only."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    return {
        file: (entry["directory"], shlex.split(entry["command"]))
        for entry in entries
        for file in [entry["file"].removeprefix(f"{ROOT}/")]
        if file.startswith("src/similarity/kernels/") or file == "src/cpu/amx_self_test.cpp"
    }


def test_every_kernel_is_built():
    kernels = {path.name for path in (ROOT / "src/similarity/kernels").glob("*.cpp")}
    assert "scalar.cpp" in kernels
    built = {file.rpartition("/")[2] for file in compile_commands()}
    assert built - {"amx_self_test.cpp"} <= kernels
    if "avx2.cpp" in built:  # an x86-64 build has them all
        assert built - {"amx_self_test.cpp"} == kernels


@pytest.mark.parametrize("optimisation", ["-O0", "-O2", "-O3"])
def test_no_weak_symbols(optimisation, tmp_path):
    weak = []
    for file, (folder, command) in compile_commands().items():
        compiled = tmp_path / "kernel.o"
        arguments = [word for word in command if not word.startswith("-O") and word != "-DNDEBUG"]
        arguments[arguments.index("-o") + 1] = str(compiled)
        subprocess.run([*arguments, optimisation], cwd=folder, check=True)
        listing = subprocess.run(["nm", "-C", compiled], check=True, capture_output=True, text=True).stdout
        for line in listing.splitlines():
            kind, name = line[17:18], line[19:]
            if kind in "WwVvu" and name not in HARMLESS:
                weak.append(f"{file}: {kind} {name}")
    assert not weak, "\n".join(weak)
