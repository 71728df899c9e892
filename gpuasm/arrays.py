"""Arrays on the host or a device, and the devices; the only module that imports cupy, when a device is used."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuasm.cache_folders import set_cupy_folder
from gpuasm.device_memory import DeviceAllocator
from gpuasm.errors import DeviceError

Array = Any
_MOST_DIGITS = 5  # of the number of a device
"""A numpy array on the host or a cupy array on a device."""


def array_namespace(*arrays: Array) -> Any:
    """Return numpy or cupy, whichever holds all the arguments.

    Arguments that are no arrays (numbers, None) are ignored.

    Raises
    ------
    TypeError
        If host and device arrays are mixed.
    """
    cupy = _imported()  # no array is a cupy array before cupy is imported
    on_device = on_host = False
    for array in arrays:
        if cupy is not None and isinstance(array, cupy.ndarray):
            on_device = True
        elif isinstance(array, np.ndarray):
            on_host = True
    if on_device and on_host:
        msg = "host and device arrays are mixed; move them with to_host or to_device first"
        raise TypeError(msg)
    return cupy if on_device else np


def is_on_device(*arrays: Array) -> bool:
    """Return whether the arguments are on a device."""
    return array_namespace(*arrays) is not np


def to_host(array: Array) -> np.ndarray:
    """Copy a device array to the host; return a host array unchanged."""
    return array.get() if is_on_device(array) else array


def to_device(array: np.ndarray) -> Array:
    """Copy a host array to the current device; return a device array unchanged."""
    return _cupy().asarray(array)


def to_namespace(xp: Any, array: Array) -> Array:
    """Copy an array to the host or the device of namespace ``xp``."""
    return to_host(array) if xp is np else to_device(array)


def namespace_of(device: str) -> Any:
    """Return the array namespace of a device name and make that device the current one.

    Parameters
    ----------
    device
        "cpu", "cuda", "cuda:N", or "auto" (cuda where there is a device, else cpu).

    Raises
    ------
    DeviceError
        If the device or the library for it is missing.
    """
    if not isinstance(device, str):
        raise DeviceError("a device named auto, cpu, cuda or cuda:N", repr(device), "use one of those names")
    if device == "cpu" or (device == "auto" and device_count() == 0):
        return np
    if device != "auto" and not device.startswith("cuda"):
        raise DeviceError("a device named auto, cpu, cuda or cuda:N", repr(device), "use one of those names")
    cupy = _cupy()
    if (without := _why_no_device()) is not None:
        raise DeviceError("a CUDA device", without, "look at the output of nvidia-smi, or run with --device cpu")
    number = device.partition(":")[2] or "0"
    is_number = number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS
    if not is_number or int(number) >= device_count():
        raise DeviceError(
            f"a device number from 0 to {device_count() - 1}", repr(device), "list the devices with 'gpuasm devices'"
        )
    cupy.cuda.Device(int(number)).use()
    return cupy


def disable_cub_reductions(xp: Any) -> None:
    """Let cupy use its own kernels for reductions, for the rest of this process; do nothing for numpy.

    Where cupy finds CUB's headers, it compiles a block reduction for each kind, type and size class of an array. That
    takes seconds each, which short runs do not regain. A value of CUPY_ACCELERATORS has precedence. Sums of whole
    arrays of numbers use a compiled CUB in any case; for whole arrays of booleans there is
    `gpuasm.primitives.counting.count_true`.
    """
    if xp is not np and "CUPY_ACCELERATORS" not in os.environ:
        with contextlib.suppress(AttributeError):  # not public: the documented switch is read at import alone
            xp._core.set_reduction_accelerators([])  # noqa: SLF001


def make_current(xp: Any, device: str) -> None:
    """Make a device opened by `namespace_of` the current one of this thread; each thread has its own."""
    if xp is not np:
        xp.cuda.Device(int(device.partition(":")[2] or 0)).use()


@contextlib.contextmanager
def on_device(number: int | None) -> Iterator[None]:
    """Make a CUDA device the current one of this thread in the block; None changes nothing."""
    with contextlib.nullcontext() if number is None else _cupy().cuda.Device(number):
        yield


def current_device() -> int:
    """Return the number of the current CUDA device of this thread."""
    return int(_cupy().cuda.runtime.getDevice())


def is_on_other_device(array: Array) -> bool:
    """Return whether an array is on a device that is not the current one of this thread."""
    return is_on_device(array) and array.device.id != current_device()


def to_current_device(array: Array) -> Array:
    """Copy an array from another device to the current one; return any other array unchanged."""
    if not is_on_other_device(array):
        return array
    array.device.synchronize()  # streams of one device do not wait for those of another
    return array.copy()


def device_count() -> int:
    """Return the number of usable CUDA devices; 0 without cupy, driver or device."""
    try:
        return int(_cupy().cuda.runtime.getDeviceCount())
    except Exception:  # cupy and broken drivers raise many classes: all mean "none"
        return 0


def _why_no_device() -> str | None:
    """Return why cupy finds no device, or None where it finds one."""
    try:
        return None if _cupy().cuda.runtime.getDeviceCount() else "none"
    except Exception as error:  # as above
        return f"none ({error})"


def device_properties() -> list[dict[str, Any]]:
    """Describe all CUDA devices: number, name, total and free memory in bytes, compute capability."""
    return [properties_of(number) for number in range(device_count())]


def properties_of(number: int) -> dict[str, Any]:
    """Describe one CUDA device without a context on the others, as each takes half a GB."""
    cupy = _cupy()
    with cupy.cuda.Device(number):
        free, total = cupy.cuda.runtime.memGetInfo()
        properties = cupy.cuda.runtime.getDeviceProperties(number)
    return {
        "device": f"cuda:{number}",
        "name": properties["name"].decode(),
        "total_bytes": int(total),
        "free_bytes": int(free),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
    }


def synchronize(xp: Any) -> None:
    """Wait until the device has finished all work; do nothing on the host."""
    if xp is not np:
        xp.cuda.get_current_stream().synchronize()


@contextlib.contextmanager
def concurrent_streams(xp: Any, n: int, *, apart: bool = True) -> Iterator[list[Any]]:
    """Yield n contexts whose launches run concurrently.

    They begin after all earlier launches, and later launches begin after them. Arrays that they use must be made before
    the block and kept until its end. On the host, or if ``apart`` is false, the launches run one after another.
    """
    if xp is np or not apart:
        yield [contextlib.nullcontext() for _ in range(n)]
        return
    main = xp.cuda.get_current_stream()
    ready, streams = main.record(), [xp.cuda.Stream(non_blocking=True) for _ in range(n)]
    for stream in streams:
        stream.wait_event(ready)
    try:
        yield streams
    finally:
        for stream in streams:
            main.wait_event(stream.record())


def limit_device_memory(xp: Any, amount: int) -> None:
    """Let arrays on the current device take at most so many bytes together, 0 for all; numpy has no limit."""
    if xp is not np:
        xp.get_default_memory_pool().set_limit(size=amount)


def free_device_memory() -> int:
    """Return the bytes an allocation could get on the current device, the pool's idle blocks included.

    It is at most the limit of the pool, which CUPY_GPU_MEMORY_LIMIT sets where several processes share a device.
    """
    return _allocator(_cupy()).available


def device_memory_used() -> int:
    """Return the most bytes that this process has had at once on one device, without its context."""
    cupy = _imported()
    if cupy is None:
        return 0
    try:
        peaks = [_allocator(cupy).peak()]
        for owner, number in list(_allocators):
            if owner == id(cupy) and number != current_device():
                with on_device(number):
                    peaks.append(_allocator(cupy).peak())
        return max(peaks)
    except Exception:  # cupy without a driver or device, as on the CPU nodes of a cluster
        return 0


def release_device_memory(*, begins_peak: bool = False) -> None:
    """Return the idle memory of the current device to it.

    Parameters
    ----------
    begins_peak
        Whether `device_memory_used` forgets what was used before.
    """
    cupy = _imported()
    if cupy is not None:
        with contextlib.suppress(Exception):  # cupy without a driver or device
            _allocator(cupy).release()
            if begins_peak:
                _allocator(cupy).begin_peak()


def sparse_linear_algebra(xp: Any) -> Any:
    """Return scipy.sparse.linalg for numpy, cupyx.scipy.sparse.linalg for cupy."""
    if xp is np:
        from scipy.sparse import linalg  # noqa: PLC0415 - slow to import, and few need it
    else:
        from cupyx.scipy.sparse import linalg  # noqa: PLC0415
    return linalg


@functools.cache
def cuda_functions(source: str, *names: str) -> tuple[Any, ...]:
    """Compile CUDA C++ once a process (cupy keeps the binary on disk) and return the named kernels.

    Parameters
    ----------
    source
        CUDA C++ text; the kernels are ``extern "C"``.
    names
        The names of the kernels, in order.
    """
    module = _cupy().RawModule(code=source, options=("--std=c++17",))
    return tuple(module.get_function(name) for name in names)


def cuda_function_from_ptx(path: str, name: str) -> Any:
    """Load one kernel from a file of PTX."""
    return _cupy().RawModule(path=path).get_function(name)


def compute_capability() -> tuple[int, int]:
    """Return the compute capability of the current device, for example (9, 0)."""
    text = _cupy().cuda.Device().compute_capability
    return int(text[:-1]), int(text[-1])


def multiprocessor_count() -> int:
    """Return the multiprocessors of the current device."""
    return int(_cupy().cuda.Device().attributes["MultiProcessorCount"])


def _imported() -> Any:
    """Return cupy if its import is complete: another thread, which opens the device, may be importing it."""
    cupy = sys.modules.get("cupy")
    return cupy if hasattr(cupy, "get_default_memory_pool") else None


def _cupy() -> Any:
    is_first = "cupy" not in sys.modules
    if is_first:
        set_cupy_folder()
    try:
        import cupy  # noqa: PLC0415 - costs a second with a context: only when a device is used
    except ImportError as error:
        raise DeviceError(
            "cupy for --device cuda",
            "no cupy in this environment",
            "install gpuasm[cuda12] or gpuasm[cuda13], or run with --device cpu",
        ) from error
    if is_first:  # a program that has imported cupy before may have an allocator of its own
        cupy.cuda.set_allocator(_allocate)
    return cupy


def _allocate(size: int) -> Any:
    return _allocator(_cupy())(size)


_allocators: dict[tuple[int, int], DeviceAllocator] = {}


def _allocator(cupy: Any) -> DeviceAllocator:
    """Return what notes the memory of the current device, and provides it where this process imported cupy first."""
    key = id(cupy), int(cupy.cuda.runtime.getDevice())
    return _allocators.get(key) or _allocators.setdefault(key, DeviceAllocator(cupy))
