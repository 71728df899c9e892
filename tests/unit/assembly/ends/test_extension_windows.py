"""Windows of extensions and of the bases before them, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.contig import Contig
from gpuasm.assembly.ends.clipped_tails import Consensus
from gpuasm.assembly.ends.end_extension import _windows
from gpuasm.sequence.encoding import encode
from tests.oracles.kmers import canonical, reverse_complement

K = 5


def plain_windows(texts, ends, beyond, tail):
    rows = []
    for number, (end, more) in enumerate(zip(ends, beyond, strict=True)):
        own = texts[end >> 1]
        inside = (reverse_complement(own) if end & 1 else own)[-tail:] if tail else ""
        whole = inside + more
        windows = [(whole[i : i + K], number, i - len(inside)) for i in range(len(whole) - K + 1)]
        rows += [(canonical(kmer), number, at) for kmer, number, at in windows if "N" not in kmer]
    return rows


@given(
    st.lists(st.text("ACGTN", max_size=12), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 7), st.text("ACGT", max_size=9)), max_size=5),
    st.sampled_from([0, K - 1, 10]),
)
def test_windows_equal_those_of_plain_python(texts, extensions, tail):
    contigs = [Contig("", encode(text), 1.0, 1, False, 0) for text in texts]
    ends, beyond = [end % (2 * len(texts)) for end, _ in extensions], [text for _, text in extensions]
    found = Consensus(np.array(ends, np.int64), [encode(text) for text in beyond], [])
    keys, owner, at = _windows(found, contigs, k=K, tail=tail)
    expected = [
        (int("".join(str("ACGT".index(letter)) for letter in kmer), 4), number, place)
        for kmer, number, place in plain_windows(texts, ends, beyond, tail)
    ]
    assert list(zip(keys.tolist(), owner.tolist(), at.tolist(), strict=True)) == expected
