"""Fuzzed readers of what runs leave for reports, and of the inputs of the workflow."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gpuasm import report
from gpuasm.errors import DataError
from tests.fuzz.target import Target
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM

_REPOSITORY = Path(__file__).parents[2]
_KIND = "reports and the workflow"
_SCHEMA = _REPOSITORY / "workflow/schemas/config.schema.yaml"
_CHECK = {
    "usable": True,
    "n_pairs": 4,
    "files": [{"path": "a.fq", "format": "fastq", "n_reads": 8, "n_bases": 800, "mean_quality": 35.5}],
    "warnings": ["few reads"],
    "problems": [],
}
_STATUS = {"sample": "run", "step": "count_kmers", "status": "failed", "exit_code": 65, "message": "no reads"}
_POINT = {"type": "Point", "coordinates": [1, 2]}
_LINE = {"type": "LineString", "coordinates": [[1, 2], [179, -4]]}
_PLACES = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "geometry": _POINT, "properties": {"vertex": "a", "status": "known", "radius_km": 3.5}},
        {"type": "Feature", "geometry": _LINE, "properties": {"distance": 0.1}},
    ],
}
RUN = {"run.json": json.dumps(MANIFEST), "contigs.tsv": CONTIGS, "spectrum.tsv": SPECTRUM}
_BINS = {
    "bins.tsv": "bin\tcontigs\tbases\tn50\tcircular\tapart\tsureness\tborder\tgc\tsilhouette\tdepth\n"
    "bin_1\t2\t5886\t5386\t1\t0\t0.9\t0.1\t0.45\t0.5\t40.0\n",
    "contigs.tsv": "name\tlength\tunit_row\tunit_column\tbin\na\t5386\t0\t1\tbin_1\nb\t500\t1\t0\t\n",
    "map.tsv": "row\tcolumn\theight\n0\t0\t0.1\n0\t1\t0.2\n1\t0\t0.3\n1\t1\t0.4\n",
    "training.tsv": "epoch\tquantisation\ttopographic\n1\t2.5\t0.1\n2\t1.5\t0.0\n",
    "run.json": json.dumps(MANIFEST | {"command": "bin"}),
}
_OTHERS = {
    "check.json": json.dumps(_CHECK),
    "status.json": json.dumps(_STATUS),
    "rule.tsv": "s\th:m:s\tmax_rss\tcpu_time\n1.5\t0:00:01\t-\t2.25\n",
}


def _in_run(name: str) -> Callable[[Path], None]:
    """Return the function that reads a run with a file in place of the valid one of its name."""

    def read(path: Path) -> None:
        folder = path.with_name("run")
        if not folder.exists():
            _write(folder, {**RUN, **_OTHERS})
            _write(folder / "bins", _BINS)
        (folder / name).write_bytes(path.read_bytes())
        runs = [report.read_run(folder)]
        report.add_status(runs, [folder / "status.json"])
        report.add_checks(runs, [folder / "check.json"])
        report.add_benchmarks(runs, [folder / "rule.tsv"])
        report.add_bins(runs, [folder / "bins"])
        report.write_summary(runs, path.with_name("summary.tsv"))
        if runs[0].notes:
            raise DataError("files of a run", "others", "none: the report notes what is damaged")

    return read


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


def _locations(path: Path) -> None:
    report.read_located(path)


@cache
def _rules() -> dict[str, Any]:
    """Return the functions of the workflow's rules that check its inputs."""
    names: dict[str, Any] = {"config": {}}
    for name in ("configuration", "common"):
        text = (_REPOSITORY / f"workflow/rules/{name}.smk").read_text().partition("\nfor problem in")[0]
        text = text.replace('"../schemas/', f'"{_SCHEMA.parent}/')  # Snakemake looks beside the file
        exec(compile(text, f"{name}.smk", "exec"), names)  # the project's own
    return names


def _sheet(path: Path) -> None:
    from snakemake.exceptions import WorkflowError

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            _rules()["read_samples"](str(path))
    except (WorkflowError, SystemExit) as error:  # it says what is wrong and ends the process
        raise DataError("a sample sheet", type(error).__name__, "none: the workflow explains it") from error


def _config(path: Path) -> None:
    from snakemake.common.configfile import load_configfile
    from snakemake.exceptions import WorkflowError

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            _rules()["check_configuration"](str(path))
        problems = _rules()["disagreement"](load_configfile(str(path)), str(_SCHEMA))
    except (WorkflowError, SystemExit) as error:
        problems = [str(error)]
    if problems:
        raise DataError("a configuration", "another", "none: the workflow explains it")


def _sheets(folder: Path) -> list[bytes]:
    reads = _REPOSITORY / "config/example/lambda.fasta.gz"
    head = "sample\treads_1\treads_2\tgenome\tlatitude\tlongitude\n"
    return [f"{head}# c\na\t{reads}\t\t\t1.5\t-2\nb\t\t\t{reads}\t\t\n".encode()]


def _texts_of(text: str) -> Callable[[Path], list[bytes]]:
    return lambda _: [text.encode()]


TARGETS = {
    **{name: Target(_KIND, _in_run(name), _texts_of(text)) for name, text in {**RUN, **_OTHERS}.items()},
    **{
        f"bins/{name}": Target(_KIND, _in_run(f"bins/{name}"), _texts_of(text))
        for name, text in _BINS.items()
        if name != "run.json"
    },
    "GeoJSON": Target(_KIND, _locations, _texts_of(json.dumps(_PLACES))),
}
if importlib.util.find_spec("snakemake"):
    TARGETS |= {
        "sample sheet": Target(_KIND, _sheet, _sheets),
        "configuration": Target(_KIND, _config, _texts_of((_REPOSITORY / "config/config.yaml").read_text())),
    }
