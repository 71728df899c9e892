"""The CUDA driver without cupy: whether there is one, what a device can do, and opening it ahead.

To open a device takes a fifth of a second in which the interpreter is not needed. So that happens in a thread, while
libraries are imported.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import threading
from collections.abc import Iterator

_LIBRARY = "libcuda.so.1"
_TIMEOUT_S = 5.0
_MOST_DIGITS = 5  # of the number of a device
"""Seconds to wait for the driver, which needs a fifth of one."""
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
"""Numbers of attributes of a device, in the driver's header."""


@contextlib.contextmanager
def driver_opening(*devices: str) -> Iterator[None]:
    """Let the driver open devices during the block, and wait for it at the end.

    A process that ends early, as when an input is missing, must not end while the driver opens a device.
    """
    threads = [open_driver_ahead(device) for device in devices]
    try:
        yield
    finally:
        for thread in threads:
            if thread is not None:
                thread.join(_TIMEOUT_S)


def open_driver_ahead(device: str) -> threading.Thread | None:
    """Make the context of a device in a thread; `gpuasm.arrays.namespace_of` finds it when it opens the device.

    cupy makes it when it first uses a device, and takes long to import. Errors are ignored here: they occur again, and
    are reported, where the device is opened.

    Parameters
    ----------
    device
        The device's name in the options: "auto" and "cuda" are the first one.

    Returns
    -------
    The thread; None if the name is that of no CUDA device.
    """
    number = _number_of(device)
    if number is None or importlib.util.find_spec("cupy") is None:
        return None
    thread = threading.Thread(target=_make_context, args=(number,), name="open driver", daemon=True)
    thread.start()
    return thread


def has_driver() -> bool:
    """Return whether a CUDA driver is installed, though there may be no device: in a millisecond, without cupy."""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    return True


def compute_capability(device: str) -> tuple[int, int] | None:
    """Return the compute capability of a device, for example (9, 0); None if there is no such device."""
    number = _number_of(device)
    with contextlib.suppress(OSError, AttributeError):
        driver, handle = ctypes.CDLL(_LIBRARY), ctypes.c_int()
        if number is not None and driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(handle), number) == 0:
            values = [ctypes.c_int(), ctypes.c_int()]
            for value, attribute in zip(values, (_CAPABILITY_MAJOR, _CAPABILITY_MINOR), strict=True):
                driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle)
            return values[0].value, values[1].value
    return None


def _number_of(device: str) -> int | None:
    """Return the number of a device by its name; None if it is no CUDA device's."""
    kind, _, number = device.partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS
    is_named = kind in ("auto", "cuda") and (not number or is_number)
    return int(number or 0) if is_named else None


def _make_context(number: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # no driver, or one that is older than primary contexts
        driver = ctypes.CDLL(_LIBRARY)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), number) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
