"""rcm, cm and chain against scipy and against references of a few lines, through the program order_tool.

scipy takes the start vertices of reverse_cuthill_mckee from an unstable argsort of the degrees, so the two
need not agree where several vertices could start a component. `starts_are_unique` checks that condition on
each graph that scipy is asked about; the references, which have the stable rule, answer for the others.
"""

import os
import pathlib
import subprocess
from collections import deque

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("GCBS_TEST_TOOLS", ROOT / "build" / "dev")) / "order_tool"


def order(method, n, pairs, *, paper_degrees=False, threads=2):
    text = f"{n}\n" + "\n".join(f"{row} {column}" for row, column in pairs) + "\n"
    flags = ["--threads", str(threads)] + ["--paper-degrees"] * paper_degrees
    run = subprocess.run([TOOL, method, *flags], input=text, capture_output=True, text=True, check=True)
    return [int(line) for line in run.stdout.split()]


# --- references ---


def union(n, pairs, paper_degrees):
    """Neighbour sets of G + G^T, and (degree, index) of each vertex."""
    neighbours = [set() for _ in range(n)]
    for row, column in pairs:
        neighbours[row].add(column)
        neighbours[column].add(row)
    return neighbours, [(len(s) + (paper_degrees and v in s), v) for v, s in enumerate(neighbours)]


def reference_rcm(n, pairs, paper_degrees=False):
    neighbours, key = union(n, pairs, paper_degrees)
    seen, result = set(), []
    for _, start in sorted(key):
        if start in seen:
            continue
        seen.add(start)
        queue = deque([start])
        while queue:
            v = queue.popleft()
            result.append(v)
            new = sorted(neighbours[v] - seen, key=key.__getitem__)
            seen.update(new)
            queue.extend(new)
    return result[::-1]


def reference_chain(n, pairs, paper_degrees=False):
    neighbours, key = union(n, pairs, paper_degrees)
    left, result = set(range(n)), []
    while left:
        near = neighbours[result[-1]] & left if result else set()
        result.append(min(near or left, key=key.__getitem__))
        left.remove(result[-1])
    return result


def scipy_rcm(n, pairs):
    rows, columns = np.array(sorted(set(pairs)), dtype=np.int32).reshape(-1, 2).T
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return reverse_cuthill_mckee(matrix).tolist()


def starts_are_unique(n, pairs):
    """True where every rule for ties gives the same starts: each component has one vertex of least degree (or
    one vertex), and no two components have the same least degree."""
    _, key = union(n, pairs, paper_degrees=True)
    degree = np.array([d for d, _ in key])
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    count, label = connected_components(matrix, directed=False)
    least = [degree[label == c].min() for c in range(count)]
    alone = all((degree[label == c] == least[c]).sum() == 1 for c in range(count))
    return alone and len(set(least)) == count


# --- graphs ---


def random_pairs(n, edges, seed, diagonal=False):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, size=(edges, 2))
    if not diagonal:
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return [tuple(pair) for pair in pairs.tolist()]


def with_tails(n, pairs, seed):
    """Gives each component a start of its own: component c = 0, 1, ... gets one new vertex of degree c + 1,
    joined to as many of its vertices, and every other vertex more than that many neighbours among its own."""
    rng = np.random.default_rng(seed)
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    count, label = connected_components(matrix, directed=False)
    out, total = list(pairs), n
    for c in range(count):
        members = np.flatnonzero(label == c).tolist()
        while len(members) < count + 4:  # large enough for the degrees wanted
            members.append(total)
            total += 1
        for v in members:
            for u in rng.choice(members, size=min(len(members), c + 4), replace=False).tolist():
                if u != v:
                    out.append((v, u))
        out += [(total, u) for u in rng.choice(members, size=c + 1, replace=False).tolist()]
        total += 1
    shuffled = rng.permutation(total)
    return total, [(int(shuffled[a]), int(shuffled[b])) for a, b in out]


STARS = {
    "one vertex": (1, []),
    "no edge": (9, []),
    "path": (30, [(i, i + 1) for i in range(29)]),
    "star": (1000, [(0, i) for i in range(1, 1000)]),
    "star, inwards, centre last": (1000, [(i, 999) for i in range(999)]),
    "two hubs": (1000, [(h, i) for h in (0, 1) for i in range(h + 1, 1000)]),
    "hubs of degree n - 1 in both directions": (300, [p for i in range(1, 300) for p in ((0, i), (i, 0))]),
    "two components and isolated vertices": (12, [(1, 4), (4, 7), (7, 1), (2, 9), (9, 11)]),
    "cliques": (20, [(a, b) for a in range(20) for b in range(20) if a != b and a % 3 == b % 3]),
    "grid": (49, [(i, i + 1) for i in range(48) if i % 7 < 6] + [(i + 7, i) for i in range(42)]),
    "self loops": (6, [(0, 0), (1, 2), (2, 3), (3, 3), (4, 5), (5, 5)]),
}
SHAPES = {"sparse": (200, 150), "at the threshold": (300, 320), "medium": (250, 1200), "dense": (90, 3000)}
RANDOM = {
    f"{shape}, seed {seed}{', diagonal' * diagonal}": (n, random_pairs(n, edges, seed, diagonal))
    for shape, (n, edges) in SHAPES.items()
    for seed in range(3)
    for diagonal in (False, True)
}
GRAPHS = STARS | RANDOM


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("paper_degrees", [False, True])
def test_rcm_equals_the_reference(name, paper_degrees):
    expected = reference_rcm(*GRAPHS[name], paper_degrees)
    assert order("rcm", *GRAPHS[name], paper_degrees=paper_degrees) == expected
    assert order("cm", *GRAPHS[name], paper_degrees=paper_degrees) == expected[::-1]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("paper_degrees", [False, True])
def test_chain_equals_the_reference(name, paper_degrees):
    expected = reference_chain(*GRAPHS[name], paper_degrees)
    assert order("chain", *GRAPHS[name], paper_degrees=paper_degrees) == expected


UNIQUE = {
    f"{shape}, seed {seed}{', diagonal' * diagonal}": with_tails(
        60, random_pairs(60, edges, seed, diagonal), seed
    )
    for shape, edges in {"one component": 400, "some": 70, "many": 25}.items()
    for seed in range(5)
    for diagonal in (False, True)
}


@pytest.mark.parametrize("name", UNIQUE)
def test_rcm_equals_scipy_where_starts_have_no_ties(name):
    n, pairs = UNIQUE[name]
    assert starts_are_unique(n, pairs)
    # scipy counts a diagonal entry twice: paper_degrees.
    assert order("rcm", n, pairs, paper_degrees=True) == scipy_rcm(n, pairs)


def test_rcm_equals_scipy_on_hubs():
    """Hubs that touch everything, and one leaf, so that the start is unique."""
    n = 2000
    pairs = [(h, i) for h in (5, 6) for i in range(n - 1) if i != h] + [(5, n - 1)]
    assert starts_are_unique(n, pairs)
    assert order("rcm", n, pairs, paper_degrees=True) == scipy_rcm(n, pairs)


def test_the_condition_is_not_empty():
    """Unique starts alone do not make the comparison hard: most vertices have to be ties among neighbours,
    some graphs have many components, and some have a diagonal that changes the order."""
    components, changed = [], 0
    for n, pairs in UNIQUE.values():
        _, key = union(n, pairs, True)
        assert len({degree for degree, _ in key}) < n / 2
        rows, columns = np.array(pairs).T
        matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        components.append(connected_components(matrix, directed=False)[0])
        changed += reference_rcm(n, pairs, True) != reference_rcm(n, pairs, False)
    assert max(components) >= 20 and min(components) == 1
    assert changed >= 3


@pytest.mark.parametrize("method", ["rcm", "cm", "chain", "random", "natural"])
def test_threads_change_nothing(method):
    graph = (3000, random_pairs(3000, 20000, 8, diagonal=True))
    one = order(method, *graph, threads=1)
    assert sorted(one) == list(range(3000))
    for threads in (2, 3, 7):
        assert order(method, *graph, threads=threads) == one


@pytest.mark.parametrize(
    "arguments, text",
    [(["metis"], "3\n"), (["rcm", "--x"], "3\n"), (["rcm"], "3\n0 3\n"), (["rcm"], "3\na"), (["rcm"], "")],
)
def test_the_tool_says_what_is_wrong(arguments, text):
    run = subprocess.run([TOOL, *arguments], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and run.stderr.startswith("order_tool: ")
