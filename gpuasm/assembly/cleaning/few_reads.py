"""What a few reads show: below three reads' depth, ratios say little, and rules ask differently."""

from __future__ import annotations

FEW_READS = 3.0
"""Less deep than three reads: one or two reads of the same error, or one or two reads of the truth. Poisson's spread of
two is as large as itself, so a ratio of four between two such depths shows nothing; what can be asked is how deep the
surroundings are, and which way leads on. Of the first graph it is three windows' worth of depth: between two windows
and three lie those of two reads and a third that ended. At larger k a window of one read is worth more than that, and
what is carried has the depth of all reads."""
