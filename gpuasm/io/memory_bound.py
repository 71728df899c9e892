"""The bound on the memory that reading an input takes, checked before the memory is taken."""

from __future__ import annotations

import os

from gpuasm.errors import ResourceError
from gpuasm.resources import format_bytes, process_limit, resident_bytes, rounded_up

_ALWAYS = 32 << 20


class MemoryBound:
    """The memory of the process while it reads one input, which may not exceed a budget.

    Inputs that take a few megabytes are read under any budget.

    Parameters
    ----------
    path
        For messages; None where whoever handles the error adds it.
    budget
        Bytes that the process may take in all; None: those of the run, or what is free on the machine.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, budget: int | None = None) -> None:
        self.path = path
        self.limit = process_limit(budget)
        self._at_first = resident_bytes()

    def has(self, n_bytes: int) -> bool:
        """Return whether the budget suffices to take so many bytes more."""
        needed = resident_bytes() + n_bytes
        return needed <= self.limit or needed - self._at_first <= _ALWAYS

    def require(self, n_bytes: int) -> None:
        """Refuse to take so many bytes more if the budget is too small for them.

        Raises
        ------
        ResourceError
            If the process would exceed the budget; with the number that would do for what is known so far.
        """
        if not self.has(n_bytes):
            needed = resident_bytes() + n_bytes
            raise ResourceError(
                f"{format_bytes(needed)} of memory or more to read it",
                f"a budget of {format_bytes(self.limit)}",
                f"run where that much is free, with --memory {rounded_up(needed)} or more",
                path=self.path,
            )
