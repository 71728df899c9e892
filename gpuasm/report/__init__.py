"""Reports: one HTML page about one or more runs, without anything from a network.

Each name is imported when it is first used: a process that has another one draw needs none.
"""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

from gpuasm.cache_folders import set_matplotlib_folder
from gpuasm.lazy import names_from

if TYPE_CHECKING:
    from gpuasm.report.bin_tables import add_bins, read_bin_run
    from gpuasm.report.identities import add_identities
    from gpuasm.report.inputs import Run, add_benchmarks, add_checks, add_status, read_run
    from gpuasm.report.multiqc import MULTIQC_SUFFIX, write_multiqc
    from gpuasm.report.page import render, write_bin_report, write_report, write_run_report, write_summary
    from gpuasm.report.world import LocatedSamples, read_located

__all__ = [
    "MULTIQC_SUFFIX",
    "LocatedSamples",
    "Run",
    "add_benchmarks",
    "add_bins",
    "add_checks",
    "add_identities",
    "add_status",
    "read_bin_run",
    "read_located",
    "read_run",
    "render",
    "write_bin_report",
    "write_multiqc",
    "write_report",
    "write_run_report",
    "write_summary",
]

_HOMES = {
    "bin_tables": ["add_bins", "read_bin_run"],
    "identities": ["add_identities"],
    "inputs": ["Run", "add_benchmarks", "add_checks", "add_status", "read_run"],
    "multiqc": ["MULTIQC_SUFFIX", "write_multiqc"],
    "page": ["render", "write_bin_report", "write_report", "write_run_report", "write_summary"],
    "world": ["LocatedSamples", "read_located"],
}
__getattr__ = names_from(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names})

set_matplotlib_folder()
# Names may not fit a figure, or have letters that its font lacks.
warnings.filterwarnings("ignore", message="constrained_layout|Glyph ")  # no room for a name, or no letters
logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns of fonts and of its folder, on standard error
