"""Write the files of Databionic ESOM tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.io.output import atomic_output

_COLOURS = (
    (42, 111, 176), (194, 87, 26), (29, 138, 78), (138, 92, 194), (194, 59, 59), (143, 117, 0), (194, 79, 158),
)  # fmt: skip
SUFFIXES = (".lrn", ".wts", ".bm", ".umx", ".names", ".cls")


def write_lrn(path: str | os.PathLike[str], values: np.ndarray, columns: Sequence[str]) -> None:
    """Write rows: keys are 1 to n, missing values NaN; kinds of columns are 9 for the key and 1 for data."""
    n, d = values.shape
    titles = ["Key", *(_without_blanks(column) for column in columns)]
    head = [f"% {n}", f"% {d + 1}", "% " + "\t".join("9" + "1" * d), "% " + "\t".join(titles)]
    _write(path, head, (f"{i}\t{_numbers(row)}" for i, row in enumerate(values, start=1)))


def write_wts(path: str | os.PathLike[str], weights: np.ndarray, shape: tuple[int, int]) -> None:
    """Write the weights of units, (units, d), a line each, row after row of a map of ``shape`` (rows, columns)."""
    _write(path, [f"% {shape[0]} {shape[1]}", f"% {weights.shape[1]}"], map(_numbers, weights))


def write_bm(path: str | os.PathLike[str], units: np.ndarray, shape: tuple[int, int]) -> None:
    """Write the row and the column of each row's best unit, both counted from 0."""
    rows, columns = np.divmod(units, shape[1])
    lines = (f"{i}\t{r}\t{c}" for i, (r, c) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True), start=1))
    _write(path, [f"% {shape[0]} {shape[1]}", f"% {units.size}"], lines)


def write_umx(path: str | os.PathLike[str], heights: np.ndarray) -> None:
    """Write a height for each unit, (rows, columns), such as the U-matrix."""
    _write(path, [f"% {heights.shape[0]} {heights.shape[1]}"], map(_numbers, heights))


def write_names(path: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Write the name of each row."""
    _write(
        path,
        [f"% {len(names)}"],
        (f"{i}\t{_without_blanks(name)}\t{_without_blanks(name)}" for i, name in enumerate(names, start=1)),
    )


def write_cls(path: str | os.PathLike[str], classes: np.ndarray, titles: Sequence[str]) -> None:
    """Write the class of each row, (n,) int with -1 where unknown, in the file class 0; titles are those of 0 on."""
    head = [f"% {classes.size}"]
    for number, title in enumerate(titles, start=1):
        red, green, blue = _COLOURS[(number - 1) % len(_COLOURS)]
        head.append(f"% {number}\t{_without_blanks(title)}\t{red}\t{green}\t{blue}")
    _write(path, head, (f"{i}\t{c + 1}" for i, c in enumerate(classes.tolist(), start=1)))


def _write(path: str | os.PathLike[str], head: Iterable[str], lines: Iterable[str]) -> None:
    with atomic_output(Path(path)) as file:
        file.writelines(line + "\n" for line in head)
        file.writelines(line + "\n" for line in lines)


def _numbers(row: Any) -> str:
    return "\t".join("NaN" if value != value else f"{value:.9g}" for value in row.tolist())  # noqa: PLR0124 - NaN


def _without_blanks(text: str) -> str:
    """Return a text without blanks: they separate fields."""
    return "_".join(str(text).split()) or "_"
