"""k-mers: exact counts at any odd k, the spectrum, the solid threshold, tetranucleotide counts of windows."""

from __future__ import annotations

from gpuasm.kmers.composition import count_tetramers, tetramers
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import doubling_chain
from gpuasm.kmers.names import Dictionary, name_windows, tally_by_doubling
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.spelling import spell_kmers
from gpuasm.kmers.tally import Tally

__all__ = [
    "Dictionary",
    "Spectrum",
    "Tally",
    "analyse_spectrum",
    "count_tetramers",
    "doubling_chain",
    "name_windows",
    "spell_kmers",
    "tally_by_doubling",
    "tally_kmers",
    "tetramers",
]
