"""Depth, copy number, and what they show about the sample."""
