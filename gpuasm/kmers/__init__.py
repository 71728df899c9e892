"""k-mers: exact counts at any odd k, the spectrum, the solid threshold, tetranucleotide counts of windows.

Each name is imported when it is first used, as some commands only estimate how many k-mers there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.lazy import names_from

if TYPE_CHECKING:
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

_HOMES = {
    "composition": ["count_tetramers", "tetramers"],
    "counting": ["tally_kmers"],
    "keys": ["doubling_chain"],
    "names": ["Dictionary", "name_windows", "tally_by_doubling"],
    "spectrum": ["Spectrum", "analyse_spectrum"],
    "spelling": ["spell_kmers"],
    "tally": ["Tally"],
}
__getattr__ = names_from(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names})
