"""What a checkpoint holds of large arrays, in few bits, and what is made of it again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.state import _equal_steps, _four_in_a_byte, _four_of_each_byte, state_from_arrays, state_to_arrays
from tests.samples import simulated_reads


@given(arrays(np.uint8, st.integers(0, 70), elements=st.integers(0, 3)))
def test_bases_take_two_bits_and_come_back(bases):
    packed = _four_in_a_byte(bases)
    assert packed.size == -(-bases.size // 4)
    assert np.array_equal(_four_of_each_byte(packed, bases.size), bases)


@given(arrays(np.int32, st.integers(0, 70), elements=st.sampled_from([-1, 0, 2, 4, 6, 2**31 - 1])))
def test_names_come_back_from_their_steps(names):
    step, run = _equal_steps(names)
    again = np.cumsum(np.repeat(step, run), dtype=np.int32)
    assert again.dtype == np.int32
    assert np.array_equal(again, names)


def test_names_along_a_unitig_take_one_step():
    names = np.concatenate([np.full(40, -1), np.arange(10, 210, 2), np.full(60, -1)]).astype(np.int32)
    assert _equal_steps(names)[0].size <= 6


@pytest.mark.parametrize("name", ["graph", "is_single", "names", "histogram"])
def test_a_state_comes_back_from_less_than_half_of_its_bytes(name):
    states = []
    assemble(simulated_reads(length=20_000, fold=30), AssemblyOptions(), keep_state=states.append)
    for state in states:
        found = state_to_arrays(state)
        again = state_from_arrays(found, np)
        if name == "graph":
            assert found["graph_bases"].nbytes <= state.kmer_graph.graph.bases.nbytes // 4 + 1
            assert np.array_equal(again.kmer_graph.graph.bases, state.kmer_graph.graph.bases)
        elif name == "names":
            assert 3 * (found["name_step"].nbytes + found["name_run"].nbytes) < state.names.nbytes
            assert np.array_equal(again.names, state.names)
        elif name == "histogram":
            assert 2 * found["histogram"].size < state.spectrum.histogram.size
            assert np.array_equal(again.spectrum.histogram, state.spectrum.histogram)
        elif state.is_single is not None:
            assert np.array_equal(again.is_single, state.is_single)
            assert again.is_single.dtype == bool
