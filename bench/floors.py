"""The floors: what gcbs must reach, and which of them a results file shows, met or not.

A floor belongs to an instruction set: it is judged where a case ran with that set. Floors that no machine
has shown yet are said to be so.
"""

from dataclasses import dataclass

from machine import name_of


@dataclass(frozen=True)
class Floor:
    isas: tuple
    text: str
    cases: tuple  # the first that is there with one of the instruction sets counts
    read: object  # result -> number, None where the case lacks it
    target: float
    unit: str = "x"
    at_most: bool = False

    def judge(self, results):
        """One verdict a machine that has shown it; a single "not measured yet" where none has."""
        shown = []
        for content in results:
            for key in self.cases:
                case = content["cases"].get(key)
                value = self.read(case) if case and case.get("isa") in self.isas else None
                if value is not None:
                    met = value <= self.target if self.at_most else value >= self.target
                    measured = f"{value:.3g} {self.unit}".replace(" x", "x").replace(" %", " %")
                    where = name_of(content["machine"])
                    shown.append(Verdict(self, measured, where, "met" if met else "NOT MET"))
                    break
        return shown or [Verdict(self, "-", "-", "not measured yet")]


@dataclass(frozen=True)
class Verdict:
    floor: Floor
    measured: str
    machine: str
    verdict: str

    @property
    def text(self):
        return f"{', '.join(self.floor.isas)}: {self.floor.text}"

    @property
    def target(self):
        sign = "<=" if self.floor.at_most else ">="
        return f"{sign} {self.floor.target:g} {self.floor.unit}".replace(" x", "x")


def ratio(peer):
    return lambda case: case["peers"].get(peer, {}).get("ratio", {}).get("median")


def whole(case):
    return case["whole"]["median"]


def peak_share(case):
    return case["peak_share"] and 100 * case["peak_share"]


def rest_share(case):
    """Per cent of the whole that is neither threshold nor join; preparation counts as rest."""
    stages = case["stages"]
    return 100 * (1 - (stages.get("threshold", 0) + stages["join"]) / whole(case))


def peak_gigabytes(case):
    return case["peak_bytes"] / 1e9


def global_to_join(case):
    return case["global_to_join"]


def trial_seconds(case):
    return case["stages"]["random"]


def verdict_share(case):
    """Per cent of the whole; None where the run was told not to give one."""
    return 100 * case["stages"]["verdict"] / whole(case) if "verdict" in case["stages"] else None


def pack_share(case):
    """What packing takes, per cent of the join."""
    return 100 * case["stages"]["order"] / case["stages"]["join"]


def extra_share(case):
    """What choosing shared columns takes, per cent of the join."""
    return 100 * case["stages"]["extra"] / case["stages"]["join"]


def allowed_memory(case):
    """Per cent of what may be held: int8 and int16 rows, 16 bytes an edge, 250 a row."""
    allowed = (6 * case["dim"] + 250) * case["n"] + 16 * case["edges"]
    return 100 * case["peak_bytes"] / allowed


def held_gigabytes(case):
    """By its own count or by the kernel's, whichever is more; mapped files do not count."""
    return max(case["peak_bytes"], case["anonymous_bytes"]) / 1e9


AMX, VNNI, AVX2 = ("amx_int8",), ("avx512_vnni",), ("avx2",)
COSQA = ("cosqa-19604-m64",)


def rand(n):
    return (f"rand-{n}-m512",)


def packed(n):
    return (f"rand-{n}-m64-pack",)


def vnni(cases):
    """The same cases on a machine with AMX, where this set has to be asked for."""
    return (*cases, *(f"{key}-isa-avx512_vnni" for key in cases))


ALL = AMX + VNNI + AVX2
FAISS = "all preparation against faiss, rand 50k"
REFEREE = ("compare-rand-100000",)
VERDICTS = rand(100_000) + rand(50_000) + rand(20_000)
PACK = "pack, m = 64, share of the exact join"
JOIN = "threshold + join with all preparation against"
FLOORS = (
    Floor(AMX, "whole order against the paper's listing, rand 10k", rand(10_000), ratio("listing"), 80),
    Floor(
        VNNI + AVX2, "whole order against the paper's listing, rand 10k", rand(10_000), ratio("listing"), 60
    ),
    Floor(AMX, "whole order, rand 10k", rand(10_000), whole, 0.35, "s", True),
    Floor(AMX, "whole order, rand 100k", rand(100_000), whole, 6, "s", True),
    Floor(AMX, "whole order, rand 1M", rand(1_000_000), whole, 360, "s", True),
    Floor(AMX, "peak memory, rand 1M", rand(1_000_000), peak_gigabytes, 9, "GB", True),
    Floor(AMX, "exact join, share of the measured int8 peak, rand 100k", rand(100_000), peak_share, 55, "%"),
    Floor(AMX, f"{JOIN} faiss, rand 50k", rand(50_000), ratio("faiss"), 15),
    Floor(AMX, f"{JOIN} sgemm + scan, rand 20k", rand(20_000), ratio("sgemm"), 7),
    Floor(AMX, f"{JOIN} sgemm + scan, CosQA by MiniLM, m = 64", COSQA, ratio("sgemm"), 8),
    Floor(VNNI, f"{JOIN} sgemm + scan, rand 20k", vnni(rand(20_000)), ratio("sgemm"), 4),
    Floor(VNNI, f"{JOIN} sgemm + scan, CosQA by MiniLM, m = 64", vnni(COSQA), ratio("sgemm"), 5),
    Floor(
        VNNI,
        "exact join, share of its measured peak",
        rand(100_000) + vnni(rand(20_000)),
        peak_share,
        50,
        "%",
    ),
    Floor(AVX2, f"{JOIN} sgemm + scan, rand 50k", rand(50_000), ratio("sgemm"), 1.8),
    Floor(AVX2, f"{JOIN} sgemm + scan, clu 50k", ("clu-50000-m512",), ratio("sgemm"), 2.5),
    Floor(AVX2, f"{JOIN} sgemm + scan, CosQA by MiniLM, m = 64", COSQA, ratio("sgemm"), 3),
    Floor(AVX2, f"{JOIN} faiss, rand 50k", rand(50_000), ratio("faiss"), 2),
    Floor(AVX2, f"{JOIN} faiss, clu 50k", ("clu-50000-m512",), ratio("faiss"), 2.5),
    Floor(AVX2, f"{JOIN} faiss, CosQA by MiniLM, m = 64", COSQA, ratio("faiss"), 3.3),
    Floor(AMX, "everything but threshold and join, rand 100k", rand(100_000), rest_share, 15, "%", True),
    Floor(AVX2, "everything but threshold and join, rand 100k", rand(100_000), rest_share, 5, "%", True),
    Floor(AMX + VNNI, f"mine, 5 a row, {FAISS}", ("mine-rand-50000",), ratio("faiss"), 5),
    Floor(AVX2, f"mine, 5 a row, {FAISS}", ("mine-rand-50000",), ratio("faiss"), 2),
    Floor(AMX, f"{PACK}, rand 100k", packed(100_000), pack_share, 100, "%", True),
    Floor(
        AVX2,
        f"{PACK}, rand 100k",
        packed(100_000) + ("rand-100000-m64-pack-isa-avx2",),
        pack_share,
        33.3,
        "%",
        True,
    ),
    Floor(ALL, f"{PACK}, rand 1M", packed(1_000_000), pack_share, 33.3, "%", True),
    Floor(
        ALL,
        "pack, memory, share of rows + 16 bytes an edge, rand 1M",
        packed(1_000_000),
        allowed_memory,
        100,
        "%",
        True,
    ),
    Floor(
        ALL,
        "16 shared columns, m = 64, share of the exact join, rand 100k",
        ("rand-100000-m64-extra-16",),
        extra_share,
        10,
        "%",
        True,
    ),
    Floor(ALL, "global loss against the exact join, rand 100k", REFEREE, global_to_join, 3, "x", True),
    Floor(ALL, "compare random, rcm, chain: memory, rand 100k", REFEREE, held_gigabytes, 4, "GB", True),
    Floor(ALL, "10,000 random orders, 24,927 rows", ("trials-rand-24927",), trial_seconds, 300, "s", True),
    Floor(ALL, "verdict, share of the order", VERDICTS, verdict_share, 5, "%", True),
)


def judge(results):
    """Every floor's verdicts over the contents of one or more results files."""
    return [verdict for floor in FLOORS for verdict in floor.judge(results)]
