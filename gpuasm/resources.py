"""Memory and disk that a run may use, and errors with the sufficient amount if it needs more."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuasm.errors import ResourceError, UsageError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AMOUNT = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_NO_LIMIT = 1 << 60  # version 1 of control groups writes "no limit" as a number near 2**63
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_PROCESS = Path("/proc/self")
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1  # the numbers of glibc's malloc.h
_LARGER_ARRAY, _ARRAY_OF_BLOCK = 1 << 20, 4 << 20
_KEPT_BY_DEFAULT, _KEPT = 128 << 10, 32 << 20
_memory_of_run: int | None = None
_LEAST_ADDRESSES = 400 << 20  # with less, the compiler of loops ends the process, which cannot be caught


def parse_bytes(text: str) -> int:
    """Read an amount of memory: "4G", "800M", "1.5 GiB" or plain bytes; units are powers of 1024.

    Raises
    ------
    UsageError
        If the text is no amount above zero.
    """
    match = _AMOUNT.fullmatch(text)
    amount = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if amount <= 0:
        raise UsageError("an amount of memory such as 4G or 800M", repr(text), "give a number and K, M, G or T")
    return amount


def format_bytes(amount: int) -> str:
    """Write bytes with a unit: "512 B", "3.4 MB", "12.0 GB"; units are powers of 1024."""
    if amount < 1024:
        return f"{amount} B"
    value, units = float(amount), iter("KMGT")
    unit = ""
    while value >= 1023.95 and (larger := next(units, "")):
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}B"


def memory_budget(text: str | None = None) -> int:
    """Return the bytes of host memory that a run may use.

    Parameters
    ----------
    text
        The requested amount ("4G"). Without it the budget is the least of the limits of the control group and its
        parents, the batch system, the process (``ulimit -v``) and the free memory of the machine.

    Raises
    ------
    UsageError
        If ``text`` is no amount of memory.
    """
    if text is not None:
        return parse_bytes(text)
    limits = [_cgroup_limit(), _slurm_limit(), _address_space(), _available()]
    return min(limit for limit in limits if limit is not None)


@contextmanager
def limited_memory(amount: int) -> Iterator[None]:
    """Let the readers of files keep within the memory of a run, in bytes, while the block lasts."""
    global _memory_of_run  # noqa: PLW0603 - memory is that of the process, as its threads are
    before, _memory_of_run = _memory_of_run, amount
    try:
        yield
    finally:
        _memory_of_run = before


def process_limit(budget: int | None = None) -> int:
    """Return the bytes that the process may take in all.

    Parameters
    ----------
    budget
        They; if None, those of `limited_memory`, or else what the process has and what is free.
    """
    if budget is not None:
        return budget
    return _memory_of_run if _memory_of_run is not None else resident_bytes() + memory_budget()


def resident_bytes() -> int:
    """Return the memory that the process has now; 0 where the system does not show it."""
    return _pages_of_process(1)


def require_memory(needed: int, budget: int, what: str) -> None:
    """Raise an error if work needs more memory than the budget.

    Parameters
    ----------
    needed, budget
        Bytes that the work needs and bytes that it may use.
    what
        The work, as a noun phrase: "counting 31-mers of 3,000,000 reads".

    Raises
    ------
    ResourceError
        If ``needed`` exceeds ``budget``.
    """
    if needed > budget:
        raise ResourceError(
            f"{format_bytes(needed)} of memory for {what}",
            f"a budget of {format_bytes(budget)}",
            f"run where that much is free, with --memory {rounded_up(needed)}",
        )


def keep_freed_memory() -> None:
    """Have the C library keep freed arrays of up to 4 MB for others, while files are read block by block.

    Memory from the system is cleared page by page, which takes longer than to read a block of text into it. Without
    glibc nothing is done.
    """
    _set_freed_memory(_ARRAY_OF_BLOCK, _KEPT)


def return_freed_memory() -> None:
    """Have the C library return the memory of each array of a megabyte or more to the system when it is freed.

    By default glibc keeps freed arrays of up to 32 MB for others, which rarely have the same size. Without glibc
    nothing is done.
    """
    _set_freed_memory(_LARGER_ARRAY, _KEPT_BY_DEFAULT)
    return_small_arrays()


def _set_freed_memory(least_returned: int, kept: int) -> None:
    """Set the bytes from which on an array gets memory of its own, and those kept at the end of a heap."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, least_returned)
        library.mallopt(_M_TRIM_THRESHOLD, kept)


def return_small_arrays() -> None:
    """Have the C library return the memory of freed arrays of less than a megabyte, which it keeps for others."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def begin_new_peak() -> None:
    """Let the peak of the resident memory of this process begin at what it has now, where the system can do so."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")


def require_address_space() -> None:
    """Raise an error if the limit of the process (``ulimit -v``) leaves too little for compiled loops and threads.

    Raises
    ------
    ResourceError
        If it does; the remedy states the sufficient limit.
    """
    room = _address_space()
    if room is not None and room < _LEAST_ADDRESSES:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        raise ResourceError(
            f"{format_bytes(_LEAST_ADDRESSES)} of addresses in addition to the libraries",
            f"room for {format_bytes(room)}",
            f"raise the limit of the process, with ulimit -v {(limit - room + _LEAST_ADDRESSES) >> 10} or more",
        )


def require_disk(path: str | Path, needed: int) -> None:
    """Raise an error if the disk has too little room for an output.

    Parameters
    ----------
    path
        A file or folder to be written; it need not exist yet.
    needed
        Bytes to be written.

    Raises
    ------
    ResourceError
        If the file system has less room than ``needed``.
    """
    folder = Path(path).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ResourceError(
            f"{format_bytes(needed)} of free disk", format_bytes(free), "free some, or write to another disk", path=path
        )


def rounded_up(amount: int) -> str:
    """Write bytes as a value for ``--memory`` that is not less: "310M", "12G"."""
    megabytes = -(-amount // _UNITS["M"])
    return f"{megabytes}M" if megabytes < 4096 else f"{-(-megabytes // 1024)}G"


def _available() -> int | None:
    try:
        line = next(line for line in _MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(line.split()[1]) * 1024


def _address_space() -> int | None:
    """Return what the limit on the addresses of this process (``ulimit -v``) leaves; None where there is no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    return max(limit - _pages_of_process(0), 0)


def _pages_of_process(field: int) -> int:
    """Return a field of the system's account of our memory, in bytes: 0 addresses, 1 resident."""
    try:
        return int((_PROCESS / "statm").read_text().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _cgroup_limit() -> int | None:
    """Return the least free memory of our control group and its parents; None where none has a limit."""
    rooms = [room for group in _groups() if (room := _room_of_group(*group)) is not None]
    return min(rooms, default=None)


def _groups() -> list[tuple[str, str]]:
    """Return the files of limit and use of our control group and its parents, in versions 2 and 1.

    In a container its own group is the outermost one; the group of a job of systemd or a batch system is nested.
    """
    try:
        lines = (_PROCESS / "cgroup").read_text().splitlines()
    except OSError:
        lines = []
    within = {"v2": "/", "memory": "/"}
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        name = "v2" if (number, controllers) == ("0", "") else controllers
        if name in within:
            within[name] = path or "/"
    return [
        (f"{head}{place}{limit}", f"{head}{place}{used}")
        for name, head, limit, used in (
            ("v2", "", "memory.max", "memory.current"),
            ("memory", "memory/", "memory.limit_in_bytes", "memory.usage_in_bytes"),
        )
        for place in _inwards(within[name])
    ]


def _inwards(path: str) -> list[str]:
    """Return the folders that lead to a control group: "", "a/", "a/b/" for "/a/b"."""
    steps = [step for step in path.split("/") if step]
    return ["".join(f"{step}/" for step in steps[:depth]) for depth in range(len(steps) + 1)]


def _room_of_group(limit: str, used: str) -> int | None:
    try:
        bound = (_CGROUP / limit).read_text().strip()
        if bound != "max" and int(bound) < _NO_LIMIT:
            return max(int(bound) - _held(used), 0)
    except (OSError, ValueError):
        pass
    return None


def _held(used: str) -> int:
    """Return the memory of a control group without file cache, which counts as use but is freed on demand."""
    path = _CGROUP / used
    text = (path.parent / "memory.stat").read_text()
    statistics = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
    return int(path.read_text()) - int(statistics.get("inactive_file", 0)) - int(statistics.get("active_file", 0))


def _slurm_limit() -> int | None:
    names = ("SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE")
    texts = (os.environ.get(name, default) for name, default in zip(names, ("", "", "1"), strict=True))
    megabytes, per_cpu, cpus = (int(text) if _WHOLE.fullmatch(text) else 0 for text in texts)
    return (megabytes or per_cpu * cpus) << 20 or None  # 0 means the whole node
