"""Vision, the paper's SimCLR and MoCo rows: a small residual net on CIFAR-10 and Imagenette, kNN accuracy.

NT-Xent over two views; with `queue` MoCo: the second view is encoded by a slow copy of the net, whose last
embeddings are columns too.
"""

import copy
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
from .spec import DEFAULT

LAYOUT = "repeat { uint8 label; uint16 little-endian n; n bytes of JPEG }, gzip"
CIFAR = {
    "cifar10_jpeg_train.rec.gz": (LAYOUT, "CIFAR-10, www.cs.toronto.edu/~kriz/cifar.html"),
    "cifar10_jpeg_test.rec.gz": (LAYOUT, "CIFAR-10, www.cs.toronto.edu/~kriz/cifar.html"),
}
IMAGENETTE = {
    "imagenette64_train.rec.gz": (LAYOUT, "Imagenette, github.com/fastai/imagenette; 64 x 64"),
    "imagenette64_val.rec.gz": (LAYOUT, "Imagenette, github.com/fastai/imagenette; 64 x 64"),
}
SLOW = 0.99
"""share of the old weights that MoCo's slow copy keeps at a step"""


def load(where):
    """CIFAR-10: 10,000 training images; 2,000 others to choose by, 2,000 test images."""
    return load_images(where, "vision", CIFAR, size=32, train=10_000, dev=2_000, test=2_000)


def load_imagenette(where):
    """Imagenette: 4,000 training images; 1,000 others to choose by, 2,000 of the validation set as test."""
    return load_images(where, "vision-imagenette", IMAGENETTE, size=64, train=4_000, dev=1_000, test=2_000)


def load_images(where, name, names, size, train, dev, test):
    files.require(where, names)
    of_train, of_test = names
    images, labels = records(where / of_train, train + dev, size)
    held_out, held_out_labels = records(where / of_test, test, size)
    return ImageTask(
        images[:train],
        labels[:train],
        {"dev": (images[train:], labels[train:]), "test": (held_out, held_out_labels)},
        name,
    )


def records(path, count, size):
    """Some of the images, drawn the same each time, as uint8 count x 3 x size x size, and their labels."""
    content, at, starts = gzip.open(path).read(), 0, []
    while at < len(content):
        starts.append(at)
        at += 3 + struct.unpack_from("<H", content, at + 1)[0]
    images, labels = [], []
    for at in np.random.default_rng(0).permutation(starts)[:count].tolist():
        label, length = struct.unpack_from("<BH", content, at)
        image = Image.open(io.BytesIO(content[at + 3 : at + 3 + length])).convert("RGB")
        image = image.resize((size, size), Image.Resampling.BOX)
        images.append(np.asarray(image).transpose(2, 0, 1))
        labels.append(label)
    return torch.from_numpy(np.stack(images)), np.array(labels)


@dataclass
class ImageTask:
    images: torch.Tensor
    labels: np.ndarray
    held_out: dict
    name: str
    batch_size: int = 128
    epochs: int = 15
    temperature: float = 0.5
    rates: dict = field(default_factory=lambda: {"resnet": (0.001, 0.003)})
    methods: tuple = (
        "random",
        "rcm",
        DEFAULT,
        "random:queue=1024",
        "rcm:queue=1024",
        f"{DEFAULT},queue=1024",
    )
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
        self.task, self.net = task, Net().to(memory_format=torch.channels_last)
        self.augment = augmentation(task.images.shape[-1])
        self.slow = copy.deepcopy(self.net).requires_grad_(False)
        self.queue = torch.empty(0, self.net.head[-1].out_features)
        self.optimise(torch.optim.AdamW(self.net.parameters(), lr=rate, weight_decay=1e-4))

    def views(self, rows):
        with torch.no_grad():
            return self.augment(self.task.images[rows].float() / 255)

    def body(self, images, net=None):
        with torch.autocast("cpu", torch.bfloat16):  # twice as fast
            return (net or self.net).body(images.contiguous(memory_format=torch.channels_last)).float()

    def embed(self, images, net=None):
        return normalize((net or self.net).head(self.body(images, net)), dim=1)

    def embed_all(self):
        self.refreshed += 2 * self.rows
        with torch.no_grad():
            parts = torch.arange(self.rows).split(256)
            return [np.concatenate([self.embed(self.views(rows)).numpy() for rows in parts]) for _ in "xy"]

    def loss(self, batch, more):
        if self.spec.queue:
            return self.loss_with_queue(batch)
        k = len(batch)
        rows = torch.from_numpy(np.concatenate([batch, batch, np.unique(more)]))
        z = self.embed(self.views(rows))
        self.encoded += len(rows)
        return nt_xent(z[: 2 * k], z[2 * k :], self.spec.temperature), z[:k].detach(), z[k : 2 * k].detach()

    def loss_with_queue(self, batch):
        """MoCo: each view against the slow copy's embeddings of the batch's other views, and of the queue."""
        x = self.embed(self.views(batch))
        with torch.no_grad():
            for slow, own in zip(self.slow.parameters(), self.net.parameters(), strict=True):
                slow.lerp_(own, 1 - SLOW)
            y = self.embed(self.views(batch), self.slow)
        self.encoded += 2 * len(batch)
        logits = x @ torch.cat([y, self.queue]).T / self.spec.temperature
        self.queue = torch.cat([y, self.queue])[: self.spec.queue]
        return cross_entropy(logits, torch.arange(len(batch))), x.detach(), y

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
            parts = [normalize(self.body(part.float() / 255), dim=1) for part in images.split(256)]
        return torch.cat(parts).numpy()


def nt_xent(z, more, temperature):
    """z: two views of k images, one below the other. Each against the 2k - 1 others and further columns."""
    size = len(z)
    logits = z @ torch.cat([z, more]).T / temperature
    logits = logits.masked_fill(torch.eye(size, len(logits[0]), dtype=torch.bool), -torch.inf)
    return cross_entropy(logits, (torch.arange(size) + size // 2) % size)
