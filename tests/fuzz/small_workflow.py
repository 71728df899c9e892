"""The workflow on small samples: check, count, graph, assembly and report, without what needs several samples."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SETTINGS = {"bins": "false", "ranks": "false", "euler_paths": "false", "tangle": "0", "relate": "false"}
_HEADER = "sample\treads_1\treads_2\tlatitude\tlongitude\n"


def write_project(folder: Path, samples: dict[str, tuple[str, str]]) -> None:
    """Write the configuration and the sample sheet; samples are names with the paths of their mates."""
    text = (ROOT / "config" / "config.yaml").read_text()
    for name, value in {**_SETTINGS, "device": "cpu"}.items():
        text = re.sub(rf"^{name}: .*", f"{name}: {value}", text, flags=re.MULTILINE)
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text(text)
    lines = (f"{name}\t{first}\t{second}\t\t\n" for name, (first, second) in samples.items())
    (folder / "config" / "samples.tsv").write_text(_HEADER + "".join(lines))


def snakemake(folder: Path, *more: str, cores: int = 2) -> list[str]:
    """Return the command that runs the workflow, also where a run was killed before."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    return [*command, "--cores", str(cores), "--nolock", "--rerun-incomplete", "--quiet", "all", *more]
