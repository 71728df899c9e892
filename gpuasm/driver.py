"""The CUDA driver made ready while libraries load: a fifth of a second in which the interpreter is not needed."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import threading
from collections.abc import Iterator

_LIBRARY = "libcuda.so.1"
_PATIENCE_S = 5.0
"""Seconds; a driver that is well takes a fifth of one."""


@contextlib.contextmanager
def driver_opening(device: str) -> Iterator[None]:
    """Let the driver open a device beside the block, and have done so when it ends.

    A process that ends at once, since an input is missing, must not end while the driver is at that.
    """
    thread = open_driver_ahead(device)
    try:
        yield
    finally:
        if thread is not None:
            thread.join(_PATIENCE_S)


def open_driver_ahead(device: str) -> threading.Thread | None:
    """Make the context of a device in a thread, which `gpuasm.arrays.namespace_of` finds when it opens the device.

    cupy does the same when it first uses a device, but only then, and it takes longest to import. Whatever fails here
    is passed over: it fails again where the device is opened, and is told there.

    Parameters
    ----------
    device
        As the user names it: "auto" and "cuda" are the first one.

    Returns
    -------
    The thread; None where no device can be meant.
    """
    kind, _, number = device.partition(":")
    is_named = kind in ("auto", "cuda") and (not number or number.isdecimal())
    if not is_named or importlib.util.find_spec("cupy") is None:
        return None
    thread = threading.Thread(target=_make_context, args=(int(number or 0),), name="open driver", daemon=True)
    thread.start()
    return thread


def has_driver() -> bool:
    """Tell whether a CUDA driver is installed, though there may be no device: in a millisecond, without cupy."""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    return True


def _make_context(number: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # no driver, or one that is older than primary contexts
        driver = ctypes.CDLL(_LIBRARY)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), number) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
