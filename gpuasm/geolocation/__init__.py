"""Geolocation: infer the location of vertices from the locations of their neighbours."""

from __future__ import annotations

from gpuasm.geolocation.gunrock import gunrock_locations
from gpuasm.geolocation.holdout import HeldOut, hold_out
from gpuasm.geolocation.locating import LocatingOptions, Locations, locate
from gpuasm.geolocation.median import medians_of, spherical_median

__all__ = [
    "HeldOut",
    "LocatingOptions",
    "Locations",
    "gunrock_locations",
    "hold_out",
    "locate",
    "medians_of",
    "spherical_median",
]
