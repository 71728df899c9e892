"""Memory of host and devices that the workers of a batch share: who may assemble now, by the forecasts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Worker = TypeVar("Worker", bound=Hashable)


@dataclass(frozen=True)
class Need:
    """What the sample of a worker takes.

    Attributes
    ----------
    host, held
        Bytes of host memory that the process will take at most, and that it has already.
    device
        The name of its device.
    device_bytes, device_free
        Bytes of the memory of the device that the sample takes, and that an array could get now.
    """

    host: int
    held: int
    device: str = "cpu"
    device_bytes: int = 0
    device_free: int = 0


class Ledger(Generic[Worker]):
    """Admits the samples of workers in the order in which they ask, each as soon as it fits together with the others.

    A sample that does not fit together with others is admitted when it has the host, or its device, for itself:
    `assemble` then decides.

    Parameters
    ----------
    host
        Bytes of host memory for all.
    """

    def __init__(self, host: int) -> None:
        self._host = host
        self._room: dict[str, int] = {}
        self._waiting: dict[Worker, Need] = {}
        self._admitted: dict[Worker, Need] = {}

    def ask(self, worker: Worker, need: Need) -> None:
        """Let a worker wait to be admitted."""
        # Admitted samples may not have taken their memory yet: what is free then exceeds what there is for all.
        room = need.device_free + sum(other.device_bytes for other in self._on(need.device))
        self._room[need.device] = min(room, self._room.get(need.device, room))
        self._waiting[worker] = need

    def release(self, worker: Worker) -> None:
        """Take back what a worker was given, or no longer waits for."""
        self._admitted.pop(worker, None)
        self._waiting.pop(worker, None)

    def admit(self) -> list[Worker]:
        """Return the workers that are admitted now."""
        admitted = []
        for worker, need in list(self._waiting.items()):
            if not self._fits(need):
                break  # a small sample does not overtake a large one for ever
            self._admitted[worker] = self._waiting.pop(worker)
            admitted.append(worker)
        return admitted

    def _fits(self, need: Need) -> bool:
        waiting = sum(other.held for other in self._waiting.values() if other is not need)
        on_host = need.host + waiting + sum(other.host for other in self._admitted.values())
        neighbours = self._on(need.device)
        on_device = need.device_bytes + sum(other.device_bytes for other in neighbours)
        fits_host = not self._admitted or on_host <= self._host
        return fits_host and (not neighbours or on_device <= self._room[need.device])

    def _on(self, device: str) -> list[Need]:
        return [other for other in self._admitted.values() if other.device == device and other.device_bytes]
