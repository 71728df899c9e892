"""Reports: one HTML page about one or more runs, without anything from a network."""

from __future__ import annotations

from gpuasm.report.inputs import Run, add_benchmarks, add_status, read_run
from gpuasm.report.page import render, write_report, write_run_report, write_summary

__all__ = [
    "Run",
    "add_benchmarks",
    "add_status",
    "read_run",
    "render",
    "write_report",
    "write_run_report",
    "write_summary",
]
