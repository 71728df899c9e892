"""Bins of contigs: their pieces on a map, regions of the map, and contigs assigned to them."""
