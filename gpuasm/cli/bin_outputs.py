"""What ``gpuasm bin`` writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.cli.contig_map_file import save_contig_map
from gpuasm.clustering.bins.bins import Binning, ContigMap
from gpuasm.clustering.bins.windows import Contigs
from gpuasm.io import atomic_output, write_fasta, write_tsv
from gpuasm.report.statistics import summarise_lengths

_BIN_FILE = re.compile(r"bin_\d+\.fasta")
_PLASMID_SHARE = 0.25
"""A circle below this share of its bin's bases is taken for a plasmid or a phage, not for the chromosome."""

_MAP_COLUMNS = ("row", "column", "height", "windows", "bin")
_TRAINING_COLUMNS = ("epoch", "quantisation", "topographic")
_PLACE_COLUMNS = (
    "bin", "sureness", "second", "unit_row", "unit_column", "second_unit_row", "second_unit_column", "note",
)  # fmt: skip
_BIN_COLUMNS = (
    "bin", "contigs", "bases", "n50", "longest", "gc", "circular", "sureness", "silhouette", "border", "apart",
)  # fmt: skip


def bin_name(number: int) -> str:
    """Return the name of a bin by its number from 0 on; nothing for -1."""
    return f"bin_{number + 1:03d}" if number >= 0 else ""


def is_bin(name: Path) -> bool:
    """Return whether a path within the folder is that of a bin; an earlier run may have found more bins."""
    return name.parts[:-1] == ("bins",) and bool(_BIN_FILE.fullmatch(name.name))


def write_map(folder: Path, contig_map: ContigMap | None, binning: Binning | None) -> None:
    """Write map.npz; map.tsv, its surface; and training.tsv, how well it fitted after each epoch, 0 being its start."""
    save_contig_map(folder / "map.npz", contig_map)
    _write_rows(folder / "map.tsv", _MAP_COLUMNS, _map_rows(contig_map, binning) if contig_map else [])
    history = contig_map.som.history_ if contig_map else []
    rows = [(epoch, errors.quantisation, errors.topographic) for epoch, errors in enumerate(history)]
    _write_rows(folder / "training.tsv", _TRAINING_COLUMNS, rows)


def write_binning(
    folder: Path, contigs: Contigs, samples: list[str], found: tuple[ContigMap | None, Binning | None]
) -> list[dict[str, Any]]:
    """Write bins and tables, if only as empty files; return the rows of the bins."""
    binning = found[1]
    bin_of_contig = binning.bin_of_contig if binning else np.full(contigs.n, -1)
    gc = _gc(contigs)
    depth_columns = ["depth"] if len(samples) == 1 else [f"depth_{name}" for name in samples]
    rows = [_bin_row(contigs, b, gc, binning) for b in range(binning.n_bins)] if binning else []
    _write_bins(folder, contigs, bin_of_contig, n_bins=len(rows))
    _write_bin_of_contigs(folder / "contigs2bin.tsv", contigs, bin_of_contig)
    _write_rows(folder / "bins.tsv", (*_BIN_COLUMNS, *depth_columns), [tuple(row.values()) for row in rows])
    _write_contig_table(folder / "contigs.tsv", (contigs, gc, depth_columns), found)
    names = (*_BIN_COLUMNS, *depth_columns)
    return [dict(zip(names, row.values(), strict=True)) for row in rows]


def _write_bins(folder: Path, contigs: Contigs, bin_of_contig: np.ndarray, *, n_bins: int) -> None:
    bins = folder / "bins"
    bins.mkdir(exist_ok=True)
    for b in range(n_bins):
        _write_contigs(bins / f"{bin_name(b)}.fasta", contigs, np.flatnonzero(bin_of_contig == b))
    _write_contigs(folder / "unbinned.fasta", contigs, np.flatnonzero(bin_of_contig < 0))


def _write_contigs(path: Path, contigs: Contigs, chosen: np.ndarray) -> None:
    depth = ["" if not contigs.depth.shape[1] else f" depth={contigs.depth[c, 0]:.1f}" for c in chosen]
    shape = ["yes" if contigs.is_circular[c] else "no" for c in chosen]
    write_fasta(
        path,
        [contigs.names[c] for c in chosen],
        [f"length={contigs.length[c]}{d} circular={s}" for c, d, s in zip(chosen, depth, shape, strict=True)],
        [contigs.codes[contigs.start[c] : contigs.start[c + 1]] for c in chosen],
    )


def _write_bin_of_contigs(path: Path, contigs: Contigs, bin_of_contig: np.ndarray) -> None:
    """Write the name and the bin of each contig in a bin, without titles, as DAS Tool reads it."""
    with atomic_output(path) as file:
        file.writelines(
            f"{name}\t{bin_name(b)}\n" for name, b in zip(contigs.names, bin_of_contig.tolist(), strict=True) if b >= 0
        )


def _gc(contigs: Contigs) -> np.ndarray:
    """Return (m, 2) int64: the bases of each contig that are G or C, and those that are any base."""
    if not contigs.n:
        return np.zeros((0, 2), np.int64)
    is_gc = (contigs.codes == 1) | (contigs.codes == 2)
    per_contig = [np.add.reduceat(mask, contigs.start[:-1], dtype=np.int64) for mask in (is_gc, contigs.codes < 4)]
    return np.column_stack(per_contig)


def _share(gc: np.ndarray) -> float | None:
    return float(gc[0] / gc[1]) if gc[1] else None


def _bin_row(contigs: Contigs, b: int, gc: np.ndarray, binning: Binning) -> dict[str, Any]:
    """Describe a bin.

    ``border`` is the share of its bases whose second-best unit is outside of its region, ``apart`` its bases that lie
    outside of its region themselves.
    """
    chosen = np.flatnonzero(binning.bin_of_contig == b)
    length = contigs.length[chosen]
    lengths = summarise_lengths(length.tolist())
    weight = length / max(1, lengths.total)
    of_unit = binning.bin_of_region[binning.regions.of_unit]
    second = of_unit[binning.contig_units[chosen, 1]]
    described = {
        "bin": bin_name(b),
        "contigs": lengths.n,
        "bases": lengths.total,
        "n50": lengths.n50,
        "longest": lengths.longest,
        "gc": _share(gc[chosen].sum(axis=0)),
        "circular": int(contigs.is_circular[chosen].sum()),
        "sureness": float((binning.membership.sureness[chosen] * weight).sum()),
        "silhouette": None if np.isnan(binning.silhouette[b]) else float(binning.silhouette[b]),
        "border": float(weight[second != b].sum()),
        "apart": int(length[_is_apart(binning, chosen)].sum()),
    }
    depth = (contigs.depth[chosen] * weight[:, None]).sum(axis=0)
    return described | {f"depth {s}": float(value) for s, value in enumerate(depth)}


def _is_apart(binning: Binning, chosen: np.ndarray) -> np.ndarray:
    region = binning.region_of_contig[chosen]
    return (region >= 0) & (binning.bin_of_region[region] != binning.bin_of_contig[chosen])


def _write_contig_table(
    path: Path,
    described: tuple[Contigs, np.ndarray, list[str]],
    found: tuple[ContigMap | None, Binning | None],
) -> None:
    contigs, gc, depth_columns = described
    contig_map, binning = found
    nothing: list[Any] = [None] * contigs.n
    columns: dict[str, Any] = {
        "contig": contigs.names,
        "length": contigs.length,
        "gc": [_share(counts) for counts in gc],
        "circular": contigs.is_circular,
        **dict.fromkeys(_PLACE_COLUMNS, nothing),
    }
    if contig_map and binning:
        columns |= _places(contigs, contig_map, binning)
    depths = zip(depth_columns, contigs.depth.T, strict=False)  # without contigs there is no depth
    write_tsv(path, {**columns, **dict.fromkeys(depth_columns, nothing), **dict(depths)})


def _places(contigs: Contigs, contig_map: ContigMap, binning: Binning) -> dict[str, Any]:
    """Return the columns with the bin of each contig."""
    row, column = np.divmod(binning.contig_units, contig_map.som.columns)
    values = (
        [bin_name(b) for b in binning.bin_of_contig.tolist()],
        binning.membership.sureness,
        [bin_name(b) for b in binning.membership.second.tolist()],
        row[:, 0],
        column[:, 0],
        row[:, 1],
        column[:, 1],
        _notes(contigs, binning),
    )
    return dict(zip(_PLACE_COLUMNS, values, strict=True))


def _notes(contigs: Contigs, binning: Binning) -> list[str]:
    """Return remarks about each contig."""
    bin_of = binning.bin_of_contig
    bases = np.bincount(np.maximum(0, bin_of), contigs.length * (bin_of >= 0), binning.n_bins)[bin_of]
    is_plasmid = contigs.is_circular & (contigs.length < _PLASMID_SHARE * bases)
    is_apart = _is_apart(binning, np.arange(contigs.n))
    notes = (("plasmid or phage", is_plasmid & (bin_of >= 0)), ("apart on the map", is_apart & (bin_of >= 0)))
    return [", ".join(text for text, is_so in notes if is_so[c]) for c in range(contigs.n)]


def describe_map(contig_map: ContigMap | None, binning: Binning | None) -> dict[str, Any]:
    """Return the figures of a map, for run.json."""
    if not contig_map:
        return {}
    som, contrast = contig_map.som, contig_map.contrast
    described: dict[str, Any] = {
        "rows": som.rows,
        "columns": som.columns,
        "quantisation": som.history_[-1].quantisation,
        "topographic": som.history_[-1].topographic,
        "discriminating_axes": contrast.n_discriminating,
        "strength": contrast.strength[: contrast.n_discriminating + 1].tolist(),
        "strength_of_noise": contrast.threshold,
    }
    if binning:
        described |= {
            "windows": binning.windows.n, "valleys": binning.regions.n_valleys, "regions": binning.regions.n,
        }  # fmt: skip
    return described


def _map_rows(contig_map: ContigMap, binning: Binning | None) -> list[tuple[Any, ...]]:
    som = contig_map.som
    height = som.u_matrix().reshape(-1).tolist()
    hits: list[int | None] = [None] * len(height)
    bins = [""] * len(height)
    if binning:
        hits = np.bincount(binning.window_unit, minlength=len(height)).tolist()
        bins = [bin_name(int(b)) for b in binning.bin_of_region[binning.regions.of_unit]]
    return [(*divmod(u, som.columns), height[u], hits[u], bins[u]) for u in range(len(height))]


def _write_rows(path: Path, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    write_tsv(path, {name: [row[i] for row in rows] for i, name in enumerate(names)})
