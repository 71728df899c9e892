"""Bin contigs: a map of their windows, regions of the map, and contigs assigned to regions."""
