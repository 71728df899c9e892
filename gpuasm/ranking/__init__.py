"""PageRank: power iteration to a tolerance, and random walks with their error."""

from __future__ import annotations

from gpuasm.ranking.power_iteration import PowerRanks, l1_distance, power_iteration
from gpuasm.ranking.teleport import DEFAULT_RESET, Surfer, make_surfer, starts_of
from gpuasm.ranking.walks import DEFAULT_COUPONS, WalkRanks, random_walks
from gpuasm.ranking.work import WARP, idle_share, work_by_coupon

__all__ = [
    "DEFAULT_COUPONS",
    "DEFAULT_RESET",
    "WARP",
    "PowerRanks",
    "Surfer",
    "WalkRanks",
    "idle_share",
    "l1_distance",
    "make_surfer",
    "power_iteration",
    "random_walks",
    "starts_of",
    "work_by_coupon",
]
