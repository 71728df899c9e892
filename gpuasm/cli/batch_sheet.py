"""The sample sheet of ``gpuasm batch``, which is that of the workflow: the files of reads of each sample."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gpuasm.errors import DataError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_COLUMNS = ("sample", "reads_1")
_MATES = "reads_2"


@dataclass(frozen=True)
class SheetSample:
    """A sample of a sheet.

    Attributes
    ----------
    name : str
        Of letters, digits, dots, dashes and underscores.
    lanes : tuple
        The files of each lane: two with mates, or one. All lanes have as many.
    """

    name: str
    lanes: tuple[tuple[str, ...], ...]

    @property
    def files(self) -> list[str]:
        """All files, lane by lane."""
        return [path for lane in self.lanes for path in lane]

    @property
    def first_files(self) -> tuple[str, ...]:
        """The files that are parsed first, as `gpuasm.cli.inputs.first_files` returns them."""
        return tuple(str(Path(path)) for path in self.lanes[0])

    def arguments(self) -> list[str]:
        """Return the options of ``gpuasm assemble`` that name the files."""
        options = ("-1", "-2") if len(self.lanes[0]) == 2 else ("--single",)
        return [argument for lane in self.lanes for pair in zip(options, lane, strict=True) for argument in pair]


def read_sheet(path: Path) -> list[SheetSample]:
    """Return the samples of a sheet, in the order of their first lines; lines of one name are lanes of one sample.

    Raises
    ------
    DataError
        If a column is missing or twice there, or a line cannot be used.
    NoInputError, ReadWriteError, ResourceError
        If the file cannot be read.
    """
    from gpuasm.io.text_tables import read_table

    lanes: dict[str, list[tuple[str, ...]]] = {}
    remedy = "give a table with tabs between the columns sample, reads_1 and reads_2, and a title for each cell"
    for row in read_table(path, required=_COLUMNS, comments=True, padded=True, remedy=remedy):
        cells = row.cells
        if problem := problem_of_lane(cells, lanes.get(cells["sample"], [])):
            raise row.error(*problem)
        lanes.setdefault(cells["sample"], []).append(_lane(cells))
    if not lanes:
        raise DataError("a sample", "none", "add a line for each", path=path)
    return [SheetSample(name, tuple(files)) for name, files in lanes.items()]


def _lane(cells: dict[str, str]) -> tuple[str, ...]:
    return tuple(cells[name] for name in ("reads_1", _MATES) if cells.get(name))


def problem_of_lane(cells: dict[str, str], earlier: list[tuple[str, ...]]) -> tuple[str, str, str] | None:
    """Return what was expected and found, and the remedy, if a line cannot be used; ``earlier`` has its other lanes."""
    lane = _lane(cells)
    if not _NAME.fullmatch(cells["sample"]):
        expected = "a name of letters, digits, dots, dashes and underscores, the first a letter or digit"
        return expected, repr(cells["sample"]), "rename the sample"
    if not cells["reads_1"]:
        return "a file in reads_1", "none", "fill it in; the workflow simulates reads of a genome"
    if "-" in lane:
        return "files", "standard input", "write the reads to a file"
    named = [path for other in earlier for path in other]
    again = [path for path, n in Counter([*named, *lane]).items() if n > 1]
    if again:
        return "each file once in a sample", f"{again[0]} twice", "name another file"
    if earlier and len(lane) != len(earlier[0]):
        return "lanes that all have reads_2, or none", "both kinds", "fill reads_2 in, or rename one sample"
    return None
