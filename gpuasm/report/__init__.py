"""Reports: one HTML page about one or more runs, without anything from a network."""

from __future__ import annotations

import logging
import warnings

from gpuasm.cache_folders import set_matplotlib_folder
from gpuasm.report.bin_tables import add_bins, read_bin_run
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

set_matplotlib_folder()
# Names may not fit a figure, or have letters that its font lacks.
warnings.filterwarnings("ignore", message="constrained_layout|Glyph ")  # no room for a name, or no letters
logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns of fonts and of its folder, on standard error
