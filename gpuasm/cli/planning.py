"""Estimate what an assembly will take before it starts: memory of host and device, and disk."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpuasm import arrays
from gpuasm.assembly.parameters import ITERATION
from gpuasm.errors import ResourceError
from gpuasm.kmers.estimate import estimate_spectrum
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.resources import format_bytes, require_disk, require_memory
from gpuasm.sequence.reads import Reads

if TYPE_CHECKING:
    from gpuasm.cli.session import Session

_LOG = logging.getLogger(__name__)

# Measured, with a margin of about a sixth. The graphs of all k take about the same, and more than the consensus check.
_PROCESS = 220 << 20
_GRAPH_BYTES_PER_KMER = 200
_TALLY_BYTES_PER_KMER = 120
_CUT_BYTES_PER_WINDOW = 2
# Names of the windows of reads that cross a junction of the first graph, four bytes each and marks of one: few reads of
# most samples; a third at low coverage, whose first graph keeps more errors; and all reads at a coverage so high that
# each base of the genome has many errors, as in a virus.
_CROSSING_BYTES_PER_BASE, _AT_LOW_COVERAGE, _AT_HIGH_COVERAGE = 0.3, 1.6, 5.0
_HIGH_COVERAGE = 300
_DEVICE_BYTES_PER_KMER = 400
_DEVICE_LEAST = 1 << 30
_DISK_BYTES_PER_KMER = 24


def plan_assembly(reads: Reads, k: int, session: Session, folder: Path) -> dict[str, int]:
    """Estimate and log what assembling the reads takes, and refuse what cannot fit.

    Returns
    -------
    dict: distinct and repeated k-mers (estimates), bytes of host memory, device memory and disk.

    Raises
    ------
    ResourceError
        If host, device or disk have less than is needed; with the number that would do.
    """
    histogram = estimate_spectrum(reads, k)
    repeated = int(histogram[2:].sum())
    windows = int(np.maximum(reads.length.astype(np.int64) - k + 1, 0).sum())
    own = sum(array.nbytes for array in (reads.packed, reads.start, reads.length, reads.read))
    counting = _CUT_BYTES_PER_WINDOW * windows + _TALLY_BYTES_PER_KMER * repeated
    crossing = int(crossing_bytes_per_base(histogram, k, windows) * int(reads.length.sum(dtype=np.int64)))
    host = _PROCESS + 2 * own + max(counting, _GRAPH_BYTES_PER_KMER * repeated + crossing)
    on_device = session.device != "cpu"
    plan = {
        "distinct_kmers": int(histogram.sum()),
        "repeated_kmers": repeated,
        "host_bytes": host,
        "device_bytes": own + _DEVICE_BYTES_PER_KMER * repeated + _DEVICE_LEAST if on_device else 0,
        "disk_bytes": _DISK_BYTES_PER_KMER * repeated,
    }
    _LOG.info(
        "expecting about %s distinct %d-mers, %s of them repeated: %s of memory, %s on the device, %s of disk",
        f"{plan['distinct_kmers']:,}",
        k,
        f"{repeated:,}",
        *(format_bytes(plan[f"{kind}_bytes"]) for kind in ("host", "device", "disk")),
    )
    require_memory(host, session.memory, "assembling these reads")
    if on_device and plan["device_bytes"] > arrays.free_device_memory():
        raise ResourceError(
            f"{format_bytes(plan['device_bytes'])} of device memory for assembling these reads",
            format_bytes(arrays.free_device_memory()),
            "run with --device cpu, or on a device with that much free",
        )
    require_disk(folder, plan["disk_bytes"])
    return plan


def crossing_bytes_per_base(histogram: np.ndarray, k: int, windows: int) -> float:
    """Return the bytes that junction reads take, for each base of the reads."""
    if windows > _HIGH_COVERAGE * int(histogram[2:].sum()):
        return _AT_HIGH_COVERAGE
    spectrum = analyse_spectrum(histogram, k)
    is_low = spectrum.is_low_coverage or spectrum.rare_share() > ITERATION.missed_windows_share
    return _AT_LOW_COVERAGE if is_low else _CROSSING_BYTES_PER_BASE
