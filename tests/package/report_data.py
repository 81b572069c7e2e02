"""What the tests of the report share."""

import numpy as np

HOSTILE = [
    "</title></style><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><b>&amp;",
    "\u202eright to left\u202c",
    "lone \udc80 surrogate",
    "a\x00b\x1b[31m",
    "x" * 10_000,
]


def make_pairs(count=300, width=16, noise=0.6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, width))[rng.integers(12, size=count)] + 0.8 * rng.normal(size=(count, width))
    return x, x + noise * rng.normal(size=x.shape)
