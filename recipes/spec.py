"""What a run is: a method and its settings, written as people type it.

random                              shuffled batches
rcm                                 the paper's order
pack:block=8                        blocks of 8 rows that pack made, mixed into batches
random:extra=16                     shuffled batches with 16 shared hard columns
random:mine=1                       Hard Negative (1): each query's hardest document added
metis:block=8                       the peer: METIS parts of the mutual graph, as B3 builds them
pack:relative_margin=0.05,groups=0  any option of gcbs.BatchSampler, any setting below
"""

from dataclasses import asdict, dataclass, field, fields

DEFAULT = "pack:relative_margin=0"
"""what gcbs.BatchSampler does unless told otherwise; here no margin is meant where none is typed"""
METHODS = ("random", "rcm", "cm", "chain", "pack", "metis")


@dataclass(frozen=True)
class Spec:
    """Settings that are not named here go to gcbs.BatchSampler."""

    text: str
    method: str = "random"
    mine: int = 0
    """hard negatives a row, added to its batch"""
    sides: int = 1
    """2: further rows bring their x too, as columns of the other direction"""
    groups: int = 1
    """1: rows of one document never share a batch, nor are they negatives of each other. 0: not so"""
    mask: int = 0
    """1: suspects by the margins are masked in the loss too"""
    refresh: int = 1
    """epochs between two orders; 0: the first order stays"""
    observe: int = 0
    """1: the order comes from the embeddings of the last epoch's steps, without an extra forward pass"""
    warmup: int = 0
    """epochs of random batches before the first order"""
    queue: int = 0
    """vision: MoCo's, so many embeddings of the last batches are columns too; 0: SimCLR"""
    batch_size: int = 0
    epochs: int = 0
    temperature: float = 0.0
    """of the loss; 0: the task's"""
    weights: float = 0.0
    """the temperature by which the order weighs negatives; 0: the loss's"""
    direction: str = "both"
    """whose rows are the anchors of the loss: x or both"""
    noise: float = 0.0
    """share of pairs whose document is another row's"""
    sampler: dict = field(default_factory=dict)

    @property
    def ordered(self):
        """Whether anything depends on the embeddings."""
        return self.method != "random" or self.mine > 0 or self.mask > 0 or self.sampler.get("extra", 0) > 0


def parse(text):
    """The spec that a text stands for. Raises ValueError for an unknown method."""
    method, _, rest = text.partition(":")
    if method not in METHODS:
        raise ValueError(f"no method {method!r}: it is one of {', '.join(METHODS)}")
    own = {
        entry.name: entry.type for entry in fields(Spec) if entry.name not in ("text", "method", "sampler")
    }
    settings, sampler = {}, {}
    for word in filter(None, rest.split(",")):
        name, _, value = word.partition("=")
        if name in own:
            settings[name] = own[name](value)
        else:
            sampler[name] = _number(value)
    return Spec(text=text, method=method, sampler=sampler, **settings)


def resolve(spec, task):
    """The spec with the task's batch size, epochs and temperature where it has none of its own."""
    given = asdict(spec)
    for name in ("batch_size", "epochs", "temperature"):
        given[name] = given[name] or getattr(task, name)
    return Spec(**given)


def _number(value):
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value
