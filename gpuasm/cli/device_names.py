"""The devices that a value of ``--device`` names, in commands that use several."""

from __future__ import annotations

import importlib.util

from gpuasm.driver import compute_capability
from gpuasm.errors import DeviceError


def devices_of(names: str) -> list[str]:
    """Return the names of devices in a value of ``--device``: "auto", "cpu", "cuda:0,1", "all".

    A device that is named twice is there once.

    Raises
    ------
    DeviceError
        If one is not there, or the value names several that are not CUDA devices by number.
    """
    if names == "all":
        number = 0
        while compute_capability(f"cuda:{number}"):
            number += 1
        names = "cuda:" + ",".join(map(str, range(number))) if number else "cuda"
    devices = _several(names) if "," in names else [names]
    for device in devices:
        if device not in ("auto", "cpu") and not is_usable(device):
            from gpuasm import arrays  # with numpy, which takes long; files are being read from before that on

            arrays.namespace_of(device)  # its error explains which devices there are
    return list(dict.fromkeys(devices))


def devices_of_run(names: str) -> list[str]:
    """Return what `devices_of` does; a single device is not looked for, as the run that opens it reports its lack."""
    return devices_of(names) if "," in names or names == "all" else [names]


def _several(names: str) -> list[str]:
    kind, _, numbers = names.partition(":")
    each = numbers.split(",")
    if kind != "cuda" or not all(number.isascii() and number.isdigit() for number in each):
        expected, remedy = "several devices as cuda:0,1 or all", "name CUDA devices by number, or the CPU alone"
        raise DeviceError(expected, repr(names), remedy)
    return [f"cuda:{number.lstrip('0') or 0}" for number in each]


def is_usable(device: str) -> bool:
    """Return whether there is a CUDA device of this name and the library for it."""
    return importlib.util.find_spec("cupy") is not None and compute_capability(device) is not None
