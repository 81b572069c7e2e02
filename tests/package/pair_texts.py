"""Pairs of short texts and a model that reads them, small enough to train in a second.

The first word of every text names its row, so that what a model is given tells which rows share a batch.
"""

import random

import torch

TOPICS, WORDS = 12, 15


def texts(rows, seed=0):
    """Anchors and positives: row i is about topic i mod TOPICS."""
    drawn = random.Random(seed)

    def text(side, row):
        words = [f"t{row % TOPICS}w{drawn.randrange(WORDS)}" for _ in range(6)]
        return " ".join([f"{side}{row}", *words])

    return [text("a", row) for row in range(rows)], [text("p", row) for row in range(rows)]


def vocabulary(rows):
    words = [f"t{topic}w{word}" for topic in range(TOPICS) for word in range(WORDS)]
    named = [f"{side}{row}" for side in "ap" for row in range(rows)]
    return {word: number for number, word in enumerate(["[UNK]", "[PAD]", *named, *words])}


def tokenizer(rows):
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel(vocabulary(rows), unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.enable_padding(pad_id=1, pad_token="[PAD]")
    return made


def vectors(rows, width=16):
    """One for each word: topics are clusters, names are small."""
    noise = torch.Generator().manual_seed(0)
    found = 0.3 * torch.randn(len(vocabulary(rows)), width, generator=noise)
    centres = torch.randn(TOPICS, width, generator=noise)
    for word, number in vocabulary(rows).items():
        if "w" in word:
            found[number] += centres[int(word[1 : word.index("w")])]
    return found


def rows_of(first_words):
    """Which rows the numbers of first words name: a positive's is as much larger as there are rows."""
    numbers = [int(number) - 2 for number in first_words]
    assert min(numbers) >= 0
    return numbers


class Pairs(torch.utils.data.Dataset):
    """Texts as numbers of words, all of one length: {"a": ..., "p": ...}."""

    def __init__(self, rows):
        numbers = vocabulary(rows)
        self.sides = [
            torch.tensor([[numbers[word] for word in text.split()] for text in side]) for side in texts(rows)
        ]

    def __len__(self):
        return len(self.sides[0])

    def __getitem__(self, row):
        return {"a": self.sides[0][row], "p": self.sides[1][row]}


class PairModel(torch.nn.Module):
    """The mean of word vectors; remembers the rows of every batch that it is trained on."""

    def __init__(self, rows):
        super().__init__()
        self.words = torch.nn.Embedding.from_pretrained(vectors(rows), freeze=False)
        self.seen = []

    def embed(self, a, p):
        return self.words(a).mean(1), self.words(p).mean(1)

    def forward(self, a, p):
        if self.training:
            self.seen.append(rows_of(a[:, 0]))
        x, y = self.embed(a, p)
        scores = 20 * torch.nn.functional.normalize(x) @ torch.nn.functional.normalize(y).T
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(x), device=x.device))
        return {"loss": loss, "x": x, "y": y}


def epochs_of(batches, rows, size):
    """Batches, by their epoch."""
    steps = -(-rows // size)
    return [batches[first : first + steps] for first in range(0, len(batches), steps)]


def blocks_of(order, size):
    return [order[first : first + size] for first in range(0, len(order), size)]


def as_sets(batches):
    return sorted(sorted(batch) for batch in batches)
