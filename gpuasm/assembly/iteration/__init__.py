"""Iteration over k: from reads to the first k-mer graph, and from the graph of one k to the graph of the next."""
