"""Each kernel of one body writes the same bytes on a device as on the host, launch by launch."""

from __future__ import annotations

import pytest

from gpuasm import arrays
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads
from tests.gpu.every_kernel import call_every_kernel
from tests.launches import DeviceAndHost, looked_at, name_of
from tests.samples import pairs_of_relatives

pytestmark = pytest.mark.gpu

OF_THE_HOST = {"densest.adjacency._sum_weighted_rows: result"}
"""Results that differ on a device, of kernels for the host alone: the kernel of a device adds in another order."""


def test_launches_of_the_host_are_the_same_on_a_device():
    both = DeviceAndHost()
    with looked_at(both):
        call_every_kernel()
    of_the_package = {name_of(kernel) for kernel in for_each.instances if kernel.__module__.startswith("gpuasm.")}
    assert both.names == of_the_package
    assert both.unlike.keys() <= OF_THE_HOST


@pytest.mark.parametrize("mode", ["isolate", "meta"])
def test_launches_of_an_assembly_on_a_device_are_the_same_on_the_host(mode):
    """Reads of relatives with repeats have alternative placements, and their unitigs many branches."""
    host, options = Reads.from_strings(pairs_of_relatives(length=60_000), paired=True), AssemblyOptions(mode=mode)
    both = DeviceAndHost()
    with looked_at(both):
        on_device = assemble(host.moved_to(arrays.namespace_of("cuda")), options)
    pairs_are_aligned = "assembly.alignment.read_threading._extend_path" in both.names
    assert pairs_are_aligned == (mode == "isolate")
    assert "assembly.iteration.edge_support._count_support" in both.names
    assert both.unlike == {}
    assert [c.sequence for c in on_device.contigs] == [c.sequence for c in assemble(host, options).contigs]
