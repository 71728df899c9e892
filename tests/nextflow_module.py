"""The commands of the Nextflow module, run without Nextflow, and the md5s of what they write.

python -m tests.nextflow_module writes the snapshot anew.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parents[1] / "contrib" / "nf-core" / "gpuasm" / "assemble"
SNAPSHOT = MODULE / "tests" / "main.nf.test.snap"
COMPARED = ("contigs", "scaffolds", "graph", "table", "depth")
COMPARED_STUBS = ("contigs", "table")
TESTS = {"simulated genome - paired": False, "simulated genome - single": True}
STUB = "simulated genome - stub"
Command = Callable[[list[str]], object]


def script_of(path: Path, *, section: str, values: dict[str, str]) -> str:
    """Return the shell script of a process, as Nextflow would write it."""
    text = path.read_text().partition(f"\n    {section}:\n")[2].split('"""')[1]
    text = re.sub(r"\$\{([^}]*)\}", lambda match: values[match[1]], text.replace("\\\\", "\\").replace("\\$", "\0"))
    return text.replace("\0", "$")


def outputs_of(path: Path, prefix: str) -> dict[str, str]:
    """Return the file of each channel of a process."""
    found = re.findall(r'path\("([^"]*)"\)\s*, emit: (\w+)', path.read_text())
    return {channel: name.replace("${prefix}", prefix) for name, channel in found}


def run_script(script: str, gpuasm: Command) -> None:
    """Run a script in this folder: lines that call gpuasm by ``gpuasm``, the others by the shell."""
    others = ""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.split(line) if line.strip().startswith("gpuasm ") else []
        if words:
            assert others.strip() == "", "a line of the shell before one of gpuasm"
            gpuasm(words[1:])
        else:
            others += f"{line}\n"
    subprocess.run(["bash", "-euo", "pipefail", "-c", others], check=True)


def md5_of(path: Path) -> str:
    """Return the checksum of a file as nf-test writes it: of the text, where it is compressed."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return f"{path.name}:md5,{hashlib.md5(text, usedforsecurity=False).hexdigest()}"


def run_tests(gpuasm: Command) -> dict[str, list[Any]]:
    """Run the commands of each test of the module in this folder; return what its snapshot contains."""
    run_script(script_of(MODULE / "tests" / "simulate.nf", section="script", values={}), gpuasm)
    mates = [os.path.abspath(f"reads_{number}.fastq.gz") for number in (1, 2)]  # noqa: PTH100 - a text
    found = {}
    for title, single in TESTS.items():
        reads = f"--single {mates[0]}" if single else f"-1 {mates[0]} -2 {mates[1]}"
        values = {"args": "", "task.cpus": "2", "memory": "", "prefix": "test", "input": reads}
        found[title] = _run(title, values, gpuasm, channels=COMPARED, section="script")
    found[STUB] = _run(STUB, {"prefix": "test"}, gpuasm, channels=COMPARED_STUBS, section="stub")
    return found


def _run(
    title: str, values: dict[str, str], gpuasm: Command, *, channels: tuple[str, ...], section: str
) -> list[list[list[Any]]]:
    """Run one test in a folder of its own; return the channels that it compares."""
    folder, single = Path(title.rpartition(" ")[2]), TESTS.get(title, True)
    folder.mkdir()
    with chdir(folder):
        run_script(script_of(MODULE / "main.nf", section=section, values=values), gpuasm)
        files = outputs_of(MODULE / "main.nf", "test")
        missing = [name for name in files.values() if not Path(name).exists()]
        assert missing == []
        return [[[{"id": "test", "single_end": single}, md5_of(Path(files[channel]))]] for channel in channels]


def _write_snapshot() -> None:
    def gpuasm(words: list[str]) -> None:
        subprocess.run(["gpuasm", *words], check=True)

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = run_tests(gpuasm)
    snapshot = {title: {"content": content} for title, content in found.items()}
    SNAPSHOT.write_text(json.dumps(snapshot, indent=4) + "\n")


if __name__ == "__main__":
    _write_snapshot()
