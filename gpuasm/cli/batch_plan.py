"""How many workers a batch has, on which devices, with how many threads and how much memory each."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpuasm import arrays
from gpuasm.cli.batch_process import Setting
from gpuasm.cli.options import CommonOptions
from gpuasm.driver import compute_capability

_CORES_OF_WORKER = 2
"""One decodes and draws while the other assembles."""
_MOST_OF_DEVICE = 8
"""Workers of one device: their work takes turns on it."""
_BYTES_OF_WORKER = 1 << 30
"""Code, the context of a device, and text that waits."""
_BYTES_OF_READS = 2
"""Memory for each byte of the files of the largest sample."""


def settings_of(common: CommonOptions, sizes: Sequence[int], *, jobs: int | None, memory: int) -> list[Setting]:
    """Return how each worker of a batch runs.

    Parameters
    ----------
    common
        The options of the command line.
    sizes
        Bytes of the files of each sample.
    jobs
        The number of workers; None takes it from cores, devices and memory.
    memory
        Bytes of host memory for all.

    Raises
    ------
    DeviceError
        If a device is not available.
    """
    from gpuasm.parallel import available_cpus

    devices = devices_of(common.device)
    cores = common.threads or available_cpus()
    on_device = _is_usable(devices[0])
    most = min(cores // _CORES_OF_WORKER, memory // (_BYTES_OF_WORKER + _BYTES_OF_READS * max(sizes)))
    if on_device:
        most = min(most, _MOST_OF_DEVICE * len(devices))
    n = min(jobs or max(1, most), len(sizes))
    own = replace(common, threads=max(1, cores // n), progress="none", quiet=False)
    return [Setting(replace(own, device=devices[i % len(devices)]), ahead=memory // n) for i in range(n)]


def devices_of(names: str) -> list[str]:
    """Return the names of devices in a value of ``--device``: "auto", "cpu", "cuda:0,1", "all".

    Raises
    ------
    DeviceError
        If one is not there.
    """
    if names == "all":
        number = 0
        while compute_capability(f"cuda:{number}"):
            number += 1
        names = "cuda:" + ",".join(map(str, range(number))) if number else "cuda"
    kind, _, numbers = names.partition(":")
    devices = [f"{kind}:{number}" for number in numbers.split(",")] if numbers else [names]
    for device in devices:
        if device not in ("auto", "cpu") and not _is_usable(device):
            arrays.namespace_of(device)  # its error explains which devices there are
    return list(dict.fromkeys(devices))


def _is_usable(device: str) -> bool:
    """Return whether there is a CUDA device of this name and the library for it."""
    return importlib.util.find_spec("cupy") is not None and compute_capability(device) is not None


def size_of(files: Sequence[str]) -> int:
    """Return the bytes of those files that are there."""
    return sum(path.stat().st_size for path in map(Path, files) if path.is_file())
