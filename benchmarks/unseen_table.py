"""The table of sets that gpuasm was run on without its peers, or with them on a few only."""

from __future__ import annotations

from table_text import Result, markdown, section
from verdict import errors

_HEAD = ["reads", "NGA50", "auNGA", "misassemblies", "mismatches and indels / 100 kbp", "genome %", "duplication"]


def is_alone(result: Result) -> bool:
    """Tell whether a result is of gpuasm alone, on most of its sets at least."""
    if result["benchmark"] != "assemblers":
        return False
    beside = {row["set"] for row in result["rows"] if row["assembler"] != "gpuasm"}
    return 2 * len(beside) < len({row["set"] for row in result["rows"]})


def unseen(results: list[Result]) -> str:
    """Return gpuasm's figures on every set of the results of which most were run without peers."""
    return "\n\n".join(section(result, _figures(result)) for result in results if is_alone(result))


def _figures(result: Result) -> str:
    rows = []
    for row in (row for row in result["rows"] if row["assembler"] == "gpuasm"):
        figures, about = row["quast"], result["parameters"]["sets"][row["set"]]
        told = [figures["nga50"], round(figures["aunga"]), figures["misassemblies"], float(errors(figures))]
        told += [f"{figures['genome_fraction']:.2f}", f"{figures['duplication']:.3f}"]
        rows.append([about["what"] or row["set"], *told])
    return markdown(_HEAD, rows)
