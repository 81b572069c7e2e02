"""The arrows of the design never point back: a stage includes only what comes before it.

Structure tests are pytest, not ctest: they need no compiler of their own, each file is a case with a
message of its own, and they run beside the tests of the program in one report.
"""

import re

import pytest
from source_tree import ROOT, includes, sources

# Earlier may not include later. "pipeline" is what lies in src/ itself and joins the stages before it.
STAGES = "base cpu io matrix similarity graph ordering batches loss mining pipeline report".split()

# Public headers that are named after no stage.
STAGE_OF_HEADER = {
    "array": "base",
    "error": "base",
    "observer": "base",
    "version": "base",
    "gcbs": "report",
    "gap": "pipeline",
    "filter": "similarity",
}

# A stage may name the type of its result where the stage that takes it declares it.
RESULTS = {("io", "gcbs/matrix.h"), ("similarity", "gcbs/graph.h")}

# Kernels are leaves: nothing here brings inline code that another object could end up running.
KERNEL_SYSTEM_HEADERS = {"immintrin.h", "cstddef", "cstdint", "cstring"}


def stage_of(path):
    """The stage of a file or of an include, by its folder or, for a public header, its name."""
    parts = path.replace("include/", "").replace("src/", "").split("/")
    if parts[0] == "gcbs":
        stem = re.sub(r"\.h(\.in)?$", "", parts[1])
        return STAGE_OF_HEADER.get(stem, stem)
    return parts[0] if len(parts) > 1 else "pipeline"


@pytest.mark.parametrize("path", sources("include/gcbs", "src"), ids=str)
def test_stage_includes_nothing_later(path):
    stage = stage_of(path.as_posix())
    assert stage in STAGES, f"{stage} is no stage: add it to STAGES where it belongs in the flow"
    for include in includes(path)[0]:
        if (stage, include) in RESULTS:
            continue
        other = stage_of(include)
        assert other in STAGES, f'#include "{include}" names no stage: write it from src/ or include/'
        assert STAGES.index(other) <= STAGES.index(stage), f"{stage} comes before {other}: {include}"


@pytest.mark.parametrize("path", sources("include/gcbs"), ids=str)
def test_public_header_needs_only_ours_and_the_standard_library(path):
    ours, system = includes(path)
    assert [name for name in ours if not name.startswith("gcbs/")] == []
    assert [name for name in system if not re.fullmatch(r"[a-z_0-9]+", name)] == []


@pytest.mark.parametrize("path", sources("cli"), ids=str)
def test_program_uses_only_public_headers_and_the_report(path):
    for include in includes(path)[0]:
        own = (ROOT / "cli" / include).exists() or (ROOT / include).exists()
        assert own or include.startswith(("gcbs/", "report/")), include


@pytest.mark.parametrize("path", sources("src/similarity/kernels"), ids=str)
def test_kernel_is_a_leaf(path):
    ours, system = includes(path)
    assert [name for name in ours if not name.startswith("similarity/kernels/")] == []
    assert set(system) <= KERNEL_SYSTEM_HEADERS
