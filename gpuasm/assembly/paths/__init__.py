"""Paths through the graph that reads and read pairs support."""
