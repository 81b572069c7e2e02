"""Files stay short enough to read in one sitting; public headers shorter still."""

import pytest
from source_tree import ROOT, sources

# A file that has to be longer: path -> the reason.
LONG_FOR_A_REASON = {}

ALL = sources(
    "include", "src", "cli", "tests", "bench", "examples", "tools", suffixes=(".h", ".cpp", ".py", ".sh")
)


@pytest.mark.parametrize("path", ALL, ids=str)
def test_file_is_short(path):
    limit = 200 if path.parts[0] == "include" else 400
    lines = len((ROOT / path).read_text().splitlines())
    assert lines <= limit or path.as_posix() in LONG_FOR_A_REASON
