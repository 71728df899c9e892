"""Removal of what sequencing errors left in a graph, and merging of variants."""
