"""The process of a command: its messages, its exit code, and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.read_files import genome_text, simulated_pairs, write_pairs


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, **options
    )


RUN = "from gpuasm.cli import run; run()"


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["assemble"], 2), (["check", "nothing.fq"], 66)])
def test_exit_codes(arguments, code):
    assert python(RUN, *arguments).returncode == code


def test_what_is_printed_comes_out_whole_through_a_pipe():
    done = python("print('x' * 100_000, end='');" + RUN, "--version")
    assert done.stdout.startswith("x" * 100_000 + "gpuasm")
    assert done.stdout.endswith("\n")


def test_what_others_registered_for_the_end_is_done():
    code = "import atexit; atexit.register(print, 'last line'); import sys; sys.stderr.write('no end of line');" + RUN
    done = python(code, "--version")
    assert done.stdout.splitlines()[-1] == "last line"
    assert done.stderr == "no end of line"


def test_closed_streams_are_no_matter():
    code = "import sys; sys.stderr = None;" + RUN
    assert python(code, "--version").returncode == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_process_begun_without_streams_writes_its_results(run_cli, closed, tmp_path):
    reads = tmp_path / "reads.fasta"
    reads.write_text(f">a\n{genome_text(length=300, repeats=0, seed=5)}\n")
    arguments = ["unitigs", reads, "-k", 21, "--min-count", 1, "--device", "cpu", "-o"]
    assert run_cli(*arguments, tmp_path / "as_it_is.gfa")[0] == 0
    command = [sys.executable, "-m", "gpuasm", *map(str, arguments), tmp_path / "unitigs.gfa"]
    shell = ["sh", "-c", f'"$@" {closed}', "sh", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert (tmp_path / "unitigs.gfa").read_bytes() == (tmp_path / "as_it_is.gfa").read_bytes()


@pytest.mark.parametrize(("command", "threads"), [("assemble", "1"), ("som", "None")])
def test_threads_of_matrix_products_are_made_where_there_are_any(command, threads, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    code = "import atexit, os; atexit.register(lambda: print(os.environ.get('OPENBLAS_NUM_THREADS')));" + RUN
    assert python(code, command, "--help").stdout.splitlines()[-1] == threads


def test_an_assembly_of_compiled_loops_from_disk_loads_no_compiler(tmp_path):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text(length=6000, repeats=3, seed=5)))
    arguments = ["assemble", "-1", first, "-2", second, "-o", tmp_path / "out", "--device", "cpu", "-q", "-t", "2"]
    names = "{'scipy.linalg', 'numba.np.arraymath', 'numba.np.npyimpl'}"
    code = f"import atexit, sys; atexit.register(lambda: print(*sorted({names} & set(sys.modules))));" + RUN
    done = python(code, *map(str, arguments))
    if done.stdout.splitlines()[-1]:  # it compiled, as nobody had before
        done = python(code, *map(str, arguments))
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("gpuasm ass", ["plain,assemble"]),
        ("gpuasm assemble --stop", ["plain,--stop-after"]),
        ("gpuasm graph ge", ["plain,generate"]),
    ],
)
def test_shells_complete_commands_and_options(arguments, expected):
    request = {"_GPUASM_COMPLETE": "bash_complete", "COMP_WORDS": arguments, "COMP_CWORD": str(arguments.count(" "))}
    done = python(RUN, env={**os.environ, **request})
    assert (done.returncode, done.stdout.splitlines()) == (0, expected)
    assert "complete -o nosort" in python(RUN, env={**os.environ, "_GPUASM_COMPLETE": "bash_source"}).stdout


@pytest.mark.parametrize("limit", [100 << 20, 150 << 20, 400 << 20, 500 << 20])
def test_a_limit_on_addresses_that_libraries_do_not_fit_into_is_no_bug(tmp_path, limit):
    (tmp_path / "reads.fq").write_text("@r\n" + "ACGT" * 10 + "\n+\n" + "I" * 40 + "\n")
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}));" + RUN
    done = python(limited, "count", str(tmp_path / "reads.fq"), "-o", str(tmp_path / "counts.npz"))
    assert done.returncode == 75, done.stderr
    assert "MB of addresses in addition to the libraries" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("progress", "command"), [("plain", "unitigs"), ("json", "assemble"), ("none", "unitigs")])
def test_messages_that_a_full_disk_does_not_take_end_no_run(tmp_path, progress, command):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text(length=2000, seed=5)))
    arguments = [command, "-1", first, "-2", second, "-k", "31", "-o", tmp_path / "out", "--device", "cpu"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpuasm", *map(str, arguments), "--progress", progress],
            stdout=subprocess.PIPE, stderr=full, check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert (tmp_path / "out" / "report.html" if command == "assemble" else tmp_path / "out").is_file()
    assert done.stdout.endswith(b"verdict: pass\n") or command == "unitigs"


@pytest.mark.parametrize("arguments", [["--help"], ["debruijn", "--order", "4"], ["graph", "generate", "circuits"]])
def test_a_standard_output_on_a_full_disk(arguments):
    arguments = [*arguments, "--vertices", "5"] if "graph" in arguments else arguments
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpuasm", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 75
    assert done.stderr.count("\n") == 1
    assert "temporary" not in done.stderr


def test_more_threads_than_are_of_use(tmp_path):
    (tmp_path / "reads.fa").write_text(f">a\n{genome_text(length=300, repeats=0, seed=5)}\n")
    arguments = ["unitigs", str(tmp_path / "reads.fa"), "-k", "21", "--min-count", "1", "-t", "10000"]
    done = python(RUN, *arguments, "--device", "cpu", timeout=30)
    assert done.returncode == 0
    assert "threads are used instead of 10000" in done.stderr


@pytest.mark.parametrize("number", ["1" * 20, "1" * 5000, str(1 << 63)])
@pytest.mark.parametrize(
    "arguments",
    [
        "count x -k", "count x -t", "count x --min-count", "assemble x -o o --min-contig", "som train x -o o --epochs",
        "som train x -o o --seed", "simulate reads x -1 y --single --seed", "densest x -k", "pagerank x --top",
        "debruijn --order", "graph generate circuits --vertices", "geolocate x x --iterations", "relate x -o o -s",
    ],
)  # fmt: skip
def test_numbers_that_no_machine_has(run_cli, arguments, number):
    code, _, err = run_cli(*arguments.split(), number)
    assert code == 2
    assert max(map(len, err.splitlines())) <= 400


def test_names_of_files_in_another_encoding(tmp_path):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text(length=2000, seed=5)))
    folder, other = (os.fsencode(tmp_path) + name for name in (b"/caf\xe9", b"/\xe9_1.fastq"))
    first.rename(os.fsdecode(other))
    arguments = ["assemble", "-1", other, "-2", second, "-k", "31", "-o", folder, "--device", "cpu", "-q"]
    done = subprocess.run([sys.executable, "-m", "gpuasm", *arguments], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(folder + b"/contigs.fasta: 1 contigs")
    manifest = json.loads(Path(os.fsdecode(folder), "run.json").read_text(encoding="utf-8"))
    assert manifest["inputs"][0]["path"] == os.fsdecode(other)
    assert "\\udce9_1.fastq" in Path(os.fsdecode(folder), "report.html").read_text(encoding="utf-8")
