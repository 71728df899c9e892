"""``--device`` with several devices: their names, refusals, memory of each, and a whole run on simulated ones."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions
from gpuasm.cli import device_names
from gpuasm.cli import session as session_module
from gpuasm.cli.device_names import devices_of, devices_of_run
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.planning import plan_assembly
from gpuasm.cli.session import run_session
from gpuasm.device_group import DeviceGroup
from gpuasm.errors import DeviceError
from gpuasm.kmers import buckets
from tests.read_files import write_pairs
from tests.samples import simulated_genome, simulated_pairs, simulated_reads


@pytest.fixture
def two_devices(monkeypatch):
    """Let the driver and cupy find the devices 0 and 1, of which one has a fourth of the other's memory."""
    names, limits, current = ["cuda:0", "cuda:1"], [], [0]

    class Device:
        def __init__(self, number=None):
            self.id = current[-1] if number is None else number

        def __enter__(self):
            current.append(self.id)

        def __exit__(self, *_):
            current.pop()

        def use(self):
            current[-1] = self.id

    pool = SimpleNamespace(set_limit=lambda *, size: limits.append((current[-1], size)))
    xp = SimpleNamespace(
        __name__="cupy", cuda=SimpleNamespace(Device=Device), zeros=np.zeros, get_default_memory_pool=lambda: pool
    )
    monkeypatch.setattr(device_names, "compute_capability", lambda name: (9, 0) if name in names else None)
    monkeypatch.setattr(device_names.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(session_module, "has_driver", lambda: True)
    monkeypatch.setattr(session_module.arrays, "namespace_of", lambda _: xp)
    monkeypatch.setattr(session_module.arrays, "_cupy", lambda: xp)
    monkeypatch.setattr(session_module.arrays, "free_device_memory", lambda: (8 << 30) >> (2 * current[-1]))
    return SimpleNamespace(limits=limits, xp=xp)


@pytest.mark.usefixtures("two_devices")
@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("auto", ["auto"]), ("cpu", ["cpu"]), ("cuda:1", ["cuda:1"]), ("all", ["cuda:0", "cuda:1"]),
        ("cuda:1,0", ["cuda:1", "cuda:0"]), ("cuda:1,0,1", ["cuda:1", "cuda:0"]), ("cuda:01,1", ["cuda:1"]),
    ],
)  # fmt: skip
def test_a_value_names_devices_in_order_and_each_once(value, names):
    assert devices_of(value) == devices_of_run(value) == names


@pytest.mark.parametrize("value", ["cpu,cuda:0", "cuda:0,cpu", "cuda:0,cuda:1", "cuda,cuda", "cuda:0,", ","])
def test_devices_of_several_kinds_are_refused(value):
    with pytest.raises(DeviceError, match=r"expected several devices as cuda:0,1 or all, found '.*'; name CUDA"):
        devices_of_run(value)


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(device_names, "compute_capability", lambda name: (9, 0) if name == "cuda:0" else None)
    for value in ("cuda:0,7", "cuda:7,0"):
        with pytest.raises(DeviceError):
            devices_of_run(value)
    assert devices_of_run("cuda:7") == ["cuda:7"]  # the run that opens it reports it
    with pytest.raises(DeviceError):
        devices_of("cuda:7")


def test_the_command_refuses_devices_before_it_reads(run_cli, tmp_path):
    pair = write_pairs(tmp_path, [("ACGT", "TTTT")])
    output = tmp_path / "out"
    for value, message in (("cpu,cuda:0", "several devices as cuda:0,1 or all"), ("cuda:0,1", "cupy|device")):
        code, _, err = run_cli("assemble", "-1", pair[0], "-2", pair[1], "--device", value, "-o", output)
        assert code == DeviceError.exit_code
        assert any(part in err for part in message.split("|"))
    assert not (output / "run.json").exists()


def test_each_device_has_the_limit_and_the_smallest_determines_the_buckets(two_devices, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(buckets, "buckets_for", lambda *of: asked.append(of) or 2)
    names = devices_of_run("all")
    common = CommonOptions(threads=1, device="all", device_memory="2G", quiet=True)
    reads = simulated_reads(length=3000, fold=20)
    with run_session(common, devices=names) as session:
        assert (session.xp, session.devices.n, session.requested) == (two_devices.xp, 2, "cuda:0")
        assert session.devices.each(session_module.arrays.free_device_memory) == [8 << 30, 2 << 30]
        plan = plan_assembly(reads, AssemblyOptions(), session, tmp_path)
    assert two_devices.limits == [(0, 2 << 30), (1, 2 << 30), (0, 0), (1, 0)]
    assert [of[1:] for of in asked] == [((2 << 30) - reads.n_bytes, 2)]
    assert plan["device_bytes"] > 0


@pytest.mark.usefixtures("pages_without_figures")
def test_a_run_on_simulated_devices_writes_the_same_files(run_cli, tmp_path, monkeypatch):
    texts = simulated_pairs(simulated_genome(length=5000, seed=3), fold=20, length=100, insert=300)
    pair = write_pairs(tmp_path, list(zip(texts[::2], texts[1::2], strict=True)))
    found = []
    for n in (1, 4):
        monkeypatch.setattr(DeviceGroup, "named", lambda _, n=n: DeviceGroup((None,) * n))
        output = tmp_path / f"on_{n}"
        code, _, err = run_cli("assemble", "-1", pair[0], "-2", pair[1], "--device", "cpu", "-o", output)
        assert code == 0, err
        assert json.loads((output / "run.json").read_text())["parameters"]["devices"] == n
        names = ("contigs.fasta", "scaffolds.fasta", "graph.gfa", "contigs.tsv", "depth.tsv", "spectrum.tsv")
        found.append({name: (output / name).read_bytes() for name in names})
    assert found[0] == found[1]
    assert found[0]["contigs.fasta"]
