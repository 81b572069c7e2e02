"""What ranks tell each other, over torch.distributed. Without it, every process is on its own."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from .._errors import InputError
from .background import Job

Value = TypeVar("Value")

PIECE_BYTES = 1 << 26
HEARTBEAT_SECONDS = 5.0  # the others wait for rank 0 in short collectives: long ones time out


@dataclass(frozen=True)
class Outcome(Generic[Value]):
    """A value, or the exception that was raised in its place; it travels."""

    value: Value | None = None
    error: Exception | None = None

    @classmethod
    def of(cls, work: Callable[[], Value]) -> Outcome[Value]:
        try:
            return cls(value=work())
        except Exception as error:
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:
                error = RuntimeError(f"{type(error).__name__}: {error}")
            return cls(error=error)

    def get(self) -> Value:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Link:
    """The default process group: every rank makes the same calls."""

    def __init__(self, distributed: Any) -> None:
        self._distributed = distributed
        self.rank = int(distributed.get_rank())
        self.size = int(distributed.get_world_size())
        self._torch: Any = sys.modules["torch"]
        on_gpu = distributed.get_backend() == "nccl"  # which knows no other memory
        self._device: Any = "cuda" if on_gpu else "cpu"

    def share(self, value: Value | None) -> Value:
        """Rank 0's value."""
        data = self._bytes(value) if self.rank == 0 else None
        count = self._torch.tensor([0 if data is None else data.numel()], device=self._device)
        self._distributed.broadcast(count, src=0)
        if data is None:
            data = self._torch.empty(int(count), dtype=self._torch.uint8)
        for piece in data.split(PIECE_BYTES):
            moved = piece.to(self._device)
            self._distributed.broadcast(moved, src=0)
            piece.copy_(moved)
        return value if self.rank == 0 else self._value(data)  # type: ignore[return-value]

    def gather(self, value: Value) -> list[Value]:
        """Everybody's values on rank 0; nothing on the others."""
        if self.rank != 0:
            data = self._bytes(value)
            self._distributed.send(self._torch.tensor([data.numel()], device=self._device), dst=0)
            for piece in data.split(PIECE_BYTES):
                self._distributed.send(piece.to(self._device), dst=0)
            return []
        values = [value]
        for source in range(1, self.size):
            count = self._torch.zeros(1, dtype=self._torch.int64, device=self._device)
            self._distributed.recv(count, src=source)
            data = self._torch.empty(int(count), dtype=self._torch.uint8)
            for piece in data.split(PIECE_BYTES):
                moved = piece.to(self._device)
                self._distributed.recv(moved, src=source)
                piece.copy_(moved)
            values.append(self._value(data))
        return values

    def result_of(self, job: Job[Value] | None) -> Value:
        """What the job of rank 0 comes to, its exception too; the others have none."""
        while not self.share(job is not None and job.wait(HEARTBEAT_SECONDS)):
            pass
        return self.share(None if job is None else Outcome.of(job.result)).get()

    def _bytes(self, value: Any) -> Any:
        return self._torch.from_numpy(np.frombuffer(bytearray(pickle.dumps(value, protocol=5)), np.uint8))

    def _value(self, data: Any) -> Any:
        return pickle.loads(data.numpy().data)


def _distributed() -> Any:
    """torch.distributed, if it is initialised. Whoever does that has imported it."""
    distributed = sys.modules.get("torch.distributed")
    known = distributed is not None and distributed.is_available() and distributed.is_initialized()
    return distributed if known else None


def connect() -> Link | None:
    """The other ranks, if there are any."""
    distributed = _distributed()
    return Link(distributed) if distributed is not None and distributed.get_world_size() > 1 else None


def own_place(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """As given, or torch.distributed's, or alone."""
    if rank is None and world_size is None:
        distributed = _distributed()
        return (0, 1) if distributed is None else (distributed.get_rank(), distributed.get_world_size())
    if rank is None or world_size is None or not 0 <= rank < world_size:
        raise InputError(
            "usage",
            f"rank {rank} of {world_size} is no rank",
            "ranks are counted from 0 up to world_size",
            "give both, or neither where torch.distributed is initialised",
        )
    return rank, world_size
