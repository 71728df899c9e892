"""Contigs of the files that a command line names, with their depth."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from gpuasm.clustering.bins.windows import Contigs
from gpuasm.io.contigs import ContigRecord, read_contigs, read_depth_table

_LOG = logging.getLogger(__name__)


def no_contigs() -> Contigs:
    """Return what there is where there is nothing."""
    return _joined([], np.zeros((0, 0)))


def read_contigs_with_depth(path: Path, depth_paths: tuple[Path, ...], *, use_depth: bool) -> tuple[Contigs, list[str]]:
    """Read contigs, and their depth from tables or else from their headers, if all of these state it.

    Returns
    -------
    The contigs, and the names of the samples.
    """
    records = read_contigs(path)
    names = [record.name for record in records]
    if depth_paths:
        tables = [read_depth_table(table, names) for table in depth_paths]
        samples = [name for found, _ in tables for name in found]
        return _joined(records, np.concatenate([depth for _, depth in tables], axis=1)), _numbered(samples)
    depths = [record.depth for record in records if record.depth is not None]
    if use_depth and records and len(depths) == len(records):
        return _joined(records, np.array(depths)[:, None]), ["reads"]
    if use_depth and records:
        _LOG.warning("no depth of %d contigs in %s: bins follow composition alone", len(records) - len(depths), path)
    return _joined(records, np.zeros((len(records), 0))), []


def _numbered(samples: list[str]) -> list[str]:
    """Return names of samples with a number behind those that were there before, as each has columns of its own."""
    found: list[str] = []
    for sample in samples:
        others = (f"{sample}_{number}" for number in range(2, len(samples) + 2))
        found.append(next(name for name in (sample, *others) if name not in {*found, *(set(samples) - {sample})}))
    return found


def _joined(records: list[ContigRecord], depth: np.ndarray) -> Contigs:
    length = [record.codes.size for record in records]
    return Contigs(
        names=[record.name for record in records],
        codes=np.concatenate([np.empty(0, np.uint8), *(record.codes for record in records)]),
        start=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        depth=depth,
        is_circular=np.array([record.is_circular for record in records], dtype=bool),
    )
