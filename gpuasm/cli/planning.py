"""Plan an assembly before it starts: forecast memory and disk, and refuse what cannot fit."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from gpuasm import arrays
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.cli.assembly_page import LEAST_BYTES_APART
from gpuasm.cli.forecast import (
    CODE,
    KERNELS,
    LATER_CODE,
    PAGE,
    PAGE_APART,
    Sample,
    Survey,
    device_bytes,
    disk_bytes,
    host_bytes,
    reading_bytes,
)
from gpuasm.errors import ResourceError
from gpuasm.resources import format_bytes, require_disk, require_memory, resident_bytes, return_small_arrays
from gpuasm.sequence.reads import Reads

if TYPE_CHECKING:
    from gpuasm.cli.session import Session

_LOG = logging.getLogger(__name__)


def plan_assembly(
    reads: Reads, options: AssemblyOptions, session: Session, folder: Path, *, draws_apart: bool = False
) -> dict[str, int]:
    """Forecast and log what assembling the reads takes, and refuse what cannot fit.

    The peak of this process so far, of reading, is known. Later it has what it has now and the arrays of `host_bytes`;
    in the end it draws the page of the run, unless another process does so meanwhile (``draws_apart``).

    Returns
    -------
    dict: distinct and repeated k-mers (estimates), bytes of host memory, device memory and disk.

    Raises
    ------
    ResourceError
        If host, device or disk have less than is needed; with the number that would do.
    """
    from gpuasm.kmers.buckets import buckets_for

    survey = Survey(options)
    survey.add(reads)
    sample, on_device, n_devices = survey.sample(), session.device != "cpu", session.devices.n
    return_small_arrays()
    free = session.memory - resident_bytes()
    if on_device:
        free = min(session.devices.each(arrays.free_device_memory)) - sample.own
    n_buckets = buckets_for(sample.windows, free, n_devices)
    now = resident_bytes() + LATER_CODE + (KERNELS if on_device else 0)
    work = host_bytes(sample, threads=session.threads, on_device=on_device, n_buckets=n_buckets, n_devices=n_devices)
    own = max(session.stages.peak_rss_bytes, now + (work if draws_apart else max(work, PAGE)))
    plan = {
        "distinct_kmers": sample.distinct,
        "repeated_kmers": sample.twice,
        "host_bytes": own + (PAGE_APART if draws_apart else 0),
        "device_bytes": device_bytes(sample, n_buckets=n_buckets) if on_device else 0,
        "disk_bytes": disk_bytes(sample),
    }
    _LOG.info(
        "expecting about %s distinct %d-mers, %s of them repeated: %s of memory, %s on the device, %s of disk",
        f"{sample.distinct:,}",
        sample.surveyed_k,
        f"{sample.twice:,}",
        *(format_bytes(plan[f"{kind}_bytes"]) for kind in ("host", "device", "disk")),
    )
    session.admit(plan)
    require_memory(plan["host_bytes"], session.memory, "assembling these reads")
    if on_device and plan["device_bytes"] > arrays.free_device_memory():
        raise ResourceError(
            f"{format_bytes(plan['device_bytes'])} of device memory for assembling these reads",
            format_bytes(arrays.free_device_memory()),
            "run with --device cpu, or on a device with that much free",
        )
    require_disk(folder, plan["disk_bytes"])
    return plan


def expected_memory(sample: Sample, *, threads: int, n_bytes: int) -> int:
    """Return the bytes of host memory that an assembly of surveyed reads of files of ``n_bytes`` takes on the CPU."""
    work = max(host_bytes(sample, threads=threads, on_device=False), reading_bytes(sample))
    if n_bytes < LEAST_BYTES_APART:
        return CODE + LATER_CODE + sample.own + max(work, PAGE)
    return CODE + LATER_CODE + sample.own + work + PAGE_APART
