"""Budgets of memory and disk."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm import resources
from gpuasm.errors import ResourceError, UsageError


@pytest.mark.parametrize(
    ("text", "amount"),
    [("4G", 4 << 30), ("800M", 800 << 20), ("1.5 GiB", 3 << 29), ("12345", 12345), ("2t", 2 << 40), ("7KB", 7 << 10)],
)
def test_amounts_are_read(text: str, amount: int) -> None:
    assert resources.parse_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "4X", "four", "1e9", "4 G G"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected an amount of memory"):
        resources.parse_bytes(text)


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (5 << 29, "2.5 GB"), ((1 << 20) - 1, "1.0 MB")]
)
def test_amounts_are_written(amount: int, text: str) -> None:
    assert resources.format_bytes(amount) == text


@given(st.integers(1, 1 << 50))
def test_written_amounts_are_read_back_nearly(amount: int) -> None:
    assert resources.parse_bytes(resources.format_bytes(amount)) == pytest.approx(amount, rel=0.05)


def test_a_requested_amount_is_the_budget() -> None:
    assert resources.memory_budget("3G") == 3 << 30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GB free, no container and no batch system."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
    monkeypatch.setattr(resources, "_MEMINFO", meminfo)
    monkeypatch.setattr(resources, "_CGROUP", tmp_path)
    monkeypatch.setattr(resources, "_PROCESS", tmp_path)
    monkeypatch.setattr("resource.getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for name in ("SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.usefixtures("machine")
def test_free_memory_is_the_budget_of_a_bare_machine() -> None:
    assert resources.memory_budget() == 8 << 30


def test_container_of_version_2_limits_less_what_it_holds_for_good(machine: Path) -> None:
    (machine / "memory.max").write_text(f"{4 << 30}\n")
    (machine / "memory.current").write_text(f"{3 << 30}\n")
    (machine / "memory.stat").write_text(f"anon {1 << 30}\ninactive_file {1 << 30}\nactive_file {1 << 30}\n")
    assert resources.memory_budget() == 3 << 30


def test_container_of_version_1_limits(machine: Path) -> None:
    folder = machine / "memory"
    folder.mkdir()
    (folder / "memory.limit_in_bytes").write_text(f"{2 << 30}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{1 << 30}\n")
    (folder / "memory.stat").write_text("inactive_file 0\nactive_file 0\n")
    assert resources.memory_budget() == 1 << 30


@pytest.mark.parametrize(
    ("file", "text"), [("memory.max", "max\n"), ("memory/memory.limit_in_bytes", "9223372036854771712\n")]
)
def test_container_without_a_limit(machine: Path, file: str, text: str) -> None:
    (machine / "memory").mkdir()
    (machine / file).write_text(text)
    assert resources.memory_budget() == 8 << 30


@pytest.mark.parametrize(
    ("own", "names"),
    [
        ("0::/slurm/job_7\n", ("memory.max", "memory.current")),
        ("5:cpu:/x\n4:memory:/slurm/job_7\n0::/\n", ("memory.limit_in_bytes", "memory.usage_in_bytes")),
    ],
)
def test_a_group_within_the_container_limits_and_so_does_the_one_around_it(
    machine: Path, own: str, names: tuple[str, str]
) -> None:
    (machine / "cgroup").write_text(own)
    root = machine / "memory" if names[0] == "memory.limit_in_bytes" else machine
    folder = root / "slurm" / "job_7"
    folder.mkdir(parents=True)
    for group, limit in ((folder, 3 << 30), (folder.parent, 2 << 30)):
        (group / names[0]).write_text(f"{limit}\n")
        (group / names[1]).write_text("0\n")
        (group / "memory.stat").write_text("anon 0\n")
        assert resources.memory_budget() == limit


def test_a_limit_on_addresses_limits_less_what_is_taken(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (3 << 30, resource.RLIM_INFINITY))
    assert resources.memory_budget() == 3 << 30
    (machine / "statm").write_text(f"{(1 << 30) // resource.getpagesize()} 5 5 5 0 5 0\n")
    assert resources.memory_budget() == 2 << 30


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("variables", "budget"),
    [
        ({"SLURM_MEM_PER_NODE": "2048"}, 2 << 30),
        ({"SLURM_MEM_PER_NODE": "0"}, 8 << 30),
        ({"SLURM_MEM_PER_CPU": "512", "SLURM_CPUS_ON_NODE": "4"}, 2 << 30),
        ({"SLURM_MEM_PER_NODE": "99999999"}, 8 << 30),
    ],
)
def test_batch_system_limits(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], budget: int) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert resources.memory_budget() == budget


def test_refusal_names_the_amount_that_would_do() -> None:
    resources.require_memory(100, 100, "this")
    with pytest.raises(ResourceError, match=r"6\.0 GB of memory for counting, found a budget of 4\.0 GB.*--memory 6G"):
        resources.require_memory(6 << 30, 4 << 30, "counting")
    with pytest.raises(ResourceError, match="--memory 101M"):
        resources.require_memory((100 << 20) + 1, 1, "counting")


def test_a_limit_too_low_for_compiled_loops_is_refused_with_one_that_would_do(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources.require_address_space()
    (machine / "statm").write_text(f"{(300 << 20) // resource.getpagesize()} 5 5 5 0 5 0\n")
    monkeypatch.setattr("resource.getrlimit", lambda _: (700 << 20, resource.RLIM_INFINITY))
    resources.require_address_space()
    monkeypatch.setattr("resource.getrlimit", lambda _: (500 << 20, resource.RLIM_INFINITY))
    with pytest.raises(ResourceError, match=r"found room for 200\.0 MB; .* ulimit -v 716800 or more"):
        resources.require_address_space()


def test_disk(tmp_path: Path) -> None:
    resources.require_disk(tmp_path / "not" / "yet" / "there", 1)
    with pytest.raises(ResourceError, match="free disk"):
        resources.require_disk(tmp_path / "file", 1 << 60)


def test_freed_memory_is_returned_to_the_system():
    """Arrays of 4 MB between others that stay: without the setting they would be kept for the next ones."""
    code = """
import numpy as np, os, sys
from gpuasm.resources import return_freed_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

if sys.argv[1] == "set":
    return_freed_memory()
np.ones(3 << 20)  # freed, it makes glibc keep arrays up to its size
arrays = [np.ones(1 << 19) for _ in range(32)]
before = resident()
del arrays[:-1]
print(before - resident() >> 20)
"""
    freed = [int(subprocess.check_output([sys.executable, "-c", code, how])) for how in ("set", "unset")]
    assert freed[0] > 100
    assert freed[1] < freed[0]


def test_without_glibc_nothing_is_set(monkeypatch):
    monkeypatch.setattr(resources.ctypes, "CDLL", lambda _name: object())
    resources.return_freed_memory()
