"""Pairs: links, walks through the graph, and the joins that they make certain."""
