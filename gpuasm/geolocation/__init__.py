"""Geolocation: infer the location of vertices from the locations of their neighbours."""

from __future__ import annotations

from gpuasm.geolocation.gunrock import gunrock_locations
from gpuasm.geolocation.holdout import HeldOut, hold_out
from gpuasm.geolocation.locating import LocatingOptions, Locations, locate
from gpuasm.geolocation.median import medians_of, spherical_median
from gpuasm.geolocation.predictors import RelatedSamples
from gpuasm.geolocation.related import RelatedLocations, RelatedNames, locate_related, name_related
from gpuasm.geolocation.tree_states import SampleTree

__all__ = [
    "HeldOut",
    "LocatingOptions",
    "Locations",
    "RelatedLocations",
    "RelatedNames",
    "RelatedSamples",
    "SampleTree",
    "gunrock_locations",
    "hold_out",
    "locate",
    "locate_related",
    "medians_of",
    "name_related",
    "spherical_median",
]
