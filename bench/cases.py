"""What is measured: every case once, the ones that matter most first."""

from dataclasses import dataclass

from generate import COSQA_DIM, COSQA_ROWS, DIM


@dataclass(frozen=True)
class Case:
    data: str
    n: int
    m: int = 512
    k: int = 64
    peers: tuple = ()
    rounds: int = 3  # of each peer; ours runs before, between and after them
    flags: tuple = ()  # of gcbs order
    variant: str = ""

    @property
    def key(self):
        return "-".join([self.data, str(self.n), f"m{self.m}"] + ([self.variant] if self.variant else []))

    @property
    def isa(self):
        """The instruction set asked for, if any."""
        return self.flag("--isa")

    @property
    def margin(self):
        """The relative margin asked for, if any."""
        return float(value) if (value := self.flag("--relative-margin")) else None

    def flag(self, name):
        """What follows a flag, if it is there."""
        return self.flags[self.flags.index(name) + 1] if name in self.flags else None

    @property
    def dim(self):
        return COSQA_DIM if self.data == "cosqa" else DIM


JOINS = ("sgemm", "faiss")
DEFAULTS = {"m": 64, "flags": ("--method", "pack", "--relative-margin", "0"), "variant": "defaults"}
"""what gcbs order does unless told otherwise; other cases are the paper's order"""


def forced(case, flag, value, **changes):
    """The same case with one flag of gcbs set, without peers unless told."""
    known = {"data": case.data, "n": case.n, "m": case.m, "k": case.k}
    return Case(**{**known, **changes}, flags=(f"--{flag}", value), variant=f"{flag}-{value}")


def packed(n, *flags, rounds=1):
    """pack with 64 neighbours, in batches of 64."""
    variant = "-".join(["pack", *(flag.strip("-") for flag in flags)])
    return Case("rand", n, m=64, rounds=rounds, flags=("--method", "pack", *flags), variant=variant)


def standard(isas):
    rand = {n: Case("rand", n, peers=JOINS) for n in (10_000, 20_000)}
    cosqa = Case("cosqa", COSQA_ROWS, m=64, peers=JOINS)
    clu = Case("clu", 50_000, peers=JOINS, rounds=1)
    yield Case("rand", 10_000, peers=(*JOINS, "listing"))
    yield rand[20_000]
    yield cosqa
    yield Case("cosqa", COSQA_ROWS, m=512, peers=JOINS)
    yield Case("rand", 24_927, k=64, peers=JOINS, rounds=2)
    yield Case("rand", 50_000, peers=JOINS, rounds=1)
    yield clu
    yield Case("rand", 100_000, rounds=2)
    yield packed(100_000, rounds=3)
    yield Case("cosqa", COSQA_ROWS, **DEFAULTS)
    yield Case("clu", 50_000, **DEFAULTS)
    yield Case("rand", 100_000, m=64, flags=("--extra", "16"), variant="extra-16")
    if isas[0] != "avx2" and "avx2" in isas:
        yield packed(100_000, "--isa", "avx2")
    # A set that is not this machine's best, but whose floor it can show.
    for isa in isas[1:]:
        if isa == "avx512_vnni":
            yield forced(rand[20_000], "isa", isa, peers=("sgemm",))
            yield forced(cosqa, "isa", isa, peers=("sgemm",))
    for isa in isas:
        yield forced(rand[10_000], "isa", isa, rounds=1 if isa == "scalar" else 3)
    for shortcut in ("on", "off"):
        for case in (rand[20_000], cosqa, clu):
            yield forced(case, "shortcut", shortcut, rounds=2)
    for mode in ("estimate", "paper"):
        yield forced(rand[20_000], "threshold", mode, rounds=2)


def large():
    yield Case("rand", 275_602, k=256, rounds=1)
    yield Case("rand", 500_000, rounds=1)
    yield Case("rand", 1_000_000, rounds=1)
    yield packed(1_000_000)
    yield Case("clu", 500_000, rounds=1)
