"""What an assembly depends on, besides the reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gpuasm.checks import whole
from gpuasm.errors import UsageError

STAGES = ("first-graph", "reads", "fragments", "pairs", "check")
"""What an assembly consists of, in order; it can be stopped after each."""
RULES = tuple(
    (
        "low-coverage-k mercy-kmers tips low-coverage-edges bubbles"
        " isolated-unitigs few-reads supported-branches read-correction larger-k isolated-contigs"
        " edge-support copy-number fragments high-coverage-reads"
        " anchors path-prefixes fragment-support joins end-overlaps"
        " repeats gap-closing local-reads"
        " dominant-paths check polishing breaks"
        " redundant-ends end-extension circular-start"
    ).split()
)
"""Rules that `--without` leaves out, to measure their effect."""
MODES = ("auto", "isolate", "meta")


def rules_without(left_out: Collection[str] = ()) -> frozenset[str]:
    """Return all rules but those that are left out."""
    return frozenset(RULES) - frozenset(left_out)


EVERY_RULE = rules_without()


@dataclass(frozen=True)
class AssemblyOptions:
    """Options of an assembly.

    Attributes
    ----------
    k : tuple of int, or None
        Ascending odd values, the first at most 31, each at most twice the one before; None chooses by read length.
    min_count : int or None
        Least multiplicity of a solid k-mer; None takes it from the spectrum.
    min_contig_length : int
        Shorter contigs are not written; the graph keeps them.
    stop_after : str
        The last stage to run, of `STAGES`; all outputs are made of its result.
    mode : str
        Kind of sample, of `MODES`: one organism, a community, or chosen from the first graph.
    without : tuple of str
        Stages and rules to leave out, of `RULES`.

    Raises
    ------
    UsageError
        If there is no such stage, mode or rule.
    """

    k: tuple[int, ...] | None = None
    min_count: int | None = None
    min_contig_length: int = 200
    stop_after: str = STAGES[-1]
    mode: str = MODES[0]
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("min_count", 1), ("min_contig_length", 0)):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, least=least)
        if not isinstance(self.without, (tuple, list)):
            raise UsageError("stages and rules as a tuple", repr(self.without), "write without=('pairs',)")
        if self.k is not None and not isinstance(self.k, (tuple, list)):
            raise UsageError("values of k as a tuple", repr(self.k), "write k=(31, 61)")
        for k in self.k or ():
            whole(k, "k", least=1)
        for found, known in (((self.stop_after,), STAGES), ((self.mode,), MODES), (self.without, RULES)):
            for name in found:
                if name not in known:
                    raise UsageError(f"one of {', '.join(known)}", repr(name), "choose one of these")

    def has(self, stage: str) -> bool:
        """Return whether a stage is to be run."""
        if stage == "fragments" and not self.may_use_fragments:
            return False
        left_out = {"reads": "larger-k", "pairs": "joins"}.get(stage, stage)
        return left_out not in self.without and self.reaches(stage)

    def reaches(self, stage: str) -> bool:
        """Return whether the assembly reaches a stage before it stops."""
        return STAGES.index(stage) <= STAGES.index(self.stop_after)

    @property
    def may_use_fragments(self) -> bool:
        """Whether k may exceed the read length, unless the assembly is stopped before."""
        return not self.k and not {"larger-k", "fragments"} & set(self.without)
