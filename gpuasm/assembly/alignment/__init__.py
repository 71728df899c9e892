"""Reads aligned to unitigs and contigs, and contigs to each other."""
