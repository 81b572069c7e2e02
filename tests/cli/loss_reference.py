"""NT-Xent losses, the paper's bounds and objectives in float64 numpy, from their definitions (section 3).

The rows of a batch meet each other: the anchor x_i meets y_i, its positive, and of the other rows j the
negatives y_j that are admissible (contract C10). The loss of an anchor is -log of the softmax share of its
positive. One batch of all rows is the global loss. Direction y: the anchors are the y.
"""

import copy

import numpy as np
from reference import edges_above, similarities, unit_rows


def batches_of(order, k):
    """Consecutive blocks of k rows, the last one what remains."""
    return [order[first : first + k] for first in range(0, len(order), k)]


def log_sum_exp(exponents):
    """Of every row; -infinity stands for a term that is not there."""
    most = exponents.max(axis=1, keepdims=True)
    return most[:, 0] + np.log(np.exp(exponents - most).sum(axis=1))


def admissible_negatives(
    s,
    groups=(),
    relative_margin=None,
    absolute_margin=None,
    max_score=None,
    further=(),
):
    """(i, j): j != i, not of one group in any list, and by no margin suspected of being a positive.

    `further`: more similarities that are judged beside s and its transpose.
    """
    n = len(s)
    allowed = ~np.eye(n, dtype=bool)
    for ids in groups:
        allowed &= ids[:, None] != ids[None, :]
    positive = np.diag(s)
    largest = np.maximum.reduce([s, s.T, *further])
    for limit in (
        None if relative_margin is None else positive - relative_margin * np.abs(positive),
        None if absolute_margin is None else positive - absolute_margin,
        None if max_score is None else np.full(n, max_score),
    ):
        if limit is not None:
            allowed &= largest <= np.minimum(limit[:, None], limit[None, :])
    return allowed


def equal_row_ids(rows):
    """The same number for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def admissible_pairs(x, y, product, *, groups=(), duplicates=False, symmetric=False, guide=None, **margins):
    """Contract C10 with all its options; `guide`: another model's X and Y."""
    groups = list(groups) + ([equal_row_ids(x), equal_row_ids(y)] if duplicates else [])
    judge_x, judge_y = (x, y) if guide is None else guide
    further = [product(judge_x, judge_x), product(judge_y, judge_y)] if symmetric else []
    return admissible_negatives(product(judge_x, judge_y), groups, further=further, **margins)


def admissible_edges(s, admissible, wanted, skip_top=0):
    """The largest `wanted` admissible values, ties at the next one left out, and that next one."""
    values = np.where(admissible, s, -np.inf)
    if skip_top:
        ranked = np.argsort(-values, axis=1, kind="stable")[:, :skip_top]
        np.put_along_axis(values, ranked, -np.inf, axis=1)
    ordered = np.sort(values[values > -np.inf])[::-1]
    threshold = ordered[wanted] if wanted < len(ordered) else -np.inf
    return np.argwhere(values > threshold), threshold


def fast_similarities(x, y, normalised=False):
    """As similarities(), but summed in whatever order is fast: the last bits may differ."""
    if not normalised:
        x, y = unit_rows(x), unit_rows(y)
    return x.astype(np.float64) @ y.astype(np.float64).T


class Losses:
    """All that `gcbs gap` says about pairs X, Y."""

    def __init__(
        self,
        x,
        y,
        temperature=0.05,
        *,
        direction="both",
        form="clip",
        negatives=None,
        normalised=False,
        product=similarities,
        skip_top=0,
        **filters,
    ):
        self.s = product(x, y, normalised)
        self.n = len(self.s)
        self.temperature = temperature
        self.direction = direction
        self.filtered = bool(filters) or skip_top > 0
        self.skip_top = skip_top
        self.admissible = admissible_pairs(x, y, lambda a, b: product(a, b, normalised), **filters)
        # Of each direction: similarities of its anchors (rows) and what they meet (columns), -infinity
        # where that is no negative that counts.
        admitted = [(self.s, "x"), (self.s.T, "y")]
        if form == "simclr":
            admitted += [(product(x, x, normalised), "x"), (product(y, y, normalised), "y")]
        self.parts = {"x": [], "y": []}
        for s, direction in admitted:
            self.parts[direction].append(np.where(self.admissible, s, -np.inf))
        if negatives is not None:
            self.parts["x"].append(product(x, negatives, normalised))
        self.all_anchors = {}

    def at(self, temperature):
        """The same pairs at another temperature."""
        other = copy.copy(self)
        other.temperature, other.all_anchors = temperature, {}
        return other

    # --- anchors ---

    def terms(self, rows, direction):
        """What each anchor meets among `rows`: its positive first; -infinity where there is no term."""
        positive = np.diag(self.s)[rows, None]
        return np.hstack([positive, *(s[rows][:, rows] for s in self.parts[direction])])

    def anchors(self, rows, direction):
        """Of each anchor of a batch: loss, probability of the positive, least and most similarity, terms."""
        terms = self.terms(rows, direction)
        loss = log_sum_exp((terms - terms[:, :1]) / self.temperature)
        met = terms > -np.inf
        return {
            "loss": loss,
            "probability": np.exp(-loss),
            "least": terms.min(axis=1, where=met, initial=np.inf),
            "most": terms.max(axis=1),
            "count": met.sum(axis=1),
        }

    def everyone(self, direction):
        """The anchors of the global loss: one batch of all rows."""
        if direction not in self.all_anchors:
            self.all_anchors[direction] = self.anchors(slice(None), direction)
        return self.all_anchors[direction]

    def chosen(self, x, y):
        return {"x": x, "y": y, "both": (x + y) / 2}[self.direction]

    # --- losses ---

    def global_mean(self, quantity="loss"):
        """Over all anchors: x, y and both."""
        x, y = (self.everyone(direction)[quantity].mean() for direction in ("x", "y"))
        return {"x": x, "y": y, "both": (x + y) / 2}

    def train_mean(self, order, k, quantity="loss"):
        """The same, where anchors meet only the rows of their batch."""
        batches = batches_of(order, k)
        x, y = (sum(self.anchors(rows, d)[quantity].sum() for rows in batches) / self.n for d in ("x", "y"))
        return {"x": x, "y": y, "both": (x + y) / 2}

    def per_batch(self, order, k):
        """Loss and hardness, the share of the softmax that negatives get."""
        rows_of = []
        for rows in batches_of(order, k):
            x, y = self.anchors(rows, "x"), self.anchors(rows, "y")
            loss = self.chosen(x["loss"].mean(), y["loss"].mean())
            probability = self.chosen(x["probability"].mean(), y["probability"].mean())
            rows_of.append([loss, 1 - probability])
        return np.array(rows_of)

    def random_losses(self, k, trials, rng):
        """L_train and mean probability of random orders, of the direction asked for."""
        orders = [rng.permutation(self.n) for _ in range(trials)]
        return (
            np.array([self.train_mean(order, k)[self.direction] for order in orders]),
            np.array([self.train_mean(order, k, "probability")[self.direction] for order in orders]),
        )

    def oracle_loss(self, k):
        """Every anchor with its own k - 1 hardest admissible negatives of every kind, and its own z."""
        return self.chosen(self._oracle("x", k), self._oracle("y", k))

    def _oracle(self, direction, k):
        if k == self.n:
            return self.global_mean()[direction]
        terms = [np.diag(self.s)[:, None]]
        for s in self.parts[direction]:
            terms.append(s.diagonal()[:, None])  # a pair's own z is with it in every batch
            others = np.where(np.eye(self.n, dtype=bool), -np.inf, s)
            terms.append(np.partition(others, self.n - k + 1, axis=1)[:, self.n - k + 1 :])
        terms = np.hstack(terms)
        return log_sum_exp((terms - terms[:, :1]) / self.temperature).mean()

    # --- bounds and objectives ---

    def bounds(self, order, k):
        """Theorems 1 and 2 bound the gap from above, Lemmas 2 and 3 L_train from below."""
        sides = {}
        for direction in ("x", "y"):
            everything = self.everyone(direction)
            sums = np.zeros(4)
            for rows in batches_of(order, k):
                batch = self.anchors(rows, direction)
                most, count = everything["most"][rows], everything["count"][rows]
                positive, tau = np.diag(self.s)[rows], self.temperature
                sums += [
                    np.sum((most - batch["least"]) / tau + np.log(count / batch["count"])),
                    np.sum((most - batch["most"]) / tau + np.log(count)),
                    np.sum((batch["least"] - positive) / tau + np.log(batch["count"])),
                    np.sum((batch["most"] - positive) / tau),
                ]
            sides[direction] = sums / self.n
        names = ("theorem1", "theorem2", "lemma2", "lemma3")
        return dict(zip(names, self.chosen(sides["x"], sides["y"]), strict=True))

    def objectives(self, order, k):
        """QBAP: the smallest similarity in a batch. QAP: their sum over X Y^T and Y X^T."""
        counts = self.admissible | np.eye(self.n, dtype=bool)
        met = [self.s[np.ix_(rows, rows)][counts[np.ix_(rows, rows)]] for rows in batches_of(order, k)]
        return {"qbap": min(s.min() for s in met), "qap": 2 * sum(s.sum() for s in met)}

    # --- edges ---

    def edges(self, quantile):
        if self.filtered:
            wanted = round((1 - quantile) * self.n**2)
            return admissible_edges(self.s, self.admissible, wanted, self.skip_top)[0]
        return edges_above(self.s, np.quantile(self.s, quantile))

    def edge_stats(self, order, k, edges):
        position = np.empty(self.n, dtype=np.int64)
        position[order] = np.arange(self.n)
        row, column = edges.T
        outranks = self.s[row, column] > np.diag(self.s)[row]
        together = position[row] // k == position[column] // k
        return {
            "edges_in_batch": int(together.sum()),
            "bandwidth": int(np.abs(position[row] - position[column]).max(initial=0)),
            "outranking": outranks.mean() if len(edges) else None,
            "outranking_in_batch": outranks[together].mean() if together.any() else None,
        }


def check_report(report, losses, k, orders, relative=1e-9, loss_relative=None):
    """Every number of the report that can be known. `orders`: the orders it should speak of, by name."""
    scale = loss_relative or relative

    def same(found, wanted, what, tolerance=relative):
        assert abs(found - wanted) <= tolerance * max(1e-3, abs(wanted)), f"{what}: {found}, not {wanted}"

    direction = losses.direction
    whole = losses.global_mean()
    for side in ("x", "y", "both"):
        same(report["loss_global"][side], whole[side], f"L_global {side}", scale)
    same(report["positive_probability"], losses.global_mean("probability")[direction], "probability", scale)
    same(report["oracle"]["loss_train"], losses.oracle_loss(k), "oracle", scale)
    random_gap = report["loss_global"][direction] - report["random"]["loss_train"]["mean"]

    def check_closed(found, gap):
        if k == losses.n or random_gap <= 0:
            assert found is None
        else:
            assert abs(found - (1 - gap / random_gap)) <= 1e-12 * max(1, abs(gap / random_gap))

    oracle = report["oracle"]
    check_closed(oracle["gap_closed"], report["loss_global"][direction] - oracle["loss_train"])
    edges = losses.edges(report["options"]["quantile"])
    assert report["edges"] == len(edges)
    assert [found["name"] for found in report["orders"]] == list(orders)
    for found in report["orders"]:
        name, order = found["name"], orders[found["name"]]
        train = losses.train_mean(order, k)
        for side in ("x", "y", "both"):
            same(found["loss_train"][side], train[side], f"{name}: L_train {side}", scale)
        assert found["gap"] == report["loss_global"][direction] - found["loss_train"][direction]
        check_closed(found["gap_closed"], found["gap"])
        probability = losses.train_mean(order, k, "probability")[direction]
        same(found["positive_probability"], probability, f"{name}: probability", scale)
        for bound, wanted in losses.bounds(order, k).items():
            same(found["bounds"][bound], wanted, f"{name}: {bound}")
        for objective, wanted in losses.objectives(order, k).items():
            same(found[objective], wanted, f"{name}: {objective}")
        for stat, wanted in losses.edge_stats(order, k, edges).items():
            assert found[stat] == wanted, f"{name}: {stat} is {found[stat]}, not {wanted}"
