"""Write distances between samples: a matrix in PHYLIP format, and a table of pairs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from gpuasm.io.output import atomic_output


def write_phylip(path: str | os.PathLike[str], names: Sequence[str], distance: np.ndarray) -> None:
    """Write a square matrix as PHYLIP has it: the number of samples, then a line each, its name first.

    Names are written whole, as the relaxed form of the format allows, blanks as underscores.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    with atomic_output(path) as file:
        file.write(f"{len(names)}\n")
        for name, row in zip(names, distance, strict=True):
            file.write("_".join(name.split()) + "\t" + "\t".join(map("{:.6g}".format, row.tolist())) + "\n")


def write_pairs(
    path: str | os.PathLike[str],
    names: Sequence[str],
    columns: Mapping[str, np.ndarray],
    *,
    text: Mapping[str, str],
    kept: np.ndarray,
) -> None:
    """Write a line for each selected pair of samples, those of the first sample first.

    Parameters
    ----------
    path
        The file; "-" is standard output.
    names
        Of the samples.
    columns
        For each title a value for each two samples, (n, n); of the lower triangle nothing is written.
    text
        How values are written, by title: a format such as "{:.6g}" or "{:d}".
    kept : (n, n) bool
        Which pairs are written.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    with atomic_output(path) as file:
        file.write("\t".join(["sample_1", "sample_2", *columns]) + "\n")
        for i, name in enumerate(names):
            others = np.flatnonzero(kept[i, i + 1 :]) + i + 1
            cells = [map(text[title].format, values[i, others].tolist()) for title, values in columns.items()]
            rows = zip([names[other] for other in others.tolist()], *cells, strict=True)
            file.writelines("\t".join([name, *row]) + "\n" for row in rows)
