"""The library never prints, exits, aborts, or reads the environment apart from GCBS_ISA (contract C9).

Asked of the release library's undefined symbols, so that no macro or inline function hides a call.
"""

import re
import subprocess

from source_tree import BUILD, ROOT, sources

FORBIDDEN = re.compile(
    r"""exit|quick_exit|abort|raise|system|popen                          # ends or starts something
      | v?f?w?printf|__v?f?printf_chk|v?dprintf|f?put[sc]|f?puts|putchar|perror|fwrite
      | stdin|stdout|stderr|_ZSt\d+w?(cout|cerr|clog|cin)                 # talks
      | _ZNSt8ios_base4InitC[12]Ev                                        # includes <iostream>
      | secure_getenv|setenv|putenv|unsetenv|environ|__environ""",
    re.VERBOSE,
)


def undefined_symbols():
    """Pairs (object file, symbol without its version) that the library asks of others."""
    library = BUILD / "src/libgcbs.a"
    listing = subprocess.run(["nm", "-A", "-u", library], check=True, capture_output=True, text=True).stdout
    pairs = [
        (line.split(":")[1], line.split()[-1].partition("@")[0]) for line in listing.splitlines() if line
    ]
    assert len(pairs) > 10
    return pairs


def test_library_neither_prints_nor_ends_the_program():
    assert [pair for pair in undefined_symbols() if FORBIDDEN.fullmatch(pair[1])] == []


def test_library_reads_one_environment_variable_in_one_place():
    assert {file for file, symbol in undefined_symbols() if symbol == "getenv"} == {"isa.cpp.o"}
    for path in sources("src", "include"):
        for argument in re.findall(r"\bgetenv\((.*?)\)", (ROOT / path).read_text()):
            assert argument == '"GCBS_ISA"', path
