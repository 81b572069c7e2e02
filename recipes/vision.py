"""Vision, the paper's SimCLR row: a small residual net on CIFAR-10, NT-Xent over two views, kNN accuracy."""

import gzip
import io
import struct
from dataclasses import dataclass, field

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn.functional import cross_entropy, normalize

from . import files
from .loop import Trainer
from .metrics import knn_accuracy

LAYOUT = "repeat { uint8 label; uint16 little-endian n; n bytes of JPEG }, gzip"
FILES = {
    "cifar10_jpeg_train.rec.gz": (LAYOUT, "CIFAR-10, www.cs.toronto.edu/~kriz/cifar.html"),
    "cifar10_jpeg_test.rec.gz": (LAYOUT, "CIFAR-10, www.cs.toronto.edu/~kriz/cifar.html"),
}
TRAIN, DEV, TEST = 10_000, 2_000, 2_000


def load(where):
    """The first 10,000 training images; 2,000 others to choose by, 2,000 test images."""
    files.require(where, FILES)
    images, labels = records(where / "cifar10_jpeg_train.rec.gz", TRAIN + DEV)
    test, test_labels = records(where / "cifar10_jpeg_test.rec.gz", TEST)
    return ImageTask(
        images[:TRAIN], labels[:TRAIN], {"dev": (images[TRAIN:], labels[TRAIN:]), "test": (test, test_labels)}
    )


def records(path, count):
    """The first images, uint8 N x 3 x H x W, and their labels."""
    content, at, images, labels = gzip.open(path).read(), 0, [], []
    while at < len(content) and len(images) < count:
        label, size = struct.unpack_from("<BH", content, at)
        image = Image.open(io.BytesIO(content[at + 3 : at + 3 + size])).convert("RGB")
        images.append(np.asarray(image).transpose(2, 0, 1))
        labels.append(label)
        at += 3 + size
    return torch.from_numpy(np.stack(images)), np.array(labels)


@dataclass
class ImageTask:
    images: torch.Tensor
    labels: np.ndarray
    held_out: dict
    name: str = "vision"
    batch_size: int = 128
    epochs: int = 15
    temperature: float = 0.5
    rates: dict = field(default_factory=lambda: {"resnet": (0.001, 0.003)})
    methods: tuple = ("random", "rcm", "pack", "pack:block=16", "random:extra=16")
    seeds: int = 3

    def run(self, encoder, spec, rate, seed, per_epoch, threads, trainer=False):
        if encoder != "resnet" or trainer:
            raise SystemExit("vision has one encoder, resnet, and the plain loop")
        return ImageTrainer(self, spec, rate, seed, threads)


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, width_in, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width_in, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        plain = width_in == width and stride == 1
        self.around = nn.Identity() if plain else nn.Conv2d(width_in, width, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.around(x))


class Net(nn.Module):
    """Features by the body, embeddings for the loss by the head."""

    def __init__(self, widths=(16, 32, 64), out=64):
        super().__init__()
        pairs = zip((widths[0], *widths), widths, strict=False)
        self.body = nn.Sequential(
            nn.Conv2d(3, widths[0], 3, 1, 1, bias=False),
            nn.BatchNorm2d(widths[0]),
            nn.ReLU(inplace=True),
            *(Block(a, b, 1 if at == 0 else 2) for at, (a, b) in enumerate(pairs)),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        width = widths[-1]
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True), nn.Linear(width, out))


def augmentation(size):
    import kornia.augmentation as K

    return nn.Sequential(
        K.RandomResizedCrop((size, size), scale=(0.2, 1.0)),
        K.RandomHorizontalFlip(),
        K.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        K.RandomGrayscale(p=0.2),
    )


class ImageTrainer(Trainer):
    """Row i is image i; x and y are two views of it. Extra columns are one view of their image."""

    def __init__(self, task, spec, rate, seed, threads):
        super().__init__(len(task.images), spec, seed, per_epoch=1, threads=threads)
        torch.manual_seed(seed)
        self.task, self.net = task, Net()
        self.augment = augmentation(task.images.shape[-1])
        self.optimise(torch.optim.AdamW(self.net.parameters(), lr=rate, weight_decay=1e-4))

    def views(self, rows):
        with torch.no_grad():
            return self.augment(self.task.images[rows].float() / 255)

    def embed(self, images):
        return normalize(self.net.head(self.net.body(images)), dim=1)

    def embed_all(self):
        self.refreshed += 2 * self.rows
        with torch.no_grad():
            parts = torch.arange(self.rows).split(256)
            return [np.concatenate([self.embed(self.views(rows)).numpy() for rows in parts]) for _ in "xy"]

    def loss(self, batch, more):
        k = len(batch)
        rows = torch.from_numpy(np.concatenate([batch, batch, np.unique(more)]))
        z = self.embed(self.views(rows))
        self.encoded += len(rows)
        return nt_xent(z[: 2 * k], z[2 * k :], self.spec.temperature), z[:k].detach(), z[k : 2 * k].detach()

    def evaluate(self):
        """By the body's features, as is the custom."""
        self.net.eval()
        bank = self.features(self.task.images)
        found = {
            name: knn_accuracy(bank, self.task.labels, self.features(images), labels)
            for name, (images, labels) in self.task.held_out.items()
        }
        self.net.train()
        return found

    def features(self, images):
        with torch.no_grad():
            parts = [normalize(self.net.body(part.float() / 255), dim=1) for part in images.split(256)]
        return torch.cat(parts).numpy()


def nt_xent(z, more, temperature):
    """z: two views of k images, one below the other. Each against the 2k - 1 others and further columns."""
    size = len(z)
    logits = z @ torch.cat([z, more]).T / temperature
    logits = logits.masked_fill(torch.eye(size, len(logits[0]), dtype=torch.bool), -torch.inf)
    return cross_entropy(logits, (torch.arange(size) + size // 2) % size)
