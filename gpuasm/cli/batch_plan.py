"""How many workers a batch has, on which devices, with how many threads and how much memory each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpuasm.cli.batch_process import Setting
from gpuasm.cli.device_names import devices_of, is_usable
from gpuasm.cli.options import CommonOptions

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
    from gpuasm.threads import available_cpus

    devices = devices_of(common.device)
    cores = common.threads or available_cpus()
    on_device = is_usable(devices[0])
    most = min(cores // _CORES_OF_WORKER, memory // (_BYTES_OF_WORKER + _BYTES_OF_READS * max(sizes)))
    if on_device:
        most = min(most, _MOST_OF_DEVICE * len(devices))
    n = min(jobs or max(1, most), len(sizes))
    own = replace(common, threads=max(1, cores // n), progress="none", quiet=False)
    return [Setting(replace(own, device=devices[i % len(devices)]), ahead=memory // n) for i in range(n)]


def size_of(files: Sequence[str]) -> int:
    """Return the bytes of those files that are there."""
    return sum(path.stat().st_size for path in map(Path, files) if path.is_file())
