"""Clean-up: what errors made is taken out of a graph."""
